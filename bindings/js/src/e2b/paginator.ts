import type { SandboxPaginator as Own } from '../index.ts'
import { at } from './errors.ts'
import { infoOf, type SandboxInfo } from './info.ts'

/** The sandboxes of an account, a page at a time. */
export class SandboxPaginator implements AsyncIterable<SandboxInfo> {
  readonly #own: Own

  /** @internal */
  constructor(own: Own) {
    this.#own = own
  }

  /** There may be another page. */
  get hasNext(): boolean {
    return this.#own.hasNext
  }

  /** Where the next page begins; undefined after the last. */
  get nextToken(): string | undefined {
    return this.#own.nextToken
  }

  /** The next page. Throws when there is none. */
  nextItems(): Promise<SandboxInfo[]> {
    return at('account', async () => (await this.#own.nextItems()).map(infoOf))
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SandboxInfo, void, undefined> {
    while (this.hasNext) yield* await this.nextItems()
  }
}
