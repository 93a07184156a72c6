import type {
  BulkBody,
  Failure,
  Host,
  HttpExchange,
  HttpRequest,
  RequestBody,
  SocketHandle,
  Source,
} from '../platform/platform.ts'
import { encode, In, type InFrame, Out, type OutFrame, parse, split } from './frame.ts'
import { gzipped } from './gzip.ts'
import { Timer } from './timer.ts'

/** One call, as it goes to the core. */
export interface CallRequest {
  method: string
  /** JSON text of the client's settings. */
  client?: string | undefined
  /** JSON text of the sandbox's handle. */
  sandbox?: string | undefined
  params: object
  attached?: Uint8Array | undefined
  /** Bulk data that the parameters name by id. */
  sources?: ReadonlyMap<number, Source> | undefined
  /** What the caller sends while the call runs. */
  input?: AsyncIterable<Uint8Array> | undefined
  /** Takes the body of a bulk answer and gives how many bytes it took. */
  deliver?: ((body: BulkBody, order: BodyOrder) => Promise<number>) | undefined
  /** Takes output and events, in order. */
  listener?: Listener | undefined
  /** Nobody looks at anything before the end: an answer may be read in larger pieces. */
  patient?: boolean | undefined
  /** Makes an error of what the core says; cause is what the caller's own source or input threw. */
  fail: (error: object, cause: unknown) => Error
  /** Clock until an answer's head, in ms; 0 = none; absent = the client's. */
  requestTimeoutMs?: number | undefined
}

/** How the body of a bulk answer is to be given. */
export interface BodyOrder {
  idle_ms: number
  gzip: boolean
  skip?: number
  take?: number
}

/** Takes what comes before the result. Bytes are valid until the method returns. */
export interface Listener {
  output(channel: number, bytes: Uint8Array): void
  event(event: { kind: string } & Record<string, unknown>): void
}

/** One live operation: its exchanges, sockets, timers and locks, and the caller that waits for it. */
export class Operation {
  readonly id: number
  /** Settles with the result's JSON value. It is never an unhandled rejection. */
  readonly result: Promise<unknown>
  readonly #request: CallRequest
  readonly #host: Host
  readonly #push: (frame: InFrame, urgent?: boolean) => void
  readonly #exchanges = new Map<number, HttpExchange>()
  readonly #sockets = new Map<number, SocketHandle>()
  readonly #timers = new Map<number, Timer>()
  readonly #locks = new Map<number, { unlock?: () => void; released: boolean }>()
  #resolve!: (value: unknown) => void
  #reject!: (reason: unknown) => void
  #settled = false
  #muted = false
  #held = false
  #input: AsyncIterator<Uint8Array> | undefined
  #inputOver = false
  /** What the caller's own source or input threw. */
  #cause: unknown
  /** It was given to an instance. */
  handedOver = false
  /** DONE has come. */
  over = false

  constructor(
    id: number,
    request: CallRequest,
    host: Host,
    push: (frame: InFrame, urgent?: boolean) => void,
  ) {
    this.id = id
    this.#request = request
    this.#host = host
    this.#push = push
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.result.catch(() => {}) // whoever waits still gets it
  }

  handOver(): void {
    this.handedOver = true
  }

  /** Settles the caller with reason at once; the core cleans up and ends the operation. */
  cancel(reason: unknown, how: 'cancel' | 'detach' = 'cancel'): void {
    if (this.over || this.#muted) return
    this.#muted = true
    this.#settle(() => this.#reject(reason))
    this.hold(false)
    this.#push({ op: this.id, stream: 0, kind: In.cancel, json: encode(`{"reason":"${how}"}`) })
  }

  /** Cancels because of a failure of this side. */
  abandon(error: Error): void {
    this.cancel(error)
  }

  /** Stops reading for this operation, or goes on. */
  hold(on: boolean): void {
    if (this.#held === on || (on && this.#muted)) return
    this.#held = on
    for (const x of [...this.#exchanges.values(), ...this.#sockets.values()])
      on ? x.pause() : x.resume()
  }

  /** Ends everything that is open, with an error for a caller who still waits. */
  end(error?: Error): void {
    this.over = true
    for (const x of this.#exchanges.values()) x.abort()
    for (const s of this.#sockets.values()) s.close()
    for (const t of this.#timers.values()) t.clear()
    for (const id of this.#locks.keys()) this.#unlock(id)
    this.#exchanges.clear()
    this.#sockets.clear()
    this.#timers.clear()
    this.#endInput()
    if (error) this.#settle(() => this.#reject(error))
  }

  /** Performs one frame of the core. */
  take(f: OutFrame): void {
    switch (f.kind) {
      case Out.stdout:
      case Out.stderr:
      case Out.pty:
      case Out.messages:
      case Out.object:
        if (!this.#muted) this.#request.listener?.output(f.kind, f.payload)
        return
      case Out.event:
        if (!this.#muted) this.#request.listener?.event(parse(f.payload) as { kind: string })
        return
      case Out.result:
        this.#settle(() => this.#resolve(parse(f.payload) ?? null))
        return
      case Out.error:
        this.#settle(() =>
          this.#reject(this.#request.fail(parse(f.payload) as object, this.#cause)),
        )
        return
      case Out.done:
        this.end()
        return
      case Out.httpRequest:
        this.#http(f)
        return
      case Out.httpBody:
        this.#exchanges.get(f.stream)?.sendPiece(f.payload.slice())
        return
      case Out.httpBodyEnd:
        this.#exchanges.get(f.stream)?.endPieces()
        return
      case Out.httpAbort:
        this.#exchanges.get(f.stream)?.abort()
        this.#exchanges.delete(f.stream)
        return
      case Out.bodyToCore:
        this.#exchanges.get(f.stream)?.toCore()
        return
      case Out.bodyToHost:
        this.#toHost(f)
        return
      case Out.wsDial:
        this.#dial(f)
        return
      case Out.wsText:
        this.#sockets.get(f.stream)?.text(f.payload.slice())
        return
      case Out.wsBinary:
        this.#sockets.get(f.stream)?.binary(f.payload.slice())
        return
      case Out.wsClose:
        this.#sockets.get(f.stream)?.close()
        this.#sockets.delete(f.stream)
        return
      case Out.timerSet:
        this.#timer(f.stream).set(
          new DataView(f.payload.buffer, f.payload.byteOffset, 4).getUint32(0, true),
        )
        return
      case Out.timerClear:
        this.#timers.get(f.stream)?.clear()
        this.#timers.delete(f.stream)
        return
      case Out.store:
        this.#store(f)
        return
      case Out.inputWanted:
        this.#nextInput()
    }
  }

  #settle(how: () => void): void {
    if (this.#settled) return
    this.#settled = true
    how()
  }

  #send(kind: number, stream: number, json?: object, raw?: Uint8Array, mixed = false): void {
    if (this.over) return
    this.#push(
      { op: this.id, stream, kind, json: json && encode(JSON.stringify(json)), raw, mixed },
      !(this.#request.patient && (kind === In.httpHead || kind === In.httpChunk)),
    )
  }

  #http(f: OutFrame): void {
    const { json, raw } = split(f.payload)
    const asked = json as RequestJSON
    const id = f.stream
    const live = () => this.#exchanges.has(id)
    const ended = () => this.#exchanges.delete(id)
    const request: HttpRequest = {
      method: asked.method,
      url: asked.url,
      headers: asked.headers ?? [],
      body: this.#body(asked, raw),
      lasting: asked.lasting ?? false,
      bulk: asked.bulk ?? false,
    }
    const exchange = this.#host.http(request, {
      head: (status, headers) => live() && this.#send(In.httpHead, id, { status, headers }),
      chunk: (bytes) => live() && this.#send(In.httpChunk, id, undefined, bytes),
      end: () => ended() && this.#send(In.httpEnd, id),
      error: (failure) => ended() && this.#failed(In.httpError, id, failure),
      wanted: () => live() && this.#send(In.httpWanted, id),
    })
    this.#exchanges.set(id, exchange)
    if (this.#held) exchange.pause()
  }

  #failed(kind: number, id: number, failure?: Failure): void {
    const { refusal, ...told } = failure ?? {}
    if (refusal) this.cancel(refusal)
    this.#send(kind, id, failure && told)
  }

  #body(asked: RequestJSON, raw: Uint8Array): RequestBody {
    const none = new Uint8Array(0)
    switch (asked.body) {
      case 'bytes': {
        const bytes = raw.slice()
        if (!asked.gzip) return { kind: 'bytes', bytes }
        return {
          kind: 'source',
          prefix: none,
          source: gzipped(bytes, undefined, none),
          suffix: none,
        }
      }
      case 'source': {
        const source = this.#source(asked.source ?? 0)
        const prefix = raw.slice(0, asked.prefix ?? 0)
        const suffix = raw.slice(raw.length - (asked.suffix ?? 0))
        if (!asked.gzip) return { kind: 'source', prefix, source, suffix }
        return {
          kind: 'source',
          prefix: none,
          source: gzipped(prefix, source, suffix),
          suffix: none,
        }
      }
      case 'pieces':
        return { kind: 'pieces' }
      default:
        return { kind: 'none' }
    }
  }

  #source(id: number): Source {
    const source = this.#request.sources?.get(id)
    if (!source) throw new Error(`there is no source ${id}`)
    return this.#watched(source)
  }

  /** Remembers what the caller's source threw: it becomes the cause of the error. */
  #watched(source: Source): Source {
    const remember = (cause: unknown) => {
      this.#cause ??= cause
    }
    return {
      size: source.size,
      replayable: source.replayable,
      blob: source.blob,
      bytes: source.bytes,
      async *open() {
        try {
          yield* source.open()
        } catch (cause) {
          remember(cause)
          throw cause
        }
      },
    }
  }

  #toHost(f: OutFrame): void {
    const id = f.stream
    const exchange = this.#exchanges.get(id)
    if (!exchange) return
    const deliver = this.#request.deliver
    if (!deliver) throw new Error('nobody takes the body')
    const order = parse(f.payload) as BodyOrder
    deliver(exchange.toHost(order.gzip), order).then(
      (bytes) => {
        if (!this.#exchanges.delete(id)) return
        exchange.abort() // what was not asked for is not waited for
        this.#send(In.httpEnd, id, { bytes })
      },
      (reason) => {
        if (!this.#exchanges.delete(id)) return
        exchange.abort()
        if (!isFailure(reason)) this.#cause ??= reason
        this.#send(
          In.httpError,
          id,
          isFailure(reason)
            ? reason
            : { kind: 'other', host: '', message: 'the caller failed to take the body' },
        )
      },
    )
  }

  #dial(f: OutFrame): void {
    const asked = parse(f.payload) as {
      url: string
      headers?: [string, string][]
      subprotocols?: string[]
      max_message?: number
    }
    const id = f.stream
    const live = () => this.#sockets.has(id)
    const socket = this.#host.socket(
      {
        url: asked.url,
        headers: asked.headers ?? [],
        subprotocols: asked.subprotocols ?? [],
        maxMessage: asked.max_message || 16 << 20,
      },
      {
        open: (subprotocol) =>
          live() && this.#send(In.wsOpen, id, undefined, new TextEncoder().encode(subprotocol)),
        text: (bytes) => live() && this.#send(In.wsText, id, undefined, bytes),
        binary: (bytes) => live() && this.#send(In.wsBinary, id, undefined, bytes),
        closed: (failure) => this.#sockets.delete(id) && this.#failed(In.wsClosed, id, failure),
      },
    )
    this.#sockets.set(id, socket)
    if (this.#held) socket.pause()
  }

  #timer(id: number): Timer {
    let timer = this.#timers.get(id)
    if (!timer) {
      timer = new Timer(() => this.#send(In.timer, id))
      this.#timers.set(id, timer)
    }
    return timer
  }

  #store(f: OutFrame): void {
    const { json, raw } = split(f.payload)
    const { verb, name } = json as { verb: string; name: string }
    const id = f.stream
    if (verb === 'unlock') return this.#unlock(id)
    this.#stored(id, verb, name, raw.slice()).then(
      ({ answer, blob }) => this.#send(In.storeResult, id, answer, blob, true),
      (cause) => {
        this.#cause ??= cause
        this.#send(
          In.storeResult,
          id,
          { error: cause instanceof Error ? cause.message : 'the store failed' },
          undefined,
          true,
        )
      },
    )
  }

  async #stored(
    id: number,
    verb: string,
    name: string,
    blob: Uint8Array,
  ): Promise<{ answer: object; blob?: Uint8Array }> {
    await null // a store may be the user's own code: it is not called inside a turn of the core
    const store = this.#host.store
    if (!store) throw new Error('this host has no store')
    const none = { answer: { error: 'not_stored' } }
    switch (verb) {
      case 'get': {
        const found = await store.get(name)
        return found ? { answer: {}, blob: found } : none
      }
      case 'put':
        await store.put(name, blob)
        return { answer: {} }
      case 'delete':
        return (await store.delete(name)) ? { answer: {} } : none
      case 'list':
        return { answer: { names: await store.list() } }
      case 'lock': {
        const lock: { unlock?: () => void; released: boolean } = { released: false }
        this.#locks.set(id, lock)
        lock.unlock = await store.lock(name)
        if (lock.released) lock.unlock()
        return { answer: {} }
      }
      default:
        throw new Error('the store does not know what was asked')
    }
  }

  #unlock(id: number): void {
    const lock = this.#locks.get(id)
    this.#locks.delete(id)
    if (!lock) return
    lock.released = true
    lock.unlock?.()
  }

  #nextInput(): void {
    this.#input ??= this.#request.input?.[Symbol.asyncIterator]()
    if (!this.#input) return this.#send(In.inputEnd, 0)
    const input = this.#input
    Promise.resolve()
      .then(() => input.next())
      .then(
        ({ done, value }) => {
          if (!done) return this.#send(In.input, 0, undefined, value)
          this.#inputOver = true
          this.#send(In.inputEnd, 0)
        },
        (cause) => {
          this.#inputOver = true
          this.#cause ??= cause
          this.#send(In.inputEnd, 0, {
            error: cause instanceof Error ? cause.message : 'the input failed',
          })
        },
      )
  }

  #endInput(): void {
    if (this.#inputOver || !this.#input) return
    this.#inputOver = true
    this.#input.return?.().then(undefined, () => {})
  }
}

interface RequestJSON {
  method: string
  url: string
  headers?: [string, string][]
  body?: 'none' | 'bytes' | 'source' | 'pieces'
  source?: number
  prefix?: number
  suffix?: number
  gzip?: boolean
  bulk?: boolean
  lasting?: boolean
}

function isFailure(reason: unknown): reason is Failure {
  return (
    typeof reason === 'object' &&
    reason !== null &&
    'kind' in reason &&
    'message' in reason &&
    !(reason instanceof Error)
  )
}
