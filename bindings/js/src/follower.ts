import { checkCallbacks, checkFlag } from './argument.ts'
import { CommandResult } from './command_result.ts'
import { Out } from './engine/frame.ts'
import type { Listener, Operation } from './engine/operation.ts'
import {
  CancelledOperationError,
  CommandExitError,
  errorFromJSON,
  InvalidArgumentError,
  type SandboxError,
} from './generated/errors.ts'
import { type CommandEnd, readCommandEnd } from './generated/types.ts'
import { OutputLog, type OutputStream, type Place, textDecoder } from './output.ts'
import { Patience } from './patience.ts'
import { runtime } from './runtime.ts'

type Callback<T> = ((value: T) => void | Promise<void>) | undefined

/** What a caller may want to be called with. Each call is awaited before the next; output waits meanwhile and is never dropped. */
export interface OutputCallbacks {
  /** Text of stdout: whole characters, broken UTF-8 as U+FFFD. */
  readonly onStdout?: Callback<string>
  /** Text of stderr. */
  readonly onStderr?: Callback<string>
  /** Exact bytes of stdout. */
  readonly onStdoutBytes?: Callback<Uint8Array>
  /** Exact bytes of stderr. */
  readonly onStderrBytes?: Callback<Uint8Array>
  /** Bytes of a terminal. */
  readonly onData?: Callback<Uint8Array>
  /** The pid, once the process runs. */
  readonly onStart?: Callback<number>
  /** `false` keeps no output in memory. Default: true, for a terminal false. */
  readonly retainOutput?: boolean | undefined
}

/** The names of those options. */
export const callbackNames: readonly (keyof OutputCallbacks)[] = [
  'onStdout',
  'onStderr',
  'onStdoutBytes',
  'onStderrBytes',
  'onData',
  'onStart',
  'retainOutput',
]

/** A piece of output. */
export interface OutputChunk {
  readonly stream: OutputStream
  /** The exact bytes. */
  readonly data: Uint8Array
  /** The same as text: whole characters. */
  readonly text: string
}

/** How much may wait for a slow reader, in bytes. */
const waitingLimit = 1 << 20

const streams: Record<number, OutputStream> = {
  [Out.stdout]: 'stdout',
  [Out.stderr]: 'stderr',
  [Out.pty]: 'pty',
}

/** Whether the process ends with its call, or goes on by itself. */
export type FollowerKind = 'call' | 'command' | 'terminal'

/** Follows one process: keeps its output, calls back, and turns its end into a result. */
export class Follower implements Listener {
  readonly log = new OutputLog()
  readonly #callbacks: OutputCallbacks
  readonly #kind: FollowerKind
  readonly #patience: Patience
  readonly #retain: boolean
  readonly #called: boolean
  readonly #decoders: Partial<Record<OutputStream, TextDecoder>> = {}
  readonly #readers = new Set<{ place: Place; wake?: (() => void) | undefined }>()
  #queue: (() => void | Promise<void>)[] = []
  #calling = false
  #scheduled = false
  #idle: (() => void)[] = []
  #operation: Operation | undefined
  #nobodyReads = false
  /** Nobody waits for callbacks any more, and none begins. */
  #left: { reason: unknown } | undefined
  #ended = false
  /** What ended the following, unless that was the end of the process. */
  #failed: { error: unknown } | undefined
  #started!: (pid: number) => void
  /** The pid, once it is known. */
  readonly started: Promise<number>
  /** The result, after the last callback. Never an unhandled rejection. */
  end!: Promise<CommandResult>

  constructor(callbacks: OutputCallbacks, kind: FollowerKind, patience = new Patience(0)) {
    this.#patience = patience
    this.#callbacks = callbacks
    this.#kind = kind
    const { retainOutput } = callbacks
    checkFlag('retainOutput', retainOutput)
    this.#retain = retainOutput ?? kind !== 'terminal'
    const { onStdout, onStderr, onStdoutBytes, onStderrBytes, onData, onStart } = callbacks
    checkCallbacks({ onStdout, onStderr, onStdoutBytes, onStderrBytes, onData, onStart })
    this.#called = Boolean(onStdout || onStderr || onStdoutBytes || onStderrBytes || onData)
    this.#scheduled = kind !== 'call' // until the handle is given
    this.started = new Promise((resolve) => {
      this.#started = resolve
    })
  }

  /** Whether anything is called back before the end. */
  get calls(): boolean {
    return this.#called || Boolean(this.#callbacks.onStart)
  }

  /** Makes an error with the output so far. */
  readonly fail = (error: object, cause: unknown): SandboxError => {
    const { partial } = error as { partial?: unknown }
    return errorFromJSON(
      error,
      partial ? new CommandResult(readCommandEnd(partial), this.log) : undefined,
      cause,
    )
  }

  /** Follows an operation. */
  follow(operation: Operation): void {
    this.#operation = operation
    this.end = this.#finish(operation)
    this.end.catch(() => {})
  }

  /** The handle is given out: callbacks may begin, once whoever waits for it has it. */
  given(): void {
    setTimeout(() => this.#begin(), 0)
  }

  /** Lets nobody read what is not kept: a caller waits for the end alone. */
  discard(): void {
    this.#nobodyReads = true
    if (!this.#retain && this.#readers.size === 0) this.log.clear()
    this.#regulate()
  }

  /** Refuses to wait for the end where a callback would wait for itself. */
  checkWait(): void {
    if (this.#left || !runtime().scopes.within(this)) return
    throw new InvalidArgumentError(
      'wait() inside a callback of the same handle would never return',
      {
        suggestion: 'wait outside of it; kill() and disconnect() may be called inside',
      },
    )
  }

  /** Stops following; no callback begins any more. */
  leave(
    how: 'cancel' | 'detach',
    reason: unknown = new CancelledOperationError('the handle was disconnected'),
  ): void {
    this.#left ??= { reason }
    this.#queue = []
    this.#operation?.cancel(reason, how)
    this.#settleIdle()
  }

  event(event: { kind: string; pid?: number }): void {
    const { pid } = event
    if (event.kind !== 'started' || pid === undefined) return
    this.#started(pid)
    const { onStart } = this.#callbacks
    if (onStart) this.#enqueue(() => onStart(pid))
  }

  output(channel: number, bytes: Uint8Array): void {
    const stream = streams[channel] as OutputStream
    if (this.#keeps()) this.log.append(stream, bytes)
    const { onStdout, onStderr, onStdoutBytes, onStderrBytes, onData } = this.#callbacks
    const raw = stream === 'stdout' ? onStdoutBytes : stream === 'stderr' ? onStderrBytes : onData
    const text = stream === 'stdout' ? onStdout : stream === 'stderr' ? onStderr : undefined
    if (raw) {
      const copy = bytes.slice()
      this.#enqueue(() => raw(copy))
    }
    if (text) this.#enqueueText(text, this.#decoder(stream).decode(bytes, { stream: true }))
    for (const reader of this.#readers) this.#wake(reader)
    this.#regulate()
  }

  /** Reads the output: what is kept from the beginning, else from where nobody has read. */
  async *read(): AsyncGenerator<OutputChunk, void, undefined> {
    const reader: { place: Place; wake?: (() => void) | undefined } = {
      place: { piece: 0, offset: 0, passed: 0 },
    }
    const decoders: Partial<Record<OutputStream, TextDecoder>> = {}
    this.#readers.add(reader)
    try {
      for (;;) {
        const chunk = this.log.next(reader.place)
        if (chunk) {
          if (!this.#retain) this.log.forget(reader.place)
          this.#regulate()
          decoders[chunk.stream] ??= textDecoder()
          yield {
            ...chunk,
            text: (decoders[chunk.stream] as TextDecoder).decode(chunk.data, { stream: true }),
          }
        } else if (this.#ended) {
          break
        } else {
          await new Promise<void>((resolve) => {
            reader.wake = resolve
          })
        }
      }
      for (const [stream, decoder] of Object.entries(decoders)) {
        const text = decoder.decode()
        if (text) yield { stream: stream as OutputStream, data: new Uint8Array(0), text }
      }
      if (this.#failed && (this.#thrown || !this.#left)) throw this.#failed.error
    } finally {
      this.#readers.delete(reader)
      this.#regulate()
    }
  }

  #keeps(): boolean {
    return this.#retain || this.#readers.size > 0 || !(this.#called || this.#nobodyReads)
  }

  async #finish(operation: Operation): Promise<CommandResult> {
    try {
      const end = await this.#outcome(operation)
      const result = new CommandResult(end, this.log)
      await this.#called_(undefined, result)
      return result
    } catch (error) {
      if (!(error instanceof CommandExitError)) this.#failed ??= { error }
      throw error
    } finally {
      this.#ended = true
      for (const reader of this.#readers) this.#wake(reader)
    }
  }

  async #outcome(operation: Operation): Promise<CommandEnd> {
    try {
      return readCommandEnd(await operation.result) as CommandEnd
    } catch (error) {
      if (!(error instanceof CommandExitError)) this.#failed = { error }
      await this.#called_(error)
      throw error
    }
  }

  /** Waits until every callback has been called, the last characters included, after what ended the operation. */
  async #called_(error: unknown, result?: CommandResult): Promise<void> {
    if (this.#left) return this.#rethrow()
    const { onStdout, onStderr } = this.#callbacks
    if (onStdout) this.#enqueueText(onStdout, this.#decoder('stdout').decode())
    if (onStderr) this.#enqueueText(onStderr, this.#decoder('stderr').decode())
    if (this.#queue.length > 0 || this.#calling) {
      const returned = new Promise<void>((resolve) => this.#idle.push(resolve))
      if (!(await this.#patience.lasts(returned, error)))
        this.#threw(this.#patience.failure(error, result))
    }
    this.#rethrow()
  }

  #rethrow(): void {
    if (this.#thrown) throw this.#thrown.error
    if (this.#left) throw this.#left.reason
  }

  #thrown: { error: unknown } | undefined

  #decoder(stream: OutputStream): TextDecoder {
    this.#decoders[stream] ??= textDecoder()
    return this.#decoders[stream] as TextDecoder
  }

  #enqueueText(callback: (text: string) => void | Promise<void>, text: string): void {
    if (text) this.#enqueue(() => callback(text))
  }

  #enqueue(call: () => void | Promise<void>): void {
    if (this.#thrown || this.#left) return
    this.#queue.push(call)
    if (this.#scheduled || this.#calling) return
    this.#scheduled = true
    // Not now: a callback may call the core, which is in the middle of its answer.
    queueMicrotask(() => this.#begin())
  }

  #begin(): void {
    this.#scheduled = false
    this.#call().catch((error) => this.#threw(error))
  }

  async #call(): Promise<void> {
    this.#calling = true
    try {
      for (let call = this.#queue.shift(); call; call = this.#queue.shift()) {
        const done = this.#kind === 'call' ? call() : runtime().scopes.run(this, call)
        if (!done) continue
        this.#regulate(true)
        await done
      }
    } finally {
      this.#calling = false
      this.#regulate()
    }
    this.#settleIdle()
  }

  /** What a callback throws ends the operation and goes to the caller; what goes on by itself lives on. */
  #threw(error: unknown): void {
    this.#thrown ??= { error }
    this.leave(this.#kind === 'call' ? 'cancel' : 'detach', error)
    this.#settleIdle()
  }

  #settleIdle(): void {
    if (this.#queue.length > 0) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #wake(reader: { wake?: (() => void) | undefined }): void {
    const { wake } = reader
    reader.wake = undefined
    wake?.()
  }

  /** Stops reading while a callback runs or too much waits for a reader. */
  #regulate(calling = false): void {
    this.#operation?.hold(calling || this.#waiting() > waitingLimit)
  }

  #waiting(): number {
    if (this.#readers.size > 0)
      return this.log.total - Math.min(...[...this.#readers].map((r) => r.place.passed))
    return this.#retain || this.#called || this.#nobodyReads ? 0 : this.log.total
  }
}
