/** The engine's platform on Node. Nothing runs at import, and each part is loaded when it is first needed. */

import type * as hooks from 'node:async_hooks'
import { type Authorities, readAuthorities } from './node/agents.ts'
import { builtin } from './node/builtin.ts'
import { Exchange } from './node/http.ts'
import { ServerFinder } from './node/server.ts'
import { type Env, environment, readSettings, stateDir } from './node/settings.ts'
import { SharedAgents } from './node/shared_agents.ts'
import { Socket } from './node/socket.ts'
import { FileStore } from './node/store.ts'
import { loadWasm } from './node/wasm.ts'
import type { Host, HostOptions, Platform } from './platform.ts'

export function createPlatform(): Platform {
  const finder = new ServerFinder()
  const shared = new SharedAgents()
  return {
    name: 'node',
    loadWasm,
    readSettings,
    host: (options) => host(options, shared),
    prepare: () => {
      builtin('node:http')
    },
    findServer: (options, search) => finder.find(options, search),
    context: () => new (builtin<typeof hooks>('node:async_hooks').AsyncLocalStorage)(),
    notice: (line) => {
      process.stderr.write(`${line}\n`)
    },
  }
}

function host(options: HostOptions, shared: SharedAgents): Host {
  const env = environment(options)
  const authorities = authoritiesOf(options, env)
  // One that was asked for here must be usable; the environment's, when something needs it.
  if (authorities?.from === 'caFile') readAuthorities(authorities)
  const agents = shared.of(options.proxy, env, authorities)
  const store =
    options.store === false
      ? undefined
      : (options.store ?? new FileStore(`${stateDir(env)}/sessions`))
  return {
    store,
    http: (request, events) => new Exchange(agents, request, events),
    socket: (request, events) => new Socket(agents, request, events),
  }
}

function authoritiesOf(options: HostOptions, env: Env): Authorities | undefined {
  if (options.caFile) return { path: options.caFile, from: 'caFile' }
  if (env.SSL_CERT_FILE) return { path: env.SSL_CERT_FILE, from: 'SSL_CERT_FILE' }
  return undefined
}
