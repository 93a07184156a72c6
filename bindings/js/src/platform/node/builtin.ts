import { createRequire } from 'node:module'

const loaded = new Map<string, unknown>()

/**
 * Gives a module of Node's own when it is first needed: some cost milliseconds to load, and most
 * programs need few of them.
 */
export function builtin<T>(name: `node:${string}`): T {
  let module = loaded.get(name)
  if (!module) {
    module = createRequire('/')(name)
    loaded.set(name, module)
  }
  return module as T
}
