import type { Buffer } from 'node:buffer'
import type * as http from 'node:http'
import type { Socket } from 'node:net'
import type {
  BulkBody,
  Failure,
  HttpEvents,
  HttpExchange,
  HttpRequest,
  RequestBody,
} from '../platform.ts'
import { hostPort, isLocalhost, lookupLoopback, parseURL } from './address.ts'
import type { Agents } from './agents.ts'
import { NodeBody } from './body.ts'
import { failureOf, type Standing } from './failure.ts'

/** Longest head of an answer, in bytes. */
const longestHead = 1 << 20

/** One HTTP request on its way. */
export class Exchange implements HttpExchange {
  readonly #agents: Agents
  readonly #asked: HttpRequest
  readonly #events: HttpEvents
  #request: http.ClientRequest | undefined
  #at: Standing = { peer: '', connected: false, ready: false, reused: false, answered: false }
  #response: http.IncomingMessage | undefined
  #body: NodeBody | undefined
  #paused = false
  #over = false
  #stopUpload: (() => void) | undefined

  constructor(agents: Agents, asked: HttpRequest, events: HttpEvents) {
    this.#agents = agents
    this.#asked = asked
    this.#events = events
    this.#begin()
  }

  abort(): void {
    if (this.#over) return
    this.#finish()
    this.#request?.destroy()
  }

  pause(): void {
    if (this.#paused) return
    this.#paused = true
    // Not the answer but its connection is stopped: an answer that is stopped loses what it
    // holds when the connection ends.
    if (this.#response && !this.#response.complete) this.#response.socket.pause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    if (this.#response && !this.#response.complete) this.#response.socket.resume()
  }

  sendPiece(bytes: Uint8Array): void {
    if (this.#over || !this.#request) return
    if (this.#request.write(bytes)) this.#events.wanted()
    else this.#request.once('drain', () => !this.#over && this.#events.wanted())
  }

  endPieces(): void {
    if (!this.#over) this.#request?.end()
  }

  toCore(): void {
    if (!this.#over && this.#response) this.#flow(this.#response)
  }

  toHost(gzip: boolean): BulkBody {
    const response = this.#response as http.IncomingMessage
    this.#body = new NodeBody(response, gzip, (error) => failureOf(error, this.#at))
    return this.#body
  }

  #begin(): void {
    const url = parseURL(this.#asked.url, 'http', 'https')
    if (!(url instanceof URL)) return this.#later(url)
    this.#at = {
      peer: hostPort(url),
      connected: false,
      ready: false,
      reused: false,
      answered: false,
    }
    try {
      this.#request = this.#start(url)
      this.#send(this.#request, this.#asked.body)
    } catch (error) {
      this.#later(failureOf(error, { ...this.#at, connected: true, ready: true }))
    }
  }

  #start(url: URL): http.ClientRequest {
    const asked = this.#asked
    const route = this.#agents.route(url)
    const local = isLocalhost(url.hostname)
    const request = route.module.request({
      agent: route.agent,
      // All names of this machine share their connections: they are one server, and the Host
      // header says which sandbox is meant.
      host: route.host ?? (local ? 'localhost' : unbracketed(url.hostname)),
      port: route.port ?? url.port,
      method: asked.method,
      path: route.absolute
        ? `${url.origin}${url.pathname}${url.search}`
        : url.pathname + url.search,
      headers: headerList(asked, url, route.headers) as unknown as http.OutgoingHttpHeaders,
      maxHeaderSize: longestHead,
      ...(local ? { lookup: lookupLoopback as never } : {}),
    })
    request.on('socket', (socket) => this.#connected(socket, request))
    request.on('response', (response) => this.#head(response))
    request.on('error', (error) => request === this.#request && this.#fail(error))
    request.on('upgrade', (_response, socket) => {
      socket.destroy()
      this.#fail(new Error('the peer switched protocols unasked'))
    })
    return request
  }

  #connected(socket: Socket, request: http.ClientRequest): void {
    const at = this.#at
    at.reused = request.reusedSocket
    if (at.reused || !socket.connecting) at.connected = true
    else socket.once('connect', () => (at.connected = true))
    if (at.reused || !('encrypted' in socket)) at.ready = true
    else socket.once('secureConnect', () => (at.ready = true))
    if (at.ready && !at.connected) socket.once('connect', () => (at.ready = true))
  }

  #head(response: http.IncomingMessage): void {
    if (this.#over) return
    this.#response = response
    this.#at.answered = true
    response.on('error', (error) => this.#fail(error))
    this.#events.head(response.statusCode ?? 0, pairs(response.rawHeaders))
    if (this.#asked.bulk) return
    this.#flow(response)
    if (this.#paused) response.socket.pause()
  }

  #flow(response: http.IncomingMessage): void {
    response.on('data', (chunk: Buffer) => !this.#over && this.#events.chunk(chunk))
    response.on('end', () => this.#end())
  }

  #end(): void {
    if (this.#over) return
    const unsent = this.#request && !this.#request.writableFinished
    this.#finish()
    this.#events.end()
    if (unsent) this.#request?.destroy() // the answer came early: nobody wants the rest
  }

  #fail(error: unknown): void {
    // What the peer closed under a body that is still being sent ends only the sending, as long
    // as the answer is coming.
    if (this.#over || this.#body) return
    if (this.#mayRepeat(error)) return this.#begin()
    this.#failed(failureOf(error, this.#at))
  }

  /**
   * Whether a kept connection has failed under a request that may be repeated, before any answer:
   * its peer had closed it meanwhile. Each try takes a connection away, so this ends.
   */
  #mayRepeat(error: unknown): boolean {
    const { method, body, headers } = this.#asked
    if (!this.#at.reused || failureOf(error, this.#at).kind !== 'send') return false
    if (body.kind !== 'none' && body.kind !== 'bytes') return false
    return safe.has(method) || headers.some(([name]) => name.toLowerCase() === 'idempotency-key')
  }

  #failed(failure: Failure): void {
    this.#finish()
    this.#request?.destroy()
    this.#events.error(failure)
  }

  #later(failure: Failure): void {
    queueMicrotask(() => {
      if (!this.#over) this.#failed(failure)
    })
  }

  #finish(): void {
    this.#over = true
    this.#stopUpload?.()
  }

  #send(request: http.ClientRequest, body: RequestBody): void {
    switch (body.kind) {
      case 'none':
        request.end()
        return
      case 'bytes':
        sendWhole(request, body.bytes)
        return
      case 'pieces':
        request.flushHeaders()
        queueMicrotask(() => !this.#over && this.#events.wanted())
        return
      case 'source':
        this.#upload(request, body).catch((error) => {
          if (!this.#over)
            this.#failed({ kind: 'source', host: this.#at.peer, message: uploadMessage(error) })
        })
    }
  }

  /** Sends a source, as fast as the connection takes it. */
  async #upload(
    request: http.ClientRequest,
    body: RequestBody & { kind: 'source' },
  ): Promise<void> {
    const { prefix, source, suffix } = body
    if (prefix.length > 0) request.write(prefix)
    if (source.bytes) request.write(source.bytes)
    else await this.#copy(request, source.open(), source.size)
    if (this.#over) return
    if (suffix.length > 0) request.write(suffix)
    request.end()
  }

  async #copy(
    request: http.ClientRequest,
    pieces: AsyncIterable<Uint8Array>,
    size: number | undefined,
  ): Promise<void> {
    let sent = 0
    for await (const piece of pieces) {
      if (this.#over) return
      sent += piece.length
      if (size !== undefined && sent > size) throw new SizeError(size, sent)
      if (request.write(piece)) continue
      await new Promise<void>((resolve) => {
        this.#stopUpload = resolve
        request.once('drain', resolve)
      })
      if (this.#over) return
    }
    if (size !== undefined && sent !== size) throw new SizeError(size, sent)
  }
}

/** A string goes out in one piece with the head, bytes do not. */
function sendWhole(request: http.ClientRequest, bytes: Uint8Array): void {
  if (bytes.length > smallBody) request.end(bytes)
  else request.end(buffer(bytes).latin1Slice(), 'latin1')
}

const smallBody = 16 << 10

function buffer(bytes: Uint8Array): Buffer & { latin1Slice(): string } {
  return globalThis.Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) as never
}

class SizeError extends Error {
  constructor(size: number, sent: number) {
    super(`the body was to have ${size} bytes and has ${sent > size ? 'more' : `only ${sent}`}`)
  }
}

function uploadMessage(error: unknown): string {
  return error instanceof SizeError ? error.message : 'the source of the body failed'
}

function unbracketed(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host
}

/** Names and values as they come, and what HTTP itself needs. */
function headerList(asked: HttpRequest, url: URL, extra: [string, string][]): string[] {
  const list: string[] = []
  let host = false
  for (const [name, value] of asked.headers) {
    switch (name.toLowerCase()) {
      case 'content-length':
      case 'transfer-encoding':
      case 'connection':
        continue // the body decides these
      case 'host':
        host = true
    }
    list.push(name, latin1(value))
  }
  if (!host) list.unshift('Host', url.host)
  for (const [name, value] of extra) list.push(name, value)
  const length = bodyLength(asked)
  if (length === undefined) list.push('Transfer-Encoding', 'chunked')
  else if (length > 0 || needsLength.has(asked.method)) list.push('Content-Length', String(length))
  return list
}

const safe = new Set(['GET', 'HEAD', 'OPTIONS'])
const needsLength = new Set(['POST', 'PUT', 'PATCH'])

function bodyLength(asked: HttpRequest): number | undefined {
  switch (asked.body.kind) {
    case 'none':
      return 0
    case 'bytes':
      return asked.body.bytes.length
    case 'pieces':
      return undefined
    case 'source': {
      const { prefix, source, suffix } = asked.body
      const size = source.bytes?.length ?? source.size
      return size === undefined ? undefined : prefix.length + size + suffix.length
    }
  }
}

const notASCII = /[^\0-\x7f]/

/** Node takes one character for one byte; on the wire is UTF-8. */
function latin1(value: string): string {
  return notASCII.test(value) ? globalThis.Buffer.from(value, 'utf8').toString('latin1') : value
}

function pairs(raw: string[]): [string, string][] {
  const list: [string, string][] = []
  for (let i = 0; i < raw.length; i += 2) {
    const value = raw[i + 1] as string
    list.push([
      raw[i] as string,
      notASCII.test(value) ? globalThis.Buffer.from(value, 'latin1').toString('utf8') : value,
    ])
  }
  return list
}
