import type { RequestBody, Source } from '../platform.ts'

/** How many bytes of a stream are gathered before the browser takes them over. */
const spoolSize = 4 << 20

/**
 * What fetch is to send. A body with a source is composed as a Blob, which the browser reads from
 * where its parts lie; a stream is spooled first, since Chromium sends streams over HTTP/2 only.
 */
export async function compose(
  body: RequestBody,
  live: () => boolean,
): Promise<BodyInit | undefined> {
  switch (body.kind) {
    case 'none':
    case 'pieces':
      return undefined
    case 'bytes':
      return body.bytes as Uint8Array<ArrayBuffer>
    case 'source':
      return new Blob([
        body.prefix as BlobPart,
        ...(await parts(body.source, live)),
        body.suffix as BlobPart,
      ])
  }
}

async function parts(source: Source, live: () => boolean): Promise<BlobPart[]> {
  if (source.blob) return [source.blob]
  if (source.bytes) return [source.bytes as BlobPart]
  const spool = new Spool()
  try {
    for await (const piece of source.open()) {
      if (!live()) break // which tells the source that nobody wants the rest
      spool.add(piece)
    }
  } catch (cause) {
    throw new SourceError(cause)
  }
  return [spool.blob()]
}

/** What the caller sends could not be read. */
export class SourceError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'what was to be sent could not be read', {
      cause,
    })
  }
}

/** Bytes that come piece by piece and are sent as one: the browser keeps them, on disk where they are many. */
export class Spool {
  #blobs: Blob[] = []
  #pieces: BlobPart[] = []
  #size = 0

  add(bytes: Uint8Array): void {
    this.#pieces.push(bytes.slice() as BlobPart)
    this.#size += bytes.length
    if (this.#size >= spoolSize) this.#gather()
  }

  blob(): Blob {
    this.#gather()
    return new Blob(this.#blobs)
  }

  #gather(): void {
    if (this.#size > 0) this.#blobs.push(new Blob(this.#pieces))
    this.#pieces = []
    this.#size = 0
  }
}
