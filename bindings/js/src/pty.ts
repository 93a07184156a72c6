import { checkOptions } from './argument.ts'
import type { Binding } from './binding.ts'
import { cancelledBy } from './client.ts'
import type { CommandHandle } from './command_handle.ts'
import { follow } from './commands.ts'
import type { OutputCallbacks } from './follower.ts'
import {
  type CallOptions,
  type PtyConnectOptions,
  type PtyCreateOptions,
  PtyMethods,
  type PtySendInputOptions,
  type PtyStreamInputOptions,
  ptyConnectParams,
  ptyCreateParams,
  ptySendInputParams,
  ptyStreamInputParams,
} from './generated/methods.ts'
import { type Data, type DataPiece, inputOf, wholeBytes } from './source.ts'

type TerminalCallbacks = Pick<OutputCallbacks, 'onData' | 'onStart' | 'retainOutput'>

const terminalNames: readonly (keyof TerminalCallbacks)[] = ['onData', 'onStart', 'retainOutput']

/** Options of a new terminal. */
export interface TerminalOptions extends PtyCreateOptions, TerminalCallbacks {
  /** Its width in characters. */
  readonly cols: number
  /** Its height in characters. */
  readonly rows: number
}

/** Options of following a terminal that runs. */
export interface TerminalConnectOptions extends PtyConnectOptions, TerminalCallbacks {}

/** Runs interactive terminals in one sandbox. */
export class Pty extends PtyMethods {
  readonly #binding: Binding

  /** @internal */
  constructor(binding: Binding) {
    super()
    this.#binding = binding
  }

  protected call<T>(method: string, params: object, options?: CallOptions): Promise<T> {
    return this.#binding.call(method, params, options)
  }

  /** Starts a terminal, by default an interactive login shell. Its output goes to `onData`, or is read from the handle. */
  async create(options: TerminalOptions): Promise<CommandHandle> {
    checkOptions('pty.create', options)
    const { cols, rows, ...rest } = options
    const params = ptyCreateParams(cols, rows, rest, terminalNames)
    return this.#follow('pty.create', params, options)
  }

  /** Follows a terminal that is already running: only output from now on comes. */
  async connect(pid?: number, options: TerminalConnectOptions = {}): Promise<CommandHandle> {
    const params = ptyConnectParams(pid, options, terminalNames)
    return this.#follow('pty.connect', params, options)
  }

  /** Types into a terminal. */
  async sendInput(
    pid: number | undefined,
    data: DataPiece,
    options: PtySendInputOptions = {},
  ): Promise<void> {
    const params = ptySendInputParams(pid, options)
    const operation = this.#binding.start(
      { method: 'pty.send_input', params, attached: wholeBytes(data) },
      options,
    )
    await cancelledBy(operation, options.signal)
  }

  /** Types into a terminal piece by piece, in one call. */
  async streamInput(
    pid: number | undefined,
    data: Data,
    options: PtyStreamInputOptions = {},
  ): Promise<void> {
    const params = ptyStreamInputParams(pid, options)
    const input = inputOf(data)
    const operation = this.#binding.start({ method: 'pty.stream_input', params, input }, options)
    await cancelledBy(operation, options.signal)
  }

  #follow(
    method: string,
    params: object,
    options: TerminalCallbacks & CallOptions,
  ): Promise<CommandHandle> {
    return follow(this.#binding, { method, params, options, kind: 'terminal', controls: this })
  }
}
