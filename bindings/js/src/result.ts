import type { Chart } from './chart.ts'

/** A result as it came, by its names on the wire. */
export type RawResult = Readonly<Record<string, unknown>>

/** The forms that have a field, in the order of `formats()`. */
const known = [
  'text',
  'html',
  'markdown',
  'svg',
  'png',
  'jpeg',
  'pdf',
  'latex',
  'json',
  'javascript',
  'data',
  'chart',
]

/** One value that code showed: that of its last line, or what a display call showed. */
export class Result {
  /** text/plain. */
  readonly text?: string | undefined
  /** text/html. */
  readonly html?: string | undefined
  /** text/markdown. */
  readonly markdown?: string | undefined
  /** image/svg+xml. */
  readonly svg?: string | undefined
  /** image/png, in base64. */
  readonly png?: string | undefined
  /** image/jpeg, in base64. */
  readonly jpeg?: string | undefined
  /** application/pdf, in base64. */
  readonly pdf?: string | undefined
  /** text/latex. */
  readonly latex?: string | undefined
  /** application/json. */
  readonly json?: unknown
  /** application/javascript. */
  readonly javascript?: string | undefined
  /** Of a DataFrame: its columns. */
  readonly data?: unknown
  /** What a figure shows. */
  readonly chart?: Chart | undefined
  /** All other forms by MIME type, and whatever else the interpreter said of the result. */
  readonly extra: RawResult
  /** Whether it is the value of the last line; else it was displayed. */
  readonly isMainResult: boolean
  /** Everything as it came. NaN and infinity, which JSON does not have, are null. */
  readonly raw: RawResult

  /** @internal */
  constructor(raw: RawResult) {
    const { is_main_result: main, extra: more } = raw
    this.raw = raw
    this.isMainResult = main === true
    const others = Object.entries(raw).filter(
      ([name]) => name !== 'is_main_result' && name !== 'extra' && !known.includes(name),
    )
    const given = typeof more === 'object' && more !== null ? Object.entries(more) : []
    this.extra = Object.fromEntries([...given, ...others])
    for (const name of known) {
      const value = raw[name]
      if (value !== undefined && value !== null) Object.assign(this, { [name]: value })
    }
  }

  /** The names of the forms that there are, those of `extra` included. */
  formats(): string[] {
    const own = known.filter((name) => this.raw[name] !== undefined && this.raw[name] !== null)
    return [...own, ...Object.keys(this.extra).sort()]
  }

  /** A form as bytes: `png`, `jpeg` and `pdf` without base64, others as UTF-8; undefined when there is none. */
  bytes(format: string): Uint8Array | undefined {
    const value = this.raw[format] ?? this.extra[format]
    if (value === undefined || value === null) return undefined
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (format !== 'png' && format !== 'jpeg' && format !== 'pdf')
      return new TextEncoder().encode(text)
    return fromBase64(text)
  }

  /** As it came. */
  toJSON(): RawResult {
    return this.raw
  }

  /** The text, or which forms there are. */
  toString(): string {
    return this.text ?? `Result(${this.formats().join(', ')})`
  }

  /** What console.log shows in Node: long forms by their size. */
  [Symbol.for('nodejs.util.inspect.custom')](
    _depth: number,
    options: object,
    inspect?: (value: unknown, options: object) => string,
  ): unknown {
    const shown = Object.fromEntries(
      Object.entries(this.raw).map(([name, value]) => [name, brief(value)]),
    )
    return inspect ? `Result ${inspect(shown, options)}` : shown
  }
}

/** A picture may have many megabytes, through which no iterator is fast. */
function fromBase64(text: string): Uint8Array {
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i)
  return bytes
}

const longest = 500

function brief(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= longest) return value
  return `${value.slice(0, 60)}... (${value.length} characters)`
}
