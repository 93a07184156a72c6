import { createPlatform } from '#platform'
import { Engine } from './engine/engine.ts'
import { brokenCore, missingCore } from './errors.ts'
import type { Platform, WasmSource } from './platform/platform.ts'
import { Scopes } from './scope.ts'

/**
 * What all clients of a process share: one platform, and one engine for each way to get the core.
 * It is made by the first call.
 */
export class Runtime {
  readonly platform: Platform = createPlatform()
  /** Whose callbacks run. */
  readonly scopes = new Scopes(this.platform.context)
  readonly #engines = new Map<WasmSource | undefined, Engine>()
  readonly #noticed = new Set<string>()

  /** The engine of a core. */
  engine(source: WasmSource | undefined): Engine {
    let engine = this.#engines.get(source)
    if (!engine) {
      const load = (given?: WasmSource) => this.platform.loadWasm(given)
      engine = new Engine({ loadWasm: load, broken: brokenCore, missing: missingCore }, source)
      this.#engines.set(source, engine)
    }
    return engine
  }

  /** Prints a line for the user, once. */
  notice(line: string): void {
    if (this.#noticed.has(line)) return
    this.#noticed.add(line)
    this.platform.notice(line)
  }
}

let shared: Runtime | undefined
let chosen: WasmSource | undefined

export function runtime(): Runtime {
  shared ??= new Runtime()
  return shared
}

/** The engine for a client's option `wasm`. */
export function engineFor(wasm: WasmSource | undefined): Engine {
  return runtime().engine(wasm ?? chosen)
}

/**
 * Says where the compiled core comes from, for every client that does not say so itself: bytes, a
 * `WebAssembly.Module`, a `Response`, or a URL. Call it before the first sandbox is made. Needed
 * only where the file `core.wasm` cannot be found beside the package, as in edge runtimes.
 */
export function useWasm(source: WasmSource): void {
  chosen = source
}
