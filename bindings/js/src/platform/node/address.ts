import type { Failure } from '../platform.ts'

/** The address of a URL with the port spelled out. */
export function hostPort(url: URL): string {
  const secure = url.protocol === 'https:' || url.protocol === 'wss:'
  return `${url.hostname}:${url.port || (secure ? '443' : '80')}`
}

/** Whether a name means this machine by RFC 6761 6.3; the resolver often does not know its subdomains. */
export function isLocalhost(name: string): boolean {
  const plain = name.toLowerCase().replace(/\.$/, '')
  return plain === 'localhost' || plain.endsWith('.localhost')
}

/** Whether a host of a URL is this machine. */
export function isLoopback(name: string): boolean {
  return (
    isLocalhost(name) || /^127\.\d+\.\d+\.\d+$/.test(name) || name === '[::1]' || name === '::1'
  )
}

type Found = (
  error: null,
  address: string | { address: string; family: number }[],
  family?: number,
) => void

/** Resolves names of this machine to itself, IPv4 first. */
export function lookupLoopback(_name: string, options: { all?: boolean }, found: Found): void {
  if (!options.all) return found(null, '127.0.0.1', 4)
  found(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ])
}

/** Takes only absolute URLs of the given schemes; a failure never shows the URL: a query may hold a signature. */
export function parseURL(raw: string, ...schemes: string[]): URL | Failure {
  let url: URL
  try {
    url = new URL(raw)
  } catch {
    return unusable('the URL cannot be parsed')
  }
  if (!schemes.includes(url.protocol.slice(0, -1)) || url.hostname === '') {
    return unusable(`the URL needs a host and the scheme ${schemes.join(' or ')}`)
  }
  return url
}

function unusable(message: string): Failure {
  return { kind: 'other', host: '', message }
}
