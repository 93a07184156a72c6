import type * as fs from 'node:fs'
import type { FoundSettings, HostOptions } from '../platform.ts'
import { builtin } from './builtin.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** The environment that a client reads. */
export function environment(options: HostOptions): Env {
  return options.settings ? (options.settings.env ?? {}) : process.env
}

/** What of a file is read; the core says so when it is longer. */
const longestFile = (1 << 20) + 1

/** Reads the variables of these names, .env in the working directory, and config.toml. */
export function readSettings(options: HostOptions, names: readonly string[]): FoundSettings {
  const from = environment(options)
  const found: FoundSettings = { env: {} }
  for (const name of names) {
    const value = from[name]
    if (value) found.env[name] = value
  }
  const given = options.settings
  const dotenv = given ? given.dotenv : readOptional('.env')
  const config = given ? given.config : readOptional(`${configDir(from)}/config.toml`)
  if (dotenv) found.dotenv = dotenv
  if (config) found.config = config
  return found
}

/** A file's text; undefined where there is none that can be read. */
export function readOptional(path: string): string | undefined {
  const { openSync, fstatSync, readSync, closeSync } = builtin<typeof fs>('node:fs')
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return undefined
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) return undefined
    const bytes = new Uint8Array(Math.min(stat.size, longestFile))
    let n = 0
    for (let got = -1; got !== 0 && n < bytes.length; n += got)
      got = readSync(file, bytes, n, bytes.length - n, null)
    return new TextDecoder().decode(bytes.subarray(0, n))
  } finally {
    closeSync(file)
  }
}

/** The directory of config.toml. */
function configDir(env: Env): string {
  const base = env.XDG_CONFIG_HOME ?? ''
  return `${base.startsWith('/') ? base : `${env.HOME ?? ''}/.config`}/agent-sandbox`
}

/** The directory of state: agent-sandbox in $XDG_STATE_HOME, else in ~/.local/state. */
export function stateDir(env: Env): string {
  const base = env.XDG_STATE_HOME ?? ''
  return `${base.startsWith('/') ? base : `${env.HOME ?? ''}/.local/state`}/agent-sandbox`
}
