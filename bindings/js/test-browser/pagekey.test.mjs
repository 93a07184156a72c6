import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { launchChromium } from '../conformance/chromium-launch.mjs'
import { bundle } from './bundle.mjs'
import { startServer } from './server.mjs'

const html = `<!doctype html><script type="module">
import { createPlatform } from './platform.mjs'
const platform = createPlatform()
const fail = (e) => Object.assign(new Error(e.message), e)
globalThis.key = () => platform.credential(fail).then((c) => ({ ...c }), (e) => ({ ...e, message: e.message }))
globalThis.list = async (c) => (await fetch(c.apiUrl + '/v2/sandboxes', { headers: { 'x-api-key': c.apiKey } })).status
globalThis.ready = true
</script>`

let directory, server, browser

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pages-'))
  await writeFile(join(directory, 'index.html'), html)
  await writeFile(join(directory, 'platform.mjs'), await bundle('platform/browser.ts'))
  server = await startServer(directory)
  browser = await launchChromium()
})

after(async () => {
  await browser?.close()
  await server?.close()
  await rm(directory, { recursive: true, force: true })
})

/** Opens an address in a tab that remembers nothing of others. */
async function open(address) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(address)
  await page.waitForFunction(() => globalThis.ready)
  return page
}

test('a page exchanges the code in its address for a key, and hides the code', async () => {
  const address = await server.page('index.html?x=1')
  const page = await open(`${(await server.page()).replace('#code=', '?x=1#part&code=')}`)
  assert.match(address, /%3Fx=1#code=/, 'a path is a path')
  const [first, second] = await page.evaluate(() =>
    Promise.all([globalThis.key(), globalThis.key()]),
  )
  assert.match(first.apiKey, /^page_/)
  assert.deepEqual({ ...first, apiKey: '' }, { apiKey: '', apiUrl: server.url, provider: 'local' })
  assert.deepEqual(second, first, 'two who ask at once share the one code')
  assert.equal(page.url(), `${server.url}/pages/?x=1#part`)
  assert.equal(await page.evaluate((c) => globalThis.list(c), first), 200)
  await page.reload()
  await page.waitForFunction(() => globalThis.ready)
  assert.deepEqual(await page.evaluate(() => globalThis.key()), first, 'the tab keeps its key')
})

test('a code that was used is refused, and the page is told what to do', async () => {
  const address = await server.page()
  await (await open(address)).evaluate(() => globalThis.key())
  const page = await open(address)
  const error = await page.evaluate(() => globalThis.key())
  assert.equal(error.code, 'E1001')
  assert.match(error.message, /used already/)
  assert.match(error.suggestion, /sandboxc page/)
  assert.equal(page.url(), `${server.url}/pages/`)
})

test('a new code works in a tab whose last one was refused', async () => {
  const page = await open(`${server.url}/pages/#code=wrong`)
  assert.equal((await page.evaluate(() => globalThis.key())).code, 'E1001')
  const code = (await server.page()).split('#')[1]
  await page.evaluate((hash) => {
    location.hash = hash
  }, code)
  assert.match((await page.evaluate(() => globalThis.key())).apiKey, /^page_/)
})

test('a page that came without a code is told of page keys', async () => {
  const page = await open(`${server.url}/pages/`)
  const error = await page.evaluate(() => globalThis.key())
  assert.equal(error.code, 'E1001')
  assert.match(error.suggestion, /--page-key http:\/\/127\.0\.0\.1:\d+/)
})
