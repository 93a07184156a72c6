import { InvalidArgumentError } from './errors.ts'

/** What every call takes. */
export const callNames: readonly string[] = ['signal', 'requestTimeoutMs']

/** Names that other SDKs have for what we call otherwise. */
const aliases: Readonly<Record<string, string>> = {
  accessToken: 'apiKey',
  env: 'envs',
  lifecycle: 'onTimeout',
  onResume: 'reboot',
  order: 'ascending',
  streamIdleTimeoutMs: 'idleTimeoutMs',
  useSignatureExpiration: 'expiresMs',
}

/** Whether this is an object whose keys are names: no Date, no Map, no Promise that was not awaited. */
export function isRecord(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** Refuses options that there are not: a name that is misspelt would otherwise do nothing. One that is undefined is not there. */
export function checkNames(
  call: string,
  own: readonly string[],
  options: object,
  also: readonly string[] = [],
): void {
  if (!isRecord(options)) throw new InvalidArgumentError(`the options of ${call} must be an object`)
  for (const name of Object.keys(options)) {
    if (own.includes(name) || also.includes(name)) continue
    if ((options as Record<string, unknown>)[name] === undefined) continue
    const near = nearest(name, [...own, ...also])
    const hint = near ? `: did you mean '${near}'?` : ''
    throw new InvalidArgumentError(`unknown option '${cut(name)}' of ${call}${hint}`, {
      option: cut(name),
      suggestion: near ? undefined : own.length > 0 ? `it takes ${own.join(', ')}` : undefined,
      docs: 'docs/reference.md',
    })
  }
}

/** The name that was probably meant. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const alias = Object.hasOwn(aliases, name) ? aliases[name] : undefined
  if (alias !== undefined && names.includes(alias)) return alias
  const wanted = plain(name)
  const same = names.find((one) => plain(one) === wanted)
  if (same) return same
  const limit = Math.min(3, Math.floor(wanted.length / 3))
  let best: string | undefined
  let least = limit + 1
  for (const one of names) {
    const steps = distance(wanted, plain(one), least)
    if (steps < least) {
      least = steps
      best = one
    }
  }
  return best
}

/** Neither case, underscores nor a unit tell names apart. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '').replace(/ms$/, '')
}

/** How many letters must be added, dropped, changed or swapped with their neighbour; `enough` when it is that many or more. */
function distance(a: string, b: string, enough: number): number {
  if (Math.abs(a.length - b.length) >= enough) return enough
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const at = (r: number[], k: number) => r[k] as number
      let steps = Math.min(at(last, j) + 1, at(row, j - 1) + 1)
      steps = Math.min(steps, at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        steps = Math.min(steps, at(before, j - 2) + 1)
      row.push(steps)
    }
    before = last
    last = row
  }
  return last[b.length] as number
}

/** A name may be anything: what is not printable, and what is long, stays out of a message. */
function cut(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 60)
}
