import { CommandTimeoutError, SandboxError } from './generated/errors.ts'

/** How long callbacks may still take once the clock of what they belong to has fired, in ms. */
const grace = 2000

/** Bounds the waiting for callbacks that may never return, by the clock of the call they belong to. */
export class Patience {
  readonly #limit: number
  readonly #began = performance.now()

  /** `limit` is the call's timeout: 0 is none. */
  constructor(limit: number) {
    this.#limit = limit || Number.POSITIVE_INFINITY
  }

  /** That of a call with such parameters; `usual` is its timeout unless they say one. */
  static of(params: { timeout_ms?: number | undefined }, usual: number): Patience {
    return new Patience(params.timeout_ms ?? usual)
  }

  /** Waits until the callbacks have returned, after what ended the call: false when that takes too long. */
  async lasts(returned: Promise<void>, error: unknown): Promise<boolean> {
    const left = clockFired(error) ? 0 : this.#began + this.#limit - performance.now()
    if (left === Number.POSITIVE_INFINITY) {
      await returned
      return true
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    // One timer may be too short for a long clock: what ends too early is worse than what ends late.
    const wait = Math.min(Math.max(left, 0) + grace, 0x7fffffff)
    const over = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), wait)
    })
    try {
      return await Promise.race([returned.then(() => true), over])
    } finally {
      clearTimeout(timer)
    }
  }

  /** What a call fails with whose callbacks have taken too long. */
  failure(error: unknown, partial?: CommandTimeoutError['partial']): unknown {
    const late = 'a callback had not returned'
    if (clockFired(error)) {
      const made = error.constructor as typeof SandboxError
      const { cause } = error
      return new made(`${error.message}; ${late} ${grace} ms later`, { ...error, cause })
    }
    if (error !== undefined) return error
    return new CommandTimeoutError(`${late} when the timeout of ${this.#limit} ms was over`, {
      clock: 'command',
      limitMs: this.#limit,
      partial,
    })
  }
}

/** Whether a call was ended by a clock: also code that then took no notice of its interrupt. */
function clockFired(error: unknown): error is SandboxError {
  return error instanceof SandboxError && error.clock !== undefined
}
