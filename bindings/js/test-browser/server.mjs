import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))

let built

/** The sandboxc program: SANDBOXC, else built from this tree; once, since another build is none of a server's own. */
function program() {
  built ??= process.env.SANDBOXC ? Promise.resolve(process.env.SANDBOXC) : build()
  return built
}

async function build() {
  const out = join(root, '.tmp/test-browser/sandboxc')
  await run('go', ['build', '-o', out, './cmd/sandboxc'], { cwd: root })
  return out
}

/**
 * Starts a local server of the test's own, which serves the pages of a directory. `page` gives the
 * address of a page with a new code; `url` and `apiKey` are the server's; `close` ends it.
 */
export async function startServer(pages) {
  const sandboxc = await program()
  const state = await mkdtemp(join(tmpdir(), 'sandboxc-'))
  const env = { PATH: process.env.PATH, HOME: state, XDG_STATE_HOME: state, XDG_CONFIG_HOME: state }
  const child = spawn(sandboxc, ['serve', '--json', '--pages', pages], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.on('exit', resolve))
  for await (const line of createInterface({ input: child.stdout })) {
    const info = JSON.parse(line)
    return {
      url: info.url,
      apiKey: info.api_key,
      pid: info.pid,
      async page(path = '') {
        const { stdout } = await run(sandboxc, ['page', path], { env })
        return stdout.trim()
      },
      async close() {
        child.kill()
        await ended
        await rm(state, { recursive: true, force: true })
      },
    }
  }
  throw new Error(`sandboxc serve ended with code ${await ended}`)
}
