import type * as fs from 'node:fs/promises'
import type * as url from 'node:url'
import type * as v8 from 'node:v8'
import type { WasmSource } from '../platform.ts'
import { builtin } from './builtin.ts'

/** Compiles the core: what was given, or core.wasm beside this file. */
export async function loadWasm(given?: WasmSource): Promise<WebAssembly.Module> {
  const source = given === undefined ? new URL('./core.wasm', import.meta.url) : await given
  if (source instanceof WebAssembly.Module) return source
  return compile((await bytesOf(source as Uint8Array)) as BufferSource)
}

/** By how much a function has run when V8 optimizes it: Node 20's own value, and ours. */
const budgets = { early: 1_800_000, late: 13_000_000 }

/**
 * Compiles with more patience, as later versions of V8 have it: that of Node 20 optimizes hundreds of
 * functions that run a few times only, which doubles the time to the first command.
 */
async function compile(bytes: BufferSource): Promise<WebAssembly.Module> {
  if (!process.versions.v8.startsWith('11.3.')) return WebAssembly.compile(bytes)
  const { setFlagsFromString } = builtin<typeof v8>('node:v8')
  setFlagsFromString(`--wasm-tiering-budget=${budgets.late}`)
  try {
    return await WebAssembly.compile(bytes)
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${budgets.early}`)
  }
}

async function bytesOf(
  source: string | URL | Uint8Array | ArrayBuffer | Response,
): Promise<Uint8Array | ArrayBuffer> {
  if (typeof source === 'string' || source instanceof URL) return read(source)
  return source instanceof Response ? source.arrayBuffer() : source
}

async function read(source: string | URL): Promise<Uint8Array | ArrayBuffer> {
  const at = typeof source === 'string' && URL.canParse(source) ? new URL(source) : source
  if (at instanceof URL && at.protocol !== 'file:') {
    const response = await fetch(at)
    if (!response.ok) throw new Error(`the core could not be fetched: status ${response.status}`)
    return response.arrayBuffer()
  }
  const path = at instanceof URL ? builtin<typeof url>('node:url').fileURLToPath(at) : at
  return builtin<typeof fs>('node:fs/promises').readFile(path)
}
