import { type Client, clientNames } from './client.ts'
import { InvalidArgumentError } from './generated/errors.ts'
import { type SandboxListOptions, sandboxListParams } from './generated/methods.ts'
import { readSandboxPage, type SandboxInfo } from './generated/types.ts'

/** Goes through a list of sandboxes, a page at a time: `nextItems()`, or `for await` for each sandbox. */
export class SandboxPaginator implements AsyncIterable<SandboxInfo> {
  readonly #options: SandboxListOptions
  readonly #params: object
  readonly #client: () => Promise<Client>
  #nextToken: string | undefined
  #begun = false

  /** @internal */
  constructor(client: () => Promise<Client>, options: SandboxListOptions) {
    this.#client = client
    this.#params = sandboxListParams(options, clientNames)
    this.#options = options
    this.#nextToken = options.nextToken
  }

  /** There may be another page. */
  get hasNext(): boolean {
    return !this.#begun || this.#nextToken !== undefined
  }

  /** Where the next page begins; undefined after the last. */
  get nextToken(): string | undefined {
    return this.#nextToken
  }

  /**
   * The next page.
   *
   * @throws InvalidArgumentError: there is none, see `hasNext`.
   */
  async nextItems(): Promise<SandboxInfo[]> {
    if (!this.hasNext) throw new InvalidArgumentError('there is no further page')
    const client = await this.#client()
    const params = { ...this.#params, next_token: this.#nextToken }
    const page = readSandboxPage(await client.call('sandbox.list', params, this.#options))
    this.#begun = true
    this.#nextToken = page.nextToken || undefined
    return page.items
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SandboxInfo, void, undefined> {
    while (this.hasNext) yield* await this.nextItems()
  }
}
