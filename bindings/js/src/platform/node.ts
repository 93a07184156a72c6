/** The engine's platform on Node. Nothing runs at import, and each part is loaded when it is first needed. */

import type * as hooks from 'node:async_hooks'
import { Agents } from './node/agents.ts'
import { builtin } from './node/builtin.ts'
import { Exchange } from './node/http.ts'
import { Proxies } from './node/proxy.ts'
import { ServerFinder } from './node/server.ts'
import { environment, readSettings, stateDir } from './node/settings.ts'
import { Socket } from './node/socket.ts'
import { FileStore } from './node/store.ts'
import { loadWasm } from './node/wasm.ts'
import type { Host, HostOptions, Platform } from './platform.ts'

export function createPlatform(): Platform {
  const finder = new ServerFinder()
  return {
    name: 'node',
    loadWasm,
    readSettings,
    host,
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

function host(options: HostOptions): Host {
  const env = environment(options)
  const agents = new Agents(
    new Proxies(options.proxy, env),
    options.caFile || env.SSL_CERT_FILE || undefined,
  )
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
