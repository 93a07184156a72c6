import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--enable-precise-memory-info',
]

/**
 * Starts Chromium with an empty profile, spoken to through a pipe. Not by Playwright: it has the
 * browser keep a copy of every body, which is what is to be measured here.
 */
export async function startChromium() {
  const profile = await mkdtemp(join(tmpdir(), 'chromium-'))
  const child = spawn(
    process.env.CHROMIUM ?? '/usr/bin/chromium',
    [...flags, `--user-data-dir=${profile}`, '--remote-debugging-pipe', 'about:blank'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  )
  const ended = new Promise((resolve) => child.on('exit', resolve))
  const send = talk(child.stdio[3], child.stdio[4])
  return {
    async open(url) {
      const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true })
      const evaluate = async (expression) => {
        const options = { expression, awaitPromise: true, returnByValue: true }
        const { result, exceptionDetails } = await send('Runtime.evaluate', options, sessionId)
        if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails))
        return result.value
      }
      await send('Page.navigate', { url }, sessionId)
      while ((await evaluate('document.readyState + location.protocol')) !== 'completehttp:');
      return { run: (f, ...args) => evaluate(`(${f})(...${JSON.stringify(args)})`) }
    },
    async close() {
      await send('Browser.close')
      await ended
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Messages are JSON that ends with a zero byte. */
function talk(output, input) {
  const waiting = new Map()
  let last = 0
  let rest = ''
  input.setEncoding('utf8').on('data', (text) => {
    const messages = (rest + text).split('\0')
    rest = messages.pop()
    for (const { id, result, error } of messages.map((m) => JSON.parse(m))) {
      const { resolve, reject } = waiting.get(id) ?? {}
      waiting.delete(id)
      if (error) reject?.(new Error(error.message))
      else resolve?.(result)
    }
  })
  return (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject })
      output.write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`)
    })
}
