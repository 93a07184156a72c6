import type { WasmSource } from '../platform.ts'

/** Compiles what was given, else the file beside this script. */
export async function loadWasm(given?: WasmSource): Promise<WebAssembly.Module> {
  const source = await (given ?? beside())
  if (source instanceof WebAssembly.Module) return source
  if (typeof source === 'string' || source instanceof URL)
    return compileAnswer(await download(source))
  if (source instanceof Response) return compileAnswer(source)
  return WebAssembly.compile(source as BufferSource)
}

/** Bundlers know this expression and carry the file along. */
function beside(): URL {
  try {
    return new URL('./core.wasm', import.meta.url)
  } catch {
    throw new Error(
      'this script does not know where it came from, so it cannot find core.wasm: pass the option wasm (a WebAssembly.Module, bytes, a Response or a URL)',
    )
  }
}

async function download(source: string | URL): Promise<Response> {
  const advice =
    'serve the file core.wasm of the package beside its script, or pass the option wasm'
  let response: Response
  try {
    response = await fetch(source)
  } catch (cause) {
    throw new Error(`core.wasm could not be had from ${place(source)}: ${advice}`, { cause })
  }
  if (!response.ok)
    throw new Error(
      `core.wasm could not be had from ${place(source)} (status ${response.status}): ${advice}`,
    )
  return response
}

/** Compiles while it comes, where the server gives the type that browsers ask for. */
async function compileAnswer(response: Response): Promise<WebAssembly.Module> {
  const type = response.headers.get('content-type')?.trim().toLowerCase()
  if (type === 'application/wasm' && typeof WebAssembly.compileStreaming === 'function') {
    return WebAssembly.compileStreaming(response)
  }
  return WebAssembly.compile(await response.arrayBuffer())
}

/** An address without what may be secret in it. */
function place(source: string | URL): string {
  return String(source).replace(/[?#].*$/s, '')
}
