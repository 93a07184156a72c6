/**
 * Measures the built package in Chromium against a real local server, and prints one JSON object:
 * cold start (ms, from import to the first finished command, create included), latency of
 * commands.run('true') (ms), output (MB/s), and files of 100 MB beside a plain fetch (ms).
 */
import { startServer } from '../test-browser/server.mjs'
import { makeSite } from '../test-browser/site.mjs'
import { startChromium } from './chromium.mjs'

const coldStart = async () => {
  const began = performance.now()
  const { Sandbox } = await import('./browser.mjs')
  const sandbox = await Sandbox.create('base')
  await sandbox.commands.run('true')
  const took = performance.now() - began
  await sandbox.kill()
  return Math.round(took)
}

const latency = async () => {
  const { Sandbox } = await import('./browser.mjs')
  const sandbox = await Sandbox.create('base')
  const times = []
  for (let i = 0; i < 350; i++) {
    const began = performance.now()
    await sandbox.commands.run('true')
    if (i >= 50) times.push(performance.now() - began)
  }
  await sandbox.kill()
  times.sort((a, b) => a - b)
  return { p50: times[150], p99: times[297] }
}

const output = async () => {
  const { Sandbox } = await import('./browser.mjs')
  const sandbox = await Sandbox.create('base')
  const speeds = {}
  for (const [name, retainOutput] of [
    ['kept', true],
    ['passed', false],
  ]) {
    const began = performance.now()
    const options = { retainOutput, onStdout: retainOutput ? undefined : () => {} }
    await sandbox.commands.run('head -c 100000000 /dev/zero', options)
    speeds[name] = Math.round(100_000 / (performance.now() - began))
  }
  await sandbox.kill()
  return speeds
}

const files = async () => {
  const { Sandbox } = await import('./browser.mjs')
  const sandbox = await Sandbox.create('base')
  const bytes = new Uint8Array(100e6)
  for (let at = 0; at < bytes.length; at += 65536) {
    crypto.getRandomValues(bytes.subarray(at, at + 65536))
  }
  const blob = new Blob([bytes])
  const upload = sandbox.uploadUrl('/tmp/big')
  const download = sandbox.downloadUrl('/tmp/big')
  const headers = { 'content-type': 'application/octet-stream' }
  const ways = {
    'up, plain fetch': () => fetch(upload, { method: 'POST', body: blob, headers }),
    'up, files.write': () => sandbox.files.write('/tmp/big', blob),
    'down, plain fetch': async () => (await fetch(download, { cache: 'no-store' })).arrayBuffer(),
    'down, files.read': () => sandbox.files.read('/tmp/big', { format: 'bytes' }),
  }
  await ways['up, files.write']()
  const took = Object.fromEntries(Object.keys(ways).map((way) => [way, []]))
  for (let i = 0; i < 7; i++) {
    for (const [way, go] of Object.entries(ways)) {
      const began = performance.now()
      await go()
      took[way].push(performance.now() - began)
    }
  }
  await sandbox.kill()
  const median = (times) => Math.round(times.sort((a, b) => a - b)[3])
  return Object.fromEntries(Object.entries(took).map(([way, times]) => [way, median(times)]))
}

const site = await makeSite({ 'index.html': '<!doctype html><title>bench</title>' })
const server = await startServer(site.directory)
const measured = { cold: [], warm: [] }
for (let i = 0; i < 3; i++) {
  const chromium = await startChromium()
  for (const cache of ['cold', 'warm', 'warm']) {
    measured[cache].push(await (await chromium.open(await server.page())).run(coldStart))
  }
  await chromium.close()
}
const chromium = await startChromium()
for (const [name, measure] of Object.entries({ latency, output, files })) {
  measured[name] = await (await chromium.open(await server.page())).run(measure)
}
await chromium.close()
await server.close()
await site.remove()
console.log(JSON.stringify(measured, undefined, 2))
