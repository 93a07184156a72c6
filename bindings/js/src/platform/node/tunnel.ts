import type * as http from 'node:http'
import type * as https from 'node:https'
import type * as net from 'node:net'
import { builtin } from './builtin.ts'
import { ProxyError } from './failure.ts'
import { proxyAuthorization } from './proxy.ts'

type Connected = (error: Error | null, socket?: net.Socket) => void
type Connect = (options: Target, connected: Connected) => net.Socket | undefined

interface Target {
  host?: string
  port: number | string
  socket?: net.Socket
}

/** An agent whose connections go through a proxy by CONNECT. */
export function tunnel(
  proxy: URL,
  secure: boolean,
  pool: http.AgentOptions,
  tls: { ca?: string[] },
): http.Agent {
  const agent = secure
    ? new (builtin<typeof https>('node:https').Agent)({ ...pool, ...tls })
    : new (builtin<typeof http>('node:http').Agent)(pool)
  const own = agent as unknown as { createConnection: Connect }
  const direct = own.createConnection.bind(agent)
  own.createConnection = (options, connected) => {
    dial(proxy, options, tls, (error, socket) => {
      if (error || !socket) connected(error ?? new Error('no connection'))
      else if (!secure) connected(null, socket)
      else
        connected(
          null,
          direct({ ...options, socket } as Target, () => {}),
        )
    })
    return undefined
  }
  return agent
}

function dial(proxy: URL, target: Target, tls: { ca?: string[] }, done: Connected): void {
  const secure = proxy.protocol === 'https:'
  const port = proxy.port || (secure ? '443' : '80')
  const host = `the proxy ${proxy.hostname}:${port}`
  const authority = `${target.host?.includes(':') ? `[${target.host}]` : target.host}:${target.port}`
  const module = secure ? builtin<typeof https>('node:https') : builtin<typeof http>('node:http')
  const request = module.request({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port,
    method: 'CONNECT',
    path: authority,
    agent: false,
    headers: { host: authority, ...Object.fromEntries(proxyAuthorization(proxy)) },
    ...(secure ? tls : {}),
  })
  request.on('connect', (response, socket, head) => {
    if (response.statusCode !== 200) {
      socket.destroy()
      const message = `the proxy answered ${response.statusCode} to CONNECT`
      return done(new ProxyError({ kind: 'connect', host, message }))
    }
    if (head.length > 0) socket.unshift(head)
    done(null, socket as net.Socket)
  })
  request.on('error', (error: NodeJS.ErrnoException) => {
    const kind = error.syscall === 'getaddrinfo' ? 'resolve' : 'connect'
    done(new ProxyError({ kind, host, message: `cannot connect: ${error.code ?? error.message}` }))
  })
  request.end()
}
