// run.mjs BUNDLE WASM KEY API: runs a bundle where there is no process, no
// require, no import.meta and no WebAssembly.compile, as at an edge.
import { readFileSync } from 'node:fs'
import vm from 'node:vm'

const [bundle, wasm, key, api] = process.argv.slice(2)
const names =
  `AbortController AbortSignal Blob Event EventTarget Headers ReadableStream Request Response TextDecoder
  TextEncoder TransformStream URL URLSearchParams WebSocket WritableStream atob btoa clearTimeout console crypto fetch
  performance queueMicrotask setTimeout structuredClone Uint8Array ArrayBuffer DOMException`.split(
    /\s+/,
  )
const context = Object.fromEntries(names.map((name) => [name, globalThis[name]]))
// A module may be instantiated there, but not compiled.
context.WebAssembly = {
  Module: WebAssembly.Module,
  Instance: WebAssembly.Instance,
  instantiate: WebAssembly.instantiate,
  Memory: WebAssembly.Memory,
}
context.self = context
vm.createContext(context)
vm.runInContext(readFileSync(bundle, 'utf8'), context, { filename: bundle })
console.log(
  await context.answer(
    new WebAssembly.Module(readFileSync(wasm)),
    new URLSearchParams({ key, api }),
  ),
)
