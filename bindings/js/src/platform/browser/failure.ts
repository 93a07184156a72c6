import type { Failure } from '../platform.ts'

/** How long a page waits to learn whether anybody listens, in milliseconds. */
const probeClock = 2000

/**
 * Puts a request that failed before its answer into words. A browser keeps the reason from the
 * page, so it is asked another way: whether it can reach that host at all.
 */
export async function explain(url: URL, method: string): Promise<Failure> {
  const host = hostPort(url)
  if (mixed(url)) {
    return {
      kind: 'connect',
      host,
      message:
        'an https page may not use http (mixed content): serve the page by http, or use an https address',
    }
  }
  if (await answers(url)) {
    return {
      kind: 'send',
      host,
      message: `the server is there, but the browser gave no answer to this page: either its origin, ${origin()}, is not allowed (CORS; sandboxc serve --allow-origin ORIGIN), or the connection was cut`,
    }
  }
  return {
    kind: certainlyUnsent(url, method) ? 'connect' : 'send',
    host,
    message: `the browser cannot reach it: is the server running (sandboxc serve), is the address right, and may this page, ${origin()}, use it (mixed content, CORS, permission for the local network)?`,
  }
}

/**
 * Whether a repetition can do no harm, now that nobody answers. On this machine a server that is
 * gone has taken its sandboxes along; behind a network the request may have arrived before the line
 * went down.
 */
function certainlyUnsent(url: URL, method: string): boolean {
  return loopback(url.hostname) || method === 'GET' || method === 'HEAD'
}

/** Why the body of an answer ended too early. */
export function cut(url: URL): Failure {
  return { kind: 'reset', host: hostPort(url), message: 'the connection ended inside the answer' }
}

export function other(url: URL, message: string): Failure {
  return { kind: 'other', host: hostPort(url), message }
}

/** host:port, with the port that the scheme means. */
export function hostPort(url: URL): string {
  const port = url.port || (url.protocol === 'https:' || url.protocol === 'wss:' ? '443' : '80')
  return `${url.hostname}:${port}`
}

/** Asks without any header, as an image would: that needs no permission, and gives no answer but that there is one. */
async function answers(url: URL): Promise<boolean> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), probeClock)
  try {
    await fetch(`${url.origin}/`, {
      mode: 'no-cors',
      method: 'HEAD',
      cache: 'no-store',
      credentials: 'omit',
      signal: stop.signal,
    })
    return true
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}

function mixed(url: URL): boolean {
  return (
    globalThis.location?.protocol === 'https:' &&
    url.protocol === 'http:' &&
    !loopback(url.hostname)
  )
}

export function loopback(name: string): boolean {
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '127.0.0.1' || name === '[::1]'
  )
}

function origin(): string {
  return globalThis.location?.origin ?? 'a runtime without an origin'
}
