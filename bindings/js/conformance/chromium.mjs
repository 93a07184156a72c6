/**
 * The conformance driver in a page: lines of JSON in and out (conformance/runner/program.go), each
 * passed on to the driver that all JavaScript hosts share, which runs inside Chromium.
 */
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { serveFiles } from './chromium-files.mjs'
import { launchChromium } from './chromium-launch.mjs'

const page = `<!doctype html><title>conformance</title><script type="module">
import * as sdk from '/dist/browser.mjs'
import { createDriver } from '/driver.mjs'
const receive = createDriver(sdk, (message) => toProgram(JSON.stringify(message)))
globalThis.fromProgram = receive
</script>`

const wasm = process.env.AGENT_SANDBOX_WASM
const files = await serveFiles([
  ...(wasm ? [['/dist/core.wasm', pathToFileURL(wasm)]] : []),
  ['/', page],
  ['/driver.mjs', new URL('driver.mjs', import.meta.url)],
  ['/dist/', new URL('../dist/', import.meta.url)],
])
const browser = await launchChromium()
try {
  const tab = await browser.newPage()
  tab.on('pageerror', (error) => console.error(`chromium: ${error.stack ?? error}`))
  // The protocol itself: what Playwright makes of it takes several messages for each of ours.
  const protocol = await tab.context().newCDPSession(tab)
  await protocol.send('Runtime.enable')
  await protocol.send('Runtime.addBinding', { name: 'toProgram' })
  protocol.on('Runtime.bindingCalled', ({ payload }) => process.stdout.write(`${payload}\n`))
  await tab.goto(`${files.origin}/`)
  await tab.waitForFunction(() => 'fromProgram' in globalThis)
  for await (const line of createInterface({ input: process.stdin })) {
    const expression = `fromProgram(JSON.parse(${JSON.stringify(line)}))`
    protocol.send('Runtime.evaluate', { expression }).catch((error) => console.error(String(error)))
  }
} finally {
  await browser.close()
  await files.close()
}
