import type { Commands as Own, ProcessInfo } from '../index.ts'
import { CommandHandle } from './command_handle.ts'
import { at } from './errors.ts'
import type { RequestOpts, Username } from './options.ts'
import { type CommandResult, checked } from './result.ts'

/** How long a command may run, in milliseconds. */
export const commandTimeoutMs = 60_000

/** Options of a call about commands. */
export interface CommandRequestOpts extends RequestOpts {}

/** Options of a command. */
export interface CommandStartOpts extends CommandRequestOpts {
  readonly background?: boolean | undefined
  /** Default: the user's home. */
  readonly cwd?: string | undefined
  readonly user?: Username | undefined
  readonly envs?: Readonly<Record<string, string>> | undefined
  readonly onStdout?: ((data: string) => void | Promise<void>) | undefined
  readonly onStderr?: ((data: string) => void | Promise<void>) | undefined
  /** Leave stdin open for `sendStdin`. */
  readonly stdin?: boolean | undefined
  /** Default: 60,000, in the background too; 0 = no limit. */
  readonly timeoutMs?: number | undefined
}

/** Options of following a command. */
export type CommandConnectOpts = Pick<CommandStartOpts, 'onStdout' | 'onStderr' | 'timeoutMs'> &
  CommandRequestOpts

/** Runs commands in one sandbox. */
export class Commands {
  readonly #own: Own

  /** @internal */
  constructor(own: Own) {
    this.#own = own
  }

  /** The running commands and terminals. */
  list(opts: CommandRequestOpts = {}): Promise<ProcessInfo[]> {
    return at('sandbox', () => this.#own.list(opts))
  }

  /** Writes to a command's stdin, which `stdin: true` has left open. */
  sendStdin(pid: number, data: string | Uint8Array, opts: CommandRequestOpts = {}): Promise<void> {
    return at('process', () => this.#own.sendStdin(pid, data, opts))
  }

  /** Ends a command's stdin. */
  closeStdin(pid: number, opts: CommandRequestOpts = {}): Promise<void> {
    return at('process', () => this.#own.closeStdin(pid, opts))
  }

  /** Ends a process with SIGKILL; false when there is none of that pid. */
  kill(pid: number, opts: CommandRequestOpts = {}): Promise<boolean> {
    return at('sandbox', () => this.#own.kill(pid, opts))
  }

  /**
   * Follows a command that is running.
   *
   * @throws NotFoundError: there is no such process.
   */
  connect(pid: number, opts: CommandConnectOpts = {}): Promise<CommandHandle> {
    const given = { ...opts, timeoutMs: opts.timeoutMs ?? commandTimeoutMs }
    return at('follow', async () => new CommandHandle(await this.#own.connect(pid, given)))
  }

  /**
   * Runs shell text and waits for its end; with `background`, until it has started.
   *
   * @throws CommandExitError: it did not exit with 0. TimeoutError: it ran out of time.
   */
  run(cmd: string, opts?: CommandStartOpts & { background?: false }): Promise<CommandResult>
  run(cmd: string, opts: CommandStartOpts & { background: true }): Promise<CommandHandle>
  run(
    cmd: string,
    opts?: CommandStartOpts & { background?: boolean },
  ): Promise<CommandHandle | CommandResult>
  run(cmd: string, opts: CommandStartOpts = {}): Promise<CommandHandle | CommandResult> {
    const { background, ...rest } = opts
    const given = { ...rest, timeoutMs: opts.timeoutMs ?? commandTimeoutMs }
    return at('start', async () =>
      background
        ? new CommandHandle(await this.#own.run(cmd, { ...given, background: true }))
        : checked(await this.#own.run(cmd, given)),
    )
  }
}
