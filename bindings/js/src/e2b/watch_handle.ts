import type { WatchHandle as Own } from '../index.ts'
import { now } from './errors.ts'

/** A watch that goes on until it is stopped, or its time is over. */
export class WatchHandle {
  readonly #own: Own
  readonly #timer: ReturnType<typeof setTimeout> | undefined

  /** @internal */
  constructor(own: Own, timeoutMs: number, over: () => void) {
    this.#own = own
    if (timeoutMs > 0) {
      this.#timer = setTimeout(() => {
        over()
        own.stop()
      }, timeoutMs)
    }
    own.wait().then(
      () => clearTimeout(this.#timer),
      () => clearTimeout(this.#timer),
    )
  }

  /** Ends the watch. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    now(() => this.#own.stop())
  }
}
