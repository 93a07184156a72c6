/** A stream of a process. */
export type OutputStream = 'stdout' | 'stderr' | 'pty'

/** Pieces grow from this size to that, in bytes. */
const smallestPiece = 512
const largestPiece = 1 << 20

interface Piece {
  stream: OutputStream
  bytes: Uint8Array
  used: number
}

/**
 * The output of a process, in the order in which it came. Keeping it is linear: small pieces are
 * put together in larger and larger ones.
 */
export class OutputLog {
  #pieces: Piece[] = []
  #dropped = 0
  /** Bytes that have come. */
  total = 0

  /** Copies bytes to the end. */
  append(stream: OutputStream, bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.total += bytes.length
    const last = this.#pieces[this.#pieces.length - 1]
    if (last?.stream === stream && last.bytes.length - last.used >= bytes.length) {
      last.bytes.set(bytes, last.used)
      last.used += bytes.length
      return
    }
    this.#pieces.push({
      stream,
      bytes: room(bytes, last?.stream === stream ? last.bytes.length : 0),
      used: bytes.length,
    })
  }

  /** What lies after a place; undefined at the end. The place moves on. */
  next(place: Place): { stream: OutputStream; data: Uint8Array } | undefined {
    for (;;) {
      const piece = this.#pieces[place.piece - this.#dropped]
      if (!piece) return undefined
      if (place.offset < piece.used) {
        const data = piece.bytes.slice(place.offset, piece.used)
        place.offset = piece.used
        place.passed += data.length
        return { stream: piece.stream, data }
      }
      if (place.piece - this.#dropped === this.#pieces.length - 1) return undefined
      place.piece++
      place.offset = 0
    }
  }

  /** Forgets what lies before a place. What was given out stays as it is. */
  forget(place: Place): void {
    const n = Math.max(0, place.piece - this.#dropped)
    if (n === 0) return
    this.#pieces.splice(0, n)
    this.#dropped += n
  }

  clear(): void {
    this.#dropped += this.#pieces.length
    this.#pieces = []
  }

  /** One stream's bytes. */
  bytes(stream: OutputStream): Uint8Array {
    const pieces = this.#pieces.filter((p) => p.stream === stream)
    const all = new Uint8Array(pieces.reduce((sum, p) => sum + p.used, 0))
    let at = 0
    for (const p of pieces) {
      all.set(p.bytes.subarray(0, p.used), at)
      at += p.used
    }
    return all
  }

  /** One stream as text; broken UTF-8 becomes U+FFFD. */
  text(stream: OutputStream): string {
    const decoder = textDecoder()
    let text = ''
    for (const p of this.#pieces) {
      if (p.stream === stream) text += decoder.decode(p.bytes.subarray(0, p.used), { stream: true })
    }
    return text + decoder.decode()
  }
}

/** How far a reader of a log has come. */
export interface Place {
  piece: number
  offset: number
  passed: number
}

/** Copies bytes into a piece with room to grow. */
function room(bytes: Uint8Array, before: number): Uint8Array {
  const piece = new Uint8Array(
    Math.max(bytes.length, Math.min(2 * before, largestPiece), smallestPiece),
  )
  piece.set(bytes)
  return piece
}

/** A decoder for one stream: exact, and no byte-order mark is taken away. */
export function textDecoder(): InstanceType<typeof TextDecoder> {
  return new TextDecoder('utf-8', { ignoreBOM: true })
}
