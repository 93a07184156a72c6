import type { Failing, PageCredential } from '../platform.ts'

/** Where the key is kept for as long as the tab lives. */
const storeName = 'agent-sandbox.page-key'

/** A one-time code in the fragment of the page's address. */
const codeInFragment = /(?:^#|&)code=([A-Za-z0-9_-]+)/

/**
 * The key of a page that `sandboxc serve --pages` serves. The address that sandboxc prints has a
 * code in its fragment, which is good once: it is taken out of the address bar and exchanged for a
 * key that works in pages of this origin alone.
 */
export class PageKey {
  #pending: Promise<Outcome> | undefined

  /** Begins the exchange of a code, where there is one, so that it is done when the key is asked for. */
  prepare(): void {
    if (takesCode()) this.#find()
  }

  /** The key; undefined where there is no page. Throws E1001 where the page has none. */
  async get(fail: Failing): Promise<PageCredential | undefined> {
    const found = this.#find()
    const { credential, problem } = await found
    if (!problem) return credential
    // It was told once, and is no answer for the next one who asks.
    if (this.#pending === found) this.#pending = undefined
    throw fail(problem)
  }

  #find(): Promise<Outcome> {
    if (this.#pending && !takesCode()) return this.#pending
    this.#pending = find()
    return this.#pending
  }
}

/** What came of the search: a credential, a problem, or neither where there is no page. */
interface Outcome {
  credential?: PageCredential
  problem?: Parameters<Failing>[0]
}

async function find(): Promise<Outcome> {
  const page = globalThis.location
  if (!page) return {}
  const code = takesCode() ? takeCode() : undefined
  const { key, problem } = code === undefined ? kept() : await exchange(code)
  if (key === undefined) return { problem: problem ?? noKey() }
  keep(key)
  return { credential: { apiKey: key, apiUrl: page.origin, provider: 'local' } }
}

interface Found {
  key?: string | undefined
  problem?: Parameters<Failing>[0]
}

/** Only a page of the local server takes a code: elsewhere `#code=` is somebody else's. */
function takesCode(): boolean {
  const page = globalThis.location
  return (
    typeof document === 'object' &&
    !!page?.pathname.startsWith('/pages/') &&
    codeInFragment.test(page.hash)
  )
}

function takeCode(): string | undefined {
  const { hash, pathname, search } = location
  const code = codeInFragment.exec(hash)?.[1]
  const rest = hash.replace(codeInFragment, '').replace(/^&/, '#')
  history.replaceState(history.state, '', pathname + search + (rest === '#' ? '' : rest))
  return code
}

async function exchange(code: string): Promise<Found> {
  let response: Response
  try {
    response = await fetch('/page-codes', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
      cache: 'no-store',
      credentials: 'omit',
    })
  } catch (cause) {
    return {
      problem: {
        code: 'E5001',
        message: 'the local server that served this page does not answer',
        suggestion: 'start it again: sandboxc serve --pages DIR',
        cause,
      },
    }
  }
  const answer = (await response.json().catch(() => ({}))) as { key?: string; message?: string }
  if (answer.key) return { key: answer.key }
  return {
    problem: {
      code: 'E1001',
      message: `the code in this page's address was refused: ${answer.message ?? `status ${response.status}`}`,
      suggestion: 'run sandboxc page and open the address that it prints within 60 s',
      docs: 'docs/browser.md',
    },
  }
}

function noKey(): Parameters<Failing>[0] {
  const { origin } = location
  return {
    code: 'E1001',
    message: 'this page has no key',
    suggestion: `run sandboxc serve --page-key ${origin === 'null' ? 'ORIGIN' : origin} and pass what it prints: { provider: 'local', apiKey: KEY, apiUrl: URL }; or let sandboxc serve --pages DIR serve the page`,
    docs: 'docs/browser.md',
  }
}

/** Storage is refused to some frames, and workers have none. */
function kept(): Found {
  try {
    return { key: sessionStorage.getItem(storeName) ?? undefined }
  } catch {
    return {}
  }
}

function keep(key: string): void {
  try {
    sessionStorage.setItem(storeName, key)
  } catch {
    // The key then lives as long as this page.
  }
}
