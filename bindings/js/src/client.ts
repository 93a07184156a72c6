import { checkFlag, checkTexts, mayBegin, unsayable } from './argument.ts'
import { callSite } from './call_site.ts'
import type { Engine } from './engine/engine.ts'
import type { CallRequest, Operation } from './engine/operation.ts'
import { coreError } from './errors.ts'
import { InvalidArgumentError, SandboxError } from './generated/errors.ts'
import { checkNames } from './generated/option.ts'
import { type ResolvedSettings, readResolvedSettings } from './generated/types.ts'
import { variables } from './generated/variables.ts'
import { checkRecord, writeMillis } from './generated/write.ts'
import type {
  Host,
  HostOptions,
  ServerInfo,
  SettingsSource,
  WasmSource,
} from './platform/platform.ts'
import { engineFor, runtime } from './runtime.ts'

/** Who calls, and how: settings that every option object takes. What is left out comes from the environment, `.env` and `config.toml`. */
export interface ClientOptions extends HostOptions {
  /** `local`, `e2b`, ... */
  readonly provider?: string | undefined
  /** Of config.toml. */
  readonly profile?: string | undefined
  /** The account's key. */
  readonly apiKey?: string | undefined
  /** The control plane. */
  readonly apiUrl?: string | undefined
  /** One base for all sandbox traffic. */
  readonly sandboxUrl?: string | undefined
  /** Of the service. */
  readonly domain?: string | undefined
  /** Where the provider has some. */
  readonly region?: string | undefined
  /** Refuses weaker sandboxes: `namespaces`, `gvisor` or `vm`. */
  readonly minIsolation?: string | undefined
  /** E2B_DEBUG. */
  readonly debug?: boolean | undefined
  /** Until an answer's head, in milliseconds; 0 = none. */
  readonly requestTimeoutMs?: number | undefined
  /** Between chunks of a stream, in milliseconds; 0 = none. */
  readonly idleTimeoutMs?: number | undefined
  /** Of calls that may be repeated; 0 = off. */
  readonly retries?: number | undefined
  /** The compiled core, where it cannot be found beside the package. */
  readonly wasm?: WasmSource | undefined
  /** Cancels this call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** @deprecated Taken because programs for E2B pass it; it changes nothing. */
  readonly secure?: boolean | undefined
  /** @deprecated Taken because programs for E2B pass it; it changes nothing. */
  readonly validateApiKey?: boolean | undefined
}

/** The names of those options. */
export const clientNames: readonly (keyof ClientOptions)[] = [
  'provider',
  'profile',
  'apiKey',
  'apiUrl',
  'sandboxUrl',
  'domain',
  'region',
  'minIsolation',
  'debug',
  'requestTimeoutMs',
  'idleTimeoutMs',
  'retries',
  'proxy',
  'caFile',
  'store',
  'sandboxc',
  'settings',
  'wasm',
  'signal',
  'secure',
  'validateApiKey',
]

/** Resolved settings of clients that were made before, by what was read. */
const rememberedLimit = 64

/** A caller's settings, made once and sent with every call. It shows no key. */
export class Client {
  readonly engine: Engine
  readonly host: Host
  readonly #text: string
  readonly settings: ResolvedSettings

  private constructor(engine: Engine, host: Host, text: string, settings: ResolvedSettings) {
    this.engine = engine
    this.host = host
    this.#text = text
    this.settings = settings
  }

  /** Reads the settings, and finds or starts the local server where it is needed. */
  static async make(options: ClientOptions): Promise<Client> {
    mayBegin(options.signal)
    const engine = engineFor(options.wasm)
    engine.warm()
    runtime().platform.prepare?.()
    const read = readClient(options)
    const host = makeHost(options)
    const found = needsCredential(read) ? await withCredential(read) : read
    const plain = JSON.stringify(found)
    const settings = await resolve(engine, host, plain, options.signal)
    if (settings.needsServer && !runtime().platform.findServer) {
      const own = JSON.stringify(await withCredential(found))
      return new Client(engine, host, own, await resolve(engine, host, own, options.signal))
    }
    if (settings.notice) runtime().notice(settings.notice)
    if (!settings.needsServer) return new Client(engine, host, plain, settings)
    const server = await findServer(engine, host, plain, options)
    return new Client(engine, host, JSON.stringify({ ...found, server }), settings)
  }

  /** Begins an operation. */
  start(
    request: Omit<CallRequest, 'client' | 'fail'> & Partial<Pick<CallRequest, 'fail'>>,
  ): Operation {
    const called = callSite(this.start)
    const { fail = coreError } = request
    const told = (error: object, cause: unknown) => called(fail(error, cause))
    try {
      return this.engine.start({ ...request, fail: told, client: this.#text }, this.host)
    } catch (cause) {
      throw unsayable('the arguments', cause)
    }
  }

  /** Makes a call that needs no I/O. */
  callNow(request: Pick<CallRequest, 'method' | 'params' | 'sandbox'>): unknown {
    return this.engine.callNow({ ...request, fail: coreError, client: this.#text })
  }

  /** Makes a call and waits for its result. */
  async call<T>(
    method: string,
    params: object,
    options: { signal?: AbortSignal | undefined; requestTimeoutMs?: number | undefined } = {},
    sandbox?: string,
  ): Promise<T> {
    const { signal } = options
    mayBegin(signal)
    const requestTimeoutMs = writeMillis('requestTimeoutMs', options.requestTimeoutMs)
    return (await cancelledBy(
      this.start({ method, params, sandbox, requestTimeoutMs }),
      signal,
    )) as T
  }
}

/** Waits for an operation's result; the signal cancels it. */
export async function cancelledBy(
  operation: Operation,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  if (!signal) return operation.result
  const cancel = () => operation.cancel(signal.reason)
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return await operation.result
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

function makeHost(options: HostOptions): Host {
  const { proxy, caFile, sandboxc } = options
  checkTexts({ proxy, caFile, sandboxc })
  checkStore(options.store)
  try {
    return runtime().platform.host(options)
  } catch (cause) {
    if (cause instanceof SandboxError) throw cause
    throw new InvalidArgumentError(cause instanceof Error ? cause.message : String(cause), {
      cause,
    })
  }
}

function checkStore(store: unknown): void {
  if (store === undefined || store === null || store === false) return
  const named = store as Record<string, unknown>
  if (['get', 'put', 'delete', 'list', 'lock'].every((name) => typeof named[name] === 'function'))
    return
  throw new InvalidArgumentError('store must be false, or have get, put, delete, list and lock')
}

/** Settings that replace the environment are read as strings; what they hold may be secret. */
function checkSettings(settings: SettingsSource | undefined): void {
  if (settings === undefined || settings === null) return
  checkRecord('settings', settings)
  checkNames('settings', ['env', 'dotenv', 'config'], settings)
  const { env, dotenv, config } = settings
  checkTexts({ 'settings.dotenv': dotenv, 'settings.config': config })
  if (env === undefined || env === null) return
  checkRecord('settings.env', env)
  for (const name of variables) checkTexts({ [`settings.env.${name}`]: env[name] })
}

interface Found {
  arguments: Record<string, unknown>
  env: Record<string, string>
  dotenv?: string
  config?: string
}

function readClient(options: ClientOptions): Found {
  const { platform } = runtime()
  checkSettings(options.settings)
  return { arguments: argumentsOf(options), ...platform.readSettings(options, variables) }
}

/** Nothing at all says where sandboxes are: then it need not be resolved first that a page's own key does. */
function needsCredential({ arguments: given, env, dotenv, config }: Found): boolean {
  const said = ['provider', 'profile', 'api_key', 'api_url', 'domain', 'debug']
  const silent = !dotenv && !config && Object.keys(env).length === 0
  return silent && !runtime().platform.findServer && !said.some((name) => name in given)
}

/** Where no server can be found, a page has a credential of its own. */
async function withCredential(found: Found): Promise<Found> {
  const { apiKey, apiUrl, provider } = await pageKey()
  return { ...found, arguments: { ...found.arguments, api_url: apiUrl, provider, api_key: apiKey } }
}

/**
 * Says which settings a client with these options has, and where each comes from. No key is in it,
 * and nothing is asked over the network.
 *
 * @throws InvalidArgumentError: the settings cannot work.
 */
export async function resolveSettings(options: ClientOptions = {}): Promise<ResolvedSettings> {
  checkNames('resolveSettings', clientNames, options)
  mayBegin(options.signal)
  const client = JSON.stringify(readClient(options))
  return resolve(engineFor(options.wasm), makeHost(options), client, options.signal)
}

/**
 * A page's own credential: the key that a page of the local server gets for its one-time code.
 *
 * @throws InvalidAPIKeyError: this is no such page, or its code is no longer good.
 */
export async function pageKey(): Promise<{ apiKey: string; apiUrl: string; provider: string }> {
  const credential = await runtime().platform.credential?.(failing)
  if (!credential) {
    throw failing({
      code: 'E1001',
      message: 'there is no page here that could have a key',
      suggestion: 'pass apiKey and apiUrl, or provider',
    })
  }
  return credential
}

function failing(e: {
  code: string
  message: string
  suggestion?: string
  docs?: string
  cause?: unknown
}): SandboxError {
  return coreError({ docs: 'docs/errors.md', ...e }, e.cause)
}

function argumentsOf(o: ClientOptions): Record<string, unknown> {
  const texts = {
    provider: o.provider,
    profile: o.profile,
    apiKey: o.apiKey,
    apiUrl: o.apiUrl,
    sandboxUrl: o.sandboxUrl,
    domain: o.domain,
    region: o.region,
    minIsolation: o.minIsolation,
  }
  checkTexts(texts)
  if (o.retries !== undefined && o.retries !== null && !Number.isSafeInteger(o.retries))
    throw new InvalidArgumentError('retries must be a whole number')
  checkFlag('debug', o.debug)
  const all: Record<string, unknown> = {
    provider: o.provider,
    profile: o.profile,
    api_key: o.apiKey,
    api_url: o.apiUrl,
    sandbox_url: o.sandboxUrl,
    domain: o.domain,
    region: o.region,
    min_isolation: o.minIsolation,
    debug: o.debug,
    request_timeout_ms: writeMillis('requestTimeoutMs', o.requestTimeoutMs),
    idle_timeout_ms: writeMillis('idleTimeoutMs', o.idleTimeoutMs),
    retries: o.retries,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

const remembered = new WeakMap<Engine, Map<string, ResolvedSettings>>()

async function resolve(
  engine: Engine,
  host: Host,
  client: string,
  signal?: AbortSignal,
): Promise<ResolvedSettings> {
  const known = remembered.get(engine) ?? new Map<string, ResolvedSettings>()
  remembered.set(engine, known)
  let settings = known.get(client)
  if (!settings) {
    const operation = engine.start(
      { method: 'settings.resolve', client, params: {}, fail: coreError },
      host,
    )
    settings = readResolvedSettings(await cancelledBy(operation, signal))
    if (known.size >= rememberedLimit) known.clear()
    known.set(client, settings)
  }
  return settings
}

async function findServer(
  engine: Engine,
  host: Host,
  client: string,
  options: ClientOptions,
): Promise<ServerInfo> {
  const { findServer } = runtime().platform
  if (!findServer) throw failing({ code: 'E5001', message: 'no server can be found from here' })
  const check = async (state: string) => {
    const operation = engine.start(
      { method: 'server.check', client, params: { state }, fail: coreError },
      host,
    )
    return ((await operation.result) as { server: ServerInfo | null }).server ?? undefined
  }
  return untilAborted(findServer(options, { check, fail: failing }), options.signal)
}

/** The search itself goes on: others may wait for it. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((settle, reject) => {
    const cancel = () => reject(signal.reason)
    signal.addEventListener('abort', cancel, { once: true })
    work.then(settle, reject).finally(() => signal.removeEventListener('abort', cancel))
  })
}
