import type { FoundSettings, HostOptions } from '../platform.ts'

/** A page has no environment and no files: what its maker passed is all there is. */
export function readSettings(options: HostOptions, names: readonly string[]): FoundSettings {
  const given = options.settings
  const found: FoundSettings = { env: {} }
  for (const name of names) {
    const value = given?.env?.[name]
    if (value !== undefined) found.env[name] = value
  }
  if (given?.dotenv !== undefined) found.dotenv = given.dotenv
  if (given?.config !== undefined) found.config = given.config
  return found
}
