/** Calls a caller's functions one after another, each awaited before the next. */
export class CallbackQueue {
  readonly #hold: (on: boolean) => void
  readonly #failed: (error: unknown) => void
  #queue: (() => void | Promise<void>)[] = []
  #running = false
  #over = false
  #idle: (() => void)[] = []

  /** `hold` stops what gives more while a function runs; `failed` takes what one throws, after which none is called. */
  constructor(hold: (on: boolean) => void, failed: (error: unknown) => void) {
    this.#hold = hold
    this.#failed = failed
  }

  push(call: () => void | Promise<void>): void {
    if (this.#over) return
    this.#queue.push(call)
    if (this.#running) return
    this.#running = true
    // Not now: a function may call the core, which is in the middle of its answer.
    queueMicrotask(() => this.#run())
  }

  /** None is called any more. */
  stop(): void {
    this.#over = true
    this.#queue = []
    this.#settle()
  }

  /** Waits until all have been called. */
  async drained(): Promise<void> {
    if (this.#running && !this.#over) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  async #run(): Promise<void> {
    try {
      for (let call = this.#queue.shift(); call; call = this.#queue.shift()) {
        const done = call()
        if (!done) continue
        this.#hold(true)
        await done
      }
    } catch (error) {
      this.stop()
      this.#failed(error)
    } finally {
      this.#running = false
      this.#hold(false)
      this.#settle()
    }
  }

  #settle(): void {
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
