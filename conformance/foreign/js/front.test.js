// Without E2B_SANDBOX_URL the client talks https to 49983-<id>.<domain>. Our
// server has no TLS; behind a front that has, as a user may put one up, the
// client needs nothing but the key and the API's URL.
import { execFileSync } from 'node:child_process'
import dns from 'node:dns'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { before, test } from 'node:test'
import tls from 'node:tls'
import { Sandbox } from 'e2b'
import { assert, made, until } from './sandbox.js'

/** A certificate that nobody knows; the tests accept it. */
function certificate(dir) {
  const [key, cert] = [path.join(dir, 'key.pem'), path.join(dir, 'cert.pem')]
  execFileSync('openssl', [
    'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1',
    '-subj', '/CN=localhost', '-keyout', key, '-out', cert,
  ], { stdio: 'ignore' })
  return { key: fs.readFileSync(key), cert: fs.readFileSync(cert) }
}

let front
let missing

before(async () => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'front-'))
  try {
    const inner = new URL(process.env.E2B_API_URL)
    front = tls.createServer({ ...certificate(dir), ALPNProtocols: ['http/1.1'] }, (outer) => {
      const through = net.connect(Number(inner.port), inner.hostname)
      outer.on('error', () => through.destroy())
      through.on('error', () => outer.destroy())
      outer.pipe(through).pipe(outer)
    })
  } catch (e) {
    missing = `openssl is needed: ${e.message}`
    return
  } finally {
    fs.rmSync(dir, { recursive: true })
  }
  front.listen(0, '127.0.0.1').unref()
  await new Promise((done) => front.once('listening', done))
  // Names under localhost do not resolve in every libc.
  const { lookup } = dns
  dns.lookup = (name, options, done) =>
    lookup(name.endsWith('localhost') ? '127.0.0.1' : name, options, done)
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  delete process.env.E2B_SANDBOX_URL
  process.env.E2B_API_URL = `https://localhost:${front.address().port}`
})

test('behind TLS, by the direct host alone', async (t) => {
  if (missing) return t.skip(missing)
  const box = await made(t, { metadata: { behind: 'tls' } })
  const base = `https://${box.getHost(49983)}`
  assert.equal(base, `https://49983-${box.sandboxId}.localhost:${front.address().port}`)
  assert.equal(await box.isRunning(), true)
  assert.equal((await box.getInfo()).sandboxDomain, `localhost:${front.address().port}`)

  const handle = await box.commands.run('cat', { background: true, stdin: true })
  await handle.sendStdin('through TLS\n')
  await handle.closeStdin()
  assert.equal((await handle.wait()).stdout, 'through TLS\n')

  const events = []
  const watch = await box.files.watchDir('.', (event) => events.push(event.name))
  await box.files.write('a.txt', 'content')
  await until('the event', () => events.includes('a.txt'))
  await watch.stop()
  assert.equal(await box.files.read('a.txt'), 'content')

  let screen = ''
  const pty = await box.pty.create({ cols: 80, rows: 24, onData: (data) => (screen += Buffer.from(data)) })
  await box.pty.sendInput(pty.pid, new TextEncoder().encode('echo $((6*7)); exit\n'))
  await pty.wait()
  assert.match(screen, /\r42\r\n/)

  const url = await box.downloadUrl('a.txt', { useSignatureExpiration: 30 })
  assert.ok(url.startsWith(`${base}/files?`), url)
  assert.equal(await (await fetch(url)).text(), 'content')

  await box.commands.run('python3 -m http.server 8000', { background: true, timeoutMs: 0 })
  const page = await until('the port', async () => {
    const answer = await fetch(`https://${box.getHost(8000)}/a.txt`)
    return answer.status === 200 && answer.text()
  })
  assert.equal(page, 'content')

  const again = await Sandbox.connect(box.sandboxId)
  assert.equal(await again.files.read('a.txt'), 'content')
})
