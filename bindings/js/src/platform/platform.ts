/**
 * What the engine needs from the system that it runs on. Two implementations: node.ts and
 * browser.ts. The frames of wasm/ABI.md come in and go out in the engine; here are sockets,
 * files and the clock's edges only.
 */

/** A `WebAssembly.Module`; where no library of TypeScript describes WebAssembly, any object. */
export type WasmModule = typeof globalThis extends {
  WebAssembly: { Module: { prototype: infer M } }
}
  ? M
  : object

/** A way to give the compiled core. A string is a URL, or in Node also a path. */
export type WasmSource =
  | WasmModule
  | ArrayBuffer
  | Uint8Array
  | Response
  | URL
  | string
  | PromiseLike<WasmModule | ArrayBuffer | Uint8Array | Response | URL | string>

/** What of a client's options is the platform's. All are optional. */
export interface HostOptions {
  /** Proxy for everything but loopback: a URL, or `direct` for none. Default: HTTPS_PROXY, HTTP_PROXY, NO_PROXY. */
  readonly proxy?: string | undefined
  /** File of certificate authorities to trust besides the system's. Default: SSL_CERT_FILE. */
  readonly caFile?: string | undefined
  /** Where named sessions are kept; `false` = nowhere. */
  readonly store?: Store | false | undefined
  /** The `sandboxc` program that may start the local server. */
  readonly sandboxc?: string | undefined
  /** What to read instead of the process's environment and the user's files. */
  readonly settings?: SettingsSource | undefined
}

/** Settings for where there is no environment and are no files (pages, workers, tests). */
export interface SettingsSource {
  /** Instead of `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Contents instead of the file `.env` of the working directory. */
  readonly dotenv?: string | undefined
  /** Contents instead of `config.toml`. */
  readonly config?: string | undefined
}

/** What a platform could read of the user's settings. */
export interface FoundSettings {
  /** Those of the variables named by the schema that are set. */
  env: Record<string, string>
  /** Contents of `.env`, where there is one. */
  dotenv?: string
  /** Contents of `config.toml`, where there is one. */
  config?: string
}

/** A live local server, as `server.check` proves it. */
export interface ServerInfo {
  url: string
  sandbox_url: string
  api_key: string
}

/** A place for small named blobs. */
export interface Store {
  /** The blob, or undefined when there is none. */
  get(name: string): Promise<Uint8Array | undefined>
  put(name: string, blob: Uint8Array): Promise<void>
  /** False when there was none. */
  delete(name: string): Promise<boolean>
  list(): Promise<string[]>
  /** Holds the name for this caller alone until the function that it gives is called. */
  lock(name: string): Promise<() => void>
}

export interface Platform {
  readonly name: 'node' | 'browser'
  /** Compiles the core: what was given, or what lies beside the package. Never called at import. */
  loadWasm(given?: WasmSource): Promise<WasmModule>
  /** Loads what the first request will need, while the core is being compiled. */
  prepare?(): void
  /** Connections under a client's options. Cheap: nothing is opened yet. Throws an Error whose message says which option is unusable. */
  host(options: HostOptions): Host
  readSettings(options: HostOptions, names: readonly string[]): FoundSettings
  /**
   * Finds the live local server, or starts it. `check` asks the core to prove that the server of
   * a state file lives; undefined = it does not. Absent where nothing can be started. Throws what
   * `fail` makes.
   */
  findServer?(options: HostOptions, search: ServerSearch): Promise<ServerInfo>
  /** Makes a context, where the system has such a thing. */
  context?<T>(): Context<T>
  /** Prints one line for the user. */
  notice(line: string): void
  /**
   * A page's own way to a credential, asked before a client is made without one. Undefined where
   * there is no page; throws what `fail` makes where the page has none.
   */
  credential?(fail: Failing): Promise<PageCredential | undefined>
}

/** A value that goes along with a call and all that it awaits. */
export interface Context<T> {
  run<R>(value: T, call: () => R): R
  getStore(): T | undefined
}

/** What a page passes to use the local server. */
export interface PageCredential {
  apiKey: string
  apiUrl: string
  provider: 'local'
}

/** Makes an error of the SDK. */
export type Failing = (error: {
  code: string
  message: string
  suggestion?: string
  docs?: string
  cause?: unknown
}) => Error

/** What a search for the local server may call. */
export interface ServerSearch {
  check(state: string): Promise<ServerInfo | undefined>
  fail: Failing
}

/** Connections under one set of options. */
export interface Host {
  readonly store?: Store | undefined
  /** Starts an exchange at once; events come later, never inside this call. */
  http(request: HttpRequest, events: HttpEvents): HttpExchange
  /** Starts to dial at once; events come later, never inside this call. */
  socket(request: SocketRequest, events: SocketEvents): SocketHandle
}

export interface HttpRequest {
  method: string
  url: string
  /** As they are to be sent, in this order; the platform adds only what HTTP itself needs. */
  headers: [string, string][]
  body: RequestBody
  /** The answer goes on for as long as a process or a watch does. */
  lasting: boolean
  /** After `head` nothing of the body is given before `toCore` or `toHost`. */
  bulk: boolean
}

export type RequestBody =
  | { kind: 'none' }
  | { kind: 'bytes'; bytes: Uint8Array }
  | { kind: 'source'; prefix: Uint8Array; source: Source; suffix: Uint8Array }
  /** The core makes it: the platform calls `wanted` for each piece. */
  | { kind: 'pieces' }

/** Bulk data of the caller. */
export interface Source {
  /** Bytes, when known. */
  readonly size?: number | undefined
  /** It can be opened more than once. */
  readonly replayable: boolean
  /** Set where the whole of it is at hand. */
  readonly blob?: Blob | undefined
  readonly bytes?: Uint8Array | undefined
  /** The pieces, in order. What it throws is the caller's own error. */
  open(): AsyncIterable<Uint8Array>
}

/** Why an exchange failed; `kind` as in wasm/ABI.md. */
export interface Failure {
  kind:
    | 'resolve'
    | 'connect'
    | 'refused'
    | 'tls'
    | 'send'
    | 'reset'
    | 'other'
    | 'source'
    | 'damaged'
  /** host:port that was tried, with `the proxy ` before a proxy's. */
  host: string
  /** No credential and no query in it. */
  message: string
  clock?: 'idle'
  limit_ms?: number
  /** What the caller gets instead: a setting of theirs is at fault, not the network. */
  refusal?: Error
}

/**
 * What happens in an exchange, in order: head, chunks, then end or error. Nothing after abort.
 * The bytes of a chunk are taken before the platform's next macrotask.
 */
export interface HttpEvents {
  head(status: number, headers: [string, string][]): void
  chunk(bytes: Uint8Array): void
  end(): void
  error(failure: Failure): void
  /** A body of pieces takes another one. */
  wanted(): void
}

export interface HttpExchange {
  abort(): void
  /** Reads no further until resume; what is under way may still come. */
  pause(): void
  resume(): void
  sendPiece(bytes: Uint8Array): void
  endPieces(): void
  /** Of a bulk answer: the rest comes as chunks. */
  toCore(): void
  /** Of a bulk answer: the rest is read from here; gzip is undone when `gzip` is true. */
  toHost(gzip: boolean): BulkBody
}

/** The body of a bulk answer. */
export interface BulkBody {
  /** How many bytes will come, where the answer says so and nothing is undone. */
  readonly length?: number | undefined
  /** The next piece, which is the caller's to keep; undefined at the end. Rejects with a Failure object. */
  read(): Promise<Uint8Array | undefined>
  /** Everything at once, where the platform has a faster way than read. */
  blob?(): Promise<Blob>
}

export interface SocketRequest {
  url: string
  headers: [string, string][]
  subprotocols: string[]
  /** Longest message taken, in bytes. */
  maxMessage: number
}

export interface SocketEvents {
  /** The subprotocol that the peer chose; '' where it chose none. */
  open(subprotocol: string): void
  text(bytes: Uint8Array): void
  binary(bytes: Uint8Array): void
  /** No failure: closed normally. */
  closed(failure?: Failure): void
}

export interface SocketHandle {
  text(bytes: Uint8Array): void
  binary(bytes: Uint8Array): void
  close(): void
  pause(): void
  resume(): void
}
