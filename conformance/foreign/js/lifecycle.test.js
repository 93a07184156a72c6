import { describe, test } from 'node:test'
import { E2B, InvalidArgumentError, Sandbox, SandboxError, SandboxNotFoundError, Template } from 'e2b'
import { assert, made, sleep, until } from './sandbox.js'

const near = (date, ms, slackMs = 15_000) =>
  assert.ok(Math.abs(date.getTime() - (Date.now() + ms)) < slackMs, `${date.toISOString()} is not about ${ms} ms away`)

async function all(paginator) {
  const rows = []
  while (paginator.hasNext) rows.push(...(await paginator.nextItems()))
  return rows
}

describe('create', { concurrency: 4 }, () => {
  test('with nothing gives the base template and the default lifetime', async (t) => {
    const box = await Sandbox.create()
    t.after(() => box.kill())
    assert.match(box.sandboxId, /^i[a-z0-9]{20}$/)
    const info = await box.getInfo()
    assert.equal(info.sandboxId, box.sandboxId)
    assert.equal(info.name, 'base')
    assert.equal(info.state, 'running')
    assert.deepEqual(info.metadata, {})
    assert.deepEqual(info.lifecycle, { onTimeout: 'kill', autoResume: false })
    near(info.startedAt, 0)
    near(info.endAt, 300_000)
    assert.ok(info.cpuCount > 0 && info.memoryMB > 0)
    assert.match(info.envdVersion, /^\d+\.\d+\.\d+$/)
  })

  test('with every option', async (t) => {
    const box = await made(t, {
      metadata: { purpose: 'a b&c=d/é', empty: '' },
      envs: { ONE: '1', TWO: 'zwei "quoted" $x\nline' },
      timeoutMs: 90_500,
      secure: true,
      allowInternetAccess: false,
      lifecycle: { onTimeout: { action: 'pause', keepMemory: true }, autoResume: true },
      network: { allowPublicTraffic: true, maskRequestHost: 'example.test:${PORT}' },
    })
    const info = await box.getInfo()
    assert.deepEqual(info.metadata, { purpose: 'a b&c=d/é', empty: '' })
    assert.deepEqual(info.lifecycle, { onTimeout: 'pause', autoResume: true })
    assert.equal(info.allowInternetAccess, false)
    assert.equal(info.network.maskRequestHost, 'example.test:${PORT}')
    near(info.endAt, 91_000)
    const out = await box.commands.run('printf "%s|%s" "$ONE" "$TWO"')
    assert.equal(out.stdout, '1|zwei "quoted" $x\nline')
  })

  test('by template name, and with python inside python-base', async (t) => {
    const box = await Sandbox.create('python-base', { timeoutMs: 60_000 })
    t.after(() => box.kill())
    assert.equal((await box.getInfo()).name, 'python-base')
    assert.equal((await box.commands.run(`python3 -c 'print(6*7)'`)).stdout, '42\n')
  })

  test('says no to an unknown template before anything exists', async () => {
    const metadata = { who: 'unknown-template' }
    await assert.rejects(Sandbox.create('no-such-template', { metadata }), (e) => {
      assert.ok(e instanceof SandboxError)
      assert.match(e.message, /no-such-template/)
      return true
    })
    assert.deepEqual(await all(Sandbox.list({ query: { metadata } })), [])
  })

  test('refuses a lifecycle that cannot be', async () => {
    for (const lifecycle of [
      { onTimeout: 'kill', autoResume: true },
      { onTimeout: { action: 'pause', keepMemory: false }, autoResume: true },
    ]) {
      await assert.rejects(Sandbox.create({ lifecycle }), InvalidArgumentError)
    }
  })

  test('refuses egress rules by name without a deny, with status 400', async () => {
    await assert.rejects(Sandbox.create({ network: { allowOut: ['example.com'] } }), (e) => {
      assert.equal(e.statusCode, 400)
      return true
    })
  })

  test('templates that exist and do not', async () => {
    assert.equal(await Template.exists('base'), true)
    assert.equal(await Template.exists('no-such-template'), false)
  })

  test('through a bound client', async () => {
    const bound = new E2B({ apiKey: process.env.E2B_API_KEY })
    const box = await bound.Sandbox.create({ timeoutMs: 60_000 })
    assert.equal((await box.commands.run('echo bound')).stdout, 'bound\n')
    assert.equal(await bound.Sandbox.kill(box.sandboxId), true)
  })
})

describe('connect, kill, running', { concurrency: 4 }, () => {
  test('a second handle sees the same sandbox and only ever lengthens its life', async (t) => {
    const box = await made(t, { timeoutMs: 600_000 })
    await box.files.write('from-first.txt', 'x')
    const other = await Sandbox.connect(box.sandboxId)
    assert.equal(await other.files.read('from-first.txt'), 'x')
    near((await other.getInfo()).endAt, 600_000)
    await Sandbox.connect(box.sandboxId, { timeoutMs: 1000 })
    near((await other.getInfo()).endAt, 600_000)
    await Sandbox.connect(box.sandboxId, { timeoutMs: 900_000 })
    near((await other.getInfo()).endAt, 900_000)
    assert.equal(await box.connect(), box)
  })

  test('an unknown sandbox is SandboxNotFoundError', async () => {
    const id = 'i' + '0'.repeat(20)
    await assert.rejects(Sandbox.connect(id), SandboxNotFoundError)
    await assert.rejects(Sandbox.getInfo(id), SandboxNotFoundError)
    await assert.rejects(Sandbox.setTimeout(id, 1000), SandboxNotFoundError)
    await assert.rejects(Sandbox.pause(id), SandboxNotFoundError)
    await assert.rejects(Sandbox.getMetrics(id), SandboxNotFoundError)
    await assert.rejects(Sandbox.updateNetwork(id, {}), SandboxNotFoundError)
    assert.equal(await Sandbox.kill(id), false)
  })

  test('kill is true once, then false, and the sandbox does not run', async () => {
    const box = await Sandbox.create()
    assert.equal(await box.isRunning(), true)
    assert.equal(await box.kill(), true)
    assert.equal(await box.kill(), false)
    assert.equal(await Sandbox.kill(box.sandboxId), false)
    assert.equal(await box.isRunning(), false)
    await assert.rejects(box.getInfo(), SandboxNotFoundError)
    await assert.rejects(Sandbox.connect(box.sandboxId), SandboxNotFoundError)
  })

  test('setTimeout lengthens and shortens, and the end kills', async () => {
    const box = await Sandbox.create({ timeoutMs: 60_000 })
    await box.setTimeout(200_000)
    near((await box.getInfo()).endAt, 200_000)
    await box.setTimeout(1000)
    await until('the sandbox is gone', async () => !(await box.isRunning()))
    await assert.rejects(box.getInfo(), SandboxNotFoundError)
  })

  test('metrics', async (t) => {
    const box = await made(t)
    const [first] = await until('a measurement', async () => {
      const got = await box.getMetrics()
      return got.length > 0 && got
    }, 10_000)
    assert.ok(first.timestamp instanceof Date)
    near(first.timestamp, 0)
    assert.ok(first.cpuCount > 0 && first.cpuUsedPct >= 0)
    assert.ok(first.memTotal > 0 && first.memUsed > 0 && first.memUsed < first.memTotal)
    assert.ok(first.diskTotal > 0 && first.diskUsed >= 0)
    const past = { start: new Date(Date.now() - 7200_000), end: new Date(Date.now() - 3600_000) }
    assert.deepEqual(await box.getMetrics(past), [])
  })
})

describe('list', () => {
  const suite = `list-${process.pid}-${Date.now()}`
  const boxes = []

  test('filters by metadata, state, template and start', async (t) => {
    t.after(() => Promise.all(boxes.map((box) => box.kill())))
    for (let i = 0; i < 5; i++) {
      boxes.push(
        await Sandbox.create(i === 4 ? 'python-base' : 'base', {
          metadata: { suite, n: `${i}`, 'k &=%': 'v &=%+/é' },
          timeoutMs: 60_000,
        })
      )
    }
    const ids = boxes.map((box) => box.sandboxId)
    const listed = async (options) => (await all(Sandbox.list(options))).map((row) => row.sandboxId)
    const query = { metadata: { suite } }

    await t.test('everything, newest first', async () => {
      assert.deepEqual(await listed({ query }), [...ids].reverse())
      assert.deepEqual(await listed({ query, order: 'asc' }), ids)
    })
    await t.test('two keys, hostile characters', async () => {
      assert.deepEqual(await listed({ query: { metadata: { suite, n: '3', 'k &=%': 'v &=%+/é' } } }), [ids[3]])
      assert.deepEqual(await listed({ query: { metadata: { suite, n: '9' } } }), [])
    })
    await t.test('pages', async () => {
      for (const order of ['asc', 'desc']) {
        const paginator = Sandbox.list({ query, limit: 2, order })
        const pages = []
        while (paginator.hasNext) pages.push((await paginator.nextItems()).map((row) => row.sandboxId))
        assert.deepEqual(pages.map((page) => page.length), [2, 2, 1])
        assert.deepEqual(pages.flat(), order === 'asc' ? ids : [...ids].reverse())
        await assert.rejects(paginator.nextItems())
      }
    })
    await t.test('goes on from a token', async () => {
      const first = Sandbox.list({ query, limit: 3 })
      await first.nextItems()
      assert.ok(first.nextToken)
      const rest = await listed({ query, limit: 3, nextToken: first.nextToken })
      assert.deepEqual(rest, [...ids].reverse().slice(3))
      await assert.rejects(listed({ query, order: 'asc', nextToken: first.nextToken }), SandboxError)
    })
    await t.test('template', async () => {
      assert.deepEqual(await listed({ query: { metadata: { suite }, template: 'python-base' } }), [ids[4]])
      assert.deepEqual(await listed({ query: { metadata: { suite }, template: 'nothing' } }), [])
    })
    await t.test('started after', async () => {
      const { startedAt } = await boxes[3].getInfo()
      const later = await listed({ query: { metadata: { suite }, startedAfter: new Date(startedAt.getTime() - 1) } })
      assert.ok(later.includes(ids[3]) && later.includes(ids[4]) && !later.includes(ids[0]), `${later}`)
    })
    await t.test('state', async () => {
      await boxes[1].pause()
      assert.deepEqual(await listed({ query: { metadata: { suite }, state: ['paused'] } }), [ids[1]])
      assert.equal((await listed({ query: { metadata: { suite }, state: ['running'] } })).length, 4)
      assert.equal((await listed({ query: { metadata: { suite }, state: ['running', 'paused'] } })).length, 5)
      const [row] = await all(Sandbox.list({ query: { metadata: { suite }, state: ['paused'] } }))
      assert.equal(row.state, 'paused')
      assert.equal(row.metadata.n, '1')
      assert.ok(row.endAt > row.startedAt)
    })
  })
})

describe('pause', { concurrency: 3 }, () => {
  test('keeps processes and memory, and connect resumes', async (t) => {
    const box = await made(t)
    const command = await box.commands.run('i=0; while true; do i=$((i+1)); echo $i > n; sleep 0.05; done', {
      background: true,
      timeoutMs: 0,
    })
    const count = async () => Number(await box.files.read('n').catch(() => '0'))
    await until('the counter runs', async () => (await count()) > 2)
    assert.equal(await box.pause(), true)
    assert.equal(await box.pause(), false)
    assert.equal((await Sandbox.getInfo(box.sandboxId)).state, 'paused')
    await sleep(300)
    const again = await Sandbox.connect(box.sandboxId)
    assert.equal((await again.getInfo()).state, 'running')
    const resumed = await count()
    await until('the counter goes on', async () => (await count()) > resumed)
    assert.ok((await again.commands.list()).some((p) => p.pid === command.pid))
    assert.equal(await again.commands.kill(command.pid), true)
  })

  test('static pause and the instance form of connect', async (t) => {
    const box = await made(t)
    assert.equal(await Sandbox.pause(box.sandboxId), true)
    await box.connect()
    assert.equal((await box.commands.run('echo back')).stdout, 'back\n')
  })

  test('a paused sandbox can be killed', async () => {
    const box = await Sandbox.create()
    await box.pause()
    assert.equal(await box.kill(), true)
    assert.equal(await box.kill(), false)
  })

  test('the end of the lifetime pauses when asked to', async (t) => {
    const box = await made(t, { lifecycle: { onTimeout: 'pause' } })
    await box.files.write('kept', 'yes')
    await box.setTimeout(500)
    await until('paused by its timeout', async () => (await box.getInfo()).state === 'paused', 8000)
    await box.connect({ timeoutMs: 60_000 })
    assert.equal(await box.files.read('kept'), 'yes')
  })

  test('autoResume wakes on traffic', async (t) => {
    const box = await made(t, { lifecycle: { onTimeout: 'pause', autoResume: true } })
    await box.pause()
    assert.equal((await box.commands.run('echo awake')).stdout, 'awake\n')
    assert.equal((await box.getInfo()).state, 'running')
  })
})
