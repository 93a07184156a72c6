import type { CommandEnd } from './generated/types.ts'
import type { OutputLog } from './output.ts'

/** How a command ended: it exited, or was killed by a signal. A non-zero exit is a result, not an error. */
export class CommandResult {
  /** 128 + n when it was killed by signal n; -1 when it is not known. */
  readonly exitCode: number
  /** `killed`, `terminated`, ...; absent when it exited by itself. */
  readonly signal?: string | undefined
  /** The sandbox's words about the end. */
  readonly error?: string | undefined
  /** From the call to the end, in milliseconds. */
  readonly executionTimeMs: number
  readonly #log: OutputLog
  readonly #texts: { stdout?: string; stderr?: string } = {}

  constructor(end: CommandEnd, log: OutputLog) {
    this.exitCode = end.exitCode
    if (end.signal !== undefined) this.signal = end.signal
    if (end.error !== undefined) this.error = end.error
    this.executionTimeMs = end.executionTimeMs
    this.#log = log
  }

  /** It exited with 0. */
  get ok(): boolean {
    return this.exitCode === 0 && this.signal === undefined
  }

  /** The output as text; broken UTF-8 becomes U+FFFD. */
  get stdout(): string {
    this.#texts.stdout ??= this.#log.text('stdout')
    return this.#texts.stdout
  }

  /** The error output as text. */
  get stderr(): string {
    this.#texts.stderr ??= this.#log.text('stderr')
    return this.#texts.stderr
  }

  /** The exact output. Each call makes a new array. */
  get stdoutBytes(): Uint8Array {
    return this.#log.bytes('stdout')
  }

  /** The exact error output. */
  get stderrBytes(): Uint8Array {
    return this.#log.bytes('stderr')
  }

  toJSON(): Record<string, unknown> {
    const { stdout, stderr, exitCode, signal, error, executionTimeMs } = this
    return { stdout, stderr, exitCode, signal, error, executionTimeMs }
  }

  /** What console.log shows in Node. */
  [Symbol.for('nodejs.util.inspect.custom')](
    _depth: number,
    options: object,
    inspect?: (value: unknown, options: object) => string,
  ): unknown {
    const shown = Object.fromEntries(
      Object.entries(this.toJSON()).filter(([, v]) => v !== undefined),
    )
    return inspect ? `CommandResult ${inspect(shown, options)}` : shown
  }
}
