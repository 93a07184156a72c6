import { checkCallbacks } from './argument.ts'
import type { Binding } from './binding.ts'
import { CallbackQueue } from './callback_queue.ts'
import { Out } from './engine/frame.ts'
import type { Listener, Operation } from './engine/operation.ts'
import { Execution, OutputMessage } from './execution.ts'
import { errorFromJSON, InvalidArgumentError, type SandboxError } from './generated/errors.ts'
import { type SandboxRunCodeOptions, sandboxRunCodeParams } from './generated/methods.ts'
import { type CodeContext, type CodeError, readCodeEnd } from './generated/types.ts'
import { textDecoder } from './output.ts'
import { Patience } from './patience.ts'
import { type RawResult, Result } from './result.ts'

type Callback<T> = ((value: T) => void | Promise<void>) | undefined

/** Options of running code. */
export interface RunCodeOptions extends Omit<SandboxRunCodeOptions, 'contextId'> {
  /** Where to run it: a context or its id; default: the default context of the language, which this excludes. */
  readonly context?: CodeContext | string | undefined
  /** Each call is awaited before the next; output waits meanwhile and is never dropped. */
  readonly onStdout?: Callback<OutputMessage>
  readonly onStderr?: Callback<OutputMessage>
  readonly onResult?: Callback<Result>
  /** What the code raised. */
  readonly onError?: Callback<CodeError>
}

/** How long code may run unless a call says otherwise, in ms. */
const usualTimeout = 300_000

const ownNames = ['context', 'onStdout', 'onStderr', 'onResult', 'onError']

/** The id of a context, of which either is given. */
export function contextIdOf(context: CodeContext | string): string {
  const id = typeof context === 'object' && context !== null ? context.id : context
  if (typeof id !== 'string')
    throw new InvalidArgumentError('context must be a context, or its id', { option: 'context' })
  return id
}

/** Runs code to its end; the signal interrupts it. */
export async function runCode(
  binding: Binding,
  code: string,
  options: RunCodeOptions,
): Promise<Execution> {
  const { context, signal } = options
  const given =
    context === undefined || context === null
      ? options
      : { ...options, contextId: contextIdOf(context) }
  const params = sandboxRunCodeParams(code, given, ownNames)
  const runner = new CodeRunner(options, Patience.of(params, usualTimeout))
  const operation = binding.start(
    {
      method: 'sandbox.run_code',
      params,
      listener: runner,
      fail: runner.fail,
      patient: !runner.calls,
    },
    { signal },
  )
  return runner.finish(operation, signal)
}

/** Keeps what code gives, and calls back. */
class CodeRunner implements Listener {
  readonly #callbacks: Pick<RunCodeOptions, 'onStdout' | 'onStderr' | 'onResult' | 'onError'>
  readonly #queue: CallbackQueue
  readonly #patience: Patience
  readonly #decoder = textDecoder()
  readonly #results: Result[] = []
  readonly #stdout: string[] = []
  readonly #stderr: string[] = []
  #pieces: string[] = []
  #operation: Operation | undefined
  #thrown: { error: unknown } | undefined

  constructor({ onStdout, onStderr, onResult, onError }: RunCodeOptions, patience: Patience) {
    this.#patience = patience
    this.#callbacks = { onStdout, onStderr, onResult, onError }
    checkCallbacks(this.#callbacks)
    this.#queue = new CallbackQueue(
      (on) => this.#operation?.hold(on),
      (error) => this.#threw(error),
    )
  }

  /** Whether anything is called back before the end. */
  get calls(): boolean {
    return Object.values(this.#callbacks).some(Boolean)
  }

  /** Makes an error with what has come so far. */
  readonly fail = (error: object, cause: unknown): SandboxError => {
    const { partial } = error as { partial?: unknown }
    return errorFromJSON(error, partial ? this.#execution(partial) : undefined, cause)
  }

  async finish(operation: Operation, signal: AbortSignal | undefined): Promise<Execution> {
    this.#operation = operation
    const cancel = () => {
      this.#queue.stop()
      operation.cancel(signal?.reason)
    }
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      const execution = this.#execution(await this.#outcome(operation))
      await this.#called(undefined, execution)
      if (signal?.aborted) throw signal.reason
      return execution
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  async #outcome(operation: Operation): Promise<unknown> {
    try {
      return await operation.result
    } catch (error) {
      await this.#called(error)
      throw error
    }
  }

  /** Waits until every callback has returned, after what ended the operation. */
  async #called(error: unknown, execution?: Execution): Promise<void> {
    if (!(await this.#patience.lasts(this.#queue.drained(), error))) {
      this.#queue.stop()
      throw this.#patience.failure(error, execution)
    }
    if (this.#thrown) throw this.#thrown.error
  }

  output(channel: number, bytes: Uint8Array): void {
    if (channel === Out.object) this.#pieces.push(this.#decoder.decode(bytes))
    else this.#messages(bytes)
  }

  /** There may be very many: they are decoded together where each byte is a character. */
  #messages(bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const sizes = bytes.length - 4 - 4 * view.getUint32(bytes.length - 4, true)
    const texts = bytes.subarray(0, sizes)
    const all = this.#decoder.decode(texts)
    const whole = all.length === texts.length
    let at = 0
    for (let i = sizes; i < bytes.length - 4; i += 4) {
      const size = view.getUint32(i, true)
      const end = at + (size >>> 1)
      const text = whole ? all.slice(at, end) : this.#decoder.decode(texts.subarray(at, end))
      this.#message(text, (size & 1) === 1)
      at = end
    }
  }

  #message(text: string, error: boolean): void {
    const kept = error ? this.#stderr : this.#stdout
    kept.push(text)
    const call = error ? this.#callbacks.onStderr : this.#callbacks.onStdout
    if (!call) return
    const message = new OutputMessage(text, error)
    this.#queue.push(() => call(message))
  }

  event(event: { kind: string; error?: unknown }): void {
    const { onResult, onError } = this.#callbacks
    if (event.kind === 'result') {
      const result = new Result(JSON.parse(this.#pieces.join('')) as RawResult)
      this.#pieces = []
      this.#results.push(result)
      if (onResult) this.#queue.push(() => onResult(result))
    } else if (event.kind === 'error' && onError) {
      const error = event.error as CodeError
      this.#queue.push(() => onError(error))
    }
  }

  #execution(end: unknown): Execution {
    const { error, executionCount } = readCodeEnd(end)
    const logs = { stdout: this.#stdout, stderr: this.#stderr }
    return new Execution(this.#results, logs, error, executionCount)
  }

  /** What a callback throws interrupts the code and goes to the caller. */
  #threw(error: unknown): void {
    this.#thrown ??= { error }
    this.#operation?.cancel(error)
  }
}
