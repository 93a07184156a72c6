// Callbacks that never return: every wait for them has a clock, and the process does not end silently.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as sdk from '../dist/node.mjs'
import {
  process as answer,
  envelope,
  finish,
  handleAt,
  options,
  peer,
  speaksJSON,
} from './peer.mjs'

const { CommandTimeoutError, InvalidArgumentError, Sandbox, SandboxError } = sdk
const never = () => new Promise(() => {})
const started = { start: { pid: 7 } }
const output = { data: { stdout: Buffer.from('a').toString('base64') } }

/** A sandbox whose commands and code print an "a" and end, or hang. */
async function sandboxOf(t, ends) {
  const { url } = await peer(t, {
    'POST /process.Process/Start': (q, r) => {
      if (!speaksJSON(q, r)) return
      q.resume()
      answer(r, started, output)
      if (ends) finish(r)
    },
    'POST /process.Process/SendSignal': (q, r) => {
      q.resume()
      r.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    },
    'POST /execute': (q, r) => {
      q.resume()
      r.writeHead(200, { 'content-type': 'application/json' })
      r.write(`${JSON.stringify({ type: 'stdout', text: 'a' })}\n`)
      if (ends) r.end(`${JSON.stringify({ type: 'end_of_execution' })}\n`)
    },
  })
  return Sandbox.fromJSON(handleAt(url), options(url))
}

const calls = {
  'commands.run': (sandbox, o) => sandbox.commands.run('x', o),
  runCode: (sandbox, o) => sandbox.runCode('x', o),
}

for (const [name, call] of Object.entries(calls)) {
  for (const ends of [false, true]) {
    const what = ends ? 'has ended' : 'was stopped by its timeout'
    test(`${name} that ${what} does not wait for ever for a callback`, async (t) => {
      const sandbox = await sandboxOf(t, ends)
      const error = await call(sandbox, { timeoutMs: 200, onStdout: never }).catch((e) => e)
      assert.ok(error instanceof SandboxError, String(error))
      assert.match(error.message, /a callback had not returned/)
      assert.equal(error.limitMs, 200)
      assert.equal(error.clock, 'command')
      assert.equal(error.partial.stdout, 'a')
    })
  }

  test(`${name} waits for a callback that returns soon after the timeout`, async (t) => {
    const sandbox = await sandboxOf(t, false)
    let returned = false
    const onStdout = async () => {
      await new Promise((resolve) => setTimeout(resolve, 400))
      returned = true
    }
    const error = await call(sandbox, { timeoutMs: 200, onStdout }).catch((e) => e)
    assert.equal(error.clock, 'command')
    assert.doesNotMatch(error.message, /callback/)
    assert.ok(returned)
  })
}

test('wait() of a handle whose timeout has fired does not wait for ever for a callback', async (t) => {
  const sandbox = await sandboxOf(t, false)
  const handle = await sandbox.commands.run('x', {
    background: true,
    timeoutMs: 200,
    onStdout: never,
  })
  const error = await handle.wait().catch((e) => e)
  assert.ok(error instanceof CommandTimeoutError, String(error))
  assert.match(error.message, /a callback had not returned/)
  await assert.rejects(async () => {
    for await (const _ of handle);
  }, CommandTimeoutError)
})

test('a loop over the output throws what the last callback of a process threw', async (t) => {
  const sandbox = await sandboxOf(t, true)
  const mine = new Error('mine')
  const onStdout = async () => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    throw mine
  }
  const handle = await sandbox.commands.run('x', { background: true, onStdout })
  const error = await (async () => {
    for await (const _ of handle);
  })().catch((e) => e)
  assert.equal(error, mine)
})

test('wait() of a watch inside its own callback is refused', async (t) => {
  const { url } = await peer(t, {
    'POST /filesystem.Filesystem/WatchDir': (q, r) => {
      if (!speaksJSON(q, r)) return
      q.resume()
      r.writeHead(200, { 'content-type': 'application/connect+json' })
      const change = { filesystem: { name: 'a', type: 'EVENT_TYPE_CREATE' } }
      r.write(Buffer.concat([envelope({ start: {} }), envelope(change)]))
    },
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  let give
  const given = new Promise((resolve) => {
    give = resolve
  })
  const watch = await sandbox.files.watchDir('x', async () => (await given).wait())
  give(watch)
  const error = await watch.wait().catch((e) => e)
  assert.ok(error instanceof InvalidArgumentError, String(error))
  assert.match(error.message, /inside onEvent/)
})
