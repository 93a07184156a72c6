import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import * as sdk from '../dist/node.mjs'
import {
  process as answer,
  envelope,
  finish,
  handleAt,
  json,
  options,
  peer,
  speaksJSON,
} from './peer.mjs'

const { Sandbox, InvalidAPIKeyError, SandboxError, InternalError } = sdk
const soak = globalThis.process.env.SOAK ? 20 : 1

test('a sandbox shows no secret, except where it is asked for', async (t) => {
  const { url } = await peer(t, {})
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  for (const text of [
    inspect(sandbox, { depth: 9, showHidden: true }),
    String(sandbox),
    JSON.stringify(sandbox),
    inspect(sandbox.commands, { depth: 9 }),
  ]) {
    assert.doesNotMatch(text, /secret/)
  }
  assert.equal(sandbox.toJSON().tokens.envd, 'secret-token')
  const again = await Sandbox.fromJSON(JSON.stringify(sandbox.toJSON()), options(url))
  assert.equal(again.sandboxId, 'i1')
})

test('errors are of classes, with their fields', async (t) => {
  const { url } = await peer(t, {
    'GET /sandboxes/i1': (_q, r) => json(r, { code: 401, message: 'no' }, 401),
  })
  const error = await Sandbox.getInfo('i1', options(url)).catch((e) => e)
  assert.ok(
    error instanceof InvalidAPIKeyError && error instanceof SandboxError && error instanceof Error,
  )
  assert.equal(error.code, 'E1001')
  assert.equal(error.status, 401)
  assert.equal(error.name, 'InvalidAPIKeyError')
})

test('the stack of an error shows the line that made the call', async (t) => {
  const { url } = await peer(t, {
    'GET /sandboxes/i1': (_q, r) => json(r, { code: 401, message: 'no' }, 401),
    'POST /process.Process/Start': (_q, r) => json(r, { code: 'internal', message: 'no' }, 500),
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  async function mine() {
    await sandbox.commands.run('true')
  }
  for (const call of [() => Sandbox.getInfo('i1', options(url)), mine]) {
    const error = await call().catch((e) => e)
    assert.match(error.stack, /^\w+Error: E\d{4}: /)
    assert.match(error.stack, /client\.test\.mjs/)
  }
})

test("a cancel rejects with the signal's own reason, at once, and the request is ended", async (t) => {
  let closed
  const ended = new Promise((resolve) => (closed = resolve))
  const { url } = await peer(t, { 'GET /sandboxes/i1': (q) => q.socket.on('close', closed) })
  const controller = new AbortController()
  const reason = new Error('mine')
  setTimeout(() => controller.abort(reason), 50)
  await assert.rejects(
    Sandbox.getInfo('i1', { ...options(url), signal: controller.signal }),
    (e) => e === reason,
  )
  await ended
  await assert.rejects(
    Sandbox.create({ ...options(url), signal: controller.signal }),
    (e) => e === reason,
  )
})

test('what a callback throws reaches the caller, and the command is killed', async (t) => {
  let killed
  const kill = new Promise((resolve) => (killed = resolve))
  const { url } = await peer(t, {
    'POST /process.Process/Start': (q, r) =>
      speaksJSON(q, r) && answer(r, { start: { pid: 7 } }, { data: { stdout: 'YQ==' } }),
    'POST /process.Process/SendSignal': (q, r) => {
      if (q.headers['content-type'].includes('json')) killed()
      speaksJSON(q, r) && json(r, {})
    },
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const mine = new Error('mine')
  const run = sandbox.commands.run('x', { onStdout: async () => Promise.reject(mine) })
  await assert.rejects(run, (e) => e === mine)
  await kill
})

test('callbacks run one at a time, in order, and the result waits for the last', async (t) => {
  const { url } = await peer(t, {
    'POST /process.Process/Start': (q, r) => {
      if (!speaksJSON(q, r)) return
      answer(r, { start: { pid: 7 } }, ...['a', '\xe4'].map((s) => ({ data: { stdout: btoa(s) } })))
      finish(r)
    },
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const seen = []
  let running = 0
  const onStdout = async (text) => {
    assert.equal(running++, 0)
    await new Promise((resolve) => setTimeout(resolve, 20))
    running--
    seen.push(text)
  }
  const result = await sandbox.commands.run('x', { onStdout })
  assert.deepEqual(seen, ['a', '\ufffd'])
  assert.equal(result.stdout, 'a\ufffd')
  assert.deepEqual([...result.stdoutBytes], [0x61, 0xe4])
})

test('a slow reader of a stream stops it: memory is bounded', async (t) => {
  let sent = 0
  const piece = envelope({ event: { data: { stdout: btoa('x'.repeat(48_000)) } } })
  const { url } = await peer(t, {
    'POST /process.Process/Start': (q, r) => {
      if (!speaksJSON(q, r)) return
      answer(r, { start: { pid: 7 } })
      const more = () => {
        while (sent < 64 << 20) {
          sent += piece.length
          if (!r.write(piece)) return r.once('drain', more)
        }
        finish(r)
      }
      more()
    },
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const command = await sandbox.commands.run('x', { background: true, retainOutput: false })
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.ok(sent < 32 << 20, `${sent} bytes were taken although nobody reads`)
  let got = 0
  for await (const { data } of command) got += data.length
  assert.equal(got % 48_000, 0)
  assert.equal((await command.wait()).exitCode, 0)
  assert.equal(got, 48_000 * Math.ceil((64 << 20) / piece.length))
})

test('many commands at once: none is lost, none mixed up', async (t) => {
  const { url } = await peer(t, {
    'POST /process.Process/Start': async (q, r) => {
      const chunks = []
      for await (const c of q) chunks.push(c)
      if (!q.headers['content-type'].includes('json')) return r.writeHead(415).end()
      const { process: p } = JSON.parse(Buffer.concat(chunks).subarray(5))
      answer(r, { start: { pid: 7 } }, { data: { stdout: btoa(p.args.at(-1)) } })
      finish(r)
    },
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const count = 1000
  const results = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      sandbox.commands.run(`echo ${i}`, { timeoutMs: 0, requestTimeoutMs: 0 }),
    ),
  )
  for (const [i, r] of results.entries()) assert.equal(r.stdout, `echo ${i}`)
})

test('clients of the same options share their connections', async (t) => {
  const { url, server } = await peer(t, {
    'GET /sandboxes/i1': (_q, r) => json(r, { sandboxID: 'i1', templateID: 't', state: 'running' }),
  })
  for (let i = 0; i < 20; i++) await Sandbox.getInfo('i1', options(url))
  const connections = await new Promise((resolve) => server.getConnections((_e, n) => resolve(n)))
  assert.ok(connections <= 2, `${connections} connections`)
})

test('cancelled commands leave nothing behind', { timeout: 600_000 }, async (t) => {
  const { url, server } = await peer(t, {
    'POST /process.Process/Start': (q, r) => speaksJSON(q, r) && answer(r, { start: { pid: 7 } }),
    'POST /process.Process/SendSignal': (q, r) => speaksJSON(q, r) && json(r, {}),
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const cancelled = async () => {
    const controller = new AbortController()
    const run = sandbox.commands.run('x', {
      onStart: () => controller.abort(),
      signal: controller.signal,
    })
    await assert.rejects(run, { name: 'AbortError' })
  }
  const some = async (n) => {
    for (let i = 0; i < n; i += 50) await Promise.all(Array.from({ length: 50 }, cancelled))
    await new Promise((resolve) => setTimeout(resolve, 300))
    globalThis.gc?.()
    return globalThis.process.memoryUsage().rss
  }
  await some(100)
  const handles = globalThis.process.getActiveResourcesInfo().length
  const before = await some(250 * soak)
  const after = await some(250 * soak)
  assert.ok(after - before < 32 << 20, `${(after - before) >> 20} MiB more`)
  assert.ok(globalThis.process.getActiveResourcesInfo().length <= handles + 8)
  const connections = await new Promise((resolve) => server.getConnections((_e, n) => resolve(n)))
  assert.ok(connections <= 256, `${connections} connections`)
})

test('files go both ways in every form', async (t) => {
  const files = new Map()
  const { url } = await peer(t, {
    'POST /files': async (q, r) => {
      const chunks = []
      for await (const c of q) chunks.push(c)
      const path = new URL(q.url, url).searchParams.get('path')
      files.set(path, Buffer.concat(chunks))
      json(r, [{ name: 'a', path, type: 'file' }])
    },
    'GET /files': (q, r) => r.end(files.get(new URL(q.url, url).searchParams.get('path'))),
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => i % 251)
  async function* pieces() {
    for (let i = 0; i < bytes.length; i += 70_000) yield bytes.subarray(i, i + 70_000)
  }
  const forms = [bytes, bytes.buffer, new Blob([bytes]), new Blob([bytes]).stream(), pieces()]
  for (const data of forms) {
    await sandbox.files.write('/a', data)
    assert.deepEqual(new Uint8Array(files.get('/a')), bytes)
  }
  assert.deepEqual(new Uint8Array(await sandbox.files.read('/a', { format: 'bytes' })), bytes)
  assert.deepEqual(
    new Uint8Array(await (await sandbox.files.read('/a', { format: 'blob' })).arrayBuffer()),
    bytes,
  )
  const stream = await sandbox.files.read('/a', { format: 'stream' })
  assert.deepEqual(new Uint8Array(await new Response(stream).arrayBuffer()), bytes)
  await sandbox.files.write('/t', 'h\u00e4llo \ud83d\ude00')
  assert.equal(await sandbox.files.read('/t'), 'h\u00e4llo \ud83d\ude00')
})

test('data that cannot be sent is refused before any request', async (t) => {
  const { url } = await peer(t, {})
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  for (const data of [undefined, null, 5, { a: 1 }, ['x']]) {
    await assert.rejects(sandbox.files.write('/a', data), {
      code: 'E8000',
      message: /^data must be/,
    })
    await assert.rejects(sandbox.files.write([{ path: '/a', data }]), { code: 'E8000' })
  }
})

test("what a caller's source throws is the cause", async (t) => {
  const { url } = await peer(t, { 'POST /files': (q) => q.resume() })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const mine = new Error('mine')
  async function* failing() {
    yield 'abc'
    throw mine
  }
  const error = await sandbox.files.write('/a', failing()).catch((e) => e)
  assert.ok(error instanceof SandboxError)
  assert.equal(error.cause, mine)
})

test('a trap fails what was under way, and the next call works', async (t) => {
  const { url } = await peer(t, {
    'GET /sandboxes/slow': () => {},
    'GET /sandboxes/i1': (_q, r) =>
      json(r, { sandboxID: 'i1', templateID: 'base', state: 'running' }),
  })
  const wasm = trapping()
  const slow = Sandbox.getInfo('slow', { ...options(url), wasm })
  slow.catch(() => {})
  await new Promise((resolve) => setTimeout(resolve, 100))
  wasm.trap = true
  await assert.rejects(Sandbox.getInfo('i1', { ...options(url), wasm }), InternalError)
  await assert.rejects(slow, InternalError)
  assert.equal((await Sandbox.getInfo('i1', { ...options(url), wasm })).sandboxId, 'i1')
})

/** A core whose instance traps once, when it is told to. */
function trapping() {
  const source = import('node:fs/promises').then((fs) =>
    fs.readFile(new URL('../dist/core.wasm', import.meta.url)),
  )
  const { instantiate } = WebAssembly
  WebAssembly.instantiate = async (module, imports) => {
    const { exports } = await instantiate.call(WebAssembly, module, imports)
    const run = (n) => {
      if (source.trap) {
        source.trap = false
        throw new WebAssembly.RuntimeError('unreachable')
      }
      return exports.run(n)
    }
    return { exports: { ...exports, run } }
  }
  setTimeout(() => (WebAssembly.instantiate = instantiate), 2000).unref()
  return source
}

test('bytes are a plain Uint8Array, however the answer comes', async (t) => {
  const heads = { '/length': { 'content-length': 5 }, '/chunked': {}, '/empty': {} }
  const { url } = await peer(t, {
    'GET /files': (q, r) => {
      const path = new URL(q.url, url).searchParams.get('path')
      r.writeHead(200, heads[path]).end(path === '/empty' ? '' : 'hello')
    },
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  for (const path of Object.keys(heads)) {
    const bytes = await sandbox.files.read(path, { format: 'bytes' })
    assert.equal(bytes.constructor, Uint8Array, path)
    assert.equal(Buffer.from(bytes).toString(), path === '/empty' ? '' : 'hello')
  }
})
