interface Capturing {
  captureStackTrace?(target: object, above?: unknown): void
}

/**
 * Remembers who makes a call. An error of it is born later, where an answer comes in, and its stack
 * would show nothing of the caller; what comes back from here gives it the caller's. Engines without
 * `captureStackTrace` leave errors as they are.
 */
export function callSite(above: unknown): <E extends Error>(error: E) => E {
  const here: { stack?: string } = {}
  ;(Error as Capturing).captureStackTrace?.(here, above)
  return (error) => {
    const frames = here.stack?.indexOf('\n    at ') ?? -1
    const born = error.stack?.indexOf('\n    at ') ?? -1
    if (frames < 0 || born < 0) return error
    const stack = `${error.stack?.slice(0, born)}${here.stack?.slice(frames)}`
    Object.defineProperty(error, 'stack', { value: stack, configurable: true, writable: true })
    return error
  }
}
