import { checkFlag, checkOptions } from './argument.ts'
import type { Binding } from './binding.ts'
import { cancelledBy } from './client.ts'
import { CommandHandle } from './command_handle.ts'
import type { CommandResult } from './command_result.ts'
import { callbackNames, Follower, type FollowerKind, type OutputCallbacks } from './follower.ts'
import { InvalidArgumentError } from './generated/errors.ts'
import {
  type CallOptions,
  type CommandsConnectOptions,
  CommandsMethods,
  type CommandsRunOptions,
  type CommandsSendStdinOptions,
  type CommandsStartOptions,
  type CommandsStreamStdinOptions,
  commandsConnectParams,
  commandsRunParams,
  commandsSendStdinParams,
  commandsStartParams,
  commandsStreamStdinParams,
} from './generated/methods.ts'
import { Patience } from './patience.ts'
import { type Data, type DataPiece, inputOf, wholeBytes } from './source.ts'

/** Options of a command that is waited for. */
export interface RunOptions extends Omit<CommandsRunOptions, 'argv'>, OutputCallbacks {
  readonly background?: false | undefined
}

/** Options of a command that goes on by itself. */
export interface StartOptions extends Omit<CommandsStartOptions, 'argv'>, OutputCallbacks {
  readonly background: true
}

/** Options of following a process that runs. */
export interface ConnectOptions extends CommandsConnectOptions, OutputCallbacks {}

/** How long a command is waited for unless a call says otherwise, in ms. */
const usualTimeout = 60_000

const runNames: readonly string[] = ['background', ...callbackNames]

/** Runs commands in one sandbox. */
export class Commands extends CommandsMethods {
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
   * Runs a shell command line (bash, as a login shell), or a program with exactly the arguments of
   * an array. It is waited for, for 60 s unless told otherwise, and a signal kills it; with
   * `background: true` a handle comes back as soon as it runs.
   *
   * @throws CommandTimeoutError, ConnectionLostError: with the output so far as `partial`.
   * @throws CommandExitError: with `check`, when it did not exit with 0.
   */
  run(command: string | readonly string[], options: StartOptions): Promise<CommandHandle>
  run(command: string | readonly string[], options?: RunOptions): Promise<CommandResult>
  run(
    command: string | readonly string[],
    options?: (Omit<RunOptions, 'background'> | Omit<StartOptions, 'background'>) & {
      readonly background?: boolean | undefined
    },
  ): Promise<CommandResult | CommandHandle>
  async run(
    command: string | readonly string[],
    options: (Omit<RunOptions, 'background'> | Omit<StartOptions, 'background'>) & {
      readonly background?: boolean | undefined
    } = {},
  ): Promise<CommandResult | CommandHandle> {
    const line = lineOf(command)
    checkOptions('commands.run', options)
    const { background = false, ...rest } = options
    checkFlag('background', background)
    const given = { ...rest, ...line.options }
    if (background) {
      const params = commandsStartParams(line.command, given, runNames)
      return this.#follow('commands.start', params, options)
    }
    const params = commandsRunParams(line.command, given, runNames)
    const follower = new Follower(options, 'call', Patience.of(params, usualTimeout))
    const operation = this.#binding.start(
      {
        method: 'commands.run',
        params,
        listener: follower,
        fail: follower.fail,
        patient: !follower.calls,
      },
      { signal: options.signal },
    )
    follower.follow(operation)
    follower.discard()
    const { signal } = options
    const cancel = () => follower.leave('cancel', signal?.reason)
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      return await follower.end
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  /** Follows a process that is already running, by its pid or `tag`: only output from now on comes. */
  async connect(pid?: number, options: ConnectOptions = {}): Promise<CommandHandle> {
    const params = commandsConnectParams(pid, options, callbackNames)
    return this.#follow('commands.connect', params, options)
  }

  /** Writes to a process's stdin, which must have been left open by `stdin: true`. */
  async sendStdin(
    pid: number | undefined,
    data: DataPiece,
    options: CommandsSendStdinOptions = {},
  ): Promise<void> {
    const params = commandsSendStdinParams(pid, options)
    const operation = this.#binding.start(
      { method: 'commands.send_stdin', params, attached: wholeBytes(data) },
      options,
    )
    await cancelledBy(operation, options.signal)
  }

  /** Writes to a process's stdin piece by piece, in one call, and returns when all is taken. */
  async streamStdin(
    pid: number | undefined,
    data: Data,
    options: CommandsStreamStdinOptions = {},
  ): Promise<void> {
    const params = commandsStreamStdinParams(pid, options)
    const operation = this.#binding.start(
      { method: 'commands.stream_stdin', params, input: inputOf(data) },
      options,
    )
    await cancelledBy(operation, options.signal)
  }

  #follow(
    method: string,
    params: object,
    options: OutputCallbacks & CallOptions,
  ): Promise<CommandHandle> {
    return follow(this.#binding, { method, params, options, kind: 'command', controls: this })
  }
}

function lineOf(command: string | readonly string[]): {
  command?: string
  options: { argv?: readonly string[] }
} {
  if (typeof command === 'string') return { command, options: {} }
  if (Array.isArray(command) && command.every((one) => typeof one === 'string'))
    return { options: { argv: command } }
  throw new InvalidArgumentError('command must be a string, or an array of strings')
}

/** What a handle may do with its process. */
export interface Controls {
  kill(pid: number, options?: CallOptions): Promise<boolean>
}

interface Follow {
  method: string
  params: object
  options: OutputCallbacks & CallOptions
  kind: FollowerKind
  controls: Controls & Partial<Pick<Commands, 'sendStdin' | 'closeStdin'>>
}

/** Begins to follow a process and gives its handle once it runs. The signal bounds the start alone. */
export async function follow(binding: Binding, f: Follow): Promise<CommandHandle> {
  const { signal } = f.options
  const follower = new Follower(f.options, f.kind)
  const operation = binding.start(
    { method: f.method, params: f.params, listener: follower, fail: follower.fail },
    { signal },
  )
  follower.follow(operation)
  const cancel = () => follower.leave('cancel', signal?.reason)
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    const pid = await Promise.race([follower.started, follower.end.then(() => follower.started)])
    return new CommandHandle(pid, follower, f.controls)
  } finally {
    signal?.removeEventListener('abort', cancel)
    follower.given()
  }
}
