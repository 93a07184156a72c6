/**
 * What every request says to fetch. Some edge runtimes refuse the members that are only of use in
 * a browser, with an exception.
 */
export class FetchOptions {
  #common: RequestInit | undefined

  /** No cookies, no cache, no redirects. */
  get common(): RequestInit {
    this.#common ??= accepted({
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'manual',
      referrerPolicy: 'no-referrer',
    })
    return this.#common
  }
}

function accepted(wanted: RequestInit): RequestInit {
  const taken: RequestInit = {}
  for (const [name, value] of Object.entries(wanted)) {
    try {
      new Request('http://localhost/', { [name]: value })
      Object.assign(taken, { [name]: value })
    } catch {
      // This runtime has no such thing, so that there is nothing to turn off either.
    }
  }
  return taken
}
