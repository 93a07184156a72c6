import type { WebSocket } from 'ws'
import type { Failure, SocketEvents, SocketHandle, SocketRequest } from '../platform.ts'
import { hostPort, isLocalhost, lookupLoopback, parseURL } from './address.ts'
import type { Agents } from './agents.ts'
import { failureOf, type Standing } from './failure.ts'

/** One WebSocket. The library is loaded when the first is dialled. */
export class Socket implements SocketHandle {
  readonly #events: SocketEvents
  readonly #at: Standing = {
    peer: '',
    connected: false,
    ready: false,
    reused: false,
    answered: false,
  }
  #socket: WebSocket | undefined
  #over = false
  #paused = false
  #failure: Failure | undefined

  constructor(agents: Agents, asked: SocketRequest, events: SocketEvents) {
    this.#events = events
    this.#dial(agents, asked).catch((error) => this.#closed(failureOf(error, this.#at)))
  }

  text(bytes: Uint8Array): void {
    if (!this.#over) this.#socket?.send(bytes, { binary: false })
  }

  binary(bytes: Uint8Array): void {
    if (!this.#over) this.#socket?.send(bytes, { binary: true })
  }

  close(): void {
    if (this.#over) return
    this.#over = true
    this.#socket?.close()
    this.#socket?.terminate()
  }

  pause(): void {
    this.#paused = true
    this.#socket?.pause()
  }

  resume(): void {
    this.#paused = false
    this.#socket?.resume()
  }

  async #dial(agents: Agents, asked: SocketRequest): Promise<void> {
    const url = parseURL(asked.url.replace(/^http/, 'ws'), 'ws', 'wss')
    if (!(url instanceof URL)) return this.#closed(url)
    this.#at.peer = hostPort(url)
    const { WebSocket } = await import('ws')
    if (this.#over) return
    const socket = new WebSocket(url, asked.subprotocols, {
      agent: agents.socketAgent(url),
      headers: Object.fromEntries(asked.headers),
      maxPayload: asked.maxMessage,
      perMessageDeflate: false,
      skipUTF8Validation: true,
      ...(isLocalhost(url.hostname) ? { lookup: lookupLoopback as never } : {}),
    })
    this.#socket = socket
    socket.binaryType = 'nodebuffer'
    socket.on('open', () => this.#open(socket))
    socket.on('message', (data: Uint8Array, binary: boolean) => {
      if (!this.#over) binary ? this.#events.binary(data) : this.#events.text(data)
    })
    socket.on('unexpected-response', (_request, response) => {
      this.#closed({
        kind: 'other',
        host: this.#at.peer,
        message: `the peer answered ${response.statusCode} instead of opening a WebSocket`,
      })
      response.destroy()
    })
    socket.on('error', (error) => {
      this.#failure = failureOf(error, {
        ...this.#at,
        connected: this.#at.ready || !dialling(error),
        ready: true,
      })
    })
    socket.on('close', (code: number) => this.#closed(this.#failure ?? this.#ending(code)))
  }

  #open(socket: WebSocket): void {
    if (this.#over) return socket.terminate()
    this.#at.connected = this.#at.ready = this.#at.answered = true
    if (this.#paused) socket.pause()
    this.#events.open(socket.protocol)
  }

  #ending(code: number): Failure | undefined {
    if (code === 1000 || code === 1005) return undefined
    return { kind: 'reset', host: this.#at.peer, message: `the peer closed the WebSocket: ${code}` }
  }

  #closed(failure?: Failure): void {
    if (this.#over) return
    this.#over = true
    this.#events.closed(failure)
  }
}

function dialling(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).syscall === 'connect'
}
