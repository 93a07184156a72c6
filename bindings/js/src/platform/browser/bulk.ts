import type { BulkBody, Failure } from '../platform.ts'

/** The body of an answer, straight from fetch to the caller. */
export class BrowserBody implements BulkBody {
  readonly length: number | undefined
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  readonly #over: () => void
  readonly #cut: () => Failure

  /** `over` is told when nothing more comes; `cut` makes the failure of a body that ended too early. */
  constructor(
    reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
    length: number | undefined,
    over: () => void,
    cut: () => Failure,
  ) {
    this.#reader = reader
    this.length = length
    this.#over = over
    this.#cut = cut
  }

  async read(): Promise<Uint8Array | undefined> {
    let chunk: ReadableStreamReadResult<Uint8Array> | undefined
    try {
      chunk = await this.#reader?.read()
    } catch {
      this.#over()
      throw this.#cut()
    }
    if (!chunk?.value) this.#over()
    return chunk?.value
  }
}
