// browse.mjs DIR|ORIGIN SANDBOXC: serves the pages of DIR (those of ORIGIN are served
// already), gets a key for their origin from the local server, opens them in
// Chromium, and prints the title that the page gives itself when its work is done.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import { chromium } from 'playwright-core'

const [dir, sandboxc] = process.argv.slice(2)
const types = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
}

const server = createServer((request, response) => {
  const path = normalize(new URL(request.url, 'http://page').pathname)
  try {
    const body = readFileSync(join(dir, path.endsWith('/') ? `${path}index.html` : path))
    response
      .setHeader('content-type', types[extname(path) || '.html'] ?? 'application/octet-stream')
      .end(body)
  } catch {
    response.writeHead(404).end()
  }
})
const served = dir.startsWith('http')
if (!served) await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = served ? dir : `http://127.0.0.1:${server.address().port}`

const run = (...args) => execFileSync(sandboxc, args, { encoding: 'utf8' })
const { url } = JSON.parse(run('serve', '--detach', '--json'))
const key = run('serve', '--page-key', origin).trim()

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args,
  downloadsPath: tmpdir(),
})
let failed = true
try {
  const page = await browser.newPage()
  page.on('console', (message) => console.error(`page: ${message.text()}`))
  page.on('pageerror', (error) => console.error(`page: ${error.stack}`))
  await page.goto(`${origin}/?${new URLSearchParams({ key, api: url })}`)
  await page.waitForFunction(() => document.title !== '', undefined, { timeout: 30_000 })
  const title = await page.title()
  failed = title.startsWith('failed')
  console.log(title)
} finally {
  await browser.close()
  if (!served) server.close().closeAllConnections()
}
process.exitCode = failed ? 1 : 0
