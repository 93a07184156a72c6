import { InvalidArgumentError } from './generated/errors.ts'
import type { Source } from './platform/platform.ts'

/** A piece of data. A string is sent as UTF-8. */
export type DataPiece = string | Uint8Array | ArrayBuffer | ArrayBufferView

/** Data of any kind that a caller may have: Node's streams are async iterables. */
export type Data = DataPiece | Blob | ReadableStream<Uint8Array | string> | AsyncIterable<DataPiece>

const encoder = new TextEncoder()

/** The bytes of a piece. */
export function wholeBytes(piece: DataPiece): Uint8Array {
  const bytes = bytesOf(piece)
  if (!bytes) throw wrongData()
  return bytes
}

/** The source of any data. */
export function sourceOf(data: Data, name = 'data'): Source {
  const bytes = bytesOf(data)
  if (bytes) return { size: bytes.length, replayable: true, bytes, open: () => one(bytes) }
  if (data instanceof Blob) {
    return { size: data.size, replayable: true, blob: data, open: () => readAll(data.stream()) }
  }
  if (!isReadableStream(data) && !isAsyncIterable(data)) throw wrongData(name)
  return { replayable: false, open: () => inputOf(data) }
}

/** The pieces of any data. */
export function inputOf(data: Data): AsyncIterable<Uint8Array> {
  const bytes = bytesOf(data)
  if (bytes) return one(bytes)
  if (data instanceof Blob) return readAll(data.stream())
  if (isReadableStream(data)) return readAll(data)
  if (isAsyncIterable(data)) return pieces(data)
  throw wrongData()
}

/** Puts pieces together. */
export function join(pieces: Uint8Array[]): Uint8Array {
  const [only] = pieces
  // A Buffer is a Uint8Array that behaves otherwise: nobody is given one unasked.
  if (only && pieces.length === 1)
    return only.constructor === Uint8Array
      ? only
      : new Uint8Array(only.buffer, only.byteOffset, only.length)
  const whole = new Uint8Array(pieces.reduce((sum, p) => sum + p.length, 0))
  let at = 0
  for (const p of pieces) {
    whole.set(p, at)
    at += p.length
  }
  return whole
}

function bytesOf(data: unknown): Uint8Array | undefined {
  if (typeof data === 'string') return encoder.encode(data)
  if (data instanceof Uint8Array) return data
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return undefined
}

function isReadableStream(data: unknown): data is ReadableStream<Uint8Array | string> {
  return typeof ReadableStream !== 'undefined' && data instanceof ReadableStream
}

function isAsyncIterable(data: unknown): data is AsyncIterable<DataPiece> {
  return typeof data === 'object' && data !== null && Symbol.asyncIterator in data
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}

async function* pieces(data: AsyncIterable<DataPiece>): AsyncGenerator<Uint8Array> {
  for await (const piece of data) yield wholeBytes(piece)
}

async function* readAll(stream: ReadableStream<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  let over = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      over = done
      if (done) return
      yield wholeBytes(value)
    }
  } catch (error) {
    over = true
    throw error
  } finally {
    if (!over) await reader.cancel().catch(() => {})
    reader.releaseLock()
  }
}

function wrongData(name = 'data'): InvalidArgumentError {
  return new InvalidArgumentError(
    `${name} must be a string, bytes, a Blob, a ReadableStream or an async iterable of those`,
  )
}
