// browser.mjs PACKAGE_DIR SANDBOX: our package in Chromium, driven by lines of JSON
// (see bench/process.go). The job `cold` opens a page anew, from an empty cache or
// from a warm one.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'

const [dir, id] = process.argv.slice(2)
const page = readFileSync(new URL('page.js', import.meta.url))
const types = {
  html: 'text/html',
  js: 'text/javascript',
  mjs: 'text/javascript',
  wasm: 'application/wasm',
}

// As docs/browser.md says: what the script asks for later begins to come with the page.
const html = `<!doctype html>
<link rel="modulepreload" href="/browser.mjs">
<link rel="preload" href="/core.wasm" as="fetch" type="application/wasm" crossorigin>
<script type="module" src="page.js"></script>`

const server = createServer((request, response) => {
  const path = new URL(request.url, 'http://page').pathname
  if (path === '/favicon.ico') return response.writeHead(404).end()
  const body = path === '/' ? html : path === '/page.js' ? page : readFileSync(join(dir, path))
  response
    .setHeader('cache-control', 'max-age=600')
    .setHeader('content-type', types[path.split('.').at(-1)] ?? 'text/html')
    .end(body)
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${server.address().port}`

const api = process.env.E2B_API_URL
const answer = await fetch(`${api}/page-keys`, {
  method: 'POST',
  headers: { 'x-api-key': process.env.E2B_API_KEY, 'content-type': 'application/json' },
  body: JSON.stringify({ origin }),
})
const { key } = await answer.json()

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const program = { executablePath: '/usr/bin/chromium', args }
const browser = await chromium.launch(program)
const address = `${origin}/?${new URLSearchParams({ key, api, id })}`
const open = async (context) => {
  const opened = await context.newPage()
  await opened.goto(address)
  await opened.waitForFunction(() => globalThis.bench, undefined, { timeout: 30_000 })
  return opened
}
const main = await open(await browser.newContext())

const time = async (context) => {
  const opened = await open(context)
  return opened.evaluate(() => globalThis.first)
}

const empty = async () => {
  const context = await browser.newContext()
  const ms = await time(context)
  await context.close()
  return ms
}

// A cache that outlives its page is on a disk, in a profile as users have one.
const warm = async () => {
  const profile = mkdtempSync(join(tmpdir(), 'bench-chromium-'))
  const context = await chromium.launchPersistentContext(profile, program)
  for (let visit = 0; visit < 3; visit++) {
    const opened = await open(context)
    await opened.waitForTimeout(1000)
    await opened.close()
  }
  const ms = await time(context)
  await context.close()
  rmSync(profile, { recursive: true })
  return ms
}

const cold = async ({ n = 1, warm: seen }) => {
  const ms = []
  for (let i = 0; i < n; i++) ms.push(await (seen ? warm() : empty()))
  return { ms, rss: 0 }
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line)
  try {
    console.log(
      JSON.stringify(
        job.op === 'cold'
          ? await cold(job)
          : await main.evaluate((job) => globalThis.bench(job), job),
      ),
    )
  } catch (error) {
    console.log(JSON.stringify({ error: String(error.stack ?? error) }))
  }
}
await browser.close()
process.exit(0)
