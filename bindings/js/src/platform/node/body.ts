import type * as http from 'node:http'
import type { Readable } from 'node:stream'
import type * as zlib from 'node:zlib'
import type { BulkBody, Failure } from '../platform.ts'
import { builtin } from './builtin.ts'

/** The body of a bulk answer, read piece by piece. */
export class NodeBody implements BulkBody {
  readonly length: number | undefined
  readonly #stream: Readable
  readonly #failure: (error: unknown) => Failure
  #wake: (() => void) | undefined
  #ended = false
  #failed: Failure | undefined

  constructor(response: http.IncomingMessage, gzip: boolean, failure: (error: unknown) => Failure) {
    this.#failure = failure
    const length = Number(response.headers['content-length'])
    this.length = gzip || !Number.isSafeInteger(length) ? undefined : length
    this.#stream = gzip ? this.#unzip(response) : response
    this.#stream.on('readable', () => this.#awake())
    this.#stream.on('end', () => {
      this.#ended = true
      this.#awake()
    })
    response.on('error', (error) => this.#fail(this.#failure(error)))
    response.on('close', () => !response.complete && this.#fail(this.#failure(cut)))
  }

  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const piece = this.#stream.read() as Uint8Array | null
      if (piece) return piece
      if (this.#ended) return undefined
      if (this.#failed) throw this.#failed
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #unzip(response: http.IncomingMessage): Readable {
    const stream = builtin<typeof zlib>('node:zlib').createGunzip()
    let empty = true
    response.on('data', () => {
      empty = false
    })
    stream.on('error', () => {
      if (!empty)
        return this.#fail({
          kind: 'damaged',
          host: '',
          message: 'the answer is not the gzip that it says it is',
        })
      this.#ended = true // no bytes at all: an empty file
      this.#awake()
    })
    return response.pipe(stream)
  }

  #fail(failure: Failure): void {
    this.#failed ??= failure
    this.#awake()
  }

  #awake(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}

const cut = Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
