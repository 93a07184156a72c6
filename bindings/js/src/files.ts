import { checkCallbacks, checkOptions, checkTexts } from './argument.ts'
import type { Binding } from './binding.ts'
import { cancelledBy } from './client.ts'
import { Delivery } from './delivery.ts'
import type { BodyOrder } from './engine/operation.ts'
import { readList } from './generated/convert.ts'
import { InvalidArgumentError } from './generated/errors.ts'
import {
  type CallOptions,
  FilesMethods,
  type FilesReadOptions,
  type FilesWatchDirOptions,
  type FilesWriteFilesOptions,
  type FilesWriteOptions,
  filesReadParams,
  filesWatchDirParams,
  filesWriteFilesParams,
  filesWriteParams,
} from './generated/methods.ts'
import { checkNames } from './generated/option.ts'
import { type FilesystemEvent, readWriteInfo, type WriteInfo } from './generated/types.ts'
import { checkRecord } from './generated/write.ts'
import type { BulkBody, Source } from './platform/platform.ts'
import { type Data, join, sourceOf } from './source.ts'
import { WatchHandle } from './watch_handle.ts'

/** In which form a file comes. */
export type FileFormat = 'text' | 'bytes' | 'blob' | 'stream'

/** Options of reading a file. */
export interface ReadOptions extends FilesReadOptions {
  /** Default: `text`. */
  readonly format?: FileFormat | undefined
}

/** Options of writing a file. */
export interface WriteOptions extends Omit<FilesWriteOptions, 'source'> {}

/** One of several files to write. */
export interface FileToWrite {
  /** Relative ones are under the user's home. */
  readonly path: string
  readonly data: Data
}

/** Options of watching a directory. */
export interface WatchOptions extends FilesWatchDirOptions {
  /** Called when the watch has ended: with the error, when one ended it. */
  readonly onExit?: ((error?: Error) => void | Promise<void>) | undefined
}

/** Reads, writes and watches the files of one sandbox. A path is data: it is sent as it is. */
export class Files extends FilesMethods {
  readonly #binding: Binding

  /** @internal */
  constructor(binding: Binding) {
    super()
    this.#binding = binding
  }

  protected call<T>(method: string, params: object, options?: CallOptions): Promise<T> {
    return this.#binding.call(method, params, options)
  }

  /**
   * Reads a file: as text (broken UTF-8 becomes U+FFFD), as bytes, as a Blob, or as a stream,
   * whose memory is bounded.
   *
   * @throws SandboxFileNotFoundError: it is missing. PathKindError: it is a directory.
   */
  read(path: string, options: ReadOptions & { readonly format: 'bytes' }): Promise<Uint8Array>
  read(path: string, options: ReadOptions & { readonly format: 'blob' }): Promise<Blob>
  read(
    path: string,
    options: ReadOptions & { readonly format: 'stream' },
  ): Promise<ReadableStream<Uint8Array>>
  read(
    path: string,
    options?: ReadOptions & { readonly format?: 'text' | undefined },
  ): Promise<string>
  read(
    path: string,
    options?: ReadOptions,
  ): Promise<string | Uint8Array | Blob | ReadableStream<Uint8Array>>
  async read(
    path: string,
    options: ReadOptions = {},
  ): Promise<string | Uint8Array | Blob | ReadableStream<Uint8Array>> {
    const params = filesReadParams(path, options, ['format'])
    switch (options.format ?? 'text') {
      case 'text':
        return this.#read(params, options, (d) => d.text())
      case 'bytes':
        return this.#read(params, options, (d) => d.bytes())
      case 'blob':
        return this.#read(params, options, async (d) => new Blob((await d.pieces()) as BlobPart[]))
      case 'stream':
        return this.#stream(params, options)
      default:
        throw new InvalidArgumentError('format must be text, bytes, blob or stream')
    }
  }

  /** Writes a file, making parents; an existing one is replaced. With a list, several files. */
  write(path: string, data: Data, options?: WriteOptions): Promise<WriteInfo>
  write(files: readonly FileToWrite[], options?: WriteOptions): Promise<WriteInfo[]>
  async write(
    path: string | readonly FileToWrite[],
    data?: Data | WriteOptions,
    options: WriteOptions = {},
  ): Promise<WriteInfo | WriteInfo[]> {
    if (Array.isArray(path)) return this.writeFiles(path, data as WriteOptions | undefined)
    if (typeof path !== 'string')
      throw new InvalidArgumentError('path must be a string, or an array of { path, data }')
    checkOptions('files.write', options)
    const source = sourceOf(data as Data)
    const params = filesWriteParams(path, { ...options, source: reference(source, 1) })
    const sources = new Map([[1, source]])
    const operation = this.#binding.start({ method: 'files.write', params, sources }, options)
    return readWriteInfo(await cancelledBy(operation, options.signal))
  }

  /** Writes several files; answers are in their order. The first error ends the rest. */
  async writeFiles(
    files: readonly FileToWrite[],
    options: WriteOptions = {},
  ): Promise<WriteInfo[]> {
    checkOptions('files.writeFiles', options)
    const sources = new Map<number, Source>()
    const attached: Uint8Array[] = []
    const wire: FilesWriteFilesArgument = []
    for (const [at, { path, data }] of checkedFiles(files).entries()) {
      const source = sourceOf(data, `files[${at}].data`)
      const bytes = small(source)
      if (bytes) {
        attached.push(bytes)
        wire.push({ path, size: bytes.length })
      } else {
        sources.set(wire.length + 1, source)
        wire.push({ path, source: reference(source, wire.length + 1) })
      }
    }
    const params = filesWriteFilesParams(wire, options as FilesWriteFilesOptions)
    const operation = this.#binding.start(
      { method: 'files.write_files', params, attached: join(attached), sources },
      options,
    )
    return readList(await cancelledBy(operation, options.signal), readWriteInfo)
  }

  /**
   * Watches a directory. Each change goes to `onEvent`, which is awaited before the next, or is
   * read from the handle with `for await`.
   *
   * @throws SandboxFileNotFoundError: it is missing. PathKindError: it is no directory.
   */
  watchDir(
    path: string,
    onEvent?: (event: FilesystemEvent) => void | Promise<void>,
    options?: WatchOptions,
  ): Promise<WatchHandle>
  watchDir(path: string, options?: WatchOptions): Promise<WatchHandle>
  async watchDir(
    path: string,
    onEvent?: ((event: FilesystemEvent) => void | Promise<void>) | WatchOptions,
    options: WatchOptions = {},
  ): Promise<WatchHandle> {
    const first = typeof onEvent === 'object' && onEvent !== null
    const given = first ? onEvent : options
    const params = filesWatchDirParams(path, given, ['onExit'])
    const { signal, onExit } = given
    const called = first ? undefined : onEvent
    checkCallbacks({ onEvent: called, onExit })
    return WatchHandle.start(
      (listener) => this.#binding.start({ method: 'files.watch_dir', params, listener }, given),
      { onEvent: called, onExit, signal },
    )
  }

  async #read<T>(
    params: object,
    options: CallOptions,
    take: (d: Delivery) => Promise<T>,
  ): Promise<T> {
    let taken: T | undefined
    const deliver = async (body: BulkBody, order: BodyOrder) => {
      const delivery = new Delivery(body, order)
      taken = await take(delivery)
      return delivery.given
    }
    const operation = this.#binding.start({ method: 'files.read', params, deliver }, options)
    await cancelledBy(operation, options.signal)
    return taken as T
  }

  /** The stream is there when the file is; what goes wrong later is the stream's error. */
  async #stream(params: object, options: CallOptions): Promise<ReadableStream<Uint8Array>> {
    let begin!: (delivery: Delivery) => void
    let finish!: (bytes: number) => void
    let fail!: (reason: unknown) => void
    const began = new Promise<Delivery>((resolve) => {
      begin = resolve
    })
    const deliver = (body: BulkBody, order: BodyOrder) => {
      begin(new Delivery(body, order))
      return new Promise<number>((resolve, reject) => {
        finish = resolve
        fail = reject
      })
    }
    const operation = this.#binding.start({ method: 'files.read', params, deliver }, options)
    const result = cancelledBy(operation, options.signal)
    result.catch(() => {})
    const delivery = await Promise.race([began, result.then(() => began)])
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          result.catch((error) => controller.error(error))
        },
        pull: async (controller) => {
          try {
            const piece = await delivery.next()
            if (piece) return controller.enqueue(piece)
            finish(delivery.given)
          } catch (reason) {
            fail(reason)
          }
          await result.then(
            () => controller.close(),
            () => {},
          )
        },
        cancel: (reason) => operation.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  }
}

type FilesWriteFilesArgument = {
  path: string
  size?: number
  source?: ReturnType<typeof reference>
}[]

/** Each must say where it goes and what it holds. */
function checkedFiles(files: readonly FileToWrite[]): readonly FileToWrite[] {
  if (!Array.isArray(files))
    throw new InvalidArgumentError('files must be an array of { path, data }')
  for (const [at, file] of Array.from<FileToWrite>(files).entries()) {
    checkRecord(`files[${at}]`, file)
    checkNames(`files[${at}]`, ['path', 'data'], file)
    checkTexts({ [`files[${at}].path`]: file.path ?? 0 })
  }
  return files
}

function reference(
  source: Source,
  id: number,
): { id: number; size?: number | undefined; replayable: boolean } {
  return { id, size: source.size, replayable: source.replayable }
}

/** Small files travel together, in one request. */
const smallFile = 1 << 20

function small(source: Source): Uint8Array | undefined {
  return source.bytes && source.bytes.length <= smallFile ? source.bytes : undefined
}
