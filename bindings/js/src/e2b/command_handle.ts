import type { CommandHandle as Own } from '../index.ts'
import { at, type Place } from './errors.ts'
import type { RequestOpts } from './options.ts'
import { type CommandResult, checked, resultOf } from './result.ts'

/** A command or terminal that goes on by itself. */
export class CommandHandle {
  /** Its process id. */
  readonly pid: number
  readonly #own: Own
  readonly #end: Promise<CommandResult>
  #result: CommandResult | undefined

  /** @internal */
  constructor(own: Own) {
    this.pid = own.pid
    this.#own = own
    this.#end = this.#follow('process', own)
    this.#end.catch(() => {}) // whoever waits hears of it
  }

  #follow(place: Place, own: Own): Promise<CommandResult> {
    return at(place, async () => {
      const ended = await own.wait()
      this.#result = resultOf(ended)
      return checked(ended)
    })
  }

  /** Undefined while it runs; -1 when a signal killed it. */
  get exitCode(): number | undefined {
    return this.#result?.exitCode
  }

  /** The sandbox's words about the end, if any. */
  get error(): string | undefined {
    return this.#result?.error
  }

  /** The output so far. */
  get stdout(): string {
    return this.#own.stdout
  }

  /** The error output so far. */
  get stderr(): string {
    return this.#own.stderr
  }

  /**
   * Waits for the end.
   *
   * @throws CommandExitError: it did not exit with 0. TimeoutError: it ran out of time.
   */
  wait(): Promise<CommandResult> {
    return this.#end
  }

  /** Stops following it; it runs on. */
  async disconnect(): Promise<void> {
    this.#own.disconnect()
  }

  /** Ends it with SIGKILL; false when it had ended. */
  kill(): Promise<boolean> {
    return at('process', () => this.#own.kill())
  }

  /** Writes to its stdin, or types into the terminal. */
  sendStdin(data: string | Uint8Array, opts: RequestOpts = {}): Promise<void> {
    return at('process', () => this.#own.sendStdin(data, opts))
  }

  /** Ends its stdin. */
  closeStdin(opts: RequestOpts = {}): Promise<void> {
    return at('process', () => this.#own.closeStdin(opts))
  }
}
