import { ProxyError } from './failure.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The variables that say it. */
export const proxyVariables = [
  'HTTPS_PROXY',
  'https_proxy',
  'HTTP_PROXY',
  'http_proxy',
  'NO_PROXY',
  'no_proxy',
] as const

/** Which proxy a URL goes through. */
export class Proxies {
  readonly #option: string | undefined
  readonly #env: Env

  constructor(option: string | undefined, env: Env) {
    this.#option = option
    this.#env = env
  }

  /** The proxy of a URL; undefined = none. Throws ProxyError for a setting that is no URL. */
  of(url: URL): URL | undefined {
    if (this.#option === 'direct') return undefined
    if (this.#option) return parse(this.#option)
    const secure = url.protocol === 'https:' || url.protocol === 'wss:'
    const setting = secure
      ? this.#either('HTTPS_PROXY', 'https_proxy')
      : this.#either('HTTP_PROXY', 'http_proxy')
    if (!setting || exempt(url, this.#either('NO_PROXY', 'no_proxy') ?? '')) return undefined
    return parse(setting)
  }

  #either(...names: string[]): string | undefined {
    return names.map((n) => this.#env[n]).find((v) => v)
  }
}

function parse(setting: string): URL {
  const text = setting.includes('://') ? setting : `http://${setting}`
  if (URL.canParse(text)) {
    const url = new URL(text)
    if ((url.protocol === 'http:' || url.protocol === 'https:') && url.hostname) return url
  }
  // its text may hold a password
  throw new ProxyError({
    kind: 'other',
    host: '',
    message: 'the proxy setting is no URL of http or https',
  })
}

/** The header that shows a proxy's credentials. */
export function proxyAuthorization(proxy: URL): [string, string][] {
  if (!proxy.username && !proxy.password) return []
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  return [['Proxy-Authorization', `Basic ${globalThis.Buffer.from(pair).toString('base64')}`]]
}

/** Whether NO_PROXY names the host: a name (also for what is below it), an address, a range or `*`, each with or without a port. */
function exempt(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const port = url.port || (url.protocol === 'https:' || url.protocol === 'wss:' ? '443' : '80')
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && matches(entry, host, port))
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true
  if (entry.includes('/')) return inRange(host, entry)
  const { name, only } = splitPort(entry)
  if (only && only !== port) return false
  const bare = name.replace(/^\*?\./, '')
  if (name.startsWith('.') || name.startsWith('*.')) return host.endsWith(`.${bare}`)
  return host === bare || host.endsWith(`.${bare}`)
}

function splitPort(entry: string): { name: string; only?: string } {
  const bracketed = /^\[(.+)\](?::(\d+))?$/.exec(entry)
  if (bracketed)
    return { name: bracketed[1] as string, ...(bracketed[2] ? { only: bracketed[2] } : {}) }
  const plain = /^([^:]+):(\d+)$/.exec(entry)
  return plain ? { name: plain[1] as string, only: plain[2] as string } : { name: entry }
}

/** Ranges of IPv4 alone. */
function inRange(host: string, range: string): boolean {
  const [base, bits] = range.split('/') as [string, string]
  const a = ipv4(host)
  const b = ipv4(base)
  const n = Number(bits)
  if (a === undefined || b === undefined || !(n >= 0 && n <= 32)) return false
  const size = 2 ** (32 - n)
  return Math.floor(a / size) === Math.floor(b / size)
}

function ipv4(text: string): number | undefined {
  if (!/^\d+\.\d+\.\d+\.\d+$/.test(text)) return undefined
  return text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}
