import type { CommandResult as Own } from '../index.ts'
import { CommandExitError } from './errors.ts'

/** How a command ended, and what it wrote. */
export interface CommandResult {
  /** -1 when a signal killed it. */
  exitCode: number
  /** The sandbox's words about the end, if any. */
  error?: string
  stdout: string
  stderr: string
}

/** The result by E2B's names. */
export function resultOf(own: Own): CommandResult {
  const { stdout, stderr, error } = own
  const exitCode = own.signal === undefined ? own.exitCode : -1
  return error === undefined ? { exitCode, stdout, stderr } : { exitCode, error, stdout, stderr }
}

/** The result, when it is 0. Throws CommandExitError otherwise. */
export function checked(own: Own): CommandResult {
  const result = resultOf(own)
  if (result.exitCode !== 0) throw new CommandExitError(result)
  return result
}
