import { checkOptions, checkTexts } from './argument.ts'
import { Binding, type HandleJSON } from './binding.ts'
import { Client, type ClientOptions, clientNames } from './client.ts'
import { contextIdOf, type RunCodeOptions, runCode } from './code_runner.ts'
import { Commands } from './commands.ts'
import type { Execution } from './execution.ts'
import { Files } from './files.ts'
import { readList } from './generated/convert.ts'
import { InvalidArgumentError } from './generated/errors.ts'
import {
  type CallOptions,
  type SandboxConnectOptions,
  type SandboxCreateOptions,
  type SandboxGetMetricsOptions,
  type SandboxListOptions,
  SandboxMethods,
  type SandboxPauseOptions,
  type SandboxResumeOptions,
  type SandboxUpdateNetworkOptions,
  sandboxConnectParams,
  sandboxCreateParams,
  sandboxGetInfoParams,
  sandboxGetMetricsParams,
  sandboxKeepAliveParams,
  sandboxKillParams,
  sandboxOpenParams,
  sandboxPauseParams,
  sandboxResumeParams,
  sandboxSetTimeoutParams,
  sandboxUpdateNetworkParams,
} from './generated/methods.ts'
import {
  type CodeContext,
  readSandboxInfo,
  readSandboxMetrics,
  type SandboxInfo,
  type SandboxMetrics,
} from './generated/types.ts'
import { SandboxPaginator } from './paginator.ts'
import { Pty } from './pty.ts'

/** Options of a new sandbox. */
export interface CreateOptions
  extends SandboxCreateOptions,
    Omit<ClientOptions, keyof CallOptions> {
  /** Which template it is made from; default: the provider's own. */
  readonly template?: string | undefined
}

/** Options of taking an existing sandbox. */
export interface SandboxOptions
  extends SandboxConnectOptions,
    Omit<ClientOptions, keyof CallOptions> {}

/** Options of a list of sandboxes. */
export interface ListOptions extends SandboxListOptions, Omit<ClientOptions, keyof CallOptions> {}

/**
 * A sandbox: an isolated machine for commands and files. `await using sandbox = await
 * Sandbox.create()` ends it when the block is left.
 */
export class Sandbox extends SandboxMethods implements AsyncDisposable {
  /** Runs commands. */
  readonly commands: Commands
  /** Runs terminals. */
  readonly pty: Pty
  /** Reads and writes files. */
  readonly files: Files
  readonly #binding: Binding

  /** @internal */
  constructor(binding: Binding) {
    super()
    if (!(binding instanceof Binding)) {
      throw new TypeError(
        'Sandbox is not made with new: use await Sandbox.create(template, options)',
      )
    }
    this.#binding = binding
    this.commands = new Commands(binding)
    this.pty = new Pty(binding)
    this.files = new Files(binding)
  }

  /**
   * Makes a sandbox. With nothing configured it is made on this machine; with `E2B_API_KEY` set,
   * at E2B.
   *
   * @throws SandboxCreationError and what is below it; InvalidAPIKeyError; ConnectFailedError: no
   * local server can be had.
   */
  static create(template: string, options?: CreateOptions): Promise<Sandbox>
  static create(options?: CreateOptions): Promise<Sandbox>
  static async create(
    template?: string | CreateOptions,
    options: CreateOptions = {},
  ): Promise<Sandbox> {
    const given = (typeof template === 'object' && template) || options
    checkOptions('Sandbox.create', given)
    const { template: named, ...rest } = given
    const name = typeof template === 'object' ? named : (template ?? named)
    checkTexts({ template: name })
    const params = sandboxCreateParams(name, rest, createNames)
    return Sandbox.#take(given, 'sandbox.create', params)
  }

  /** Takes a running sandbox as it is, and resumes a paused one. It never shortens a life. */
  static async connect(sandboxId: string, options: SandboxOptions = {}): Promise<Sandbox> {
    const params = sandboxConnectParams(sandboxId, options, clientNames)
    return Sandbox.#take(options, 'sandbox.connect', params)
  }

  /** `connect` for a sandbox known to be paused. */
  static async resume(
    sandboxId: string,
    options: SandboxOptions & SandboxResumeOptions = {},
  ): Promise<Sandbox> {
    const params = sandboxResumeParams(sandboxId, options, clientNames)
    return Sandbox.#take(options, 'sandbox.resume', params)
  }

  /** Binds a handle that `toJSON()` gave, in any language, without a request. */
  static async fromJSON(
    handle: string | HandleJSON,
    options: ClientOptions = {},
  ): Promise<Sandbox> {
    const params = sandboxOpenParams(parsed(handle), options, clientNames)
    return Sandbox.#take(options, 'sandbox.open', params)
  }

  /** The account's sandboxes. */
  static list(options: ListOptions = {}): SandboxPaginator {
    return new SandboxPaginator(() => Client.make(options), options)
  }

  /** Ends a sandbox for good; false when there is none of that id. */
  static async kill(sandboxId: string, options: ClientOptions = {}): Promise<boolean> {
    const params = { ...sandboxKillParams(options, clientNames), ...named(sandboxId) }
    return (await Client.make(options)).call('sandbox.kill', params, options)
  }

  /** Describes a sandbox, running or paused. */
  static async getInfo(sandboxId: string, options: ClientOptions = {}): Promise<SandboxInfo> {
    const params = { ...sandboxGetInfoParams(options, clientNames), ...named(sandboxId) }
    return readSandboxInfo(
      await (await Client.make(options)).call('sandbox.get_info', params, options),
    )
  }

  /** Makes a sandbox end (or pause) after timeoutMs from now; it may shorten. */
  static async setTimeout(
    sandboxId: string,
    timeoutMs: number,
    options: ClientOptions = {},
  ): Promise<void> {
    const params = {
      ...sandboxSetTimeoutParams(timeoutMs, options, clientNames),
      ...named(sandboxId),
    }
    await (await Client.make(options)).call('sandbox.set_timeout', params, options)
  }

  /** Sees to it that a sandbox lives at least for timeoutMs from now; it never shortens. */
  static async keepAlive(
    sandboxId: string,
    timeoutMs: number,
    options: ClientOptions = {},
  ): Promise<void> {
    const params = {
      ...sandboxKeepAliveParams(timeoutMs, options, clientNames),
      ...named(sandboxId),
    }
    await (await Client.make(options)).call('sandbox.keep_alive', params, options)
  }

  /** Freezes a sandbox; false when it was paused already. */
  static async pause(
    sandboxId: string,
    options: ClientOptions & SandboxPauseOptions = {},
  ): Promise<boolean> {
    const params = { ...sandboxPauseParams(options, clientNames), ...named(sandboxId) }
    return (await Client.make(options)).call('sandbox.pause', params, options)
  }

  /** Gives samples of a sandbox's use. */
  static async getMetrics(
    sandboxId: string,
    options: ClientOptions & SandboxGetMetricsOptions = {},
  ): Promise<SandboxMetrics[]> {
    const params = { ...sandboxGetMetricsParams(options, clientNames), ...named(sandboxId) }
    const client = await Client.make(options)
    return readList(await client.call('sandbox.get_metrics', params, options), readSandboxMetrics)
  }

  /** Replaces the network rules of a running sandbox; what is left out is cleared. */
  static async updateNetwork(
    sandboxId: string,
    options: ClientOptions & SandboxUpdateNetworkOptions = {},
  ): Promise<void> {
    const params = { ...sandboxUpdateNetworkParams(options, clientNames), ...named(sandboxId) }
    await (await Client.make(options)).call('sandbox.update_network', params, options)
  }

  static async #take(options: ClientOptions, method: string, params: object): Promise<Sandbox> {
    const client = await Client.make(options)
    return new Sandbox(new Binding(client, await client.call<HandleJSON>(method, params, options)))
  }

  /** Takes it again, as it is now; a paused one is resumed. It never shortens a life. */
  async connect(options: SandboxConnectOptions = {}): Promise<Sandbox> {
    const params = sandboxConnectParams(this.sandboxId, options)
    const { client } = this.#binding
    return new Sandbox(
      new Binding(client, await client.call<HandleJSON>('sandbox.connect', params, options)),
    )
  }

  /**
   * Runs code in an interpreter inside the sandbox, where what it defines stays for the next run,
   * and waits for its end. Code that raises an error is a result. A signal interrupts it.
   *
   * @throws CommandTimeoutError: it ran longer than `timeoutMs` and was interrupted.
   * @throws CodeExecutionError: the interpreter could not run it.
   * @throws ConnectionLostError: what became of it is not known. All with what came so far as `partial`.
   */
  async runCode(code: string, options: RunCodeOptions = {}): Promise<Execution> {
    checkOptions('Sandbox.runCode', options)
    return runCode(this.#binding, code, options)
  }

  /** Starts a context, or that of an id, afresh: what its code defined is gone. */
  override async restartCodeContext(
    context: CodeContext | string,
    options?: CallOptions,
  ): Promise<void> {
    await super.restartCodeContext(contextIdOf(context), options)
  }

  /** Ends a context, or that of an id; false when there is none. */
  override async removeCodeContext(
    context: CodeContext | string,
    options?: CallOptions,
  ): Promise<boolean> {
    return super.removeCodeContext(contextIdOf(context), options)
  }

  /** Stops what runs in a context, or that of an id, which keeps its variables; false when nothing ran. */
  override async interruptCodeContext(
    context: CodeContext | string,
    options?: CallOptions,
  ): Promise<boolean> {
    return super.interruptCodeContext(contextIdOf(context), options)
  }

  protected call<T>(method: string, params: object, options?: CallOptions): Promise<T> {
    return this.#binding.call(method, params, options)
  }

  protected callNow<T>(method: string, params: object): T {
    return this.#binding.callNow(method, params)
  }

  /** What names it at its provider. */
  get sandboxId(): string {
    return this.#binding.handle.sandbox_id
  }

  /** How it is kept apart: `vm`, `gvisor`, `namespaces`, or `unknown`. */
  get isolation(): string {
    return this.#binding.handle.isolation || 'unknown'
  }

  /** Which template it was made from. */
  get template(): string {
    return this.#binding.handle.template ?? ''
  }

  /** Who runs it: `local`, `e2b`, ... */
  get provider(): string {
    return this.#binding.handle.provider
  }

  /** The same as `getUrl`. */
  url(port: number): string {
    return this.getUrl(port)
  }

  /**
   * The handle, for `fromJSON` in any language. It holds the sandbox's tokens: whoever has it can
   * use the sandbox. `JSON.stringify(sandbox)` is for logs and holds none.
   */
  toJSON(): HandleJSON
  /** @internal what JSON.stringify calls */
  toJSON(key: string): Record<string, string>
  toJSON(key?: string): HandleJSON | Record<string, string> {
    if (key === undefined) return structuredClone(this.#binding.handle)
    const { sandboxId, provider, template, isolation } = this
    return { sandboxId, provider, template, isolation }
  }

  override toString(): string {
    const { sandboxId, provider, template, isolation } = this
    return `Sandbox(id=${sandboxId}, provider=${provider}, template=${template}, isolation=${isolation})`
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString()
  }

  /** Kills it; one that is gone already is fine. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

/** What only creating takes, for the hint at a name that is misspelt. */
const createNames: readonly string[] = ['template', ...clientNames]

function named(sandboxId: string): { sandbox_id: string } {
  if (typeof sandboxId !== 'string') throw new InvalidArgumentError('sandboxId must be a string')
  return { sandbox_id: sandboxId }
}

function parsed(handle: string | HandleJSON): unknown {
  if (typeof handle !== 'string') return handle
  try {
    return JSON.parse(handle)
  } catch {
    throw new InvalidArgumentError('this is not a sandbox handle in JSON') // its text holds tokens
  }
}
