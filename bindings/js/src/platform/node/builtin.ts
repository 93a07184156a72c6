import { createRequire } from 'node:module'

/**
 * Gives a module of Node's own when it is first needed: some cost milliseconds to load, and most
 * programs need few of them.
 */
export function builtin<T>(name: `node:${string}`): T {
  return createRequire('/')(name) as T
}
