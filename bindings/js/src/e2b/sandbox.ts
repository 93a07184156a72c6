import { Sandbox as Own, type SandboxMetrics } from '../index.ts'
import { Commands } from './commands.ts'
import { at, now, unsupported } from './errors.ts'
import { Filesystem } from './filesystem.ts'
import { infoOf, type SandboxInfo, type SandboxListOrder, type SandboxState } from './info.ts'
import {
  accountOptions,
  type ConnectionOpts,
  lifecycleOptions,
  networkOptions,
  type RequestOpts,
  reboots,
  refuse,
  type SandboxApiOpts,
  type SandboxLifecycle,
  type SandboxNetworkOpts,
  type SandboxNetworkUpdate,
  type SandboxOnResume,
  type Username,
} from './options.ts'
import { SandboxPaginator } from './paginator.ts'
import { Pty } from './pty.ts'

/** How long a sandbox lives, in milliseconds. */
const lifeMs = 300_000

/** Options of a new sandbox. */
export interface SandboxOpts extends ConnectionOpts {
  readonly template?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly envs?: Readonly<Record<string, string>> | undefined
  /** Its life; default: 300,000. */
  readonly timeoutMs?: number | undefined
  readonly allowInternetAccess?: boolean | undefined
  readonly network?: SandboxNetworkOpts | undefined
  readonly lifecycle?: SandboxLifecycle | undefined
  /** The same key makes the same sandbox once. */
  readonly idempotencyKey?: string | undefined
  /** Refused. */
  readonly mcp?: object | undefined
  /** Refused. */
  readonly iam?: object | undefined
  /** Refused. */
  readonly volumeMounts?: object | undefined
}

/** Options of taking an existing sandbox. */
export type SandboxConnectOpts = ConnectionOpts & {
  readonly timeoutMs?: number | undefined
  readonly onResume?: SandboxOnResume | undefined
}

/** Options of a list. */
export interface SandboxListOpts extends SandboxApiOpts {
  readonly query?:
    | {
        readonly metadata?: Readonly<Record<string, string>> | undefined
        readonly state?: readonly SandboxState[] | undefined
        readonly startedAfter?: Date | undefined
        readonly template?: string | undefined
      }
    | undefined
  readonly order?: SandboxListOrder | undefined
  readonly limit?: number | undefined
  readonly nextToken?: string | undefined
}

/** Options of samples. */
export interface SandboxMetricsOpts extends SandboxApiOpts {
  readonly start?: Date | undefined
  readonly end?: Date | undefined
}

/** Options of pausing. */
export interface SandboxPauseOpts extends SandboxApiOpts {
  readonly keepMemory?: boolean | undefined
}

/** Options of a signed URL. */
export interface SandboxUrlOpts {
  /** Seconds until it expires; default: never. */
  readonly useSignatureExpiration?: number | undefined
  readonly user?: Username | undefined
}

/** A running sandbox, with E2B's names. */
export class Sandbox implements AsyncDisposable {
  protected static readonly defaultTemplate: string = 'base'

  /** Reads and writes files. */
  files!: Filesystem
  /** Runs commands. */
  commands!: Commands
  /** Runs terminals. */
  pty!: Pty
  /** The same sandbox with this package's own names. */
  own!: Own

  /** Use `create` or `connect`; this wraps a sandbox of the package's own kind. */
  constructor(own: Own) {
    if (!(own instanceof Own))
      throw new TypeError('Sandbox is not made with new: use await Sandbox.create()')
    this.#take(own)
  }

  #take(own: Own): void {
    this.own = own
    this.files = new Filesystem(own.files)
    this.commands = new Commands(own.commands)
    this.pty = new Pty(own.pty)
  }

  /** Its id. */
  get sandboxId(): string {
    return this.own.sandboxId
  }

  /** The domain of its host names. */
  get sandboxDomain(): string {
    return this.own.toJSON().domain ?? ''
  }

  /** What requests to its ports must carry, when they are not public. */
  get trafficAccessToken(): string | undefined {
    return this.own.toJSON().tokens?.traffic
  }

  /**
   * Makes a sandbox.
   *
   * @throws AuthenticationError: no key, or refused. TemplateError: the template does not exist.
   */
  static create<S extends typeof Sandbox>(this: S, opts?: SandboxOpts): Promise<InstanceType<S>>
  static create<S extends typeof Sandbox>(
    this: S,
    template: string,
    opts?: SandboxOpts,
  ): Promise<InstanceType<S>>
  static async create<S extends typeof Sandbox>(
    this: S,
    template?: string | SandboxOpts,
    opts: SandboxOpts = {},
  ): Promise<InstanceType<S>> {
    const all = typeof template === 'object' ? template : opts
    const { mcp, iam, volumeMounts, lifecycle, network, ...given } = all
    refuse({ mcp, iam, volumeMounts })
    const options = {
      ...accountOptions(given),
      ...lifecycleOptions(lifecycle),
      ...(network && { network: networkOptions(network) }),
      timeoutMs: given.timeoutMs ?? lifeMs,
    }
    const name = typeof template === 'string' ? template : all.template
    return at('account', async () => {
      // biome-ignore lint/complexity/noThisInStatic: a class that extends it has another
      const own = await Own.create(name ?? this.defaultTemplate, options)
      return new this(own) as InstanceType<S>
    })
  }

  /** Takes a sandbox that exists; a paused one is resumed. Its life is never shortened. */
  static async connect<S extends typeof Sandbox>(
    this: S,
    sandboxId: string,
    opts: SandboxConnectOpts = {},
  ): Promise<InstanceType<S>> {
    const { onResume, ...given } = opts
    const options = { ...accountOptions(given), ...reboots(onResume) }
    return at('account', async () => {
      return new this(await Own.connect(sandboxId, options)) as InstanceType<S>
    })
  }

  /** Takes it again; when it is paused, it is resumed. Its life is never shortened. */
  async connect(
    opts: RequestOpts & Pick<SandboxConnectOpts, 'timeoutMs' | 'onResume'> = {},
  ): Promise<this> {
    const { onResume, ...given } = opts
    const options = { ...given, ...reboots(onResume) }
    this.#take(await at('account', () => this.own.connect(options)))
    return this
  }

  /** Lists the account's sandboxes, page by page. */
  static list(opts: SandboxListOpts = {}): SandboxPaginator {
    const { query, order, ...given } = opts
    const options = {
      ...accountOptions(given),
      ...query,
      ...(order && { ascending: order === 'asc' }),
    }
    return now(() => new SandboxPaginator(Own.list(options)))
  }

  /** Ends a sandbox for good; false when there is none of that id. */
  static async kill(sandboxId: string, opts: SandboxApiOpts = {}): Promise<boolean> {
    const options = accountOptions(opts)
    return at('account', () => Own.kill(sandboxId, options))
  }

  /** Describes a sandbox, running or paused. */
  static async getInfo(sandboxId: string, opts: SandboxApiOpts = {}): Promise<SandboxInfo> {
    const options = accountOptions(opts)
    return at('account', async () => infoOf(await Own.getInfo(sandboxId, options)))
  }

  /** The same. */
  static getFullInfo(sandboxId: string, opts: SandboxApiOpts = {}): Promise<SandboxInfo> {
    return Sandbox.getInfo(sandboxId, opts)
  }

  /** Samples of a sandbox's use. */
  static async getMetrics(
    sandboxId: string,
    opts: SandboxMetricsOpts = {},
  ): Promise<SandboxMetrics[]> {
    const options = accountOptions(opts)
    return at('account', () => Own.getMetrics(sandboxId, options))
  }

  /** Makes a sandbox end (or pause) after a time from now; it may shorten. */
  static async setTimeout(
    sandboxId: string,
    timeoutMs: number,
    opts: SandboxApiOpts = {},
  ): Promise<void> {
    const options = accountOptions(opts)
    return at('account', () => Own.setTimeout(sandboxId, timeoutMs, options))
  }

  /** Replaces the network rules of a running sandbox; what is left out is cleared. */
  static async updateNetwork(
    sandboxId: string,
    network: SandboxNetworkUpdate,
    opts: SandboxApiOpts = {},
  ): Promise<void> {
    const options = { ...accountOptions(opts), ...networkOptions(network) }
    return at('account', () => Own.updateNetwork(sandboxId, options))
  }

  /** Freezes a sandbox; false when it was paused already. */
  static async pause(sandboxId: string, opts: SandboxPauseOpts = {}): Promise<boolean> {
    const options = accountOptions(opts)
    return at('account', () => Own.pause(sandboxId, options))
  }

  /** The same. */
  static betaPause(sandboxId: string, opts: SandboxPauseOpts = {}): Promise<boolean> {
    return Sandbox.pause(sandboxId, opts)
  }

  /** The host name under which a port of it is reached, with the port where it is not that of https. */
  getHost(port: number): string {
    return now(() => this.own.getHost(port))
  }

  /** Asks the sandbox itself. */
  isRunning(opts: RequestOpts = {}): Promise<boolean> {
    return at('sandbox', () => this.own.isRunning(opts))
  }

  /** Makes it end (or pause) after a time from now; it may shorten. */
  async setTimeout(timeoutMs: number, opts: RequestOpts = {}): Promise<void> {
    await at('account', () => this.own.setTimeout(timeoutMs, opts))
  }

  /** Replaces its network rules; what is left out is cleared. */
  async updateNetwork(network: SandboxNetworkUpdate, opts: RequestOpts = {}): Promise<void> {
    await at('account', () => this.own.updateNetwork({ ...opts, ...networkOptions(network) }))
  }

  /** Ends it for good; false when it was gone. */
  kill(opts: RequestOpts = {}): Promise<boolean> {
    return at('account', () => this.own.kill(opts))
  }

  /** Freezes it; false when it was paused already. */
  pause(opts: RequestOpts & Pick<SandboxPauseOpts, 'keepMemory'> = {}): Promise<boolean> {
    return at('account', () => this.own.pause(opts))
  }

  /** The same. */
  betaPause(opts: RequestOpts & Pick<SandboxPauseOpts, 'keepMemory'> = {}): Promise<boolean> {
    return this.pause(opts)
  }

  /** Describes it, running or paused. */
  getInfo(opts: RequestOpts = {}): Promise<SandboxInfo> {
    return at('account', async () => infoOf(await this.own.getInfo(opts)))
  }

  /** Samples of its use. */
  getMetrics(
    opts: RequestOpts & Pick<SandboxMetricsOpts, 'start' | 'end'> = {},
  ): Promise<SandboxMetrics[]> {
    return at('account', () => this.own.getMetrics(opts))
  }

  /** A URL to which anyone may POST a file. */
  async uploadUrl(path?: string, opts: SandboxUrlOpts = {}): Promise<string> {
    return now(() => this.own.uploadUrl(path, signed(opts)))
  }

  /** A URL with which anyone may read a file. */
  async downloadUrl(path: string, opts: SandboxUrlOpts = {}): Promise<string> {
    return now(() => this.own.downloadUrl(path, signed(opts)))
  }

  /** Not here. */
  get git(): never {
    throw unsupported('git: run git with sandbox.commands.run()')
  }

  /** Not here. */
  static async createSnapshot(..._: unknown[]): Promise<never> {
    throw unsupported('snapshots')
  }

  /** Not here. */
  async createSnapshot(..._: unknown[]): Promise<never> {
    throw unsupported('snapshots')
  }

  /** Not here. */
  static listSnapshots(..._: unknown[]): never {
    throw unsupported('snapshots')
  }

  /** Not here. */
  listSnapshots(..._: unknown[]): never {
    throw unsupported('snapshots')
  }

  /** Not here. */
  static async deleteSnapshot(..._: unknown[]): Promise<never> {
    throw unsupported('snapshots')
  }

  /** Not here. */
  static async fork(..._: unknown[]): Promise<never> {
    throw unsupported('fork')
  }

  /** Not here. */
  async fork(..._: unknown[]): Promise<never> {
    throw unsupported('fork')
  }

  /** Not here. */
  getMcpUrl(): never {
    throw unsupported('mcp')
  }

  /** Not here. */
  async getMcpToken(): Promise<never> {
    throw unsupported('mcp')
  }

  toString(): string {
    return this.own.toString()
  }

  /** For logs: it holds no token. */
  toJSON(): Record<string, string> {
    const { sandboxId, own } = this
    const { provider, template, isolation } = own
    return { sandboxId, provider, template, isolation }
  }

  /** Kills it; one that is gone already is fine. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

function signed(opts: SandboxUrlOpts) {
  const { user, useSignatureExpiration: seconds } = opts
  return { user, ...(seconds !== undefined && { expiresMs: seconds * 1000 }) }
}
