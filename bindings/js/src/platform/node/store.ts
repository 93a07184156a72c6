import type * as fs from 'node:fs/promises'
import type { Store } from '../platform.ts'
import { builtin } from './builtin.ts'

/** Keeps blobs as files of one directory (0700), each 0600 and replaced as a whole. */
export class FileStore implements Store {
  readonly #dir: string
  #counter = 0

  constructor(dir: string) {
    this.#dir = dir
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    return unlessMissing(files().readFile(this.#path(name, '.json')), undefined)
  }

  async put(name: string, blob: Uint8Array): Promise<void> {
    const path = this.#path(name, '.json')
    await this.#make()
    const fresh = `${this.#dir}/.new-${process.pid}-${this.#counter++}`
    try {
      await files().writeFile(fresh, blob, { mode: 0o600, flag: 'wx', flush: true } as object)
      await files().rename(fresh, path)
    } catch (error) {
      await files().rm(fresh, { force: true })
      throw error
    }
  }

  async delete(name: string): Promise<boolean> {
    return unlessMissing(
      files()
        .unlink(this.#path(name, '.json'))
        .then(() => true),
      false,
    )
  }

  async list(): Promise<string[]> {
    const entries = await unlessMissing(files().readdir(this.#dir), [])
    return entries
      .filter((file) => file.endsWith('.json') && !file.startsWith('.'))
      .map((file) => decodeURIComponent(file.slice(0, -'.json'.length)))
      .sort()
  }

  /** Holds a name among all processes that use this package, by a directory that only one can make. */
  async lock(name: string): Promise<() => void> {
    const path = this.#path(name, '.held')
    await this.#make()
    for (;;) {
      try {
        await files().mkdir(path, { mode: 0o700 })
        await files().writeFile(`${path}/pid`, String(process.pid))
        return () =>
          void files()
            .rm(path, { recursive: true, force: true })
            .catch(() => {})
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error
      }
      await this.#waitFor(path)
    }
  }

  async #waitFor(path: string): Promise<void> {
    const pid = Number(await unlessMissing(files().readFile(`${path}/pid`, 'utf8'), '0'))
    if (pid > 0 && !isAlive(pid)) await files().rm(path, { recursive: true, force: true })
    else await new Promise((resolve) => setTimeout(resolve, 20))
  }

  async #make(): Promise<void> {
    await files().mkdir(this.#dir, { recursive: true, mode: 0o700 })
  }

  /** Escaping keeps separators out of a file's name; temporary files begin with a dot. */
  #path(name: string, suffix: string): string {
    const file = encodeURIComponent(name)
      .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
      .replace(/%(24|26|2B|3A|3D|40)/g, (hex) => decodeURIComponent(hex))
      .replace(/^\./, '%2E')
    if (name === '' || file.length > 200)
      throw new Error('a session name needs 1 to 200 characters')
    return `${this.#dir}/${file}${suffix}`
  }
}

function files(): typeof fs {
  return builtin<typeof fs>('node:fs/promises')
}

async function unlessMissing<T, U>(work: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await work
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return otherwise
    throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
