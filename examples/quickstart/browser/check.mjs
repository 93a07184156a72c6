// Opens the page in Chromium, as a reader would in a browser, and compares what it shows.
import { spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { launchChromium } from '../../../bindings/js/conformance/chromium-launch.mjs'

const [pages, screenshot] = process.argv.slice(2)
const expected = 'line 1\nline 2\nline 3\n[0, 1, 4, 9, 16, 25]\n33 characters in square.py\n'

const server = spawn(process.env.SANDBOXC ?? 'sandboxc', ['serve', '--pages', pages, '--json'], { stdio: ['ignore', 'pipe', 'inherit'] })
const ended = new Promise((resolve) => server.on('exit', resolve))
let browser
try {
  const { page: address } = JSON.parse(await firstLine(server.stdout))
  browser = await launchChromium()
  const page = await browser.newPage({ viewport: { width: 800, height: 620 } })
  page.on('pageerror', (error) => console.error(String(error)))
  await page.goto(address)
  await page.waitForFunction(() => document.querySelector('#state').textContent !== 'working', undefined, { timeout: 60_000 })
  const shown = await page.locator('#output').textContent()
  const state = await page.locator('#state').textContent()
  await mkdir(new URL('.', `file://${screenshot}`), { recursive: true })
  await page.screenshot({ path: screenshot })
  process.stdout.write(shown)
  if (shown !== expected || state !== 'done' || page.url().includes('code=')) {
    console.error(`the page shows something else: ${state}\n${shown}`)
    process.exitCode = 1
  }
} finally {
  await browser?.close()
  server.kill()
  await ended
}

async function firstLine(stream) {
  for await (const line of createInterface({ input: stream })) return line
  throw new Error('sandboxc serve ended without a word')
}
