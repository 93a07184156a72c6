import type * as crypto from 'node:crypto'
import type * as fs from 'node:fs'
import type * as http from 'node:http'
import type * as https from 'node:https'
import type * as tls from 'node:tls'
import { InvalidArgumentError } from '../../generated/errors.ts'
import { isLoopback } from './address.ts'
import { builtin } from './builtin.ts'
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
  readonly #authorities: Authorities | undefined
  readonly #kept = new Map<string, http.Agent>()
  #trusted: string[] | undefined

  constructor(proxies: Proxies, authorities: Authorities | undefined) {
    this.#proxies = proxies
    this.#authorities = authorities
  }

  /** How an http or https URL is reached. Throws InvalidArgumentError about the CA file. */
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
    if (!this.#authorities) return {}
    this.#trusted ??= readAuthorities(this.#authorities)
    return { ca: this.#trusted }
  }
}

/** A file of certificate authorities. */
export interface Authorities {
  path: string
  /** Which setting named it. */
  from: 'caFile' | 'SSL_CERT_FILE'
}

/** Reads the usual authorities and those of a file. Throws InvalidArgumentError. */
export function readAuthorities({ path, from }: Authorities): string[] {
  const { readFileSync } = builtin<typeof fs>('node:fs')
  const { X509Certificate } = builtin<typeof crypto>('node:crypto')
  const { rootCertificates } = builtin<typeof tls>('node:tls')
  const unusable = (what: string, cause: unknown) =>
    new InvalidArgumentError(`${from}: ${path} ${what}`, {
      cause,
      option: from,
      suggestion: 'name a file of certificates in PEM',
      docs: 'docs/javascript.md',
    })
  let pem: string
  try {
    pem = readFileSync(path, 'utf8')
  } catch (cause) {
    throw unusable('cannot be read', cause)
  }
  try {
    if (!pem.includes('-----BEGIN')) throw new Error('there is no PEM in it')
    new X509Certificate(pem)
  } catch (cause) {
    throw unusable('holds no certificate', cause)
  }
  return [...rootCertificates, pem, ...nodesOwn()]
}

/** What Node itself trusts besides; like Node, without what cannot be read. */
function nodesOwn(): string[] {
  const extra = process.env.NODE_EXTRA_CA_CERTS
  try {
    return extra ? [builtin<typeof fs>('node:fs').readFileSync(extra, 'utf8')] : []
  } catch {
    return []
  }
}

const pool = {
  keepAlive: true,
  maxFreeSockets: idleConnections,
  timeout: idleLife,
  scheduling: 'lifo' as const,
}
