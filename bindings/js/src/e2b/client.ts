import { CodeInterpreter } from './interpreter.ts'
import type { ConnectionOpts } from './options.ts'
import { Sandbox } from './sandbox.ts'

/** Options that a client binds. */
export type E2BClientOpts = Omit<ConnectionOpts, 'signal'>

/** Which argument of a call on the account holds its options. */
const optionsAt = {
  connect: 1,
  getFullInfo: 1,
  getInfo: 1,
  getMetrics: 1,
  kill: 1,
  list: 0,
  pause: 1,
  betaPause: 1,
  setTimeout: 2,
  updateNetwork: 2,
}

/** Classes whose calls on the account take a client's options where they are given none. */
export class E2B {
  readonly Sandbox: typeof Sandbox

  constructor(opts: E2BClientOpts = {}) {
    this.Sandbox = bound(Sandbox, opts)
  }
}

/** The same with sandboxes that run code. */
export class CodeInterpreterClient {
  readonly Sandbox: typeof CodeInterpreter

  constructor(opts: E2BClientOpts = {}) {
    this.Sandbox = bound(CodeInterpreter, opts)
  }
}

function bound<S extends typeof Sandbox>(kind: S, opts: E2BClientOpts): S {
  const class_ = class extends (kind as typeof Sandbox) {}
  const bind = (name: string, at: (given: unknown[]) => number) => {
    const call = Reflect.get(kind, name) as (...given: unknown[]) => unknown
    const value = (...given: unknown[]) => {
      const place = at(given)
      given[place] = { ...opts, ...defined(given[place]) }
      return Reflect.apply(call, class_, given)
    }
    Object.defineProperty(class_, name, { value })
  }
  for (const [name, at] of Object.entries(optionsAt)) bind(name, () => at)
  bind('create', ([template]) => (typeof template === 'string' ? 1 : 0))
  Object.defineProperty(class_, 'name', { value: kind.name })
  return class_ as S
}

/** What is given: an option that is undefined is not. */
function defined(options: unknown): object {
  return Object.fromEntries(
    Object.entries(options ?? {}).filter(([, value]) => value !== undefined),
  )
}
