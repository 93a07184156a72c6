import type { Failure, SocketEvents, SocketHandle, SocketRequest } from '../platform.ts'
import { hostPort } from './failure.ts'

/** Closed as both sides wished. */
const normal = 1000
/** A message was longer than agreed. */
const tooBig = 1009

/** The browser's own WebSocket. It cannot be paused: what comes meanwhile is kept here. */
export class Socket implements SocketHandle {
  readonly #request: SocketRequest
  readonly #events: SocketEvents
  #socket: WebSocket | undefined
  #kept: (() => void)[] = []
  #paused = false
  #opened = false
  #over = false

  constructor(request: SocketRequest, events: SocketEvents) {
    this.#request = request
    this.#events = events
    try {
      this.#socket = this.#dial()
    } catch (error) {
      queueMicrotask(() =>
        this.#closed({ kind: 'other', host: '', message: (error as Error).message }),
      )
    }
  }

  text(bytes: Uint8Array): void {
    this.#socket?.send(new TextDecoder().decode(bytes))
  }

  binary(bytes: Uint8Array): void {
    this.#socket?.send(bytes as Uint8Array<ArrayBuffer>)
  }

  close(): void {
    this.#over = true
    this.#socket?.close(normal)
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    while (!this.#paused && !this.#over) {
      const next = this.#kept.shift()
      if (!next) return
      next()
    }
  }

  #dial(): WebSocket {
    const { url, headers, subprotocols } = this.#request
    if (headers.length > 0) {
      const names = headers.map(([name]) => name).join(', ')
      throw new Error(
        `a page cannot send headers with a WebSocket (${names}): only the address and subprotocols`,
      )
    }
    const socket = new WebSocket(url, subprotocols)
    socket.binaryType = 'arraybuffer'
    socket.onopen = () => {
      this.#opened = true
      this.#deliver(() => this.#events.open(socket.protocol))
    }
    socket.onmessage = (message: MessageEvent<string | ArrayBuffer>) => this.#message(message.data)
    socket.onclose = (close) => this.#deliver(() => this.#closed(this.#failure(close)))
    return socket
  }

  #message(data: string | ArrayBuffer): void {
    const text = typeof data === 'string'
    const bytes = text ? new TextEncoder().encode(data) : new Uint8Array(data)
    if (bytes.length > this.#request.maxMessage) {
      this.#socket?.close(tooBig)
      return this.#deliver(() =>
        this.#closed(
          this.#lost(
            `a message of ${bytes.length} bytes is longer than ${this.#request.maxMessage}`,
          ),
        ),
      )
    }
    this.#deliver(() => (text ? this.#events.text(bytes) : this.#events.binary(bytes)))
  }

  #deliver(event: () => void): void {
    if (this.#over) return
    if (this.#paused) this.#kept.push(event)
    else event()
  }

  #failure(close: CloseEvent): Failure | undefined {
    if (!this.#opened) {
      return {
        ...this.#lost(
          'the browser could not open the WebSocket, and does not say why: is the server running, and is the address right?',
        ),
        kind: 'connect',
      }
    }
    if (close.code === normal || close.code === 1005) return undefined
    return this.#lost(`the WebSocket was closed with code ${close.code}`)
  }

  #lost(message: string): Failure {
    return { kind: 'reset', host: hostPort(new URL(this.#request.url)), message }
  }

  #closed(failure: Failure | undefined): void {
    if (this.#over) return
    this.#over = true
    failure ? this.#events.closed(failure) : this.#events.closed()
  }
}
