import type * as fs from 'node:fs'
import type * as http from 'node:http'
import type * as https from 'node:https'
import type * as tls from 'node:tls'
import { isLoopback } from './address.ts'
import { builtin } from './builtin.ts'
import { ProxyError } from './failure.ts'
import { type Proxies, proxyAuthorization } from './proxy.ts'
import { tunnel } from './tunnel.ts'

/** Idle connections are kept this long, in ms. */
const idleLife = 55_000
/** And so many of them, for each peer. */
const idleConnections = 256

/** How a URL is reached. */
export interface Route {
  module: typeof http | typeof https
  agent: http.Agent
  /** Instead of the URL's own: a proxy that takes the whole URL. */
  host?: string
  port?: string
  absolute?: boolean
  headers: [string, string][]
}

/** The connections of one set of options, kept for reuse. An idle one does not keep the process alive. */
export class Agents {
  readonly #proxies: Proxies
  readonly #caFile: string | undefined
  readonly #kept = new Map<string, http.Agent>()
  #trusted: string[] | undefined

  constructor(proxies: Proxies, caFile: string | undefined) {
    this.#proxies = proxies
    this.#caFile = caFile
  }

  /** How an http or https URL is reached. Throws ProxyError, or an Error about the CA file. */
  route(url: URL): Route {
    const secure = url.protocol === 'https:'
    const module = secure ? builtin<typeof https>('node:https') : builtin<typeof http>('node:http')
    const proxy = isLoopback(url.hostname) ? undefined : this.#proxies.of(url)
    if (!proxy) return { module, agent: this.#direct(secure), headers: [] }
    if (secure) return { module, agent: this.#tunnel(proxy, true), headers: [] }
    const toProxy = proxy.protocol === 'https:'
    return {
      module: toProxy ? builtin<typeof https>('node:https') : module,
      agent: this.#direct(toProxy),
      host: proxy.hostname,
      port: proxy.port || (toProxy ? '443' : '80'),
      absolute: true,
      headers: proxyAuthorization(proxy),
    }
  }

  /** The agent of a WebSocket's URL. */
  socketAgent(url: URL): http.Agent {
    const secure = url.protocol === 'wss:' || url.protocol === 'https:'
    const proxy = isLoopback(url.hostname) ? undefined : this.#proxies.of(url)
    return proxy ? this.#tunnel(proxy, secure) : this.#direct(secure)
  }

  #direct(secure: boolean): http.Agent {
    return this.#agent(secure ? 'https' : 'http', () =>
      secure
        ? new (builtin<typeof https>('node:https').Agent)({ ...pool, ...this.#tls() })
        : new (builtin<typeof http>('node:http').Agent)(pool),
    )
  }

  #tunnel(proxy: URL, secure: boolean): http.Agent {
    return this.#agent(`${secure} ${proxy.href}`, () => tunnel(proxy, secure, pool, this.#tls()))
  }

  #agent(key: string, make: () => http.Agent): http.Agent {
    let agent = this.#kept.get(key)
    if (!agent) {
      agent = make()
      this.#kept.set(key, agent)
    }
    return agent
  }

  /** The usual authorities and those of the file. */
  #tls(): { ca?: string[] } {
    if (!this.#caFile) return {}
    this.#trusted ??= this.#readAuthorities(this.#caFile)
    return { ca: this.#trusted }
  }

  #readAuthorities(path: string): string[] {
    const { readFileSync } = builtin<typeof fs>('node:fs')
    const { rootCertificates } = builtin<typeof tls>('node:tls')
    let pem: string
    try {
      pem = readFileSync(path, 'utf8')
    } catch {
      throw new ProxyError({ kind: 'tls', host: '', message: `the CA file ${path} cannot be read` })
    }
    if (!pem.includes('-----BEGIN')) {
      throw new ProxyError({
        kind: 'tls',
        host: '',
        message: `the CA file ${path} holds no certificate`,
      })
    }
    const extra = process.env.NODE_EXTRA_CA_CERTS
    return [...rootCertificates, pem, ...(extra ? [readFileSync(extra, 'utf8')] : [])]
  }
}

const pool = {
  keepAlive: true,
  maxFreeSockets: idleConnections,
  timeout: idleLife,
  scheduling: 'lifo' as const,
}
