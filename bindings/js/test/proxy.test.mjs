// Proxies and private authorities.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request as forward } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Sandbox } from '../dist/node.mjs'
import { json, peer } from './peer.mjs'

const info = (_q, r) => json(r, { sandboxID: 'i1', templateID: 't', state: 'running' })

/** A proxy that knows where every name leads. */
async function proxy(t, target, status = 200) {
  const asked = []
  const server = createServer((q, r) => {
    asked.push([q.url, q.headers['proxy-authorization']])
    const { pathname } = new URL(q.url)
    q.pipe(
      forward(new URL(pathname, target), { method: q.method }, (a) => {
        r.writeHead(a.statusCode, a.headers)
        a.pipe(r)
      }),
    )
  })
  server.on('connect', (q, socket) => {
    asked.push([`CONNECT ${q.url}`, q.headers['proxy-authorization']])
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
    const { port } = new URL(target)
    const through = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      through.pipe(socket).pipe(through)
    })
    socket.on('error', () => through.destroy())
    through.on('error', () => socket.destroy())
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return { url: `http://user:pa%20ss@127.0.0.1:${server.address().port}`, asked }
}

/** A key and a certificate that signs itself, as files. */
function authority(t) {
  const dir = mkdtempSync(join(tmpdir(), 'ca-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const subject = ['-subj', '/CN=api.test', '-addext', 'subjectAltName=DNS:api.test,IP:127.0.0.1']
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      cert,
      ...subject,
    ],
    { stdio: 'ignore' },
  )
  return [key, cert]
}

const authorization = `Basic ${Buffer.from('user:pa ss').toString('base64')}`
const client = (apiUrl, env, more) => ({
  provider: 'e2b',
  apiKey: 'e2b_x',
  apiUrl,
  retries: 0,
  settings: { env },
  ...more,
})

test('http goes through the proxy of the environment, loopback never', async (t) => {
  const target = await peer(t, { 'GET /sandboxes/i1': info })
  const { url, asked } = await proxy(t, target.url)
  const env = { HTTP_PROXY: url, NO_PROXY: 'other.test,.example.org' }
  assert.equal((await Sandbox.getInfo('i1', client('http://api.test:81', env))).sandboxId, 'i1')
  assert.deepEqual(asked, [['http://api.test:81/sandboxes/i1', authorization]])
  await Sandbox.getInfo('i1', client(target.url, env))
  assert.equal(asked.length, 1)
  for (const exempt of ['http://other.test', 'http://a.example.org']) {
    const error = await Sandbox.getInfo('i1', client(exempt, env)).catch((e) => e)
    assert.equal(error.code, 'E5001')
  }
  assert.equal(asked.length, 1)
})

test('https goes through it by CONNECT; a private authority is trusted when it is named', async (t) => {
  const [key, cert] = authority(t)
  const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert) }, info)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { url, asked } = await proxy(t, `http://127.0.0.1:${server.address().port}`)
  const env = { HTTPS_PROXY: url }
  const distrust = await Sandbox.getInfo('i1', client('https://api.test', env)).catch((e) => e)
  assert.equal(distrust.code, 'E5001')
  assert.match(distrust.message, /TLS handshake failed: self-signed certificate/)
  for (const trust of [{ caFile: cert }, { settings: { env: { ...env, SSL_CERT_FILE: cert } } }]) {
    assert.equal(
      (await Sandbox.getInfo('i1', client('https://api.test', env, trust))).sandboxId,
      'i1',
    )
  }
  assert.deepEqual(asked[0], ['CONNECT api.test:443', authorization])
  server.closeAllConnections()
})

test('a WebSocket trusts the private authority, too', async (t) => {
  const [key, cert] = authority(t)
  const specs = { default: 'p', kernelspecs: { p: { spec: { language: 'python' } } } }
  const sessions = []
  const server = createSecureServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    async (q, r) => {
      if (q.url === '/api/kernelspecs') return json(r, specs)
      if (q.url === '/api/kernels/k1') return json(r, sessions[0].kernel)
      if (q.method === 'GET') return json(r, sessions)
      const asked = JSON.parse(Buffer.concat(await q.toArray()))
      sessions.push({ ...asked, id: 's1', kernel: { id: 'k1', name: 'p' } })
      json(r, sessions[0])
    },
  )
  const dialled = []
  server.on('upgrade', (q, socket) => {
    dialled.push(new URL(q.url, 'https://x').pathname)
    socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const at = `https://127.0.0.1:${server.address().port}`
  const sandbox = await Sandbox.create(client(at, {}, { provider: 'jupyter', caFile: cert }))
  await assert.rejects(sandbox.runCode('1'), /answered 403 instead of opening a WebSocket/)
  assert.deepEqual([...new Set(dialled)], ['/api/kernels/k1/channels'])
  server.closeAllConnections()
})

test('a proxy that refuses is named, without its password', async (t) => {
  const { url } = await proxy(t, 'http://127.0.0.1:1', 407)
  const error = await Sandbox.getInfo('i1', client('https://api.test', {}, { proxy: url })).catch(
    (e) => e,
  )
  assert.equal(error.code, 'E5001')
  assert.match(error.message, /the proxy 127\.0\.0\.1:\d+: the proxy answered 407 to CONNECT/)
  assert.doesNotMatch(`${error.stack}${JSON.stringify(error)}`, /pa%20ss|pa ss/)
  const wrong = await Sandbox.getInfo(
    'i1',
    client('https://api.test', {}, { proxy: 'ftp://secret@x' }),
  ).catch((e) => e)
  assert.doesNotMatch(`${wrong.stack}${JSON.stringify(wrong)}`, /secret/)
})
