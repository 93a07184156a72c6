import type * as http from 'node:http'
import type { Readable } from 'node:stream'
import type * as zlib from 'node:zlib'
import type { BulkBody, Failure } from '../platform.ts'
import { builtin } from './builtin.ts'

/** How much may wait for a reader, in bytes. */
const waitingLimit = 512 << 10

/** The body of a bulk answer, read piece by piece. */
export class NodeBody implements BulkBody {
  readonly length: number | undefined
  readonly #stream: Readable
  readonly #failure: (error: unknown) => Failure
  #pieces: Uint8Array[] = []
  #waiting = 0
  #reader: { give: (piece?: Uint8Array) => void; fail: (failure: Failure) => void } | undefined
  #ended = false
  #failed: Failure | undefined

  constructor(response: http.IncomingMessage, gzip: boolean, failure: (error: unknown) => Failure) {
    this.#failure = failure
    const length = response.headers['content-length']
    this.length = gzip || length === undefined ? undefined : Number(length)
    this.#stream = gzip ? this.#unzip(response) : response
    this.#stream.on('data', (piece: Uint8Array) => this.#take(piece))
    this.#stream.on('end', () => this.#end())
    response.on('error', (error) => this.#fail(this.#failure(error)))
    response.on('close', () => !response.complete && this.#fail(this.#failure(cut)))
  }

  read(): Promise<Uint8Array | undefined> {
    const piece = this.#pieces.shift()
    if (piece) {
      this.#waiting -= piece.length
      if (this.#waiting < waitingLimit && this.#stream.isPaused()) this.#stream.resume()
      return Promise.resolve(piece)
    }
    if (this.#ended) return Promise.resolve(undefined)
    if (this.#failed) return Promise.reject(this.#failed)
    return new Promise((give, fail) => {
      this.#reader = { give, fail }
    })
  }

  #take(piece: Uint8Array): void {
    const reader = this.#reader
    if (reader) {
      this.#reader = undefined
      return reader.give(piece)
    }
    this.#pieces.push(piece)
    this.#waiting += piece.length
    if (this.#waiting >= waitingLimit) this.#stream.pause()
  }

  #end(): void {
    this.#ended = true
    this.#reader?.give()
  }

  #fail(failure: Failure): void {
    this.#failed ??= failure
    this.#reader?.fail(this.#failed)
  }

  #unzip(response: http.IncomingMessage): Readable {
    const stream = builtin<typeof zlib>('node:zlib').createGunzip()
    let empty = true
    response.on('data', () => {
      empty = false
    })
    stream.on('error', () => {
      if (empty) return this.#end() // no bytes at all: an empty file
      this.#fail({
        kind: 'damaged',
        host: '',
        message: 'the answer is not the gzip that it says it is',
      })
    })
    return response.pipe(stream)
  }
}

const cut = Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
