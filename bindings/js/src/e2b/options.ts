import type { ClientOptions, Network } from '../index.ts'
import { InvalidArgumentError } from './errors.ts'

/** A user inside a sandbox. */
export type Username = string

/** All traffic, for `denyOut` and `allowOut`. */
export const ALL_TRAFFIC = '0.0.0.0/0'

/** Something to log to. */
export interface Logger {
  // biome-ignore lint/suspicious/noExplicitAny: console is one
  debug?: (...args: any[]) => void
  // biome-ignore lint/suspicious/noExplicitAny: console is one
  info?: (...args: any[]) => void
  // biome-ignore lint/suspicious/noExplicitAny: console is one
  warn?: (...args: any[]) => void
  // biome-ignore lint/suspicious/noExplicitAny: console is one
  error?: (...args: any[]) => void
}

/** Whose account, where, and how: E2B's options, and this package's own besides. */
export interface ConnectionOpts extends ClientOptions {
  /** Changes nothing: this package logs nothing. */
  readonly logger?: Logger | undefined
  /** Refused, unless empty: requests cannot be given headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Refused, unless empty: requests cannot be given headers. */
  readonly apiHeaders?: Readonly<Record<string, string>> | undefined
}

/** E2B's older name. */
export type ConnectionConfigOpts = ConnectionOpts
/** Options of a call on the account. */
export type SandboxApiOpts = ConnectionOpts

/** Options of a call of an object that exists. */
export interface RequestOpts {
  /** Until an answer's head, in milliseconds; 0 = none. */
  readonly requestTimeoutMs?: number | undefined
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined
}

/** What happens at the end of a sandbox's life. */
export type SandboxOnTimeout =
  | 'pause'
  | 'kill'
  | { action: 'pause'; keepMemory?: boolean }
  | { action: 'kill' }
/** What becomes of a paused sandbox. */
export type SandboxOnResume = 'restore' | 'reboot'

/** What happens at the end of a sandbox's life, and after. */
export interface SandboxLifecycle {
  onTimeout?: SandboxOnTimeout
  /** Traffic wakes it; only with `pause`. */
  autoResume?: boolean
}

/** What a function in place of `allowOut` or `denyOut` gets. */
export interface SandboxNetworkSelectorContext {
  /** `0.0.0.0/0` */
  readonly allTraffic: string
  /** Those of the same options. */
  readonly rules: ReadonlyMap<string, readonly SandboxNetworkRule[]>
}

/** Hosts and ranges, or a function that gives them. */
export type SandboxNetworkSelector =
  | readonly string[]
  | ((context: SandboxNetworkSelectorContext) => readonly string[])
/** Changes requests to one host. */
export type SandboxNetworkRule = { readonly transform?: SandboxNetworkTransform }
/** Sets headers. */
export type SandboxNetworkTransform = { readonly headers?: Readonly<Record<string, string>> }
/** By host. */
export type SandboxNetworkRules = Readonly<Record<string, readonly SandboxNetworkRule[]>>

/** What may be reached, and how. */
export interface SandboxNetworkOpts extends Omit<Network, 'allowOut' | 'denyOut' | 'rules'> {
  readonly allowOut?: SandboxNetworkSelector | undefined
  readonly denyOut?: SandboxNetworkSelector | undefined
  readonly rules?: SandboxNetworkRules | undefined
}
/** The same, of a running sandbox. */
export type SandboxNetworkUpdate = SandboxNetworkOpts

/** Options of an account as this package takes them. */
export function accountOptions(given: ConnectionOpts): ClientOptions {
  const { logger, headers, apiHeaders, ...rest } = given
  for (const [name, value] of Object.entries({ headers, apiHeaders })) {
    if (value && Object.keys(value).length > 0)
      throw new InvalidArgumentError(`${name}: requests cannot be given headers here; leave it out`)
  }
  return rest
}

/** Refuses options of E2B's that nothing here stands for. */
export function refuse(options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (value)
      throw new InvalidArgumentError(
        `${name} is not supported here; leave it out (docs/e2b.md lists what differs)`,
      )
  }
}

/** A lifecycle as options of `create`. */
export function lifecycleOptions(lifecycle: SandboxLifecycle | undefined): {
  onTimeout?: string
  keepMemory?: boolean
  autoResume?: boolean
} {
  const { onTimeout, autoResume } = lifecycle ?? {}
  const more = typeof onTimeout === 'object' ? onTimeout : undefined
  const action = more ? more.action : (onTimeout as string | undefined)
  if (action !== undefined && action !== 'pause' && action !== 'kill')
    throw new InvalidArgumentError(`onTimeout must be pause or kill, not ${String(action)}`)
  const keepMemory = more?.action === 'pause' ? more.keepMemory : undefined
  return {
    ...(action !== undefined && { onTimeout: action }),
    ...(keepMemory !== undefined && { keepMemory }),
    ...(autoResume !== undefined && { autoResume }),
  }
}

/** Whether a paused sandbox boots anew. */
export function reboots(onResume: SandboxOnResume | undefined): { reboot?: boolean } {
  if (onResume !== undefined && onResume !== 'restore' && onResume !== 'reboot')
    throw new InvalidArgumentError(`onResume must be restore or reboot, not ${String(onResume)}`)
  return onResume === 'reboot' ? { reboot: true } : {}
}

/** Network rules, with the answers of functions in place of the functions. */
export function networkOptions(network: SandboxNetworkOpts): Network {
  const { allowOut, denyOut, ...rest } = network
  const context = { allTraffic: ALL_TRAFFIC, rules: new Map(Object.entries(rest.rules ?? {})) }
  const answered = (given: SandboxNetworkSelector | undefined) =>
    typeof given === 'function' ? given(context) : given
  return {
    ...rest,
    ...(allowOut && { allowOut: answered(allowOut) }),
    ...(denyOut && { denyOut: answered(denyOut) }),
  }
}
