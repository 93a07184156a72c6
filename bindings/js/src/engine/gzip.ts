import type { Source } from '../platform/platform.ts'

/** The gzip of a source between two pieces of bytes; how long it gets is not known before. */
export function gzipped(
  prefix: Uint8Array,
  source: Source | undefined,
  suffix: Uint8Array,
): Source {
  return {
    replayable: source?.replayable ?? true,
    open: () => compressed(all(prefix, source, suffix)),
  }
}

async function* all(
  prefix: Uint8Array,
  source: Source | undefined,
  suffix: Uint8Array,
): AsyncGenerator<Uint8Array> {
  if (prefix.length > 0) yield prefix
  if (source) yield* source.open()
  if (suffix.length > 0) yield suffix
}

async function* compressed(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const stream = new CompressionStream('gzip')
  feed(stream.writable.getWriter(), pieces).catch(() => {}) // the reader gets it
  const reader = stream.readable.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    await reader.cancel().catch(() => {})
  }
}

async function feed(
  writer: WritableStreamDefaultWriter<BufferSource>,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  try {
    for await (const piece of pieces) await writer.write(piece as BufferSource)
    await writer.close()
  } catch (cause) {
    await writer.abort(cause)
  }
}
