import type {
  Host,
  HostOptions,
  HttpEvents,
  HttpExchange,
  HttpRequest,
  SocketEvents,
  SocketHandle,
  SocketRequest,
  Store,
} from '../platform.ts'
import { Exchange } from './exchange.ts'
import { FetchOptions } from './fetchoptions.ts'
import { Names } from './names.ts'
import { Socket } from './socket.ts'

/** Connections of one client: a browser makes them, so that there is little to hold. */
export class BrowserHost implements Host {
  readonly store: Store | undefined
  readonly #names = new Names()
  readonly #options = new FetchOptions()

  constructor(options: HostOptions) {
    for (const name of ['proxy', 'caFile', 'sandboxc'] as const) {
      if (options[name] && options[name] !== 'direct')
        throw new Error(`option ${name} is not for pages: the browser has that setting itself`)
    }
    this.store = options.store || undefined
  }

  http(request: HttpRequest, events: HttpEvents): HttpExchange {
    return new Exchange(request, events, this.#names, this.#options)
  }

  socket(request: SocketRequest, events: SocketEvents): SocketHandle {
    return new Socket(request, events)
  }
}
