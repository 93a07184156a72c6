// Signals that fire at any time, in every call: the caller gets the signal's reason, and nothing stays.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import * as sdk from '../dist/node.mjs'
import { process as answer, envelope, finish, handleAt, json, options, peer } from './peer.mjs'

const { Sandbox } = sdk

const calls = {
  run: (s, o) => s.commands.run('x', o),
  'run with callbacks': (s, o) => s.commands.run('x', { ...o, onStdout() {}, async onStart() {} }),
  start: (s, o) => s.commands.run('x', { ...o, background: true }).then(left),
  'commands.connect': (s, o) => s.commands.connect(7, o).then(left),
  'commands.list': (s, o) => s.commands.list(o),
  'commands.kill': (s, o) => s.commands.kill(7, o),
  sendSignal: (s, o) => s.commands.sendSignal(7, 15, o),
  sendStdin: (s, o) => s.commands.sendStdin(7, 'a', o),
  streamStdin: (s, o) => s.commands.streamStdin(7, slowly(), o),
  closeStdin: (s, o) => s.commands.closeStdin(7, o),
  'pty.create': (s, o) => s.pty.create({ cols: 80, rows: 24, ...o }).then(left),
  'pty.connect': (s, o) => s.pty.connect(7, o).then(left),
  sendInput: (s, o) => s.pty.sendInput(7, 'a', o),
  streamInput: (s, o) => s.pty.streamInput(7, slowly(), o),
  resize: (s, o) => s.pty.resize(7, { cols: 80, rows: 24, ...o }),
  'pty.kill': (s, o) => s.pty.kill(7, o),
  'read text': (s, o) => s.files.read('a', o),
  'read bytes': (s, o) => s.files.read('a', { ...o, format: 'bytes' }),
  'read blob': (s, o) => s.files.read('a', { ...o, format: 'blob' }),
  'read stream': async (s, o) =>
    new Response(await s.files.read('a', { ...o, format: 'stream' })).text(),
  write: (s, o) => s.files.write('a', 'b', o),
  'write a stream': (s, o) => s.files.write('a', slowly(), o),
  writeFiles: (s, o) => s.files.writeFiles([{ path: 'a', data: 'b' }], o),
  'files.list': (s, o) => s.files.list('a', o),
  'files.getInfo': (s, o) => s.files.getInfo('a', o),
  exists: (s, o) => s.files.exists('a', o),
  makeDir: (s, o) => s.files.makeDir('a', o),
  remove: (s, o) => s.files.remove('a', o),
  rename: (s, o) => s.files.rename('a', 'b', o),
  watchDir: (s, o) => s.files.watchDir('a', o).then((watch) => watch.stop()),
  pollDir: (s, o) => s.files.pollDir('a', o),
  pollEvents: (s, o) => s.files.pollEvents('w', o),
  pollStop: (s, o) => s.files.pollStop('w', o),
  kill: (s, o) => s.kill(o),
  getInfo: (s, o) => s.getInfo(o),
  setTimeout: (s, o) => s.setTimeout(1000, o),
  keepAlive: (s, o) => s.keepAlive(1000, o),
  pause: (s, o) => s.pause(o),
  isRunning: (s, o) => s.isRunning(o),
  getMetrics: (s, o) => s.getMetrics(o),
  updateNetwork: (s, o) => s.updateNetwork(o),
  'Sandbox.create': (_s, o, url) => Sandbox.create({ ...options(url), ...o }),
  'Sandbox.connect': (_s, o, url) => Sandbox.connect('i1', { ...options(url), ...o }),
  'Sandbox.resume': (_s, o, url) => Sandbox.resume('i1', { ...options(url), ...o }),
  'Sandbox.fromJSON': (_s, o, url) => Sandbox.fromJSON(handleAt(url), { ...options(url), ...o }),
  'Sandbox.list': (_s, o, url) => Sandbox.list({ ...options(url), ...o }).nextItems(),
  'Sandbox.kill': (_s, o, url) => Sandbox.kill('i1', { ...options(url), ...o }),
  'Sandbox.getInfo': (_s, o, url) => Sandbox.getInfo('i1', { ...options(url), ...o }),
  'Sandbox.setTimeout': (_s, o, url) => Sandbox.setTimeout('i1', 1, { ...options(url), ...o }),
  'Sandbox.keepAlive': (_s, o, url) => Sandbox.keepAlive('i1', 1, { ...options(url), ...o }),
  'Sandbox.pause': (_s, o, url) => Sandbox.pause('i1', { ...options(url), ...o }),
  resolveSettings: (_s, o, url) => sdk.resolveSettings({ ...options(url), ...o }),
}

const left = (handle) => handle.disconnect()
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
async function* slowly() {
  for (let i = 0; i < 4; i++) {
    await pause(1)
    yield 'a'
  }
}

test('a signal that has fired already: the reason, and nobody is asked', async (t) => {
  const { url, server } = await peer(t, {})
  const asked = []
  server.on('request', (q) => asked.push(q.url))
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  for (const [name, call] of Object.entries(calls)) {
    for (const reason of [new Error('mine'), 'a string', 0, null]) {
      const signal = AbortSignal.abort(reason)
      const error = await call(sandbox, { signal }, url).then(
        () => `${name} went on`,
        (e) => e,
      )
      assert.equal(error, reason, name)
    }
  }
  assert.deepEqual(asked, [])
})

/** A peer that answers everything, each piece a little later. */
async function slowPeer(t) {
  const { url, server } = await peer(t, {})
  server.removeAllListeners('request')
  const live = new Set()
  server.on('request', async (q, r) => {
    live.add(r)
    r.on('close', () => live.delete(r))
    r.on('error', () => {})
    q.on('error', () => {})
    const [path] = q.url.split('?')
    if (String(q.headers['content-type']).includes('proto')) {
      q.resume()
      return r.writeHead(415).end()
    }
    q.resume()
    await pause(2)
    const stream = { 'content-type': 'application/connect+json' }
    if (/Process\/(Start|Connect)$/.test(path)) {
      answer(r, { start: { pid: 7 } })
      await pause(2)
      r.write(envelope({ event: { data: { stdout: 'YQ==' } } }))
      await pause(2)
      return finish(r)
    }
    if (/WatchDir$/.test(path)) {
      r.writeHead(200, stream).write(envelope({ start: {} }))
      return
    }
    if (/StreamInput$/.test(path))
      return r.writeHead(200, stream).end(Buffer.concat([envelope({}), envelope({}, 2)]))
    if (path === '/files' && q.method === 'GET') {
      r.writeHead(200).write('some')
      await pause(2)
      return r.end('more')
    }
    if (path === '/files') return json(r, [{ name: 'a', path: '/a', type: 'file' }])
    if (/sandboxes/.test(path)) {
      const made = { sandboxID: 'i1', templateID: 'base', envdVersion: '0.6.13', state: 'running' }
      const times = { startedAt: '2026-01-02T03:04:05Z', endAt: '2027-01-02T03:04:05Z' }
      if (path.endsWith('/v2/sandboxes') && q.method === 'GET') return json(r, [])
      return json(r, { ...made, ...times }, q.method === 'POST' ? 201 : 200)
    }
    return json(r, {})
  })
  return { url, live }
}

test('a signal that fires at any time: the reason or the result, and nothing stays', async (t) => {
  const unhandled = []
  const note = (error) => unhandled.push(error)
  process.on('unhandledRejection', note)
  t.after(() => process.off('unhandledRejection', note))
  const { url, live } = await slowPeer(t)
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const rounds = process.env.SOAK ? 200 : 12
  const ends = new Map()
  for (let round = 0; round < rounds; round++) {
    await Promise.all(
      Object.entries(calls).map(async ([name, call], i) => {
        const controller = new AbortController()
        const reason = new Error('mine')
        // From within the same turn to long after the end.
        const at = ((round * 7 + i) % rounds) - 1
        const begun = call(sandbox, { signal: controller.signal }, url)
        if (at <= 0) queueMicrotask(() => controller.abort(reason))
        else setTimeout(() => controller.abort(reason), (at * 80) / rounds)
        const end = await begun.then(
          () => 'result',
          // What the peer says is short: that it is told is a result, too.
          (e) => (e === reason ? 'reason' : e.code === 'E5005' ? 'result' : e),
        )
        assert.ok(typeof end === 'string', `${name}: ${end.stack}`)
        ends.set(end, (ends.get(end) ?? 0) + 1)
      }),
    )
  }
  t.diagnostic([...ends].join(' '))
  assert.ok(ends.get('result') > 0 && ends.get('reason') > 0)
  for (let i = 0; i < 500 && live.size > 0; i++) await pause(10)
  assert.equal(live.size, 0, 'requests that nobody waits for')
  assert.deepEqual(unhandled, [])
})

test('a process whose calls were all aborted ends by itself', async (t) => {
  const { url } = await slowPeer(t)
  const program = `
    const { Sandbox } = await import(${JSON.stringify(new URL('../dist/node.mjs', import.meta.url).href)})
    const options = ${JSON.stringify(options(url))}
    const sandbox = await Sandbox.fromJSON(${JSON.stringify(handleAt(url))}, options)
    const signal = AbortSignal.timeout(3)
    const o = { signal }
    await Promise.allSettled([
      sandbox.commands.run('x', o), sandbox.commands.run('x', { ...o, background: true }),
      sandbox.files.read('a', o), sandbox.files.read('a', { ...o, format: 'stream' }),
      sandbox.files.write('a', 'b', o), sandbox.files.watchDir('a', o),
      Sandbox.create({ ...options, signal }), sandbox.pty.create({ cols: 1, rows: 1, ...o }),
    ])`
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`))
  t.after(() => worker.terminate())
  const [code] = await once(worker, 'exit')
  assert.equal(code, 0)
})
