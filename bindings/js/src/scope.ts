import type { Context } from './platform/platform.ts'

interface Scope {
  readonly owner: object
  readonly outer: Scope | undefined
  over: boolean
}

/**
 * Knows whose callbacks something is called from, so that a callback is not waited for by itself.
 * Where the system follows no call through what it awaits, only what a callback calls at once is
 * known.
 */
export class Scopes {
  readonly #make: (() => Context<Scope>) | undefined
  #context: Context<Scope> | undefined
  #now: Scope | undefined

  constructor(make: (() => Context<Scope>) | undefined) {
    this.#make = make
  }

  /** Makes a call that is a callback of owner. */
  run(owner: object, call: () => void | Promise<void>): void | Promise<void> {
    if (this.#make) this.#context ??= this.#make()
    const before = this.#now
    const scope: Scope = { owner, outer: this.#innermost(), over: false }
    const end = () => {
      scope.over = true
    }
    this.#now = scope
    try {
      const done = this.#context ? this.#context.run(scope, call) : call()
      if (done) return Promise.resolve(done).finally(end)
      end()
    } catch (error) {
      end()
      throw error
    } finally {
      this.#now = before
    }
  }

  /** Whether this is called by a callback of owner that has not returned yet. */
  within(owner: object): boolean {
    for (let scope = this.#innermost(); scope; scope = scope.outer)
      if (scope.owner === owner && !scope.over) return true
    return false
  }

  #innermost(): Scope | undefined {
    return this.#now ?? this.#context?.getStore()
  }
}
