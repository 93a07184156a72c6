import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { CommandExitError, InvalidArgumentError, NotFoundError, SandboxError, TimeoutError } from 'e2b'
import { assert, sandbox, sleep, until } from './sandbox.js'

const held = sandbox({ envs: { FROM_SANDBOX: 'sandbox', BOTH: 'sandbox' } })
const run = (cmd, opts) => held.box.commands.run(cmd, opts)

describe('foreground', { concurrency: 4 }, () => {
  test('gives stdout, stderr and 0', async () => {
    const result = await run('echo out; echo err >&2')
    assert.deepEqual({ ...result }, { exitCode: 0, stdout: 'out\n', stderr: 'err\n', error: undefined })
  })

  for (const code of [1, 7, 126, 127, 255]) {
    test(`exit ${code} is CommandExitError with the output`, async () => {
      await assert.rejects(run(`echo o; echo e >&2; exit ${code}`), (e) => {
        assert.ok(e instanceof CommandExitError)
        assert.equal(e.exitCode, code)
        assert.equal(e.stdout, 'o\n')
        assert.equal(e.stderr, 'e\n')
        assert.equal(e.error, `exit status ${code}`)
        return true
      })
    })
  }

  test('a signal is exit code -1 and its name', async () => {
    await assert.rejects(run('kill -9 $$'), (e) => {
      assert.ok(e instanceof CommandExitError)
      assert.equal(e.exitCode, -1)
      assert.equal(e.error, 'signal: killed')
      return true
    })
    await assert.rejects(run('kill -TERM $$'), { exitCode: -1, error: 'signal: terminated' })
  })

  test('an unknown command is exit 127', async () => {
    await assert.rejects(run('no-such-command-here'), (e) => {
      assert.equal(e.exitCode, 127)
      assert.match(e.stderr, /not found/)
      return true
    })
  })

  test('text in any alphabet, also split over chunks', async () => {
    const text = 'grüße 世界 🚀 \u0000 é'
    assert.equal((await run(`printf '%b' 'grüße 世界 🚀 \\0 é'`)).stdout, text)
    const split = await run(`printf '\\360\\237'; sleep 0.05; printf '\\230\\200'; sleep 0.05; printf '\\360\\237'`)
    assert.equal(split.stdout, '😀\ufffd')
  })

  test('10 MB arrive whole', async () => {
    const wanted = createHash('sha256').update(Buffer.from('0123456789abcde\n'.repeat(655_360))).digest('hex')
    const result = await run('yes 0123456789abcde | head -c 10485760')
    assert.equal(result.stdout.length, 10_485_760)
    assert.equal(createHash('sha256').update(result.stdout).digest('hex'), wanted)
  })

  test('callbacks see the output while the command runs, in order', async () => {
    const seen = { out: '', err: '' }
    const script = 'for i in 1 2 3; do echo e$i >&2; echo $i; until [ -e saw$i ]; do sleep 0.02; done; done'
    const result = await run(`mkdir callbacks && cd callbacks && ${script}`, {
      // The command goes on only when this has run.
      onStdout: async (text) => {
        seen.out += text
        await held.box.files.write(`callbacks/saw${text.trim()}`, '')
      },
      onStderr: (text) => (seen.err += text),
      timeoutMs: 20_000,
    })
    assert.deepEqual(seen, { out: '1\n2\n3\n', err: 'e1\ne2\ne3\n' })
    assert.equal(result.stdout, seen.out)
  })

  test('environment: the command wins over the sandbox, HOME and USER are set', async () => {
    const result = await run('echo "$FROM_SANDBOX $BOTH $OWN $HOME $USER $LOGNAME"', {
      envs: { BOTH: 'command', OWN: 'own value' },
    })
    assert.equal(result.stdout, 'sandbox command own value /home/user user user\n')
  })

  test('working directory', async () => {
    assert.equal((await run('pwd')).stdout, '/home/user\n')
    assert.equal((await run('pwd', { cwd: '/tmp' })).stdout, '/tmp\n')
    await run('mkdir -p here')
    assert.equal((await run('pwd', { cwd: 'here' })).stdout, '/home/user/here\n')
    await assert.rejects(run('pwd', { cwd: '/no/such/dir' }), (e) => {
      assert.ok(e instanceof InvalidArgumentError)
      assert.match(e.message, /\/no\/such\/dir/)
      return true
    })
  })

  test('user', async () => {
    assert.equal((await run('id -u -n; id -u')).stdout, 'user\n1000\n')
    assert.equal((await run('id -u', { user: 'root' })).stdout, '0\n')
    await assert.rejects(run('true', { user: 'nobody-here' }), /invalid username/)
  })

  test('sees no server secret', async () => {
    assert.doesNotMatch((await run('env')).stdout, /E2B_API_KEY|E2B_API_URL/)
  })

  test('stdin is closed unless asked for', async () => {
    assert.equal((await run('cat; echo done')).stdout, 'done\n')
  })

  test('the timeout kills the command and is TimeoutError', async () => {
    const began = Date.now()
    await assert.rejects(run('echo $$ > timed; sleep 30', { timeoutMs: 500 }), TimeoutError)
    assert.ok(Date.now() - began < 5000)
    const pid = Number(await held.box.files.read('timed'))
    await until('the command is dead', async () => (await run(`kill -0 ${pid} 2>/dev/null || echo dead`)).stdout === 'dead\n')
  })

  test('an abort signal ends the wait', async () => {
    const abort = new AbortController()
    setTimeout(() => abort.abort(), 200)
    const began = Date.now()
    await assert.rejects(run('sleep 30', { signal: abort.signal }))
    assert.ok(Date.now() - began < 5000)
  })

  test('a child that holds the pipe does not hold the command', async () => {
    const began = Date.now()
    assert.equal((await run('sleep 20 & echo started')).stdout, 'started\n')
    assert.ok(Date.now() - began < 5000)
  })

  test('twenty at once do not mix', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, i) => run(`for j in $(seq 200); do echo ${i}; done`))
    )
    results.forEach((result, i) => assert.equal(result.stdout, `${i}\n`.repeat(200)))
  })
})

describe('background', { concurrency: 4 }, () => {
  test('returns at once, then waits', async () => {
    const handle = await run('echo one; until [ -e on ]; do sleep 0.02; done; echo two; exit 3', { background: true })
    assert.ok(handle.pid > 0)
    assert.equal(handle.exitCode, undefined)
    await until('the first line', () => handle.stdout === 'one\n')
    await held.box.files.write('on', '')
    await assert.rejects(handle.wait(), (e) => e instanceof CommandExitError && e.exitCode === 3)
    assert.equal(handle.stdout, 'one\ntwo\n')
    assert.equal(handle.exitCode, 3)
  })

  test('kill', async () => {
    const handle = await run('sleep 30', { background: true })
    assert.equal(await handle.kill(), true)
    await assert.rejects(handle.wait(), { exitCode: -1, error: 'signal: killed' })
    assert.equal(await handle.kill(), false)
    assert.equal(await held.box.commands.kill(handle.pid), false)
    assert.equal(await held.box.commands.kill(4_000_000), false)
  })

  test('list shows what runs, with its pid and text', async () => {
    const handle = await run('sleep 30 # listed', { background: true, cwd: '/tmp', envs: { L: '1' } })
    const found = (await held.box.commands.list()).find((p) => p.pid === handle.pid)
    assert.equal(found.cmd, '/bin/bash')
    assert.deepEqual(found.args, ['-l', '-c', 'sleep 30 # listed'])
    assert.equal(found.cwd, '/tmp')
    assert.equal(found.envs.L, '1')
    await handle.kill()
    await until('it is off the list', async () => !(await held.box.commands.list()).some((p) => p.pid === handle.pid))
  })

  test('disconnect leaves it running, connect takes it up again', async () => {
    const handle = await run('while [ ! -e go ]; do sleep 0.02; done; rm go; echo later; exit 5', {
      background: true,
      timeoutMs: 0,
    })
    await handle.disconnect()
    const lines = []
    const again = await held.box.commands.connect(handle.pid, { onStdout: (s) => lines.push(s) })
    assert.equal(again.pid, handle.pid)
    await held.box.files.write('go', '')
    await assert.rejects(again.wait(), { exitCode: 5, stdout: 'later\n' })
    assert.deepEqual(lines, ['later\n'])
  })

  test('two connections see the same output', async () => {
    const handle = await run('read x; echo "got $x"', { background: true, stdin: true })
    const other = await held.box.commands.connect(handle.pid)
    await other.sendStdin('twice\n')
    assert.equal((await handle.wait()).stdout, 'got twice\n')
    assert.equal((await other.wait()).stdout, 'got twice\n')
  })

  test('connect after the end still tells the end', async () => {
    const handle = await run('exit 9', { background: true })
    await assert.rejects(handle.wait(), { exitCode: 9 })
    const late = await held.box.commands.connect(handle.pid)
    await assert.rejects(late.wait(), { exitCode: 9 })
  })

  test('connect to an unknown pid is NotFoundError', async () => {
    await assert.rejects(held.box.commands.connect(4_000_000), NotFoundError)
  })
})

describe('stdin', { concurrency: 4 }, () => {
  test('strings and bytes in order, then the end', async () => {
    const handle = await run('cat', { background: true, stdin: true })
    await handle.sendStdin('text é\n')
    await handle.sendStdin(new TextEncoder().encode('bytes 🚀\n'))
    await held.box.commands.sendStdin(handle.pid, 'by pid\n')
    await handle.closeStdin()
    assert.equal((await handle.wait()).stdout, 'text é\nbytes 🚀\nby pid\n')
  })

  test('closing by pid ends wc', async () => {
    const handle = await run('wc -c', { background: true, stdin: true })
    await handle.sendStdin('x'.repeat(300_000))
    await held.box.commands.closeStdin(handle.pid)
    assert.equal((await handle.wait()).stdout.trim(), '300000')
  })

  test('raw bytes are not changed', async () => {
    const all = Uint8Array.from({ length: 256 }, (_, i) => i)
    const handle = await run('sha256sum', { background: true, stdin: true })
    await handle.sendStdin(all)
    await handle.closeStdin()
    assert.equal((await handle.wait()).stdout.split(' ')[0], createHash('sha256').update(all).digest('hex'))
  })

  test('to a command without stdin is an error', async () => {
    const handle = await run('sleep 30', { background: true })
    await assert.rejects(handle.sendStdin('x'), (e) => {
      assert.ok(e instanceof SandboxError)
      assert.match(e.message, /stdin not enabled or closed/)
      return true
    })
    await handle.kill()
  })

  test('to an unknown pid is NotFoundError', async () => {
    await assert.rejects(held.box.commands.sendStdin(4_000_000, 'x'), NotFoundError)
    await assert.rejects(held.box.commands.closeStdin(4_000_000), NotFoundError)
  })
})

test('a background command outlives its own request timeout', async () => {
  const handle = await run('sleep 1.2; echo ok', { background: true, requestTimeoutMs: 500 })
  assert.equal((await handle.wait()).stdout, 'ok\n')
  await sleep(0)
})
