import {
  errorFromJSON,
  InternalError,
  InvalidArgumentError,
  type SandboxError,
} from './generated/errors.ts'

/** Makes the error that the core says. */
export function coreError(error: object, cause: unknown): SandboxError {
  return errorFromJSON(error, undefined, cause)
}

/** Makes the error of a core that died. */
export function brokenCore(message: string, cause: unknown): SandboxError {
  return new InternalError(message, {
    cause,
    docs: 'docs/errors.md',
    suggestion: 'please report it, with the cause',
  })
}

/** Makes the error of a core that could not be loaded: a bundler leaves it behind, where it does not know the file. */
export function missingCore(cause: unknown): SandboxError {
  const reason = cause instanceof Error ? `: ${cause.message}` : ''
  return new InvalidArgumentError(`the core, core.wasm, could not be loaded${reason}`, {
    cause,
    docs: 'docs/javascript.md',
    option: 'wasm',
    suggestion:
      'pass agent-sandbox/core.wasm by useWasm() or the option wasm: a bundler may have left it behind',
  })
}
