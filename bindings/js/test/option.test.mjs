import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as sdk from '../dist/node.mjs'
import { handleAt, options, peer } from './peer.mjs'

const { Sandbox, InvalidArgumentError } = sdk

/** Every call that takes options, and what it takes besides `signal` and `requestTimeoutMs`. */
const command = {
  ...{ cwd: 'text', user: 'text', tag: 'text', envs: 'texts', timeoutMs: 'millis' },
  ...{ idleTimeoutMs: 'millis', check: 'flag', onStart: 'callback', retainOutput: 'flag' },
}
const shell = { ...command, stdin: 'flag', onStdout: 'callback', onStderrBytes: 'callback' }
const writing = { user: 'text', metadata: 'texts', multipart: 'flag', gzip: 'flag' }
const calls = {
  'commands.run': [(s, o) => s.commands.run('true', o), shell],
  'commands.start': [(s, o) => s.commands.run('true', { ...o, background: true }), shell],
  'commands.connect': [
    (s, o) => s.commands.connect(1, o),
    { timeoutMs: 'millis', idleTimeoutMs: 'millis', check: 'flag', onStdout: 'callback' },
  ],
  'commands.list': [(s, o) => s.commands.list(o), {}],
  'commands.kill': [(s, o) => s.commands.kill(1, o), { tag: 'text' }],
  'commands.sendSignal': [(s, o) => s.commands.sendSignal(1, 15, o), { tag: 'text' }],
  'commands.sendStdin': [(s, o) => s.commands.sendStdin(1, 'a', o), { tag: 'text' }],
  'commands.streamStdin': [(s, o) => s.commands.streamStdin(1, 'a', o), { tag: 'text' }],
  'commands.closeStdin': [(s, o) => s.commands.closeStdin(1, o), { tag: 'text' }],
  'pty.create': [
    (s, o) => s.pty.create({ cols: 80, rows: 24, ...o }),
    { ...command, cols: 'whole', rows: 'whole', argv: 'list', onData: 'callback' },
  ],
  'pty.connect': [(s, o) => s.pty.connect(1, o), { timeoutMs: 'millis', onData: 'callback' }],
  'pty.sendInput': [(s, o) => s.pty.sendInput(1, 'a', o), { tag: 'text' }],
  'pty.streamInput': [(s, o) => s.pty.streamInput(1, 'a', o), { tag: 'text' }],
  'pty.resize': [
    (s, o) => s.pty.resize(1, { cols: 80, rows: 24, ...o }),
    { cols: 'whole', rows: 'whole', tag: 'text' },
  ],
  'pty.kill': [(s, o) => s.pty.kill(1, o), { tag: 'text' }],
  'files.read': [
    (s, o) => s.files.read('a', o),
    {
      ...{ user: 'text', gzip: 'flag', offset: 'whole', length: 'whole' },
      ...{ idleTimeoutMs: 'millis', format: 'choice' },
    },
  ],
  'files.write': [(s, o) => s.files.write('a', 'b', o), writing],
  'files.writeFiles': [(s, o) => s.files.write([{ path: 'a', data: 'b' }], o), writing],
  'files.list': [
    (s, o) => s.files.list('a', o),
    { user: 'text', depth: 'whole', irregular: 'flag' },
  ],
  'files.getInfo': [(s, o) => s.files.getInfo('a', o), { user: 'text' }],
  'files.exists': [(s, o) => s.files.exists('a', o), { user: 'text' }],
  'files.makeDir': [(s, o) => s.files.makeDir('a', o), { user: 'text' }],
  'files.remove': [(s, o) => s.files.remove('a', o), { user: 'text' }],
  'files.rename': [(s, o) => s.files.rename('a', 'b', o), { user: 'text' }],
  'files.watchDir': [
    (s, o) => s.files.watchDir('a', undefined, o),
    {
      ...{ user: 'text', recursive: 'flag', includeEntry: 'flag', allowNetworkMounts: 'flag' },
      ...{ idleTimeoutMs: 'millis', onExit: 'callback' },
    },
  ],
  'files.pollDir': [(s, o) => s.files.pollDir('a', o), { user: 'text', recursive: 'flag' }],
  'files.pollEvents': [(s, o) => s.files.pollEvents('a', o), { user: 'text' }],
  'files.pollStop': [(s, o) => s.files.pollStop('a', o), { user: 'text' }],
  'Sandbox.kill': [(s, o) => s.kill(o), {}],
  'Sandbox.getInfo': [(s, o) => s.getInfo(o), {}],
  'Sandbox.setTimeout': [(s, o) => s.setTimeout(1000, o), {}],
  'Sandbox.keepAlive': [(s, o) => s.keepAlive(1000, o), {}],
  'Sandbox.pause': [(s, o) => s.pause(o), { keepMemory: 'flag' }],
  'Sandbox.isRunning': [(s, o) => s.isRunning(o), {}],
  'Sandbox.getMetrics': [(s, o) => s.getMetrics(o), { start: 'time', end: 'time' }],
  'Sandbox.updateNetwork': [
    (s, o) => s.updateNetwork(o),
    {
      ...{ allowOut: 'list', denyOut: 'list', httpsPorts: 'numbers', allowPublicTraffic: 'flag' },
      ...{ maskRequestHost: 'text', rules: 'record', egressProxy: 'record' },
    },
  ],
  'Sandbox.downloadUrl': [
    (s, o) => s.downloadUrl('a', o),
    { user: 'text', expiresMs: 'millis' },
    'now',
  ],
  'Sandbox.uploadUrl': [
    (s, o) => s.uploadUrl('a', o),
    { user: 'text', expiresMs: 'millis' },
    'now',
  ],
}
const life = { timeoutMs: 'millis', reboot: 'flag' }
const statics = {
  'Sandbox.create': [
    (o) => Sandbox.create(o),
    {
      ...{ template: 'text', timeoutMs: 'millis', metadata: 'texts', envs: 'texts' },
      ...{ allowInternetAccess: 'flag', network: 'record', onTimeout: 'text', keepMemory: 'flag' },
      ...{ autoResume: 'flag', idempotencyKey: 'text', cpuCount: 'number', memoryMb: 'whole' },
      ...{ diskMb: 'whole', mounts: 'numbers' },
    },
  ],
  'Sandbox.connect': [(o) => Sandbox.connect('i1', o), life],
  'Sandbox.resume': [(o) => Sandbox.resume('i1', o), life],
  'Sandbox.open': [(o) => Sandbox.fromJSON(handleAt('http://127.0.0.1:9'), o), {}],
  'Sandbox.list': [
    (o) => Sandbox.list(o).nextItems(),
    {
      ...{ metadata: 'texts', state: 'list', template: 'text', startedAfter: 'time' },
      ...{ ascending: 'flag', limit: 'whole', nextToken: 'text' },
    },
  ],
  'Sandbox.kill': [(o) => Sandbox.kill('i1', o), {}],
  'Sandbox.getInfo': [(o) => Sandbox.getInfo('i1', o), {}],
  'Sandbox.setTimeout': [(o) => Sandbox.setTimeout('i1', 1000, o), {}],
  'Sandbox.keepAlive': [(o) => Sandbox.keepAlive('i1', 1000, o), {}],
  'Sandbox.pause': [(o) => Sandbox.pause('i1', o), { keepMemory: 'flag' }],
  resolveSettings: [(o) => sdk.resolveSettings(o), {}],
}

const no = [Symbol('s3cr3t'), () => 's3cr3t']
const numbers = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 5n]
/** What is no value of a kind. */
const wrong = {
  text: [5, true, {}, [], new Date(), ...numbers, ...no],
  flag: [0, 1, 'true', {}, ...no],
  whole: [1.5, '1', 2 ** 60, true, {}, ...numbers, ...no],
  number: ['1', true, {}, ...numbers, ...no],
  millis: ['1', true, {}, ...numbers, ...no],
  time: ['now', 5, new Date('x'), {}, ...no],
  texts: [
    5,
    'A=b',
    ['A'],
    new Map([['A', 's3cr3t']]),
    new Date(),
    Promise.resolve({}),
    { A: 5 },
    { A: null },
    { A: no[1] },
    ...no,
  ],
  list: ['a', 5, {}, new Set(['a']), [5], [null], ...no],
  numbers: [5, 'a', ['80'], [Number.NaN], [null], ...no],
  record: [5, 'a', [], { aaaaaaaaa: 1 }, ...no],
  callback: [5, 'x', {}, true],
  choice: [5, 'lines', {}, no[0]],
}

const refusal = async (call) => {
  const error = await Promise.resolve()
    .then(call)
    .then(
      (value) => new Error(`it was taken: ${value}`),
      (e) => e,
    )
  assert.ok(error instanceof InvalidArgumentError, error?.stack ?? String(error))
  assert.equal(error.code, 'E8000')
  for (const text of [error.message, String(error), JSON.stringify(error)])
    assert.doesNotMatch(text, /s3cr3t/)
  return error
}

/** Every call with a way to make it, which must ask nobody. */
async function everyCall(t) {
  const asked = []
  const { url, server } = await peer(t, {})
  server.on('request', (q) => asked.push(q.url))
  t.after(() => assert.deepEqual(asked, []))
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  return [
    ...Object.entries(calls).map(([name, [call, kinds, now]]) => ({
      name: name === 'commands.start' ? 'commands.(run|start)' : name,
      call: (o) => call(sandbox, o),
      kinds: now ? kinds : { ...kinds, requestTimeoutMs: 'millis' },
    })),
    ...Object.entries(statics).map(([name, [call, kinds]]) => ({
      name,
      call: (o) => call({ ...options(url), ...o }),
      kinds: { ...kinds, requestTimeoutMs: 'millis' },
    })),
  ]
}

test('an option that there is not is refused by every call', async (t) => {
  for (const { name, call } of await everyCall(t)) {
    for (const astray of ['tempalte', 'zzzzzz', '__proto', 'constructor', 'toString']) {
      const error = await refusal(() => call({ [astray]: 's3cr3t' }))
      assert.match(error.message, new RegExp(`^unknown option '${astray}' of ${name}(:|$)`))
    }
    await call({ zzzzzz: undefined, signal: AbortSignal.abort('begun') })?.catch?.((e) =>
      assert.equal(e, 'begun'),
    )
  }
})

test('a value of another kind is refused by the option that has it', async (t) => {
  for (const { name, call, kinds } of await everyCall(t)) {
    for (const [option, kind] of Object.entries(kinds)) {
      for (const value of wrong[kind]) {
        const error = await refusal(() => call({ [option]: value }))
        assert.match(error.message, new RegExp(`\\b${option}\\b`), `${name} ${option}`)
      }
    }
  }
})

test('a name that was meant otherwise is hinted at', async (t) => {
  const { url } = await peer(t, {})
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const create = (o) => Sandbox.create({ ...options(url), ...o })
  const run = (o) => sandbox.commands.run('true', o)
  for (const [call, given, meant] of [
    [create, 'tempalte', 'template'],
    [create, 'timeout', 'timeoutMs'],
    [create, 'timeout_ms', 'timeoutMs'],
    [create, 'memoryMB', 'memoryMb'],
    [create, 'api_key', 'apiKey'],
    [create, 'apikey', 'apiKey'],
    [create, 'env', 'envs'],
    [create, 'lifecycle', 'onTimeout'],
    [create, 'metdata', 'metadata'],
    [run, 'timeout', 'timeoutMs'],
    [run, 'onStdOut', 'onStdout'],
    [run, 'on_stdout', 'onStdout'],
    [run, 'env', 'envs'],
    [run, 'backgroud', 'background'],
    [run, 'request_timeout', 'requestTimeoutMs'],
    [(o) => sandbox.files.read('a', o), 'fromat', 'format'],
    [(o) => sandbox.downloadUrl('a', o), 'useSignatureExpiration', 'expiresMs'],
  ]) {
    const error = await refusal(() => call({ [given]: 5 }))
    assert.match(error.message, new RegExp(`'${given}' of .*: did you mean '${meant}'\\?$`))
  }
  const error = await refusal(() => sandbox.files.watchDir('a', { zzzzzz: 5 }))
  assert.match(error.suggestion, /recursive/)
})

test('what is inside a record is checked, too', async (t) => {
  const { url } = await peer(t, {})
  const create = (o) => () => Sandbox.create({ ...options(url), ...o })
  const says = async (o, text) => assert.match((await refusal(create(o))).message, text)
  await says({ mounts: [{ src: '/a', target: '/b' }] }, /'src' of mounts\[0\]/)
  await says({ mounts: [{ target: '/b' }] }, /mounts\[0\]\.source must be given/)
  await says({ mounts: [{ source: '/a', target: 5 }] }, /mounts\[0\]\.target must be a string/)
  await says({ network: { allowout: [] } }, /did you mean 'allowOut'/)
  await says({ network: { allowOut: ['a', 5] } }, /network\.allowOut\[1\] must be a string/)
  await says({ network: { egressProxy: { password: 's3cr3t' } } }, /address must be given/)
  await says({ network: { egressProxy: { address: 'a:1', password: 5 } } }, /password must be/)
  await says({ settings: { envs: {} } }, /'envs' of settings: did you mean 'env'/)
  await says({ settings: { env: { E2B_API_KEY: 5 } } }, /settings\.env\.E2B_API_KEY/)
  await says({ settings: { dotenv: 5 } }, /settings\.dotenv/)
  await says({ settings: 5 }, /settings must be/)
  await says({ store: {} }, /store must be/)
  await says({ debug: 'yes' }, /debug must be/)
})

test('options that are no object are refused', async (t) => {
  const { url } = await peer(t, {})
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  for (const [name, [call]] of Object.entries(calls)) {
    if (/start|pty.create|pty.resize/.test(name)) continue // they are spread above
    for (const value of [null, 5, 'x', true, [], new Map(), Promise.resolve({})])
      await refusal(() => call(sandbox, value))
  }
  for (const [name, [call]] of Object.entries(statics)) {
    // What is first there is a template.
    const made = name === 'Sandbox.create' ? (o) => Sandbox.create('base', o) : call
    for (const value of [null, 5, 'x']) await refusal(() => made(value))
  }
})

test('an argument of another kind is refused by its name', async (t) => {
  const { url } = await peer(t, {})
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const { commands, files, pty } = sandbox
  for (const value of [undefined, null, 5, Number.NaN, {}, [], no[0]]) {
    for (const call of [
      'read',
      'list',
      'getInfo',
      'exists',
      'makeDir',
      'remove',
      'watchDir',
      'pollDir',
    ])
      assert.match((await refusal(() => files[call](value))).message, /^path must be/)
    assert.match((await refusal(() => files.rename('a', value))).message, /^destination must be/)
    assert.match((await refusal(() => files.pollEvents(value))).message, /^watcherId must be/)
    assert.match((await refusal(() => Sandbox.connect(value, options(url)))).message, /^sandboxId/)
    assert.match((await refusal(() => Sandbox.kill(value, options(url)))).message, /^sandboxId/)
  }
  for (const value of ['1', 1.5, Number.NaN, {}, true, 2 ** 60]) {
    for (const call of ['kill', 'connect', 'closeStdin'])
      assert.match((await refusal(() => commands[call](value))).message, /^pid must be/)
    assert.match((await refusal(() => commands.sendSignal(1, value))).message, /^signal must be/)
    assert.match((await refusal(() => pty.kill(value))).message, /^pid must be/)
    for (const call of ['getHost', 'getUrl', 'url'])
      assert.match((await refusal(() => sandbox[call](value))).message, /^port must be/)
  }
})

test('a file to write says what is wrong with it', async (t) => {
  const { url } = await peer(t, {})
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const ok = { path: 'a', data: 'b' }
  for (const [given, text] of [
    [[ok, { path: 'b' }], /files\[1\]\.data must be a string, bytes/],
    [[{ data: 'b' }], /files\[0\]\.path must be a string/],
    [[{ path: 'b', data: 5 }], /files\[0\]\.data must be/],
    [[{ path: 'b', content: 'c' }], /unknown option 'content' of files\[0\]/],
    [[null], /files\[0\] must be an object/],
    [['a'], /files\[0\] must be an object/],
    [[undefined], /files\[0\] must be an object/],
    [{ path: 'a', data: 'b' }, /path must be a string, or an array/],
    [undefined, /path must be a string, or an array/],
  ]) {
    assert.match((await refusal(() => sandbox.files.write(given))).message, text)
    if (Array.isArray(given))
      assert.match((await refusal(() => sandbox.files.writeFiles(given))).message, text)
  }
})

test('what E2B takes and ignores is taken and ignored', async (t) => {
  const { url } = await peer(t, {})
  for (const option of ['secure', 'validateApiKey']) {
    const given = { ...options(url), [option]: true }
    assert.equal((await Sandbox.fromJSON(handleAt(url), given)).sandboxId, 'i1')
  }
})

test('the request clock of a call holds for every call', async (t) => {
  const { url, server } = await peer(t, {})
  server.removeAllListeners('request')
  server.on('request', (q) => q.resume()) // and never answers
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const all = Object.entries(calls).filter(
    ([name, [, , now]]) => !now && !/isRunning|stream/.test(name),
  )
  await Promise.all(
    all.map(async ([name, [call]]) => {
      const error = await call(sandbox, { requestTimeoutMs: 100 }).then(
        (value) => new Error(`${name} gave ${value}`),
        (e) => e,
      )
      assert.equal(error.code, 'E5002', `${name}: ${error.stack}`)
      assert.equal(error.limitMs, 100, name)
    }),
  )
})
