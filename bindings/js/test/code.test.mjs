import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import * as sdk from '../dist/node.mjs'
import { handleAt, options, peer } from './peer.mjs'

const { Execution, Sandbox } = sdk
const printed = (text, type = 'stdout') => ({ type, text })
const shown = (forms) => ({ type: 'result', ...forms })
const end = { type: 'end_of_execution' }

/** A sandbox whose interpreter answers with lines; without an end it hangs until its caller leaves. */
async function interpreter(t, ...lines) {
  let left
  const gone = new Promise((resolve) => {
    left = resolve
  })
  const { url } = await peer(t, {
    'POST /execute': (q, r) => {
      q.resume()
      r.on('close', left)
      r.writeHead(200, { 'content-type': 'application/json' })
      for (const line of lines) r.write(`${JSON.stringify(line)}\n`)
      if (lines.at(-1) === end) r.end()
    },
  })
  return { sandbox: await Sandbox.fromJSON(handleAt(url), options(url)), gone }
}

test('callbacks are awaited one after another, in the order of what they tell', async (t) => {
  const lines = [
    printed('a'),
    printed('b', 'stderr'),
    shown({ text: '1' }),
    printed('c'),
    { type: 'error', name: 'E', value: 'v', traceback: 't' },
    end,
  ]
  const { sandbox } = await interpreter(t, ...lines)
  const seen = []
  const see = (what) => async (value) => {
    seen.push(`${what} begins`)
    await new Promise((resolve) => setTimeout(resolve, 5))
    seen.push(`${what} ${value}`)
  }
  const execution = await sandbox.runCode('x', {
    onStdout: see('out'),
    onStderr: see('err'),
    onResult: see('result'),
    onError: (e) => see('error')(e.name),
  })
  assert.deepEqual(
    seen,
    ['out a', 'err b', 'result 1', 'out c', 'error E'].flatMap((s) => [
      `${s.split(' ')[0]} begins`,
      s,
    ]),
  )
  assert.deepEqual(execution.logs, { stdout: ['a', 'c'], stderr: ['b'] })
  assert.equal(execution.stdout, 'ac')
})

test('what a callback throws interrupts the code and goes to the caller', async (t) => {
  const { sandbox, gone } = await interpreter(t, printed('a'), printed('b'))
  const mine = new Error('mine')
  let calls = 0
  const run = sandbox.runCode('x', {
    onStdout: () => {
      calls++
      throw mine
    },
  })
  await assert.rejects(run, (error) => error === mine)
  await gone
  assert.equal(calls, 1)
})

test('an abort does not wait for a callback that is stuck', async (t) => {
  const { sandbox, gone } = await interpreter(t, printed('a'), printed('b'))
  const controller = new AbortController()
  const reason = new Error('mine')
  let calls = 0
  const run = sandbox.runCode('x', {
    signal: controller.signal,
    onStdout: () => {
      calls++
      setImmediate(() => controller.abort(reason))
      return new Promise(() => {})
    },
  })
  await assert.rejects(run, (error) => error === reason)
  await gone
  assert.equal(calls, 1)
})

test('a result has its forms, and everything else as extra', async (t) => {
  const forms = { text: 't', png: 'QUJD\nREVG', data: { a: [1] }, html: null, new: 7 }
  const { sandbox } = await interpreter(
    t,
    shown({ ...forms, extra: { 'a/b': 1 }, is_main_result: true }),
    end,
  )
  const execution = await sandbox.runCode('x')
  assert.ok(execution instanceof Execution)
  const [result] = execution.results
  assert.deepEqual(result.formats(), ['text', 'png', 'data', 'a/b', 'new'])
  assert.deepEqual(result.extra, { 'a/b': 1, new: 7 })
  assert.equal(Buffer.from(result.bytes('png')).toString(), 'ABCDEF')
  assert.equal(Buffer.from(result.bytes('data')).toString(), '{"a":[1]}')
  assert.equal(result.bytes('svg'), undefined)
  assert.equal(result.html, undefined)
  assert.equal(execution.text, 't')
  assert.deepEqual(JSON.parse(JSON.stringify(execution)).results[0], {
    ...forms,
    extra: { 'a/b': 1 },
    is_main_result: true,
  })
})

test('a result of hostile names is one of its own', async (t) => {
  const hostile = '{"type": "result", "__proto__": {"x": 1}, "constructor": 1, "text": "t"}\n'
  const { url } = await peer(t, {
    'POST /execute': (q, r) => {
      q.resume()
      r.end(`${hostile}${JSON.stringify(end)}\n`)
    },
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const [result] = (await sandbox.runCode('x')).results
  assert.equal(Object.getPrototypeOf(result.extra), Object.prototype)
  assert.equal(result.x, undefined)
  assert.equal({}.x, undefined)
  assert.deepEqual(result.formats(), ['text', '__proto__', 'constructor'])
})

test('a large result is short where it prints', async (t) => {
  const { sandbox } = await interpreter(t, shown({ png: 'A'.repeat(1 << 20) }), end)
  const execution = await sandbox.runCode('x')
  assert.equal(execution.results[0].png.length, 1 << 20)
  assert.ok(inspect(execution).length < 2000)
})

test('a context is given itself, or by its id', async (t) => {
  const asked = []
  const { url } = await peer(t, {
    'POST /execute': (q, r) => {
      let body = ''
      q.on('data', (b) => {
        body += b
      }).on('end', () => {
        asked.push(JSON.parse(body))
        r.end(JSON.stringify(end))
      })
    },
    'DELETE /contexts/c1': (q, r) => {
      q.resume()
      r.end('null')
    },
  })
  const sandbox = await Sandbox.fromJSON(handleAt(url), options(url))
  const context = { id: 'c1', language: 'python', cwd: '/' }
  await sandbox.runCode('x', { context })
  await sandbox.runCode('y', { context: 'c1' })
  assert.equal(await sandbox.removeCodeContext(context), true)
  assert.deepEqual(asked, [
    { code: 'x', context_id: 'c1' },
    { code: 'y', context_id: 'c1' },
  ])
  await assert.rejects(sandbox.runCode('x', { context: 7 }), { code: 'E8000' })
  await assert.rejects(sandbox.runCode('x', { contxt: 'c1' }), { code: 'E8000' })
  await assert.rejects(sandbox.runCode('x', { onStdout: 7 }), { code: 'E8000' })
})
