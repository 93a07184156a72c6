// Connections that are cut anywhere in an answer: an error of ours or the right result, and never a
// wait without end. SOAK=1 cuts at every byte.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import * as sdk from '../dist/node.mjs'
import { envelope, handleAt, options } from './peer.mjs'

const { Sandbox, SandboxError } = sdk

const json = (value) => ({ type: 'application/json', body: Buffer.from(JSON.stringify(value)) })
const text = 'one line\nand another, \u00e9\n'.repeat(4)
const entry = (name) => ({
  ...{ name, path: `/home/user/${name}`, size: '5', mode: 420, permissions: '-rw-r--r--' },
  ...{ type: 'FILE_TYPE_FILE', owner: 'user', group: 'user' },
  modifiedTime: '2026-01-02T03:04:05Z',
})
const events = [
  { start: { pid: 7 } },
  { data: { stdout: Buffer.from(text).toString('base64') } },
  { data: { stderr: Buffer.from('x').toString('base64') } },
  { end: { exitCode: 3, exited: true, status: 'exit status 3' } },
]
const stream = {
  type: 'application/connect+json',
  body: Buffer.concat([...events.map((event) => envelope({ event })), envelope({}, 2)]),
}
const made = { sandboxID: 'i1', templateID: 'base', clientID: 'c', envdVersion: '0.6.13' }

const calls = {
  run: {
    path: 'POST /process.Process/Start',
    answer: stream,
    call: (s) => s.commands.run('x'),
    check: (r) => assert.deepEqual([r.stdout, r.stderr, r.exitCode], [text, 'x', 3]),
  },
  read: {
    path: 'GET /files',
    answer: { type: 'application/octet-stream', body: Buffer.from(text) },
    call: (s) => s.files.read('a'),
    check: (r) => assert.equal(r, text),
  },
  stream: {
    path: 'GET /files',
    answer: { type: 'application/octet-stream', body: Buffer.from(text) },
    call: async (s) => new Response(await s.files.read('a', { format: 'stream' })).text(),
    check: (r) => assert.equal(r, text),
  },
  list: {
    path: 'POST /filesystem.Filesystem/ListDir',
    answer: json({ entries: ['a', 'b', 'c'].map(entry) }),
    call: (s) => s.files.list('a'),
    check: (r) =>
      assert.deepEqual(
        r.map((e) => [e.name, e.size]),
        [
          ['a', 5],
          ['b', 5],
          ['c', 5],
        ],
      ),
  },
  create: {
    path: 'POST /v2/sandboxes',
    answer: json(made),
    call: (_s, url) => Sandbox.create({ ...options(url), requestTimeoutMs: 3000 }),
    check: (r) => assert.equal(r.sandboxId, 'i1'),
  },
}

function framed({ type, body }, chunked) {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n`
  if (!chunked)
    return Buffer.from(
      `${head}Content-Length: ${body.length}\r\n\r\n${body.toString('latin1')}`,
      'latin1',
    )
  const half = body.length >> 1
  const chunk = (b) =>
    Buffer.concat([Buffer.from(`${b.length.toString(16)}\r\n`), b, Buffer.from('\r\n')])
  return Buffer.concat([
    Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`),
    ...[chunk(body.subarray(0, half)), chunk(body.subarray(half)), Buffer.from('0\r\n\r\n')],
  ])
}

/** Serves one path by the first bytes of an answer, everything else properly. */
async function cutting(t, path, answer) {
  const sockets = new Set()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    let got = ''
    socket.on('data', (data) => {
      got += data.toString('latin1')
      for (;;) {
        const end = got.indexOf('\r\n\r\n')
        if (end < 0) return
        const head = got.slice(0, end)
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
        if (got.length < end + 4 + length) return
        got = got.slice(end + 4 + length)
        respond(socket, head)
      }
    })
  })
  const respond = (socket, head) => {
    const [method, target] = head.split(' ')
    if (/^content-type: application\/(connect\+)?proto/im.test(head))
      return socket.write('HTTP/1.1 415 No\r\nContent-Length: 0\r\n\r\n')
    if (`${method} ${target.split('?')[0]}` !== path)
      return socket.write(
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
      )
    const { bytes, reset } = server.cut
    socket.write(answer.subarray(0, bytes), () => {
      if (reset) socket.resetAndDestroy()
      else socket.end()
    })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return server
}

const step = process.env.SOAK ? 1 : 11

for (const [name, { path, answer, call, check }] of Object.entries(calls)) {
  for (const chunked of [false, true]) {
    test(`${name}, ${chunked ? 'in chunks' : 'with a length'}, cut anywhere`, async (t) => {
      const whole = framed(answer, chunked)
      const server = await cutting(t, path, whole)
      const url = `http://127.0.0.1:${server.address().port}`
      const given = { ...options(url), requestTimeoutMs: 3000, idleTimeoutMs: 3000 }
      const sandbox = await Sandbox.fromJSON(handleAt(url), given)
      const ends = new Map()
      for (
        let bytes = 0;
        bytes <= whole.length;
        bytes += bytes === whole.length ? 1 : Math.min(step, whole.length - bytes)
      ) {
        for (const reset of [false, true]) {
          server.cut = { bytes, reset }
          const late = new Promise((resolve) => setTimeout(resolve, 15_000, 'it hangs').unref())
          const end = await Promise.race([
            call(sandbox, url).then(
              (value) => ({ value }),
              (error) => ({ error }),
            ),
            late,
          ])
          assert.notEqual(end, 'it hangs', `at ${bytes}`)
          if (end.error) {
            assert.ok(end.error instanceof SandboxError, `at ${bytes}: ${end.error.stack}`)
            ends.set(end.error.code, (ends.get(end.error.code) ?? 0) + 1)
            assert.ok(
              !['E9000', 'E8000'].includes(end.error.code),
              `at ${bytes}: ${end.error.stack}`,
            )
            assert.ok(reset || bytes < whole.length, `whole, and yet ${end.error.stack}`)
          } else check(end.value)
        }
      }
      t.diagnostic([...ends].join(' '))
    })
  }
}
