import type { Data, Files as Own, FilesystemEvent as OwnEvent } from '../index.ts'
import { type EntryInfo, entryOf, eventOf, type FilesystemEvent, type WriteInfo } from './entry.ts'
import { at, InvalidArgumentError, renamed, TimeoutError } from './errors.ts'
import type { RequestOpts, Username } from './options.ts'
import { WatchHandle } from './watch_handle.ts'

/** How long a watch lasts, in milliseconds. */
const watchTimeoutMs = 60_000

/** One of several files to write. */
export type WriteEntry = { path: string; data: Data }

/** Options of a call about files. */
export interface FilesystemRequestOpts extends RequestOpts {
  readonly user?: Username | undefined
}

/** Options of writing. */
export interface FilesystemWriteOpts extends FilesystemRequestOpts {
  readonly gzip?: boolean | undefined
  /** False sends it as a form. */
  readonly useOctetStream?: boolean | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/** Options of reading. */
export interface FilesystemReadOpts extends FilesystemRequestOpts {
  readonly gzip?: boolean | undefined
  /** Between pieces, in milliseconds; 0 = none. */
  readonly streamIdleTimeoutMs?: number | undefined
}

/** Options of a list. */
export interface FilesystemListOpts extends FilesystemRequestOpts {
  /** Default: 1. */
  readonly depth?: number | undefined
}

/** Options of a watch. */
export interface WatchOpts extends FilesystemRequestOpts {
  /** Default: 60,000; 0 = no limit. */
  readonly timeoutMs?: number | undefined
  /** Called when the watch has ended: with the error, when one ended it. */
  readonly onExit?: ((error?: Error) => void | Promise<void>) | undefined
  readonly recursive?: boolean | undefined
  readonly includeEntry?: boolean | undefined
  readonly allowNetworkMounts?: boolean | undefined
}

type Format = 'text' | 'bytes' | 'blob' | 'stream'

/** Reads, writes and watches the files of one sandbox. */
export class Filesystem {
  readonly #own: Own

  /** @internal */
  constructor(own: Own) {
    this.#own = own
  }

  /**
   * Reads a file.
   *
   * @throws FileNotFoundError: it is missing.
   */
  read(path: string, opts?: FilesystemReadOpts & { format?: 'text' }): Promise<string>
  read(path: string, opts: FilesystemReadOpts & { format: 'bytes' }): Promise<Uint8Array>
  read(path: string, opts: FilesystemReadOpts & { format: 'blob' }): Promise<Blob>
  read(
    path: string,
    opts: FilesystemReadOpts & { format: 'stream' },
  ): Promise<ReadableStream<Uint8Array>>
  read(
    path: string,
    opts: FilesystemReadOpts & { format?: Format } = {},
  ): Promise<string | Uint8Array | Blob | ReadableStream<Uint8Array>> {
    const { streamIdleTimeoutMs, ...rest } = opts
    const given = { ...rest, idleTimeoutMs: streamIdleTimeoutMs }
    return at('sandbox', () => this.#own.read(path, given))
  }

  /** Writes a file, making its parents; an existing one is replaced. With a list, several files. */
  write(path: string, data: Data, opts?: FilesystemWriteOpts): Promise<WriteInfo>
  write(files: WriteEntry[], opts?: FilesystemWriteOpts): Promise<WriteInfo[]>
  write(
    path: string | WriteEntry[],
    data?: Data | FilesystemWriteOpts,
    opts: FilesystemWriteOpts = {},
  ): Promise<WriteInfo | WriteInfo[]> {
    if (Array.isArray(path)) return this.writeFiles(path, data as FilesystemWriteOpts | undefined)
    return at('sandbox', async () =>
      entryOf(await this.#own.write(path, data as Data, written(opts))),
    )
  }

  /** Writes several files. */
  async writeFiles(files: WriteEntry[], opts: FilesystemWriteOpts = {}): Promise<WriteInfo[]> {
    if (Array.isArray(files) && files.length === 0) return []
    return at('sandbox', async () =>
      (await this.#own.writeFiles(files, written(opts))).map(entryOf),
    )
  }

  /** What is in a directory, `depth` levels of it. */
  async list(path: string, opts: FilesystemListOpts = {}): Promise<EntryInfo[]> {
    if (opts.depth !== undefined && opts.depth < 1)
      throw new InvalidArgumentError('depth must be at least 1')
    return at('sandbox', async () =>
      (await this.#own.list(path, opts)).map((entry) => entryOf(entry)),
    )
  }

  /** Makes a directory and its parents; false when it is there. */
  makeDir(path: string, opts: FilesystemRequestOpts = {}): Promise<boolean> {
    return at('sandbox', () => this.#own.makeDir(path, opts))
  }

  /** Renames a file or directory. */
  rename(oldPath: string, newPath: string, opts: FilesystemRequestOpts = {}): Promise<EntryInfo> {
    return at('sandbox', async () => entryOf(await this.#own.rename(oldPath, newPath, opts)))
  }

  /** Removes a file, or a directory with all that is in it. */
  async remove(path: string, opts: FilesystemRequestOpts = {}): Promise<void> {
    await at('sandbox', () => this.#own.remove(path, opts))
  }

  /** Whether there is something at a path. */
  exists(path: string, opts: FilesystemRequestOpts = {}): Promise<boolean> {
    return at('sandbox', () => this.#own.exists(path, opts))
  }

  /** Describes a file or directory. */
  getInfo(path: string, opts: FilesystemRequestOpts = {}): Promise<EntryInfo> {
    return at('sandbox', async () => entryOf(await this.#own.getInfo(path, opts)))
  }

  /**
   * Watches a directory, for 60 s unless told otherwise.
   *
   * @throws FileNotFoundError: it is missing.
   */
  watchDir(
    path: string,
    onEvent: (event: FilesystemEvent) => void | Promise<void>,
    opts: WatchOpts = {},
  ): Promise<WatchHandle> {
    const { timeoutMs = watchTimeoutMs, onExit, ...rest } = opts
    let late: Error | undefined
    const heard = onEvent && ((event: OwnEvent) => onEvent(eventOf(event)))
    const over = () => {
      late = new TimeoutError(
        "the watch ran out of time: 'timeoutMs' sets how long it may last, 0 = no limit",
      )
    }
    const given = {
      ...rest,
      ...(onExit && {
        onExit: (error?: Error) => onExit(late ?? (renamed(error, 'sandbox') as Error | undefined)),
      }),
    }
    return at(
      'start',
      async () => new WatchHandle(await this.#own.watchDir(path, heard, given), timeoutMs, over),
    )
  }
}

function written(opts: FilesystemWriteOpts) {
  const { useOctetStream, ...rest } = opts
  return { ...rest, ...(useOctetStream !== undefined && { multipart: !useOctetStream }) }
}
