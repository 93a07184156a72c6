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

const { Sandbox } = sdk
const turn = () => new Promise((resolve) => setImmediate(resolve))
const data = (text) => ({ data: { stdout: Buffer.from(text).toString('base64') } })
const started = { start: { pid: 7 } }

async function sandboxOf(t, events, end) {
  const { url } = await peer(t, {
    'POST /process.Process/Start': (q, r) => {
      if (!speaksJSON(q, r)) return
      q.resume()
      answer(r, ...events)
      if (end) finish(r)
    },
    'POST /process.Process/SendSignal': (q, r) => {
      q.resume()
      r.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    },
  })
  return Sandbox.fromJSON(handleAt(url), options(url))
}

for (const end of [false, true]) {
  test(`an abort does not wait for a callback that is stuck, ${end ? 'after' : 'before'} the end`, async (t) => {
    const sandbox = await sandboxOf(t, [started, data('a'), data('b'), data('c')], end)
    const controller = new AbortController()
    const reason = new Error('mine')
    let calls = 0
    let release
    const stuck = new Promise((resolve) => (release = resolve))
    const run = sandbox.commands.run('x', {
      signal: controller.signal,
      onStdout: () => {
        calls++
        setImmediate(() => controller.abort(reason))
        return stuck
      },
    })
    assert.equal(await run.catch((e) => e), reason)
    release()
    for (let i = 0; i < 5; i++) await turn()
    assert.equal(calls, 1)
  })
}

test('what the callback of a watch throws ends it: it is not called again', async (t) => {
  const { url } = await peer(t, {
    'POST /filesystem.Filesystem/WatchDir': (q, r) => {
      if (!speaksJSON(q, r)) return
      q.resume()
      r.writeHead(200, { 'content-type': 'application/connect+json' })
      const change = (name) => envelope({ filesystem: { name, type: 'EVENT_TYPE_CREATE' } })
      r.write(Buffer.concat([envelope({ start: {} }), ...['a', 'b', 'c', 'd'].map(change)]))
    },
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const mine = new Error('mine')
  let calls = 0
  const watch = await sandbox.files.watchDir('x', () => {
    calls++
    throw mine
  })
  assert.equal(await watch.wait().catch((e) => e), mine)
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(calls, 1)
})

test('what is no string is no argument of a program', async (t) => {
  const sandbox = await sandboxOf(t, [started], true)
  for (const wrong of [null, undefined, 5, 5n]) {
    const error = await sandbox.commands.run(['rm', wrong]).catch((e) => e)
    assert.equal(error.code, 'E8000')
  }
})

test('who reads a handle hears of what ended it, unless that was its process or himself', async (t) => {
  let cut
  const { url } = await peer(t, {
    'POST /process.Process/Start': (q, r) => {
      if (!speaksJSON(q, r)) return
      q.resume()
      answer(r, started, data('a'))
      cut = () => r.destroy()
    },
    'GET /health': (_q, r) => r.writeHead(204).end(),
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const read = async (then) => {
    const handle = await sandbox.commands.run('x', { background: true })
    let text = ''
    for await (const chunk of handle) {
      text += chunk.text
      then(handle)
    }
    return text
  }
  assert.equal(await read((handle) => handle.disconnect()), 'a')
  const error = await read(() => cut()).catch((e) => e)
  assert.ok(error instanceof sdk.ConnectionLostError)
  assert.equal(error.partial.stdout, 'a')
  const end = { end: { exitCode: 1, exited: true } }
  const ended = await sandboxOf(t, [started, data('b'), end], true)
  const handle = await ended.commands.run('x', { background: true, check: true })
  for await (const chunk of handle) assert.equal(chunk.text, 'b')
})

test('what the callback of a handle throws ends the following, not the process', async (t) => {
  const asked = []
  const { url } = await peer(t, {
    'POST /process.Process/Start': (q, r) => {
      if (!speaksJSON(q, r)) return
      q.resume()
      answer(r, started, data('a'))
    },
    'POST /process.Process/SendSignal': (q, r) => {
      q.resume()
      asked.push(q.url)
      r.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    },
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const mine = new Error('mine')
  const handle = await sandbox.commands.run('x', {
    background: true,
    onStdout: () => {
      throw mine
    },
  })
  assert.equal(await handle.wait().catch((e) => e), mine)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.deepEqual(asked, [])
})

const within = {
  'at once': (handle) => handle().wait(),
  'after something else': async (handle) => {
    await turn()
    await turn()
    await handle().wait()
  },
  'in what it calls': async (handle) => {
    await (async () => {
      await turn()
      await Promise.all([handle().wait()])
    })()
  },
}
for (const [how, wait] of Object.entries(within)) {
  test(`a callback that waits for its own handle, ${how}, is told that it would never return`, async (t) => {
    const sandbox = await sandboxOf(t, [started, data('a')], true)
    let handle
    const errors = []
    handle = await sandbox.commands.run('x', {
      background: true,
      onStdout: async () => {
        await wait(() => handle).catch((e) => errors.push(e))
      },
    })
    await handle.wait()
    assert.deepEqual(
      errors.map((e) => [e.code, /would never return/.test(e.message)]),
      [['E8000', true]],
    )
  })
}

test('what a callback leaves behind may wait, and so may others while it runs', async (t) => {
  const sandbox = await sandboxOf(t, [started, data('a')], true)
  let release
  const stuck = new Promise((resolve) => (release = resolve))
  let later
  const handle = await sandbox.commands.run('x', {
    background: true,
    onStdout: () => {
      later = turn().then(() => handle.wait())
    },
  })
  const other = await sandbox.commands.run('x', { background: true, onStdout: () => stuck })
  const nested = await sandbox.commands.run('x', {
    background: true,
    onStdout: async () => void (await handle.wait()),
  })
  await turn()
  const waiting = other.wait()
  release()
  for (const end of [handle.wait(), waiting, nested.wait()]) assert.equal((await end).exitCode, 0)
  assert.equal((await later).exitCode, 0)
})

test('a handle may be killed and left inside its callback', async (t) => {
  const signals = []
  let output
  const { url } = await peer(t, {
    'POST /process.Process/Start': (q, r) => {
      if (!speaksJSON(q, r)) return
      q.resume()
      output = r
      answer(r, started, data('a'))
    },
    'POST /process.Process/SendSignal': (q, r) => {
      q.resume()
      signals.push(q.url)
      r.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      finish(output, 137)
    },
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const killed = await sandbox.commands.run('x', {
    background: true,
    onStdout: async () => assert.equal(await killed.kill(), true),
  })
  assert.equal((await killed.wait()).exitCode, 137)
  assert.equal(signals.length, 1)
  let after
  const left = await sandbox.commands.run('x', {
    background: true,
    onStdout: async () => {
      left.disconnect()
      after = await left.wait().catch((e) => e)
    },
  })
  assert.equal((await left.wait().catch((e) => e)).code, 'E5006')
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(after.code, 'E5006')
})
