import type * as childProcess from 'node:child_process'
import type * as fs from 'node:fs'
import { createRequire } from 'node:module'
import type { HostOptions, ServerInfo, ServerSearch } from '../platform.ts'
import { builtin } from './builtin.ts'
import { type Env, environment, readOptional, stateDir } from './settings.ts'

/** How long a server may take to start, in ms. */
const startLimit = 20_000
/** How much of what sandboxc prints is kept, in characters. */
const printedLimit = 64 << 10

/** Finds the local server of this machine, or starts it. Two searches at once are one. */
export class ServerFinder {
  readonly #running = new Map<string, Promise<ServerInfo>>()
  /** States of servers that were started here: a development build keeps its own elsewhere. */
  readonly #known = new Map<string, string>()

  find(options: HostOptions, search: ServerSearch): Promise<ServerInfo> {
    const env = environment(options)
    const key = JSON.stringify([options.sandboxc, env.SANDBOXC, stateDir(env), env.PATH])
    let found = this.#running.get(key)
    if (!found) {
      found = this.#find(key, options, env, search).finally(() => this.#running.delete(key))
      this.#running.set(key, found)
    }
    return found
  }

  async #find(
    key: string,
    options: HostOptions,
    env: Env,
    search: ServerSearch,
  ): Promise<ServerInfo> {
    for (const state of [this.#known.get(key), readOptional(`${stateDir(env)}/server.json`)]) {
      const live = state && (await search.check(state))
      if (live) return live
    }
    if (process.platform !== 'linux') {
      throw search.fail({
        code: 'E5001',
        message: 'the local provider needs Linux',
        suggestion: "set E2B_API_KEY for a cloud, or E2B_API_URL to a Linux machine's server",
      })
    }
    const binary = findBinary(options, env)
    if (!binary) {
      throw search.fail({
        code: 'E5001',
        message: 'no local server is running and no sandboxc program was found to start one',
        suggestion:
          'npm install agent-sandbox with its optional dependencies, or set SANDBOXC to the path of sandboxc',
      })
    }
    const state = await start(binary, env, search)
    this.#known.set(key, state.text)
    return state.server
  }
}

/** Looks for the program: option, variable, the installed package, PATH. */
function findBinary(options: HostOptions, env: Env): string | undefined {
  return options.sandboxc || env.SANDBOXC || packagedBinary() || inPath(env.PATH ?? '')
}

function packagedBinary(): string | undefined {
  try {
    const require = createRequire(import.meta.url)
    return require.resolve(`@agent-sandbox/local-linux-${process.arch}/bin/sandboxc`)
  } catch {
    return undefined
  }
}

function inPath(path: string): string | undefined {
  const { accessSync, constants } = builtin<typeof fs>('node:fs')
  return path
    .split(':')
    .filter((dir) => dir)
    .map((dir) => `${dir}/sandboxc`)
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

/** Runs `sandboxc serve --detach --json`, which finds or starts a server and prints its state. */
async function start(
  binary: string,
  env: Env,
  search: ServerSearch,
): Promise<{ server: ServerInfo; text: string }> {
  const { error, out, errors } = await run(binary, env)
  if (error) throw startFailure(binary, error, out, errors, search)
  try {
    const { url, sandbox_url, api_key } = JSON.parse(out) as ServerInfo
    if (url && api_key) return { server: { url, sandbox_url, api_key }, text: out }
  } catch {
    // what it printed may hold the key: it is not shown
  }
  throw search.fail({
    code: 'E5001',
    message: `${binary} serve --detach --json did not print a server's state`,
  })
}

interface Ran {
  error?: Error
  out: string
  errors: string
}

function run(binary: string, env: Env): Promise<Ran> {
  const { execFile } = builtin<typeof childProcess>('node:child_process')
  return new Promise((resolve) => {
    const child = execFile(
      binary,
      ['serve', '--detach', '--json'],
      {
        timeout: startLimit,
        killSignal: 'SIGKILL',
        maxBuffer: printedLimit,
        env: childEnv(env),
        encoding: 'utf8',
      },
      (error, out, errors) => resolve({ ...(error ? { error } : {}), out, errors }),
    )
    child.stdin?.end()
  })
}

/** Hands on this process's environment with the client's view of where state is kept. */
function childEnv(env: Env): NodeJS.ProcessEnv {
  const child: NodeJS.ProcessEnv = { ...process.env }
  for (const name of ['HOME', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME'])
    if (env[name]) child[name] = env[name]
  return child
}

/** Keeps the error that sandboxc itself printed as JSON. */
function startFailure(
  binary: string,
  error: Error,
  out: string,
  errors: string,
  search: ServerSearch,
): Error {
  const said = printedError(out)
  if (said) return search.fail(said)
  const late = 'killed' in error && error.killed === true
  const code = (error as NodeJS.ErrnoException).code
  const line = late
    ? `it did not answer within ${startLimit / 1000} s`
    : errors.trim().split('\n', 1)[0] || (typeof code === 'string' ? code : `it ended with ${code}`)
  return search.fail({
    code: 'E5001',
    message: `the local server could not be started: ${line}`,
    suggestion: `try it in a terminal: ${binary} serve`,
  })
}

function printedError(
  out: string,
): { code: string; message: string; suggestion?: string; docs?: string } | undefined {
  try {
    const { error } = JSON.parse(out)
    return typeof error?.code === 'string' ? error : undefined
  } catch {
    return undefined
  }
}
