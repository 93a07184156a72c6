import type { BulkBody, Failure, HttpEvents, HttpExchange, HttpRequest } from '../platform.ts'
import { compose, SourceError, Spool } from './body.ts'
import { BrowserBody } from './bulk.ts'
import { cut, explain, other } from './failure.ts'
import type { FetchOptions } from './fetchoptions.ts'
import { incoming, outgoing } from './headers.ts'
import type { Names } from './names.ts'

/** One HTTP request on its way, by fetch. */
export class Exchange implements HttpExchange {
  readonly #request: HttpRequest
  readonly #events: HttpEvents
  readonly #options: FetchOptions
  readonly #stop = new AbortController()
  readonly #url: URL
  readonly #release: () => void
  readonly #pieces: Spool | undefined
  #piecesOver: (() => void) | undefined
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  #resumed: (() => void) | undefined
  #lengthOfAnswer: string | undefined
  #paused = false
  #over = false

  constructor(request: HttpRequest, events: HttpEvents, names: Names, options: FetchOptions) {
    this.#request = request
    this.#events = events
    this.#options = options
    this.#pieces = request.body.kind === 'pieces' ? new Spool() : undefined
    const spread = request.lasting || request.bulk || request.body.kind === 'source'
    const name = spread ? names.take(request.url) : { url: request.url, release: () => {} }
    this.#url = new URL(name.url)
    this.#release = name.release
    this.#run().catch((error: unknown) => this.#fail(unsent(this.#url, error)))
  }

  abort(): void {
    if (this.#over) return
    this.#finish()
    this.#stop.abort()
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    this.#resumed?.()
  }

  sendPiece(bytes: Uint8Array): void {
    if (this.#over) return
    this.#pieces?.add(bytes)
    queueMicrotask(() => !this.#over && this.#events.wanted())
  }

  endPieces(): void {
    this.#piecesOver?.()
  }

  toCore(): void {
    this.#flow().catch((error: unknown) => this.#fail(unsent(this.#url, error)))
  }

  toHost(): BulkBody {
    const length = Number(this.#lengthOfAnswer ?? Number.NaN)
    return new BrowserBody(
      this.#reader,
      Number.isNaN(length) ? undefined : length,
      () => this.#finish(),
      () => cut(this.#url),
    )
  }

  async #run(): Promise<void> {
    await null // no event comes inside the constructor
    if (this.#over) return
    const body = this.#pieces
      ? await this.#collected(this.#pieces)
      : await compose(this.#request.body, () => !this.#over)
    if (this.#over) return
    const response = await this.#ask(body)
    if (!response || this.#over) return
    const headers = incoming(response)
    this.#lengthOfAnswer = headers.find(([name]) => name === 'content-length')?.[1]
    this.#reader = response.body?.getReader()
    this.#events.head(statusOf(response), headers)
    if (!this.#request.bulk) await this.#flow()
  }

  async #ask(body: BodyInit | undefined): Promise<Response | undefined> {
    const { method, headers } = this.#request
    try {
      return await fetch(this.#url, {
        ...this.#options.common,
        method,
        headers: outgoing(headers),
        signal: this.#stop.signal,
        ...(body === undefined ? {} : { body }),
      })
    } catch {
      if (!this.#over) this.#fail(await explain(this.#url, method))
      return undefined
    }
  }

  /** A page cannot send while it makes: the pieces are gathered, and sent when the last one is there. */
  async #collected(spool: Spool): Promise<Blob> {
    await new Promise<void>((resolve) => {
      this.#piecesOver = resolve
      this.#events.wanted()
    })
    return spool.blob()
  }

  async #flow(): Promise<void> {
    const reader = this.#reader
    while (reader && !this.#over) {
      if (this.#paused) await this.#untilResumed()
      let chunk: ReadableStreamReadResult<Uint8Array>
      try {
        chunk = await reader.read()
      } catch {
        return this.#fail(cut(this.#url))
      }
      if (this.#over) return
      if (chunk.done) break
      this.#events.chunk(chunk.value)
    }
    if (this.#over) return
    this.#finish()
    this.#events.end()
  }

  #untilResumed(): Promise<void> {
    return new Promise((resolve) => {
      this.#resumed = () => {
        this.#resumed = undefined
        resolve()
      }
    })
  }

  #fail(failure: Failure): void {
    if (this.#over) return
    this.#finish()
    this.#stop.abort()
    this.#events.error(failure)
  }

  #finish(): void {
    this.#over = true
    this.#release()
    this.#resumed?.()
    this.#piecesOver?.()
  }
}

/** A page is not told which redirect it was, nor where to: it is not followed in any case. */
function statusOf(response: Response): number {
  return response.type === 'opaqueredirect' ? 302 : response.status
}

function unsent(url: URL, error: unknown): Failure {
  const failure = other(
    url,
    error instanceof Error ? error.message : 'the request could not be made',
  )
  return error instanceof SourceError ? { ...failure, kind: 'source' } : failure
}
