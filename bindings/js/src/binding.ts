import { mayBegin } from './argument.ts'
import type { Client } from './client.ts'
import type { CallRequest, Operation } from './engine/operation.ts'
import type { CallOptions } from './generated/methods.ts'
import { writeMillis } from './generated/write.ts'

/** A sandbox's handle, bound to who calls. It holds tokens and shows none. */
export class Binding {
  readonly client: Client
  readonly #handle: HandleJSON
  readonly #text: string

  constructor(client: Client, handle: HandleJSON) {
    this.client = client
    this.#handle = handle
    this.#text = JSON.stringify(handle)
  }

  /** The handle, tokens included. */
  get handle(): HandleJSON {
    return this.#handle
  }

  call<T>(method: string, params: object, options?: CallOptions): Promise<T> {
    return this.client.call<T>(method, params, options, this.#text)
  }

  callNow<T>(method: string, params: object): T {
    return this.client.callNow({ method, params, sandbox: this.#text }) as T
  }

  /** Begins an operation; its request clock is the options'. Throws what a signal that has fired says. */
  start(
    request: Omit<CallRequest, 'client' | 'sandbox' | 'fail'> & Partial<Pick<CallRequest, 'fail'>>,
    options: CallOptions,
  ): Operation {
    mayBegin(options.signal)
    const requestTimeoutMs = writeMillis('requestTimeoutMs', options.requestTimeoutMs)
    return this.client.start({ ...request, sandbox: this.#text, requestTimeoutMs })
  }
}

/** What names a sandbox in every language. It holds its tokens, but no account's key. */
export interface HandleJSON {
  provider: string
  sandbox_id: string
  domain?: string
  urls?: { api?: string; sandbox?: string }
  tokens?: { envd?: string; traffic?: string }
  envd_version?: string
  template?: string
  isolation?: string
}
