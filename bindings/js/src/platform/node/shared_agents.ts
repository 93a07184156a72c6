import type * as fs from 'node:fs'
import { Agents, type Authorities } from './agents.ts'
import { builtin } from './builtin.ts'
import { Proxies, proxyVariables } from './proxy.ts'
import type { Env } from './settings.ts'

/** Sets of options whose connections are kept for the next client. */
const keptSets = 64

/** The connections of all clients: those whose options lead the same way share them. */
export class SharedAgents {
  readonly #kept = new Map<string, Agents>()

  of(proxy: string | undefined, env: Env, authorities: Authorities | undefined): Agents {
    const variables = proxyVariables.map((name) => env[name])
    const key = JSON.stringify([proxy, variables, authorities && [authorities, age(authorities)]])
    const kept = this.#kept.get(key)
    if (kept) return kept
    const agents = new Agents(new Proxies(proxy, env), authorities)
    this.#kept.set(key, agents)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > keptSets && oldest !== undefined) this.#kept.delete(oldest)
    return agents
  }
}

/** Tells a file of authorities from what replaces it. */
function age({ path }: Authorities): number[] {
  const file = builtin<typeof fs>('node:fs').statSync(path, { throwIfNoEntry: false })
  return file ? [file.ino, file.size, file.mtimeMs] : []
}
