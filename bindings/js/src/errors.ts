import { errorFromJSON, InternalError, type SandboxError } from './generated/errors.ts'

/** Makes the error that the core says. */
export function coreError(error: object, cause: unknown): SandboxError {
  return errorFromJSON(error, undefined, cause)
}

/** Makes the error of a core that died or could not be loaded. */
export function brokenCore(
  message: string,
  cause: unknown,
  suggestion = 'please report it, with the cause',
): SandboxError {
  return new InternalError(message, {
    cause,
    docs: 'docs/errors.md',
    suggestion,
  })
}
