import * as own from '../index.ts'
import type { CommandResult } from './result.ts'

/**
 * The class of most errors. What is thrown is one of the package's own errors of E2B's class: it has
 * `code`, `suggestion` and the like too.
 */
export class SandboxError extends own.SandboxError {
  static {
    SandboxError.prototype.name = 'SandboxError'
  }

  constructor(message = '') {
    super(message)
  }

  /** HTTP status of the answer, if there was one. */
  get statusCode(): number | undefined {
    return this.status
  }
}

/** A command, a request or the sandbox itself ran out of time. */
export class TimeoutError extends SandboxError {
  static override readonly code: string = 'E5002'
  static {
    TimeoutError.prototype.name = 'TimeoutError'
  }
}

/** A bad argument. */
export class InvalidArgumentError extends SandboxError {
  static override readonly code: string = 'E8000'
  static {
    InvalidArgumentError.prototype.name = 'InvalidArgumentError'
  }
}

/** The disk is full. */
export class NotEnoughSpaceError extends SandboxError {
  static override readonly code: string = 'E4004'
  static {
    NotEnoughSpaceError.prototype.name = 'NotEnoughSpaceError'
  }
}

/** Something does not exist. */
export class NotFoundError extends SandboxError {
  static override readonly code: string = 'E3000'
  static {
    NotFoundError.prototype.name = 'NotFoundError'
  }
}

/** A path does not exist. */
export class FileNotFoundError extends NotFoundError {
  static override readonly code: string = 'E4001'
  static {
    FileNotFoundError.prototype.name = 'FileNotFoundError'
  }
}

/** There is no such sandbox. */
export class SandboxNotFoundError extends NotFoundError {
  static override readonly code: string = 'E2005'
  static {
    SandboxNotFoundError.prototype.name = 'SandboxNotFoundError'
  }
}

/** The template cannot be used. */
export class TemplateError extends SandboxError {
  static override readonly code: string = 'E2001'
  static {
    TemplateError.prototype.name = 'TemplateError'
  }
}

/** Too many requests. */
export class RateLimitError extends SandboxError {
  static override readonly code: string = 'E5003'
  static {
    RateLimitError.prototype.name = 'RateLimitError'
  }
}

/** The key is missing or refused. Like E2B's it is no SandboxError of this module. */
export class AuthenticationError extends own.SandboxError {
  static override readonly code: string = 'E1000'
  static {
    AuthenticationError.prototype.name = 'AuthenticationError'
  }
}

/** The service cannot answer now. Like E2B's it is no SandboxError of this module. */
export class ServiceBusyError extends own.SandboxError {
  static override readonly code: string = 'E5004'
  static {
    ServiceBusyError.prototype.name = 'ServiceBusyError'
  }

  /** HTTP status of the answer. */
  get statusCode(): number {
    return 503
  }
}

/** A template could not be built. Like E2B's it is no SandboxError of this module. */
export class BuildError extends own.SandboxError {
  static override readonly code: string = 'E7010'
  static {
    BuildError.prototype.name = 'BuildError'
  }
}

/** Nothing throws it: it may be named. */
export class FileUploadError extends BuildError {
  static {
    FileUploadError.prototype.name = 'FileUploadError'
  }
}

/** Nothing throws it: it may be named. */
export class GitAuthError extends AuthenticationError {
  static {
    GitAuthError.prototype.name = 'GitAuthError'
  }
}

/** Nothing throws it: it may be named. */
export class GitUpstreamError extends SandboxError {
  static {
    GitUpstreamError.prototype.name = 'GitUpstreamError'
  }
}

/** Nothing throws it: it may be named. */
export class VolumeError extends own.SandboxError {
  static {
    VolumeError.prototype.name = 'VolumeError'
  }
}

/** Nothing throws it: it may be named. */
export class VolumeNotFoundError extends VolumeError {
  static {
    VolumeNotFoundError.prototype.name = 'VolumeNotFoundError'
  }
}

/** Nothing throws it: it may be named. */
export class VolumePathNotFoundError extends VolumeError {
  static {
    VolumePathNotFoundError.prototype.name = 'VolumePathNotFoundError'
  }
}

/** Nothing throws it: it may be named. */
export class SecretError extends own.SandboxError {
  static {
    SecretError.prototype.name = 'SecretError'
  }
}

/** Nothing throws it: it may be named. */
export class SecretNotFoundError extends SecretError {
  static {
    SecretNotFoundError.prototype.name = 'SecretNotFoundError'
  }
}

/** A command that did not exit with 0. */
export class CommandExitError extends SandboxError implements CommandResult {
  static override readonly code: string = 'E3002'
  static {
    CommandExitError.prototype.name = 'CommandExitError'
  }
  readonly #result: CommandResult

  constructor(result: CommandResult) {
    super(result.error ?? `exit status ${result.exitCode}`)
    this.#result = result
  }

  get exitCode(): number {
    return this.#result.exitCode
  }

  // A getter, as E2B's; an interface's optional property may be one that is undefined.
  get error(): string {
    return this.#result.error ?? this.message
  }

  get stdout(): string {
    return this.#result.stdout
  }

  get stderr(): string {
    return this.#result.stderr
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), ...this.#result }
  }
}

type Kind = { readonly prototype: own.SandboxError }

/** By code. What is not here is a SandboxError. */
const kinds: Readonly<Record<string, Kind>> = {
  E1000: AuthenticationError,
  E1001: AuthenticationError,
  E1002: AuthenticationError,
  E1003: AuthenticationError,
  E1004: AuthenticationError,
  E2001: TemplateError,
  E2005: SandboxNotFoundError,
  E2006: TimeoutError,
  E3001: TimeoutError,
  E3005: TimeoutError,
  E4001: FileNotFoundError,
  E4003: InvalidArgumentError,
  E4004: NotEnoughSpaceError,
  E5002: TimeoutError,
  E5003: RateLimitError,
  E7010: BuildError,
  E7011: BuildError,
  E8000: InvalidArgumentError,
}

/**
 * Where a call goes: what is not found means something else for the account, in a sandbox, and of a
 * process. What starts something in a sandbox that is gone finds no sandbox; what was cut short by
 * its end ran out of time.
 */
export type Place = 'account' | 'sandbox' | 'process' | 'start' | 'follow'

function kindOf(error: own.SandboxError, place: Place): Kind {
  if (error.status === 503) return ServiceBusyError
  if (error.clock) return TimeoutError
  const starts = (place === 'start' || place === 'follow') && error.pid === undefined
  if (error.code === 'E2005' && place !== 'account' && !starts) return TimeoutError
  const missing = [undefined, 200, 404].includes(error.status) // a stream's error comes after a 200
  if (error.code === 'E3000' && missing && (place === 'process' || place === 'follow'))
    return NotFoundError
  if (error.code === 'E3003' && error.status === 404) return NotFoundError // a context that is gone
  return kinds[error.code] ?? SandboxError
}

/** Gives an error E2B's class. The object, its stack and what it says stay. */
export function renamed(error: unknown, place: Place): unknown {
  if (!(error instanceof own.SandboxError) || isTheirs(error)) return error
  return Object.setPrototypeOf(error, kindOf(error, place).prototype)
}

function isTheirs(error: unknown): boolean {
  return [SandboxError, AuthenticationError, ServiceBusyError, BuildError].some(
    (kind) => error instanceof kind,
  )
}

/** What a call gives; its errors have E2B's classes. */
export async function at<T>(place: Place, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw renamed(error, place)
  }
}

/** The same of a call that gives its result at once. */
export function now<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw renamed(error, 'sandbox')
  }
}

/** The error of what E2B has and this package has not. */
export function unsupported(what: string): Error {
  const error = new own.CapabilityNotSupportedError(`not supported here: ${what}`, {
    docs: 'docs/e2b.md',
  })
  return renamed(error, 'account') as Error
}
