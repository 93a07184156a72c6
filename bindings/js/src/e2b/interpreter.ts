import type { Execution } from '../index.ts'
import { at } from './errors.ts'
import {
  awaited,
  type Context,
  type CreateCodeContextOpts,
  onMessage,
  type RunCodeLanguage,
  type RunCodeOpts,
} from './execution.ts'
import { Sandbox } from './sandbox.ts'

/** A running sandbox that runs code too, with E2B's names. */
export class CodeInterpreter extends Sandbox {
  protected static override readonly defaultTemplate: string = 'code-interpreter-v1'

  /**
   * Runs code, where what it defines stays for the next run. Code that raises an error is a result.
   *
   * @throws TimeoutError: it ran out of time.
   */
  runCode(code: string, opts?: RunCodeOpts & { language?: RunCodeLanguage }): Promise<Execution>
  runCode(code: string, opts?: RunCodeOpts & { context?: Context }): Promise<Execution>
  runCode(
    code: string,
    opts: RunCodeOpts & { language?: RunCodeLanguage; context?: Context } = {},
  ): Promise<Execution> {
    const given = {
      ...opts,
      onStdout: onMessage(opts.onStdout),
      onStderr: onMessage(opts.onStderr),
      onResult: awaited(opts.onResult),
      onError: awaited(opts.onError),
    }
    return at('sandbox', () => this.own.runCode(code, given))
  }

  /** Makes a context of its own, apart from the default one of its language. */
  createCodeContext(opts: CreateCodeContextOpts = {}): Promise<Context> {
    return at('sandbox', () => this.own.createCodeContext(opts))
  }

  /** The contexts, default ones included. */
  listCodeContexts(): Promise<Context[]> {
    return at('sandbox', () => this.own.listCodeContexts())
  }

  /** Starts a context afresh: what its code defined is gone. */
  restartCodeContext(context: Context | string): Promise<void> {
    return at('sandbox', () => this.own.restartCodeContext(context))
  }

  /** Ends a context. */
  async removeCodeContext(context: Context | string): Promise<void> {
    await at('sandbox', () => this.own.removeCodeContext(context))
  }
}
