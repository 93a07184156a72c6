import { after, before, describe, test } from 'node:test'
import { Sandbox } from '@e2b/code-interpreter'
import { TimeoutError } from 'e2b'
import { assert } from './sandbox.js'

// The client does not stop the clock of a request that is refused.
const brief = { requestTimeoutMs: 5000 }

const skip = process.env.INTERPRETER ? false : 'this server has no template code-interpreter-v1'

describe('the code interpreter', { skip }, () => {
  let box
  before(async () => {
    box = await Sandbox.create({ timeoutMs: 120_000, envs: { FROM_SANDBOX: 'sandbox' } })
  })
  after(() => box?.kill())

  test('a value, and variables that stay', async () => {
    const first = await box.runCode('x = 41\nprint("out")\nx + 1')
    assert.equal(first.text, '42')
    assert.deepEqual(first.logs, { stdout: ['out\n'], stderr: [] })
    assert.equal(first.error, undefined)
    assert.equal(first.executionCount, 1)
    assert.equal((await box.runCode('x')).text, '41')
  })

  test('callbacks see everything in order', async () => {
    const seen = []
    const execution = await box.runCode(
      'import sys, time\nprint("a", flush=True)\ntime.sleep(0.05)\nprint("b", file=sys.stderr, flush=True)\ntime.sleep(0.05)\nfrom IPython.display import display\ndisplay("c")\n1/0',
      {
        onStdout: (o) => seen.push(o.line),
        onStderr: (o) => seen.push(o.line),
        onResult: (r) => seen.push(r.text),
        onError: (e) => seen.push(e.name)
      }
    )
    assert.deepEqual(seen, ['a\n', 'b\n', 'c', 'ZeroDivisionError'])
    assert.equal(execution.error.name, 'ZeroDivisionError')
    assert.match(execution.error.traceback, /division by zero/)
  })

  test('a chart is a picture and data', async () => {
    const { results } = await box.runCode(
      'import matplotlib.pyplot as plt\nplt.bar(["a", "b"], [1, 2])\nplt.title("T")\nplt.ylabel("y (kg)")\nplt.show()'
    )
    assert.equal(results.length, 1)
    assert.equal(Buffer.from(results[0].png, 'base64').subarray(1, 4).toString(), 'PNG')
    assert.equal(results[0].chart.type, 'bar')
    assert.equal(results[0].chart.title, 'T')
    assert.deepEqual(
      results[0].chart.elements.map((e) => [e.label, e.value]),
      [['a', 1], ['b', 2]]
    )
  })

  test('a table is html, text and data', async () => {
    const { results, logs } = await box.runCode(
      'import pandas as pd\npd.DataFrame({"n": [1, 2], "f": [1.5, float("nan")], "s": ["a", "漢"]})'
    )
    assert.match(results[0].html, /<table/)
    assert.deepEqual(results[0].data, { n: [1, 2], f: [1.5, null], s: ['a', '漢'] })
    assert.deepEqual(logs.stderr, [])
  })

  test('languages', async () => {
    const js = await box.runCode('console.log("hi"); 40 + 2', { language: 'js' })
    assert.deepEqual(js.logs.stdout, ['hi\n'])
    assert.match(js.text, /42/)
    const ts = await box.runCode('const x: number = 5; x', { language: 'ts' })
    assert.match(ts.text, /5/)
    const bash = await box.runCode('echo $FROM_SANDBOX', { language: 'bash' })
    assert.deepEqual(bash.logs.stdout, ['sandbox\n'])
    await assert.rejects(box.runCode('1', { language: 'cobol', ...brief }), /400/)
  })

  test('contexts', async () => {
    const context = await box.createCodeContext({ cwd: '/tmp', language: 'python' })
    assert.equal(context.cwd, '/tmp')
    await box.runCode('y = 1', { context })
    assert.equal((await box.runCode('import os; os.getcwd()', { context })).text, '/tmp')
    assert.equal((await box.runCode('y')).error.name, 'NameError')
    const languages = (await box.listCodeContexts()).map((c) => c.language)
    assert.ok(languages.includes('python') && languages.includes('javascript'))
    await box.restartCodeContext(context)
    assert.equal((await box.runCode('y', { context })).error.name, 'NameError')
    await box.removeCodeContext(context)
    await assert.rejects(box.runCode('1', { context, ...brief }), /not found/)
  })

  test('variables of a call', async () => {
    const get = 'import os; [os.environ.get("CALL"), os.environ.get("FROM_SANDBOX")]'
    assert.equal((await box.runCode(get, { envs: { CALL: "it's" } })).text, `["it's", 'sandbox']`)
    assert.equal((await box.runCode(get)).text, `[None, 'sandbox']`)
  })

  test('a timeout interrupts, and the context goes on', async () => {
    await box.runCode('kept = 7')
    await assert.rejects(box.runCode('while True: pass', { timeoutMs: 500 }), TimeoutError)
    const began = Date.now()
    assert.equal((await box.runCode('kept')).text, '7')
    assert.ok(Date.now() - began < 10_000)
  })

  test('text beyond ASCII and long lines arrive whole', async () => {
    const { logs } = await box.runCode('print("漢🌍\\u2028\\x85" * 200_000)')
    assert.equal(logs.stdout.join(''), '漢🌍\u2028\x85'.repeat(200_000) + '\n')
  })

  test('a kernel that dies says so', async () => {
    const died = await box.runCode('import os; os._exit(3)')
    assert.equal(died.error.name, 'KernelDied')
    const next = await box.runCode('1+1')
    assert.equal(next.text, '2')
    assert.match(next.logs.stderr.join(''), /new python kernel/)
  })
})
