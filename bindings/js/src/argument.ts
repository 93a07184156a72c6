import { InvalidArgumentError } from './generated/errors.ts'
import { isRecord } from './generated/option.ts'

/** Lets a call begin unless its signal has fired: then it throws the signal's reason. */
export function mayBegin(signal: AbortSignal | undefined): void {
  if (signal === undefined || signal === null) return
  if (
    typeof signal.throwIfAborted !== 'function' ||
    typeof signal.addEventListener !== 'function'
  ) {
    throw new InvalidArgumentError('signal must be an AbortSignal')
  }
  signal.throwIfAborted()
}

/** Refuses what cannot be called, before anything is sent. */
export function checkCallbacks(callbacks: object): void {
  for (const [name, value] of Object.entries(callbacks)) {
    if (value !== undefined && value !== null && typeof value !== 'function')
      throw new InvalidArgumentError(`${name} must be a function`)
  }
}

/** Refuses options that are no object. */
export function checkOptions(call: string, options: unknown): void {
  if (!isRecord(options)) throw new InvalidArgumentError(`the options of ${call} must be an object`)
}

/** Refuses what is neither true nor false. */
export function checkFlag(name: string, value: unknown): void {
  if (value !== undefined && value !== null && typeof value !== 'boolean')
    throw new InvalidArgumentError(`${name} must be true or false`)
}

/** Refuses settings that are no text, by their names: a value may be secret. */
export function checkTexts(settings: object): void {
  for (const [name, value] of Object.entries(settings)) {
    if (value !== undefined && value !== null && typeof value !== 'string')
      throw new InvalidArgumentError(`${name} must be a string`)
  }
}

/** The error of what JSON cannot say. */
export function unsayable(what: string, cause: unknown): InvalidArgumentError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new InvalidArgumentError(`${what} cannot be sent: ${reason}`, { cause })
}
