import type {
  Chart,
  ChartScale,
  CodeContext,
  CodeError,
  OutputMessage as OwnMessage,
  Result,
} from '../index.ts'

/** Where code runs. */
export type Context = CodeContext
/** What code raised. */
export type ExecutionError = CodeError
/** The kinds of charts. */
export type ChartType = Chart['type']
/** The kinds of scales. */
export type ScaleType = ChartScale
/** The name of a form. */
export type MIMEType = string
/** A language, or the name of a kernel. */
export type RunCodeLanguage =
  | 'python'
  | 'javascript'
  | 'typescript'
  | 'r'
  | 'java'
  | 'bash'
  | (string & Record<never, never>)

/** A piece of what code printed. */
export class OutputMessage {
  /** The text. */
  readonly line: string
  /** When it came here, in nanoseconds since 1970. */
  readonly timestamp: number
  /** Whether it is stderr's. */
  readonly error: boolean

  constructor(line: string, timestamp: number, error: boolean) {
    this.line = line
    this.timestamp = timestamp
    this.error = error
  }

  toString(): string {
    return this.line
  }
}

type Callback<T> = ((value: T) => unknown) | undefined

/** Options of running code. */
export interface RunCodeOpts {
  readonly onStdout?: Callback<OutputMessage>
  readonly onStderr?: Callback<OutputMessage>
  readonly onResult?: Callback<Result>
  readonly onError?: Callback<ExecutionError>
  readonly envs?: Readonly<Record<string, string>> | undefined
  /** Default: 300,000; 0 = no limit. */
  readonly timeoutMs?: number | undefined
  readonly requestTimeoutMs?: number | undefined
  /** Interrupts it. */
  readonly signal?: AbortSignal | undefined
}

/** Options of a new context. */
export interface CreateCodeContextOpts {
  readonly cwd?: string | undefined
  readonly language?: RunCodeLanguage | undefined
  readonly requestTimeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** A callback whose answer is waited for. */
export function awaited<T>(callback: Callback<T>) {
  return callback && (async (value: T) => void (await callback(value)))
}

/** A callback for messages of E2B's kind. */
export function onMessage(callback: Callback<OutputMessage>) {
  return (
    callback &&
    (async (own: OwnMessage) => {
      await callback(new OutputMessage(own.line, own.timestamp.getTime() * 1_000_000, own.error))
    })
  )
}
