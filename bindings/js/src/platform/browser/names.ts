/** How many requests go by one name: a browser opens six connections to a host, and one is left for a tab beside. */
const perName = 5

/** A sandbox's own host name on this machine: port, id. */
const sandboxName = /^(\d+-[a-z0-9]+)\.localhost$/

/**
 * Spreads requests that last over names that lead to the same sandbox: `49983-ID-1.localhost`,
 * `49983-ID-2.localhost` and so on, so that six of them do not keep the short ones waiting. Those
 * stay at the plain name. Other hosts are left alone: HTTP/2, which clouds speak, has no such limit.
 */
export class Names {
  /** Another client of this browser most probably begins elsewhere. */
  readonly #first = Math.floor(Math.random() * 1000) * 100
  readonly #taken = new Map<string, number[]>()

  /** Takes a name for a request; release it once the request is over. */
  take(text: string): { url: string; release(): void } {
    const url = new URL(text)
    const label = sandboxName.exec(url.hostname)?.[1]
    if (label === undefined) return { url: text, release: () => {} }
    const counts = this.#counts(`${label}:${url.port}`)
    let n = counts.findIndex((count) => count < perName)
    if (n < 0) n = counts.push(0) - 1
    counts[n] = (counts[n] ?? 0) + 1
    url.hostname = `${label}-${this.#first + n}.localhost`
    return { url: url.href, release: once(() => this.#release(`${label}:${url.port}`, n)) }
  }

  #counts(key: string): number[] {
    let counts = this.#taken.get(key)
    if (!counts) {
      counts = []
      this.#taken.set(key, counts)
    }
    return counts
  }

  #release(key: string, n: number): void {
    const counts = this.#counts(key)
    counts[n] = (counts[n] ?? 1) - 1
    if (counts.every((count) => count === 0)) this.#taken.delete(key)
  }
}

function once(run: () => void): () => void {
  let ran = false
  return () => {
    if (!ran) run()
    ran = true
  }
}
