import type { Host, WasmModule, WasmSource } from '../platform/platform.ts'
import { encode, In, type InFrame, Out, type OutFrame, parse, read, sizeOf } from './frame.ts'
import { Instance } from './instance.ts'
import { type CallRequest, Operation } from './operation.ts'

/** What the engine needs from outside. */
export interface EngineOptions {
  loadWasm(given?: WasmSource): Promise<WasmModule>
  /** Makes the error of a core that died. */
  broken(message: string, cause: unknown): Error
  /** Makes the error of a core that could not be loaded. */
  missing(cause: unknown): Error
}

/** How much goes in at one crossing, in bytes. */
const crossingLimit = 1 << 20

/** How long what is not urgent waits for more to cross with, in milliseconds, and how much of it, in bytes. */
const patienceMs = 25
const patientLimit = 256 << 10

/**
 * Drives the core: hands frames in, performs what comes out, and knows which operation each frame
 * is of. What comes in during one turn of the event loop crosses together.
 */
export class Engine {
  readonly #options: EngineOptions
  readonly #source: WasmSource | undefined
  #module: Promise<WebAssembly.Module> | undefined
  #compiled: WebAssembly.Module | undefined
  #instance: Instance | undefined
  #reading: { block: Uint8Array } | undefined
  #loading = false
  #scheduled = false
  #pending: InFrame[] = []
  #lingering: ReturnType<typeof setTimeout> | undefined
  #waiting = 0
  #operations = new Map<number, Operation>()
  #last = 0

  constructor(options: EngineOptions, source?: WasmSource) {
    this.#options = options
    this.#source = source
  }

  /** The number of operations that are not done. */
  get live(): number {
    return this.#operations.size
  }

  /** Size of the core's memory, in bytes; 0 before the first call. */
  get memorySize(): number {
    return this.#instance?.memorySize ?? 0
  }

  /** Begins to load the core, so that the first call finds it. */
  warm(): void {
    this.#load()
  }

  /** Begins an operation. */
  start(request: CallRequest, host: Host): Operation {
    const operation = new Operation(this.#nextID(), request, host, (f, urgent) =>
      this.push(f, urgent),
    )
    const frame = callFrame(operation.id, request) // throws for what JSON cannot say
    this.#operations.set(operation.id, operation)
    this.push(frame)
    return operation
  }

  /**
   * Makes a call that needs no I/O: it is over when this returns. Throws the call's error. The
   * core must be there: something has been called before.
   */
  callNow(request: CallRequest): unknown {
    if (!this.#instance) {
      if (!this.#compiled) throw this.#options.broken('the core is not loaded yet', undefined)
      this.#instance = Instance.makeNow(this.#compiled)
    }
    // The core may be asked while its last answer is still being read: the answer moves.
    if (this.#reading) this.#reading.block = this.#reading.block.slice()
    const id = this.#nextID()
    let block: Uint8Array
    try {
      block = this.#instance.run([callFrame(id, request)])
    } catch (cause) {
      this.#broken(cause)
      throw this.#options.broken('the core broke down', cause)
    }
    let settled: { value: unknown } | { error: Error } | undefined
    read({ block }, (f) => {
      if (f.op !== id) return
      if (f.kind === Out.result) settled = { value: parse(f.payload) ?? null }
      if (f.kind === Out.error)
        settled = { error: request.fail(parse(f.payload) as object, undefined) }
    })
    if (settled && 'error' in settled) throw settled.error
    if (!settled) throw this.#options.broken(`${request.method} did not end at once`, undefined)
    return settled.value
  }

  #nextID(): number {
    do {
      this.#last = (this.#last % 0xffffffff) + 1
    } while (this.#operations.has(this.#last))
    return this.#last
  }

  /**
   * Queues a frame for the core. Crossing costs more than most of what crosses: what is not urgent
   * waits a little for what comes next.
   */
  push(frame: InFrame, urgent = true): void {
    this.#pending.push(frame)
    this.#waiting += frame.raw?.length ?? 0
    if (this.#scheduled) return
    if (!urgent && this.#waiting < patientLimit) {
      this.#lingering ??= setTimeout(() => this.#flush(), patienceMs)
      return
    }
    this.#scheduled = true
    queueMicrotask(() => {
      this.#scheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    clearTimeout(this.#lingering)
    this.#lingering = undefined
    this.#waiting = 0
    if (!this.#instance) return this.#load()
    while (this.#pending.length > 0) {
      const frames = this.#batch()
      for (const f of frames) if (f.kind === In.call) this.#operations.get(f.op)?.handOver()
      let block: Uint8Array
      try {
        block = this.#instance.run(frames)
      } catch (cause) {
        return this.#broken(cause)
      }
      this.#reading = { block }
      read(this.#reading, (f) => this.#route(f))
      this.#reading = undefined
    }
  }

  #batch(): InFrame[] {
    let size = 0
    let n = 0
    for (const f of this.#pending) {
      size += sizeOf(f)
      if (n > 0 && size > crossingLimit) break
      n++
    }
    return n === this.#pending.length ? this.#pending.splice(0) : this.#pending.splice(0, n)
  }

  #route(frame: OutFrame): void {
    const operation = this.#operations.get(frame.op)
    if (!operation) return
    try {
      operation.take(frame)
    } catch (cause) {
      operation.abandon(this.#options.broken('the host failed at a frame of the core', cause))
    }
    if (operation.over) this.#operations.delete(operation.id)
  }

  #load(): void {
    if (this.#loading || this.#instance) return
    this.#loading = true
    this.#module ??= this.#options.loadWasm(this.#source)
    const make = (module: WebAssembly.Module) => {
      this.#compiled = module
      return Instance.make(module)
    }
    this.#module.then(make).then(
      (instance) => {
        this.#loading = false
        this.#instance = instance
        this.#flush()
      },
      (cause) => {
        this.#loading = false
        this.#module = undefined
        this.#fail([...this.#operations.values()], this.#options.missing(cause))
      },
    )
  }

  /** The instance is poisoned: what it was asked fails, what it was not yet told goes to the next one. */
  #broken(cause: unknown): void {
    this.#instance = undefined
    const lost = [...this.#operations.values()].filter((o) => o.handedOver)
    const reason = cause instanceof Error ? `: ${cause.message}` : ''
    this.#fail(lost, this.#options.broken(`the core broke down${reason}`, cause))
    if (this.#pending.length > 0) this.#load()
  }

  #fail(lost: Operation[], error: Error): void {
    for (const operation of lost) this.#operations.delete(operation.id)
    this.#pending = this.#pending.filter((f) => this.#operations.has(f.op))
    for (const operation of lost) operation.end(error)
  }
}

function callFrame(op: number, request: CallRequest): InFrame {
  return {
    op,
    stream: 0,
    kind: In.call,
    json: encode(callText(request)),
    raw: request.attached,
    mixed: true,
  }
}

/** Client and sandbox are texts already: made once, sent with every call. */
function callText(r: CallRequest): string {
  let text = `{"method":${JSON.stringify(r.method)}`
  if (r.client !== undefined) text += `,"client":${r.client}`
  if (r.sandbox !== undefined) text += `,"sandbox":${r.sandbox}`
  if (r.requestTimeoutMs !== undefined) text += `,"request_timeout_ms":${r.requestTimeoutMs}`
  return `${text},"params":${JSON.stringify(r.params)}}`
}
