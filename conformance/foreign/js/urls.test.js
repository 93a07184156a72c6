import dns from 'node:dns'
import { describe, test } from 'node:test'
import { getSignature, Sandbox } from 'e2b'
import { API_URL, assert, made, request, sandbox, sleep } from './sandbox.js'

const held = sandbox()
const form = (text, name = 'x') => {
  const body = new FormData()
  body.append('file', new Blob([text]), name)
  return { method: 'POST', body }
}

describe('signed URLs', { concurrency: 4 }, () => {
  test('download, with and without an end', async () => {
    const { box } = held
    await box.files.write('dl é.txt', 'content é')
    for (const opts of [{}, { useSignatureExpiration: 60 }, { user: 'user' }, { user: 'root', useSignatureExpiration: 60 }]) {
      const url = await box.downloadUrl('/home/user/dl é.txt', opts)
      const res = await fetch(url)
      assert.equal(res.status, 200, url)
      assert.equal(await res.text(), 'content é')
    }
    const res = await fetch(await box.downloadUrl('/home/user/dl é.txt'), { headers: { Range: 'bytes=3-5' } })
    assert.equal(res.status, 206)
    assert.equal(await res.text(), 'ten')
  })

  test('upload, to a path and by file name', async () => {
    const { box } = held
    const res = await fetch(await box.uploadUrl('up/to.txt', { useSignatureExpiration: 60 }), form('uploaded'))
    assert.equal(res.status, 200)
    assert.equal(await box.files.read('up/to.txt'), 'uploaded')
    assert.equal((await fetch(await box.uploadUrl(), form('named', 'by name.txt'))).status, 200)
    assert.equal(await box.files.read('by name.txt'), 'named')
  })

  test('an expired one is 401', async () => {
    await held.box.files.write('old.txt', 'x')
    const url = await held.box.downloadUrl('old.txt', { useSignatureExpiration: 1 })
    await sleep(2200)
    assert.equal((await fetch(url)).status, 401)
  })

  test('for another path, another operation, none or a made-up one is 401', async () => {
    const { box } = held
    await box.files.write('mine.txt', 'x')
    const url = await box.downloadUrl('mine.txt')
    assert.equal((await fetch(url.replace('mine.txt', '.bashrc'))).status, 401)
    assert.equal((await fetch(url, form('y'))).status, 401)
    assert.equal((await fetch(url.replace(/signature=[^&]*/, 'signature=v1_AAAA'))).status, 401)
    assert.ok([400, 401].includes((await fetch(url.replace(/&?signature=[^&]*/, ''))).status))
    const forged = await getSignature({ path: 'mine.txt', operation: 'read', user: undefined, envdAccessToken: 'guess' })
    assert.equal((await fetch(url.replace(/signature=[^&]*/, `signature=${encodeURIComponent(forged.signature)}`))).status, 401)
    assert.equal(await box.files.read('mine.txt'), 'x')
  })

  test('leads to its own sandbox, whatever others run', async (t) => {
    const other = await made(t)
    await held.box.files.write('same.txt', 'one')
    await other.files.write('same.txt', 'two')
    assert.equal(await (await fetch(await held.box.downloadUrl('same.txt'))).text(), 'one')
    assert.equal(await (await fetch(await other.downloadUrl('same.txt'))).text(), 'two')
  })
})

describe('the direct host', () => {
  test('without a sandbox URL the client insists on https', async (t) => {
    const url = process.env.E2B_SANDBOX_URL
    delete process.env.E2B_SANDBOX_URL
    t.after(() => (process.env.E2B_SANDBOX_URL = url))
    const box = await made(t)
    const direct = await box.downloadUrl('x')
    assert.ok(direct.startsWith(`https://49983-${box.sandboxId}.localhost:${new URL(API_URL).port}/files`), direct)
    t.diagnostic('the server has no TLS, so nothing more can work this way: E2B_SANDBOX_URL is needed')
  })

  test('named as the sandbox URL carries everything', async (t) => {
    // Names under localhost do not resolve in every libc; browsers resolve them themselves.
    const { lookup } = dns
    dns.lookup = (name, options, done) =>
      name.endsWith('.localhost') ? lookup('127.0.0.1', options, done) : lookup(name, options, done)
    t.after(() => (dns.lookup = lookup))
    const made = await Sandbox.create({ timeoutMs: 60_000 })
    t.after(() => made.kill())
    const sandboxUrl = `http://${made.getHost(49983)}`
    const box = await Sandbox.connect(made.sandboxId, { sandboxUrl })
    assert.equal((await box.commands.run('echo direct')).stdout, 'direct\n')
    await box.files.write('direct.txt', 'by host')
    assert.equal(await box.files.read('direct.txt'), 'by host')
    const url = await box.downloadUrl('direct.txt', { useSignatureExpiration: 30 })
    assert.ok(url.startsWith(sandboxUrl), url)
    const { pathname, search, host } = new URL(url)
    assert.equal((await request(host, pathname + search)).text, 'by host')
    assert.equal(await box.isRunning(), true)
  })
})
