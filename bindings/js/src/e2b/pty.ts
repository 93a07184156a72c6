import type { Pty as Own } from '../index.ts'
import { CommandHandle } from './command_handle.ts'
import { commandTimeoutMs } from './commands.ts'
import { at } from './errors.ts'
import type { RequestOpts, Username } from './options.ts'

/** Options of a new terminal. */
export interface PtyCreateOpts extends RequestOpts {
  readonly cols: number
  readonly rows: number
  readonly onData: (data: Uint8Array) => void | Promise<void>
  /** Default: 60,000; 0 = no limit. */
  readonly timeoutMs?: number | undefined
  readonly user?: Username | undefined
  readonly envs?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
}

/** Options of following a terminal. */
export type PtyConnectOpts = Partial<Pick<PtyCreateOpts, 'onData' | 'timeoutMs'>> & RequestOpts

/** Runs interactive terminals in one sandbox. */
export class Pty {
  readonly #own: Own

  /** @internal */
  constructor(own: Own) {
    this.#own = own
  }

  /** Starts a login shell in a terminal. */
  create(opts: PtyCreateOpts): Promise<CommandHandle> {
    const given = { ...opts, timeoutMs: opts.timeoutMs ?? commandTimeoutMs }
    return at('start', async () => new CommandHandle(await this.#own.create(given)))
  }

  /**
   * Follows a terminal that is running.
   *
   * @throws NotFoundError: there is no such process.
   */
  connect(pid: number, opts: PtyConnectOpts = {}): Promise<CommandHandle> {
    const given = { ...opts, timeoutMs: opts.timeoutMs ?? commandTimeoutMs }
    return at('follow', async () => new CommandHandle(await this.#own.connect(pid, given)))
  }

  /** Types into a terminal. */
  sendInput(pid: number, data: Uint8Array, opts: RequestOpts = {}): Promise<void> {
    return at('process', () => this.#own.sendInput(pid, data, opts))
  }

  /** Tells a terminal its size. */
  async resize(
    pid: number,
    size: { cols: number; rows: number },
    opts: RequestOpts = {},
  ): Promise<void> {
    await at('process', () => this.#own.resize(pid, { ...opts, cols: size.cols, rows: size.rows }))
  }

  /** Ends a terminal with SIGKILL; false when there is none of that pid. */
  kill(pid: number, opts: RequestOpts = {}): Promise<boolean> {
    return at('sandbox', () => this.#own.kill(pid, opts))
  }
}
