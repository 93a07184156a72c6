// What a process that uses the package does: starting, ending, being bundled as CommonJS.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { json, peer } from './peer.mjs'

const run = promisify(execFile)
const at = (name) => new URL(`../dist/${name}`, import.meta.url).pathname
const node = (code, type = 'module') =>
  run(process.execPath, [`--input-type=${type}`, '-e', code], { timeout: 20_000 })

test('an idle client lets the process end, a call under way does not', async (t) => {
  const { url } = await peer(t, {
    'GET /sandboxes/i1': (_q, r) =>
      setTimeout(() => json(r, { sandboxID: 'i1', templateID: 't' }), 300),
  })
  const { stdout } = await node(`
    import { Sandbox } from ${JSON.stringify(at('node.mjs'))}
    const options = { provider: 'e2b', apiKey: 'e2b_x', apiUrl: '${url}', settings: {} }
    Sandbox.getInfo('i1', options).then((info) => console.log(info.sandboxId))
  `)
  assert.equal(stdout, 'i1\n')
})

test('CommonJS has the same names', async () => {
  const { stdout } = await node(
    `const cjs = require(${JSON.stringify(at('node.cjs'))})
     import(${JSON.stringify(at('node.mjs'))}).then((esm) =>
       console.log(JSON.stringify([Object.keys(cjs).sort(), Object.keys(esm).sort()])))`,
    'commonjs',
  )
  const [cjs, esm] = JSON.parse(stdout)
  assert.deepEqual(cjs, esm)
  assert.ok(cjs.includes('Sandbox') && cjs.includes('CommandTimeoutError'))
})

test('CommonJS finds its core', async (t) => {
  const { url } = await peer(t, { 'DELETE /sandboxes/i1': (_q, r) => r.writeHead(204).end() })
  const { stdout } = await node(
    `const { Sandbox } = require(${JSON.stringify(at('node.cjs'))})
     const options = { provider: 'e2b', apiKey: 'e2b_x', apiUrl: '${url}', settings: {} }
     Sandbox.kill('i1', options).then(console.log)`,
    'commonjs',
  )
  assert.equal(stdout, 'true\n')
})

test('an import does nothing: no core, no socket, no timer, no heavy module', async () => {
  const { stdout } = await node(`
    WebAssembly.compile = WebAssembly.instantiate = () => { throw new Error('at import') }
    const before = new Set(process.moduleLoadList)
    await import(${JSON.stringify(at('node.mjs'))})
    const loaded = process.moduleLoadList.filter((m) => !before.has(m) && /https?|tls|child_process|zlib|crypto/.test(m))
    console.log(JSON.stringify([loaded, process.getActiveResourcesInfo()]))
  `)
  assert.deepEqual(JSON.parse(stdout)[0], [])
})

test('a local server that cannot be had is said with the command that helps', async () => {
  const settings = { env: { SANDBOXC: '/nonexistent/sandboxc', HOME: '/nonexistent' } }
  const { stdout } = await node(`
    import { Sandbox } from ${JSON.stringify(at('node.mjs'))}
    const error = await Sandbox.create({ provider: 'local', settings: ${JSON.stringify(settings)} }).catch((e) => e)
    console.log(error.code, error.message, '|', error.suggestion)
  `)
  assert.equal(
    stdout,
    'E5001 the local server could not be started: ENOENT | try it in a terminal: /nonexistent/sandboxc serve\n',
  )
})
