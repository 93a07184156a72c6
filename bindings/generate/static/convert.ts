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

/** Reads the name of an option as it is spelt here: timeoutMs for timeout_ms. */
export function readOption(value: unknown): string | undefined {
  return (value as string | undefined)?.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase())
}

/** Reads a text that names options, each as it is spelt here. Without its parts it stays as it is. */
export function readSpelt(parts: unknown, text: unknown): string | undefined {
  const cut = parts as { text?: string; option?: string }[] | undefined
  return cut
    ? cut.map((p) => readOption(p.option) ?? p.text).join('')
    : (text as string | undefined)
}
