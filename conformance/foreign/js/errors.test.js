import { describe, test } from 'node:test'
import {
  AuthenticationError,
  NotEnoughSpaceError,
  RateLimitError,
  Sandbox,
  SandboxError,
  SandboxNotFoundError,
  TimeoutError,
} from 'e2b'
import { API_KEY, assert, made, until } from './sandbox.js'

describe('credentials', { concurrency: 4 }, () => {
  test('a wrong key is AuthenticationError on every call, and is not repeated', async () => {
    const apiKey = 'e2b_' + 'f'.repeat(40)
    const id = 'i' + '0'.repeat(20)
    for (const call of [
      () => Sandbox.create({ apiKey }),
      () => Sandbox.connect(id, { apiKey }),
      () => Sandbox.kill(id, { apiKey }),
      () => Sandbox.getInfo(id, { apiKey }),
      () => Sandbox.list({ apiKey }).nextItems(),
    ]) {
      await assert.rejects(call(), (e) => {
        assert.ok(e instanceof AuthenticationError, `${e.constructor.name}: ${e.message}`)
        assert.ok(!e.message.includes(apiKey) && !e.message.includes(API_KEY))
        return true
      })
    }
  })

  test('a wrong envd token is AuthenticationError', async (t) => {
    const box = await made(t)
    const other = new Sandbox({
      sandboxId: box.sandboxId, envdVersion: '0.6.13', envdAccessToken: 'wrong', sandboxUrl: process.env.E2B_SANDBOX_URL,
    })
    await assert.rejects(other.commands.run('true'), AuthenticationError)
    await assert.rejects(other.commands.list(), AuthenticationError)
    await assert.rejects(other.files.read('.bashrc'), AuthenticationError)
    await assert.rejects(other.files.list('.'), AuthenticationError)
    const none = new Sandbox({ sandboxId: box.sandboxId, envdVersion: '0.6.13', sandboxUrl: process.env.E2B_SANDBOX_URL })
    await assert.rejects(none.files.write('x', 'y'), AuthenticationError)
    assert.equal(await other.isRunning(), true)
  })
})

describe('a dead sandbox', { concurrency: 4 }, () => {
  test('commands, files and terminals say so', async () => {
    const box = await Sandbox.create()
    await box.kill()
    await assert.rejects(box.commands.run('true'), SandboxNotFoundError)
    await assert.rejects(box.commands.run('true', { background: true }), SandboxNotFoundError)
    await assert.rejects(box.commands.list(), TimeoutError)
    await assert.rejects(box.commands.connect(1), SandboxNotFoundError)
    await assert.rejects(box.files.read('x'), TimeoutError)
    await assert.rejects(box.files.write('x', 'y'), TimeoutError)
    await assert.rejects(box.files.list('.'), TimeoutError)
    await assert.rejects(box.files.exists('x'), TimeoutError)
    await assert.rejects(box.files.watchDir('.', () => {}), SandboxNotFoundError)
    await assert.rejects(box.pty.create({ cols: 80, rows: 24, onData() {} }), SandboxNotFoundError)
  })

  test('killed under a command and a transfer', async () => {
    const box = await Sandbox.create()
    const waiting = box.commands.run('sleep 60')
    const handle = await box.commands.run('sleep 60', { background: true })
    await until('both run', async () => (await box.commands.list()).length === 2)
    const ends = [waiting, handle.wait()].map((end) =>
      assert.rejects(end, (e) => {
        assert.ok(e instanceof TimeoutError, `${e.constructor.name}: ${e.message}`)
        assert.match(e.message, /sandbox was killed|end of life|not found/i)
        return true
      })
    )
    await box.kill()
    await Promise.all(ends)
  })

  test('paused without autoResume is refused, then works again', async (t) => {
    const box = await made(t)
    await box.pause()
    await assert.rejects(box.commands.run('true', { timeoutMs: 5000 }))
    await assert.rejects(box.files.read('x'))
    await box.connect()
    assert.equal((await box.commands.run('echo on')).stdout, 'on\n')
  })
})

describe('what the local server does not have', { concurrency: 4 }, () => {
  test('snapshots and forks are refused with a reason', async (t) => {
    const box = await made(t)
    await assert.rejects(box.createSnapshot(), (e) => e instanceof SandboxError && /snapshot/.test(e.message))
    await assert.rejects(box.fork(), (e) => e instanceof SandboxError && /fork/.test(e.message))
  })
})

test('a full disk is NotEnoughSpaceError', { timeout: 30_000 }, async (t) => {
  const box = await made(t)
  const free = Number((await box.commands.run('df --output=avail -B1 /home/user | tail -1')).stdout)
  if (free > 2 ** 33) return t.skip(`no small disk on this machine: ${free} bytes free`)
  await box.commands.run(`fallocate -l ${Math.max(free - 65536, 0)} fill || head -c ${free} /dev/zero > fill || true`)
  // The answer comes in the middle of the upload, and must reach the client every time.
  for (let i = 0; i < 8; i++) {
    await assert.rejects(box.files.write('more', new Blob([new Uint8Array(4 << 20)])), NotEnoughSpaceError)
    await assert.rejects(
      box.files.write('more', new Blob([new Uint8Array(4 << 20)]).stream(), { useOctetStream: true }),
      NotEnoughSpaceError
    )
  }
})

test('error classes are the ones callers catch', () => {
  assert.ok(new RateLimitError('x') instanceof SandboxError)
  assert.ok(new TimeoutError('x') instanceof SandboxError)
})
