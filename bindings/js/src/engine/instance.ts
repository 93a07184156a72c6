import { abiVersion, type InFrame, sizeOf, write } from './frame.ts'
import { Wasi } from './wasi.ts'

interface Exports {
  memory: WebAssembly.Memory
  _initialize(): void
  abi_version(): number
  in_buf(n: number): number
  run(n: number): number
}

/** One instance of the core. After any exception of its methods it must not be asked anything more. */
export class Instance {
  readonly #core: Exports
  #bytes = new Uint8Array(0)
  #view = new DataView(new ArrayBuffer(0))

  private constructor(core: Exports) {
    this.#core = core
  }

  /** Makes an instance and initializes it. */
  static async make(module: WebAssembly.Module): Promise<Instance> {
    const wasi = new Wasi()
    return Instance.#begin(await WebAssembly.instantiate(module, wasi.imports), wasi)
  }

  /** Makes an instance at once. */
  static makeNow(module: WebAssembly.Module): Instance {
    const wasi = new Wasi()
    return Instance.#begin(new WebAssembly.Instance(module, wasi.imports), wasi)
  }

  static #begin(instance: WebAssembly.Instance, wasi: Wasi): Instance {
    const core = instance.exports as unknown as Exports
    wasi.bind(core.memory)
    core._initialize()
    if (core.abi_version() !== abiVersion) {
      throw new Error(
        `core.wasm speaks version ${core.abi_version()} of the ABI, this package version ${abiVersion}`,
      )
    }
    return new Instance(core)
  }

  /** Size of the linear memory, in bytes. */
  get memorySize(): number {
    return this.#core.memory.buffer.byteLength
  }

  /** Hands frames in and gives the block of frames that come out, valid until the next call. */
  run(frames: InFrame[]): Uint8Array {
    let total = 0
    for (const f of frames) total += sizeOf(f)
    let at = this.#core.in_buf(total)
    this.#refresh()
    for (const f of frames) at = write(this.#bytes, this.#view, at, f)
    const out = this.#core.run(total)
    this.#refresh()
    return this.#bytes.subarray(out + 4, out + 4 + this.#view.getUint32(out, true))
  }

  /** The memory's buffer is another one after it has grown. */
  #refresh(): void {
    const { buffer } = this.#core.memory
    if (this.#bytes.buffer === buffer) return
    this.#bytes = new Uint8Array(buffer)
    this.#view = new DataView(buffer)
  }
}
