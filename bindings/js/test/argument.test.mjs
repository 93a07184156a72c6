import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import * as sdk from '../dist/node.mjs'
import { handleAt, options, peer } from './peer.mjs'

const { Sandbox, InvalidArgumentError } = sdk

/** What is refused must name what was wrong, ask nobody, and show no value. */
async function refused(call, name) {
  const error = await Promise.resolve()
    .then(call)
    .catch((e) => e)
  assert.ok(error instanceof InvalidArgumentError, `${name}: ${error?.stack ?? error}`)
  assert.match(error.message, name)
  assert.doesNotMatch(error.message, /s3cr3t/)
}

async function sandboxAt(t) {
  const asked = []
  const { url, server } = await peer(t, {})
  server.on('request', (q) => asked.push(q.url))
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  t.after(() => assert.deepEqual(asked, []))
  return { url, sandbox }
}

test('a signal that is none is refused, by every call', async (t) => {
  const { url, sandbox } = await sandboxAt(t)
  for (const signal of [5, 'x', {}, { aborted: true }, new AbortController()]) {
    for (const call of [
      () => sandbox.commands.run('true', { signal }),
      () => sandbox.commands.run('true', { signal, background: true }),
      () => sandbox.commands.sendStdin(1, 'a', { signal }),
      () => sandbox.files.read('a', { signal }),
      () => sandbox.files.read('a', { signal, format: 'stream' }),
      () => sandbox.files.write('a', 'b', { signal }),
      () => sandbox.files.watchDir('a', { signal }),
      () => sandbox.pty.create({ cols: 80, rows: 24, signal }),
      () => sandbox.kill({ signal }),
      () => Sandbox.create({ ...options(url), signal }),
    ])
      await refused(call, /signal/)
  }
})

test('what cannot be called is no callback', async (t) => {
  const { sandbox } = await sandboxAt(t)
  for (const value of [5, 'x', {}, true]) {
    for (const name of ['onStdout', 'onStderr', 'onStdoutBytes', 'onStderrBytes', 'onStart'])
      await refused(() => sandbox.commands.run('true', { [name]: value }), new RegExp(name))
    await refused(() => sandbox.pty.create({ cols: 1, rows: 1, onData: value }), /onData/)
    await refused(() => sandbox.files.watchDir('a', { onExit: value }), /onExit/)
  }
  await refused(() => sandbox.files.watchDir('a', 5), /onEvent/)
})

test('a setting of another type is refused by its name', async (t) => {
  const { url } = await sandboxAt(t)
  const texts = ['provider', 'profile', 'apiKey', 'apiUrl', 'sandboxUrl', 'domain', 'region']
  for (const name of [...texts, 'minIsolation', 'proxy', 'caFile', 'sandboxc'])
    for (const value of [5, Number.NaN, ['s3cr3t'], { a: 's3cr3t' }, 5n, Symbol('s3cr3t')])
      await refused(
        () => Sandbox.connect('i1', { ...options(url), [name]: value }),
        new RegExp(name),
      )
  for (const retries of ['1', Number.NaN, Number.POSITIVE_INFINITY, 1.5, 1n, true])
    await refused(() => Sandbox.connect('i1', { ...options(url), retries }), /retries/)
})

test('a template is text', async (t) => {
  const { url } = await sandboxAt(t)
  for (const template of [5, true, Symbol('x'), () => 'x'])
    await refused(() => Sandbox.create(template, options(url)), /template/)
})

test('a time to live must be said', async (t) => {
  const { url, sandbox } = await sandboxAt(t)
  for (const timeout of [undefined, null, Number.NaN, '1']) {
    await refused(() => sandbox.setTimeout(timeout), /timeoutMs/)
    await refused(() => sandbox.keepAlive(timeout), /timeoutMs/)
    await refused(() => Sandbox.setTimeout('i1', timeout, options(url)), /timeoutMs/)
  }
})

test('what JSON cannot say is refused, and nothing of it stays', async (t) => {
  const { url } = await sandboxAt(t)
  const circle = {}
  circle.circle = circle
  await refused(() => Sandbox.fromJSON(circle, options(url)), /cannot be sent/)
  await refused(() => Sandbox.fromJSON({ a: 1n }, options(url)), /cannot be sent/)
})

test('a sandbox is not made with new, and the error says how it is', () => {
  for (const args of [[], ['python-base'], [{}]]) {
    assert.throws(() => new Sandbox(...args), { name: 'TypeError', message: /Sandbox\.create/ })
  }
})

test('a core that is not where it should be names the option that says where', async (t) => {
  const { url } = await peer(t, {})
  const wasm = new URL('file:///nowhere/core.wasm')
  const error = await Sandbox.create({ ...options(url), wasm }).catch((e) => e)
  assert.equal(error.code, 'E8000')
  assert.equal(error.option, 'wasm')
  assert.match(error.message, /could not be loaded/)
  assert.match(error.suggestion, /useWasm/)
})

test('a file of authorities that is of no use is named, with the setting that named it', async (t) => {
  const { url } = await peer(t, {})
  const directory = mkdtempSync(`${tmpdir()}/authorities-`)
  t.after(() => rmSync(directory, { recursive: true }))
  writeFileSync(`${directory}/empty.pem`, '')
  writeFileSync(
    `${directory}/broken.pem`,
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  )
  for (const file of [`${directory}/none.pem`, directory, 'empty.pem', 'broken.pem']) {
    const path = file.startsWith('/') ? file : `${directory}/${file}`
    const given = { ...options(url), caFile: path }
    const error = await Sandbox.connect('i1', given).catch((e) => e)
    assert.deepEqual([error.code, error.option], ['E8000', 'caFile'], error.stack)
    assert.ok(error.message.includes(path))
    // The environment's is read when something needs it.
    const settings = { env: { SSL_CERT_FILE: path } }
    const secure = { ...options('https://127.0.0.1:9'), settings }
    for (const call of [
      () => Sandbox.connect('i1', secure),
      async () => (await Sandbox.fromJSON(handleAt(secure.apiUrl), secure)).commands.run('true'),
      async () => (await Sandbox.fromJSON(handleAt(secure.apiUrl), secure)).files.read('a'),
    ]) {
      const late = await call().catch((e) => e)
      assert.deepEqual([late.code, late.option], ['E8000', 'SSL_CERT_FILE'], late.stack)
    }
    const plain = await Sandbox.connect('i1', { ...options(url), settings }).catch((e) => e)
    assert.notEqual(plain.code, 'E8000')
  }
})

test('half a surrogate pair is refused by the name of what has it', async (t) => {
  const { sandbox } = await sandboxAt(t)
  await refused(() => sandbox.runCode("x = 's3cr3t\ud83d'"), /^code cannot be sent: .*surrogates/)
  await refused(() => sandbox.commands.run('echo \ude00'), /^command cannot be sent/)
  await refused(
    () => sandbox.commands.run('true', { envs: { A: '\udc80' } }),
    /^envs cannot be sent/,
  )
})
