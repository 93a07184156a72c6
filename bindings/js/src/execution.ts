import type { CodeError } from './generated/types.ts'
import type { Result } from './result.ts'

/** What the code printed, message by message. One of more than a mebibyte comes in several pieces. */
export interface Logs {
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
}

/** What one run of code gave. */
export class Execution {
  /** What display calls showed, and the value of the last line. */
  readonly results: readonly Result[]
  /** What it printed. */
  readonly logs: Logs
  /** What it raised; absent when it raised nothing. */
  readonly error?: CodeError | undefined
  /** The number of the execution in its context; absent when the service did not say. */
  readonly executionCount?: number | undefined

  /** @internal */
  constructor(
    results: readonly Result[],
    logs: Logs,
    error: CodeError | undefined,
    executionCount: number | undefined,
  ) {
    this.results = results
    this.logs = logs
    if (error !== undefined) this.error = error
    if (executionCount !== undefined) this.executionCount = executionCount
  }

  /** The text of the main result, the value of the last line. */
  get text(): string | undefined {
    return this.results.find((one) => one.isMainResult)?.text
  }

  /** All that was printed to stdout. */
  get stdout(): string {
    return this.logs.stdout.join('')
  }

  /** All that was printed to stderr. */
  get stderr(): string {
    return this.logs.stderr.join('')
  }

  toJSON(): Record<string, unknown> {
    const { results, logs, error, executionCount } = this
    return { results, logs, error, executionCount }
  }
}

/** A message that code printed. */
export class OutputMessage {
  /** Whole characters; it need not be one line. */
  readonly line: string
  /** When it came here. */
  readonly timestamp: Date
  /** Whether it is stderr's. */
  readonly error: boolean

  /** @internal */
  constructor(line: string, error: boolean) {
    this.line = line
    this.timestamp = new Date()
    this.error = error
  }

  toString(): string {
    return this.line
  }
}
