// Opens the page in Chromium, as a reader would in a browser, and compares what it shows.
import { spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { launchChromium } from '../../../bindings/js/conformance/chromium-launch.mjs'

const [pages, screenshot] = process.argv.slice(2)
const expected = 'Sales by region: north 150, south 80, west 95; picture true; table true'

const server = spawn(process.env.SANDBOXC ?? 'sandboxc', ['serve', '--pages', pages, '--json'], { stdio: ['ignore', 'pipe', 'inherit'] })
const ended = new Promise((resolve) => server.on('exit', resolve))
let browser
try {
  const { page: address } = JSON.parse(await firstLine(server.stdout))
  browser = await launchChromium()
  const page = await browser.newPage({ viewport: { width: 800, height: 1200 } })
  page.on('pageerror', (error) => console.error(String(error)))
  await page.goto(address)
  await page.waitForFunction(() => document.querySelector('#state').textContent !== 'working', undefined, { timeout: 120_000 })
  const state = await page.locator('#state').textContent()
  const shown = state === 'done' ? await look(page) : state
  await mkdir(dirname(screenshot), { recursive: true })
  await page.screenshot({ path: screenshot })
  console.log(shown)
  if (shown !== expected) process.exitCode = 1
} finally {
  await browser?.close()
  server.kill()
  await ended
}

// look tells what a reader sees: the picture only where it was decoded.
async function look(page) {
  const title = await page.locator('#title').textContent()
  const names = await page.locator('#bars dt').allTextContents()
  const values = await page.locator('#bars dd').allTextContents()
  const picture = await page.locator('#picture').evaluate(async (image) => {
    await image.decode()
    return image.naturalWidth > 100
  })
  const table = await page.frameLocator('#table iframe').locator('table').textContent()
  const bars = names.map((name, i) => `${name} ${values[i]}`).join(', ')
  return `${title}: ${bars}; picture ${picture}; table ${/south\s+80/.test(table)}`
}

async function firstLine(stream) {
  for await (const line of createInterface({ input: stream })) return line
  throw new Error('sandboxc serve ended without a word')
}
