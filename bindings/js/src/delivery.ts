import type { BodyOrder } from './engine/operation.ts'
import { Timer } from './engine/timer.ts'
import { textDecoder } from './output.ts'
import type { BulkBody, Failure } from './platform/platform.ts'
import { join } from './source.ts'

/** Bodies up to this size get their memory at once, in bytes. */
const largestReserve = 512 << 20

/** Reads the body of an answer as the core orders it: without what it skips, no more than it takes, under its idle clock. */
export class Delivery {
  readonly #body: BulkBody
  readonly #order: BodyOrder
  #skip: number
  #left: number
  #over = false
  #idle: (() => void) | undefined
  readonly #timer = new Timer(() => this.#idle?.())
  /** Bytes that were given. */
  given = 0

  constructor(body: BulkBody, order: BodyOrder) {
    this.#body = body
    this.#order = order
    this.#skip = order.skip ?? 0
    this.#left = order.take ?? Number.POSITIVE_INFINITY
  }

  /** The next piece; undefined at the end. Rejects with a Failure. */
  async next(): Promise<Uint8Array | undefined> {
    try {
      while (!this.#over && this.#left > 0) {
        const piece = await this.#read()
        this.#idle = undefined
        if (!piece) break
        const wanted = this.#cut(piece)
        this.given += wanted.length
        if (wanted.length > 0) return wanted
      }
    } catch (failure) {
      this.#stop()
      throw failure
    }
    this.#stop()
    return undefined
  }

  /** Everything, as one array. */
  async bytes(): Promise<Uint8Array> {
    const { length } = this.#body
    if (length === undefined || length > largestReserve || this.#order.skip || this.#order.take)
      return join(await this.pieces())
    const whole = new Uint8Array(length)
    for (let piece = await this.next(); piece; piece = await this.next())
      whole.set(piece, this.given - piece.length)
    return this.given === length ? whole : whole.subarray(0, this.given)
  }

  /** Everything, as text. */
  async text(): Promise<string> {
    const decoder = textDecoder()
    let text = ''
    for (let piece = await this.next(); piece; piece = await this.next())
      text += decoder.decode(piece, { stream: true })
    return text + decoder.decode()
  }

  /** Everything, piece by piece. */
  async pieces(): Promise<Uint8Array[]> {
    const all: Uint8Array[] = []
    for (let piece = await this.next(); piece; piece = await this.next()) all.push(piece)
    return all
  }

  #read(): Promise<Uint8Array | undefined> {
    const limit = this.#order.idle_ms
    if (!limit) return this.#body.read()
    return new Promise((resolve, reject) => {
      // One timer for all reads: starting it anew costs next to nothing.
      this.#idle = () => reject(idle(limit))
      this.#timer.set(limit)
      this.#body.read().then(resolve, reject)
    })
  }

  #stop(): void {
    this.#over = true
    this.#timer.clear()
  }

  #cut(piece: Uint8Array): Uint8Array {
    const skipped = Math.min(this.#skip, piece.length)
    this.#skip -= skipped
    const taken = Math.min(this.#left, piece.length - skipped)
    this.#left -= taken
    return taken === piece.length ? piece : piece.subarray(skipped, skipped + taken)
  }
}

function idle(limit: number): Failure {
  return {
    kind: 'other',
    host: '',
    message: 'nothing came any more',
    clock: 'idle',
    limit_ms: limit,
  }
}
