// Programs for E2B's SDK, with another import, against a real local server.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as theirs from '../dist/e2b.mjs'
import * as interpreter from '../dist/e2b-code.mjs'
import * as own from '../dist/node.mjs'
import { handleAt, options, peer } from './peer.mjs'

const {
  CommandExitError,
  FileNotFoundError,
  FileType,
  InvalidArgumentError,
  NotFoundError,
  Sandbox,
  SandboxError,
  SandboxNotFoundError,
  TemplateError,
  TimeoutError,
} = theirs
const run = promisify(execFile)
const sandboxc =
  process.env.SANDBOXC ?? fileURLToPath(new URL('../../../bin/sandboxc', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'agent-sandbox-e2b-'))
let account
let server
let sandbox

before(async () => {
  const env = { ...process.env, XDG_STATE_HOME: home }
  server = JSON.parse((await run(sandboxc, ['serve', '--detach', '--json'], { env })).stdout)
  account = {
    provider: 'local',
    apiKey: server.api_key,
    apiUrl: server.url,
    sandboxUrl: server.sandbox_url,
    proxy: 'direct',
    settings: {},
  }
  sandbox = await Sandbox.create('base', {
    ...account,
    metadata: { of: 'e2b' },
    envs: { WHO: 'you' },
  })
})

after(async () => {
  await sandbox?.kill()
  if (server) process.kill(server.pid, 'SIGTERM')
  for (let alive = Boolean(server); alive; ) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    try {
      process.kill(server.pid, 0)
    } catch {
      alive = false
    }
  }
  rmSync(home, { recursive: true, force: true })
})

test('a command gives what it wrote', async () => {
  const heard = []
  const result = await sandbox.commands.run('echo hi $WHO; echo err >&2', {
    onStdout: (text) => void heard.push(text),
  })
  assert.deepEqual(result, { exitCode: 0, stdout: 'hi you\n', stderr: 'err\n' })
  assert.deepEqual(heard, ['hi you\n'])
})

test('an exit other than 0 is an error that is a result', async () => {
  await assert.rejects(sandbox.commands.run('echo out; echo err >&2; exit 3'), (error) => {
    assert.ok(error instanceof CommandExitError && error instanceof SandboxError)
    const { exitCode, stdout, stderr, error: words } = error
    assert.deepEqual([exitCode, stdout, stderr, words], [3, 'out\n', 'err\n', 'exit status 3'])
    return true
  })
})

test('a background command is written to, waited for and killed', async () => {
  const cat = await sandbox.commands.run('cat', { background: true, stdin: true })
  await cat.sendStdin('a')
  await sandbox.commands.sendStdin(cat.pid, new Uint8Array([98]))
  await cat.closeStdin()
  assert.deepEqual(await cat.wait(), { exitCode: 0, stdout: 'ab', stderr: '' })
  assert.deepEqual([cat.stdout, cat.exitCode, cat.error], ['ab', 0, undefined])

  const sleep = await sandbox.commands.run('sleep 1000', { background: true })
  assert.ok((await sandbox.commands.list()).some(({ pid }) => pid === sleep.pid))
  assert.equal(await sleep.kill(), true)
  await assert.rejects(sleep.wait(), CommandExitError)
  assert.equal(sleep.exitCode, -1)
  assert.equal(await sandbox.commands.kill(sleep.pid), false)
})

test('input that a process does not take is no missing process', async () => {
  const handle = await sandbox.commands.run('sleep 1000', { background: true })
  await assert.rejects(handle.sendStdin('x'), (error) => {
    assert.ok(error instanceof SandboxError && !(error instanceof NotFoundError), String(error))
    return true
  })
  await handle.kill()
})

test('following again goes on after a disconnect', async () => {
  const first = await sandbox.commands.run('read x; echo got $x', { background: true, stdin: true })
  const again = await sandbox.commands.connect(first.pid)
  await first.disconnect()
  await again.sendStdin('it\n')
  assert.equal((await again.wait()).stdout, 'got it\n')
})

const wrong = {
  'command timeout': [(s) => s.commands.run('sleep 9', { timeoutMs: 200 }), TimeoutError, 'E3001'],
  'missing file': [(s) => s.files.read('/no'), FileNotFoundError, 'E4001'],
  'missing file as what is not found': [(s) => s.files.read('/no'), NotFoundError, 'E4001'],
  'directory as file': [(s) => s.files.read('/tmp'), InvalidArgumentError, 'E4003'],
  'missing process': [(s) => s.commands.connect(4_000_000), NotFoundError, 'E3000'],
  'input of a missing process': [
    (s) => s.commands.sendStdin(4_000_000, 'x'),
    NotFoundError,
    'E3000',
  ],
  'missing terminal': [(s) => s.pty.connect(4_000_000), NotFoundError, 'E3000'],
  'unknown format': [
    (s) => s.files.read('a', { format: 'picture' }),
    InvalidArgumentError,
    'E8000',
  ],
  'no depth': [(s) => s.files.list('/', { depth: 0 }), InvalidArgumentError, 'E8000'],
  snapshots: [(s) => s.createSnapshot(), SandboxError, 'E3004'],
  git: [async (s) => s.git, SandboxError, 'E3004'],
  mcp: [async (s) => s.getMcpUrl(), SandboxError, 'E3004'],
  'unknown template': [() => Sandbox.create('no-such', account), TemplateError, 'E2001'],
}
for (const [what, [act, kind, code]] of Object.entries(wrong)) {
  test(`${what}: an error of E2B's class, with a code of our own`, async () => {
    await assert.rejects(act(sandbox), (error) => {
      assert.ok(error instanceof kind && error instanceof own.SandboxError, String(error))
      assert.equal(error.code, code)
      return true
    })
  })
}

for (const option of ['headers', 'apiHeaders', 'mcp', 'iam', 'volumeMounts']) {
  test(`${option}, which means nothing here, is refused by name`, async () => {
    await assert.rejects(Sandbox.create({ ...account, [option]: { a: 'b' } }), (error) => {
      assert.ok(error instanceof InvalidArgumentError && error.message.startsWith(option))
      return true
    })
  })
}

test('options that change nothing are taken', async () => {
  const made = await Sandbox.create({
    ...account,
    timeoutMs: 60_000,
    secure: false,
    validateApiKey: true,
    logger: console,
    headers: {},
    requestTimeoutMs: 30_000,
    lifecycle: { onTimeout: { action: 'kill' } },
  })
  assert.equal(await made.isRunning(), true)
  assert.equal((await made.getInfo()).templateId, 'base')
  assert.equal(await made.kill(), true)
  await assert.rejects(made.commands.run('true'), SandboxNotFoundError)
  await assert.rejects(made.commands.list(), TimeoutError)
  await assert.rejects(made.files.read('a'), TimeoutError)
  await assert.rejects(made.getInfo(), SandboxNotFoundError)
  await assert.rejects(Sandbox.connect(made.sandboxId, account), SandboxNotFoundError)
  assert.equal(await made.kill(), false)
})

test('a command that its sandbox took along ran out of time', async () => {
  const made = await Sandbox.create({ ...account, timeoutMs: 60_000 })
  let started
  const begun = new Promise((resolve) => {
    started = resolve
  })
  const run = made.commands.run('echo on; sleep 1000', { onStdout: started })
  const handle = await made.commands.run('sleep 1000', { background: true })
  const ended = [assert.rejects(run, TimeoutError), assert.rejects(handle.wait(), TimeoutError)]
  await begun
  await made.kill()
  await Promise.all(ended)
})

test('files are written, read and described', async () => {
  const info = await sandbox.files.write('d/a.txt', 'hello', { metadata: { k: 'v' } })
  assert.deepEqual(info, {
    name: 'a.txt',
    path: '/home/user/d/a.txt',
    type: FileType.FILE,
    metadata: { k: 'v' },
  })
  assert.equal((await sandbox.files.write('d/plain', '')).metadata, undefined)
  await sandbox.files.remove('d/plain')
  assert.equal(await sandbox.files.read('d/a.txt'), 'hello')
  assert.deepEqual(
    await sandbox.files.read('d/a.txt', { format: 'bytes' }),
    new TextEncoder().encode('hello'),
  )
  assert.equal(await (await sandbox.files.read('d/a.txt', { format: 'blob' })).text(), 'hello')
  const stream = await sandbox.files.read('d/a.txt', {
    format: 'stream',
    streamIdleTimeoutMs: 5000,
  })
  assert.equal(await new Response(stream).text(), 'hello')
  const several = [
    { path: 'd/b', data: '1' },
    { path: 'd/c', data: new Blob(['2']) },
  ]
  assert.deepEqual(
    (await sandbox.files.write(several)).map((one) => one.name),
    ['b', 'c'],
  )
  assert.deepEqual(await sandbox.files.writeFiles([]), [])
  const names = (await sandbox.files.list('d')).map((entry) => entry.name)
  assert.deepEqual(names.sort(), ['a.txt', 'b', 'c'])
  assert.equal((await sandbox.files.rename('d/b', 'd/e')).name, 'e')
  assert.equal(await sandbox.files.remove('d/e'), undefined)
  assert.equal(await sandbox.files.exists('d/e'), false)
  assert.equal(await sandbox.files.makeDir('d/f'), true)
  assert.equal(await sandbox.files.makeDir('d/f'), false)
  assert.equal((await sandbox.files.getInfo('d')).type, FileType.DIR)
})

test('a watch says how it ended', async () => {
  await sandbox.files.makeDir('watched')
  const ends = []
  let exited
  const watch = (timeoutMs, onEvent) => {
    const ended = new Promise((resolve) => {
      exited = (error) => resolve(ends.push(error))
    })
    return sandbox.files
      .watchDir('watched', onEvent, { timeoutMs, onExit: (error) => exited(error) })
      .then((handle) => ({ handle, ended }))
  }
  let seen
  const changed = new Promise((resolve) => {
    seen = resolve
  })
  const first = await watch(0, seen)
  await sandbox.files.write('watched/x', '1')
  assert.equal((await changed).name, 'x')
  await first.handle.stop()
  await first.ended
  const second = await watch(20, () => {})
  await second.ended
  assert.equal(ends[0], undefined)
  assert.ok(ends[1] instanceof TimeoutError)
})

test('a terminal takes a size and bytes', async () => {
  const shown = []
  const terminal = await sandbox.pty.create({
    cols: 33,
    rows: 10,
    onData: (data) => void shown.push(data),
  })
  await sandbox.pty.resize(terminal.pid, { cols: 44, rows: 11 })
  await sandbox.pty.sendInput(terminal.pid, new TextEncoder().encode('stty size; exit 0\n'))
  assert.equal((await terminal.wait()).exitCode, 0)
  assert.ok(Buffer.concat(shown).includes('11 44'))
})

test('the account lists, describes and changes', async () => {
  const query = { metadata: { of: 'e2b' }, state: ['running'] }
  const pages = Sandbox.list({ ...account, query, limit: 10, order: 'asc' })
  assert.deepEqual(
    (await pages.nextItems()).map((one) => one.sandboxId),
    [sandbox.sandboxId],
  )
  assert.deepEqual([pages.hasNext, pages.nextToken], [false, undefined])
  const info = await Sandbox.getInfo(sandbox.sandboxId, account)
  assert.deepEqual([info.state, info.metadata, info.volumeMounts], ['running', query.metadata, []])
  assert.ok(info.memoryMB > 0 && info.endAt instanceof Date)
  assert.deepEqual(info.lifecycle, { onTimeout: 'kill', autoResume: false })
  await Sandbox.setTimeout(sandbox.sandboxId, 500_000, account)
  await sandbox.setTimeout(600_000, { requestTimeoutMs: 10_000 })
  assert.ok((await sandbox.getInfo()).endAt > info.endAt)
  assert.ok(Array.isArray(await sandbox.getMetrics()))
  assert.ok(Array.isArray(await Sandbox.getMetrics(sandbox.sandboxId, account)))
  assert.ok(sandbox.getHost(3000).includes(sandbox.sandboxId))
  const url = await sandbox.downloadUrl('a', { useSignatureExpiration: 60 })
  const expires = Number(new URL(url).searchParams.get('signature_expiration'))
  assert.ok(expires > Date.now() / 1000 && expires < Date.now() / 1000 + 120)
  assert.match(await sandbox.uploadUrl('a', { user: 'user' }), /\/files/)
  const again = await Sandbox.connect(sandbox.sandboxId, { ...account, timeoutMs: 700_000 })
  assert.equal(await again.connect({ timeoutMs: 800_000 }), again)
  assert.equal((await again.commands.run('echo $WHO')).stdout, 'you\n')
})

test('a signed URL works without a name to resolve', async () => {
  await sandbox.files.write('signed', 'it')
  const url = await sandbox.downloadUrl('signed')
  assert.match(url, /^http:\/\/127\.0\.0\.1:/)
  assert.equal(await (await fetch(url)).text(), 'it')
})

test('every error may be named', () => {
  for (const [name, kind] of Object.entries(theirs).filter(([name]) => name.endsWith('Error'))) {
    assert.ok(kind.prototype instanceof Error && kind.prototype instanceof own.SandboxError)
    assert.equal(kind.prototype.name, name)
  }
  assert.ok(!(theirs.AuthenticationError.prototype instanceof SandboxError))
})

test('network rules may be functions', async (t) => {
  let asked
  const { url } = await peer(t, {
    'PUT /sandboxes/i1/network': async (q, r) => {
      asked = JSON.parse((await q.toArray()).join(''))
      r.writeHead(204).end()
    },
  })
  const rules = { 'api.example.com': [{ transform: { headers: { a: 'b' } } }] }
  const network = {
    allowOut: (context) => [...context.rules.keys()],
    denyOut: ({ allTraffic }) => [allTraffic],
    rules,
  }
  await Sandbox.updateNetwork('i1', network, options(url))
  assert.deepEqual([asked.allowOut, asked.denyOut], [['api.example.com'], ['0.0.0.0/0']])
})

test('a client binds options that a call may change', async (t) => {
  const { Sandbox: Bound } = new theirs.E2B(account)
  const made = await Bound.create('base', { timeoutMs: 60_000, apiKey: undefined })
  assert.ok(made instanceof Bound && made instanceof Sandbox)
  assert.equal((await Bound.getInfo(made.sandboxId)).sandboxId, made.sandboxId)
  await Bound.setTimeout(made.sandboxId, 70_000)
  const query = { metadata: { of: 'nobody' } }
  assert.deepEqual(await Bound.list({ query }).nextItems(), [])
  assert.equal(await (await Bound.connect(made.sandboxId)).kill(), true)
  const { url } = await peer(t, {})
  await assert.rejects(Bound.create({ apiUrl: url, provider: 'e2b' }), SandboxError)
  const { Sandbox: Code } = new interpreter.E2B(account)
  assert.ok(Code.prototype instanceof interpreter.Sandbox)
  await assert.rejects(Code.create({ template: 'no-such' }), TemplateError)
})

test('no error or print shows a key', async (t) => {
  const { url } = await peer(t, {})
  await assert.rejects(Sandbox.create(options(url)), (error) => {
    assert.ok(!JSON.stringify([error, String(error), error.stack]).includes(options(url).apiKey))
    return true
  })
  assert.ok(!JSON.stringify(sandbox).includes(server.api_key))
})

test('code runs, and calls back with what E2B calls back with', async (t) => {
  const lines = [
    { type: 'stdout', text: 'a' },
    { type: 'stderr', text: 'b' },
    { type: 'result', text: '1', is_main_result: true },
    { type: 'error', name: 'E', value: 'v', traceback: 't' },
    { type: 'end_of_execution' },
  ]
  const { url } = await peer(t, {
    'POST /execute': (q, r) => {
      q.resume()
      r.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    },
  })
  const inner = await own.Sandbox.fromJSON(handleAt(url), options(url))
  const made = new interpreter.Sandbox(inner)
  const heard = []
  const hear = (what) => void heard.push(what)
  const execution = await made.runCode('x', {
    language: 'python',
    onStdout: hear,
    onStderr: hear,
    onResult: hear,
    onError: hear,
  })
  assert.deepEqual([execution.text, execution.logs], ['1', { stdout: ['a'], stderr: ['b'] }])
  assert.equal(execution.error.name, 'E')
  assert.deepEqual([heard[0].line, String(heard[1]), heard[1].error], ['a', 'b', true])
  assert.equal(typeof heard[0].timestamp, 'number')
  assert.deepEqual([heard[2].text, heard[3].value], ['1', 'v'])
})

test('a context that is gone is not found', async (t) => {
  const { url } = await peer(t, {
    'POST /execute': (q, r) => {
      q.resume()
      r.writeHead(404, { 'content-type': 'application/json' })
      r.end(JSON.stringify({ detail: 'Context c1 not found' }))
    },
  })
  const made = new interpreter.Sandbox(await own.Sandbox.fromJSON(handleAt(url), options(url)))
  const context = { id: 'c1', language: 'python', cwd: '/' }
  await assert.rejects(made.runCode('1', { context }), NotFoundError)
})

test('both modules have the same errors, and CommonJS has both', () => {
  const require = createRequire(import.meta.url)
  assert.equal(interpreter.TimeoutError, TimeoutError)
  assert.equal(theirs.default, Sandbox)
  assert.equal(interpreter.default, interpreter.Sandbox)
  assert.ok(interpreter.Sandbox.prototype instanceof Sandbox)
  const common = require('../dist/e2b-code.cjs')
  assert.equal(common.TimeoutError, require('../dist/e2b.cjs').TimeoutError)
  assert.deepEqual(Object.keys(common).sort(), Object.keys(interpreter).sort())
})

test('its types are those that a strict program for E2B compiles with', async () => {
  const here = fileURLToPath(new URL('.', import.meta.url))
  const { exports } = JSON.parse(readFileSync(join(here, '../package.json'), 'utf8'))
  assert.ok(exports['./e2b'] && exports['./e2b/code-interpreter'])
  await run(join(here, '../node_modules/.bin/tsc'), ['-p', join(here, 'types')], { cwd: here })
})
