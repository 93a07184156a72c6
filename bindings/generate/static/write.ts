import type { Wire } from './convert.ts'
import { InvalidArgumentError } from './errors.ts'
import { callNames, checkNames, isRecord } from './option.ts'

/** What a value may be. */
export type Kind =
  | 'any'
  | 'flag'
  | 'millis'
  | 'number'
  | 'text'
  | 'time'
  | 'whole'
  | { readonly list: Kind }
  | { readonly map: Kind }
  | { readonly record: () => Fields }

/** A parameter, or a field of a record. */
export interface Field {
  /** Its name on the wire. */
  readonly wire: string
  readonly is: Kind
  /** It must be given. */
  readonly needed?: true
  /** It is an argument of its own, not an option. */
  readonly argument?: true
}

/** Fields by the names that a caller gives them. */
export type Fields = Readonly<Record<string, Field>>

/**
 * Writes the parameters of a call for the wire. What is undefined or null is left out; what is of
 * another kind, and options that there are not, are refused by their names: a value may be secret.
 *
 * @param also - Names of options that are not sent: those of the binding itself.
 */
export function writeCall(
  call: string,
  fields: Fields,
  positional: object,
  options: object = {},
  also: readonly string[] = [],
): Wire {
  checkNames(
    call,
    optionsOf(fields),
    options,
    also.length > 0 ? [...callNames, ...also] : callNames,
  )
  const wire: Wire = {}
  writeFields('', fields, positional, (field) => field.argument === true, wire)
  writeFields('', fields, options, (field) => !field.argument, wire)
  return wire
}

/** Writes a duration in whole milliseconds: a part of one counts as one. Too long is as long as can be said. */
export function writeMillis(name: string, value: number | undefined): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw wrong(name, 'a number of milliseconds; 0 means none')
  const whole = value < 0 ? Math.floor(value) : Math.ceil(value)
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(whole, Number.MAX_SAFE_INTEGER))
}

/** Refuses what is no object whose keys are names. */
export function checkRecord(name: string, value: unknown): asserts value is object {
  if (!isRecord(value)) throw wrong(name, 'an object')
}

const known = new WeakMap<Fields, readonly string[]>()

function optionsOf(fields: Fields): readonly string[] {
  let names = known.get(fields)
  if (!names) {
    names = Object.keys(fields).filter((name) => !fields[name]?.argument)
    known.set(fields, names)
  }
  return names
}

function writeFields(
  path: string,
  fields: Fields,
  values: object,
  wanted: (field: Field) => boolean,
  wire: Wire,
): void {
  for (const name of Object.keys(fields)) {
    const field = fields[name] as Field
    if (!wanted(field)) continue
    const value = (values as Wire)[name]
    if (value !== undefined && value !== null)
      wire[field.wire] = write(path + name, field.is, value)
    else if (field.needed) throw missing(path + name)
  }
}

function write(name: string, kind: Kind, value: unknown): unknown {
  switch (kind) {
    case 'any':
      return value
    case 'flag':
      if (typeof value !== 'boolean') throw wrong(name, 'true or false')
      return value
    case 'millis':
      return writeMillis(name, value as number)
    case 'number':
      if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(name, 'a number')
      return value
    case 'text':
      if (typeof value !== 'string') throw wrong(name, 'a string')
      return value
    case 'time':
      if (!(value instanceof Date) || Number.isNaN(value.getTime()))
        throw wrong(name, 'a valid Date')
      return value.toISOString()
    case 'whole':
      if (!Number.isSafeInteger(value)) throw wrong(name, 'a whole number')
      return value
  }
  if ('list' in kind) return writeList(name, kind.list, value)
  if ('map' in kind) return writeMap(name, kind.map, value)
  return writeRecord(name, kind.record(), value)
}

function writeList(name: string, kind: Kind, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw wrong(name, 'an array')
  return Array.from(value, (one, i) => write(`${name}[${i}]`, kind, one))
}

/** An undefined value is one that is not there. */
function writeMap(name: string, kind: Kind, value: unknown): Wire {
  checkRecord(name, value)
  const given = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(given.map(([key, one]) => [key, write(`${name}.${key}`, kind, one)]))
}

function writeRecord(name: string, fields: Fields, value: unknown): Wire {
  checkRecord(name, value)
  checkNames(name, Object.keys(fields), value)
  const wire: Wire = {}
  writeFields(`${name}.`, fields, value, () => true, wire)
  return wire
}

function missing(name: string): InvalidArgumentError {
  return new InvalidArgumentError(`${name} must be given`, { option: optionOf(name) })
}

/** Which one of a list it is does not matter. */
function optionOf(name: string): string {
  return name.replace(/\[\d+\]/g, '')
}

function wrong(name: string, wanted: string): InvalidArgumentError {
  return new InvalidArgumentError(`${name} must be ${wanted}`, { option: optionOf(name) })
}
