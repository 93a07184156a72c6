import { InvalidArgumentError } from './errors.ts'

/** A JSON object as it crosses to the core and back. */
export type Wire = Record<string, unknown>

/** Reads a value that may be absent. */
export function readMaybe<T>(value: unknown, read: (one: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value)
}

/** Reads a list; an absent one is empty. */
export function readList<T>(value: unknown, read: (one: unknown) => T): T[] {
  return ((value ?? []) as unknown[]).map((one) => read(one))
}

/** Reads the values of an object; an absent one is empty. */
export function readMap<T>(value: unknown, read: (one: unknown) => T): Record<string, T> {
  const entries = Object.entries((value ?? {}) as Wire)
  return Object.fromEntries(entries.map(([key, one]) => [key, read(one)]))
}

/** Reads an RFC 3339 time. */
export function readTime(value: unknown): Date {
  return new Date(value as string)
}

/** Writes a list; an absent one stays absent. */
export function writeList<T>(
  value: readonly T[] | undefined,
  write: (one: T) => unknown,
): unknown[] | undefined {
  return value?.map((one) => write(one))
}

/** Writes the values of an object; an absent one stays absent. */
export function writeMap<T>(
  value: Readonly<Record<string, T>> | undefined,
  write: (one: T) => unknown,
): Wire | undefined {
  if (!value) return undefined
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, write(one)]))
}

/** Writes a time. */
export function writeTime(name: string, value: Date | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) {
    throw new InvalidArgumentError(`${name} must be a valid Date`)
  }
  return value.toISOString()
}

/** Writes a duration in whole milliseconds: a part of one counts as one. Too long is as long as can be said. */
export function writeMillis(name: string, value: number | undefined): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new InvalidArgumentError(`${name} must be a number of milliseconds; 0 means none`)
  }
  const whole = value < 0 ? Math.floor(value) : Math.ceil(value)
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(whole, Number.MAX_SAFE_INTEGER))
}

/** Writes a duration that must be said. */
export function writeNeededMillis(name: string, value: number): number {
  const millis = writeMillis(name, value)
  if (millis === undefined) {
    throw new InvalidArgumentError(`${name} must be a number of milliseconds; 0 means none`)
  }
  return millis
}
