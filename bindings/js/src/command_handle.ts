import { mayBegin } from './argument.ts'
import type { CommandResult } from './command_result.ts'
import type { Controls } from './commands.ts'
import type { Follower, OutputChunk } from './follower.ts'
import type { CallOptions } from './generated/methods.ts'
import { checkNames } from './generated/option.ts'
import type { Data, DataPiece } from './source.ts'

interface Input {
  sendStdin?(pid: number, data: DataPiece, options?: CallOptions): Promise<void>
  streamStdin?(pid: number, data: Data, options?: CallOptions): Promise<void>
  closeStdin?(pid: number, options?: CallOptions): Promise<void>
  streamInput?(pid: number, data: Data, options?: CallOptions): Promise<void>
  sendInput?(pid: number, data: DataPiece, options?: CallOptions): Promise<void>
  resize?(pid: number, options: { cols: number; rows: number } & CallOptions): Promise<void>
}

/**
 * A command or terminal that goes on by itself. Read its output with `for await`, wait for its end
 * with `wait()`. Output is kept (`stdout`, `stderr`) unless `retainOutput: false`: then it waits
 * for a reader, and the process with it, until `wait()` says that nobody will read it.
 */
export class CommandHandle implements AsyncIterable<OutputChunk>, AsyncDisposable {
  /** Its process id. */
  readonly pid: number
  readonly #follower: Follower
  readonly #controls: Controls & Input
  #result: CommandResult | undefined

  /** @internal */
  constructor(pid: number, follower: Follower, controls: Controls & Input) {
    this.pid = pid
    this.#follower = follower
    this.#controls = controls
    follower.end.then(
      (result) => {
        this.#result = result
      },
      () => {},
    )
  }

  /** The output so far, as text. */
  get stdout(): string {
    return this.#follower.log.text('stdout')
  }

  /** The error output so far, as text. */
  get stderr(): string {
    return this.#follower.log.text('stderr')
  }

  /** The output so far. */
  get stdoutBytes(): Uint8Array {
    return this.#follower.log.bytes('stdout')
  }

  /** The error output so far. */
  get stderrBytes(): Uint8Array {
    return this.#follower.log.bytes('stderr')
  }

  /** Undefined while it runs. */
  get exitCode(): number | undefined {
    return this.#result?.exitCode
  }

  /**
   * Waits for the end, and for the callbacks of what came before: not to be called inside of one.
   * The signal ends only the waiting.
   *
   * @throws What `commands.run` throws; CancelledOperationError after `disconnect()`.
   */
  async wait(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<CommandResult> {
    checkNames('wait', ['signal'], options)
    const { signal } = options
    mayBegin(signal)
    this.#follower.checkWait()
    this.#follower.discard()
    if (!signal) return this.#follower.end
    return new Promise((resolve, reject) => {
      const cancel = () => reject(signal.reason)
      signal.addEventListener('abort', cancel, { once: true })
      this.#follower.end
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', cancel))
    })
  }

  /** Ends the process with SIGKILL; false when it had ended already. */
  kill(options?: CallOptions): Promise<boolean> {
    return this.#controls.kill(this.pid, options)
  }

  /** Stops following; the process lives on. No callback begins after it returns. */
  disconnect(): void {
    this.#follower.leave('detach')
  }

  /** Writes to its stdin, or types into the terminal. */
  async sendStdin(data: DataPiece, options?: CallOptions): Promise<void> {
    const send = this.#controls.sendStdin ?? this.#controls.sendInput
    await send?.call(this.#controls, this.pid, data, options)
  }

  /** Writes to its stdin, or types into the terminal, piece by piece in one call. */
  async streamStdin(data: Data, options?: CallOptions): Promise<void> {
    const send = this.#controls.streamStdin ?? this.#controls.streamInput
    await send?.call(this.#controls, this.pid, data, options)
  }

  /** Ends its stdin. */
  async closeStdin(options?: CallOptions): Promise<void> {
    await this.#controls.closeStdin?.(this.pid, options)
  }

  /** Tells a terminal its size. */
  async resize(size: { cols: number; rows: number }, options?: CallOptions): Promise<void> {
    await this.#controls.resize?.(this.pid, { ...size, ...options })
  }

  /**
   * The output, piece by piece, in order; it ends with the process, or after `disconnect()`.
   *
   * @throws What else ended the following, after the output that came, as `wait()` does.
   */
  [Symbol.asyncIterator](): AsyncIterator<OutputChunk, void, undefined> {
    return this.#follower.read()
  }

  /** Kills the process, if it still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#result) await this.kill()
    this.#follower.leave('detach')
  }
}
