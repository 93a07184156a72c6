/** Longest time that setTimeout takes. */
const longest = 0x7fffffff

/** One timer of the core. Starting it anew only moves its end: a stream does so with every chunk. */
export class Timer {
  readonly #fire: () => void
  #handle: ReturnType<typeof setTimeout> | undefined
  #end = 0
  #wakes = 0

  constructor(fire: () => void) {
    this.#fire = fire
  }

  /** Fires after ms, not before; a timer that is set already starts anew. */
  set(ms: number): void {
    this.#end = performance.now() + ms
    if (this.#handle !== undefined) {
      if (this.#wakes <= this.#end) return
      clearTimeout(this.#handle)
    }
    this.#arm()
  }

  clear(): void {
    clearTimeout(this.#handle)
    this.#handle = undefined
  }

  #arm(): void {
    const left = Math.min(Math.max(Math.ceil(this.#end - performance.now()), 1), longest)
    this.#wakes = performance.now() + left
    this.#handle = setTimeout(() => this.#awake(), left)
  }

  #awake(): void {
    this.#handle = undefined
    if (performance.now() < this.#end) return this.#arm()
    this.#fire()
  }
}
