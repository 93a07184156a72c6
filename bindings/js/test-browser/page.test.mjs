/** The built package in Chromium, against real sandboxes. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { launchChromium } from '../conformance/chromium-launch.mjs'
import { startServer } from './server.mjs'
import { makeSite } from './site.mjs'

/** How much a soak does more of. */
const times = process.env.SOAK ? 6 : 1

const worker = `
import { Sandbox } from './browser.mjs'
onmessage = async ({ data }) => {
  try {
    const sandbox = await Sandbox.create('base', data)
    try {
      postMessage((await sandbox.commands.run('echo from a worker')).stdout)
    } finally {
      await sandbox.kill()
    }
  } catch (error) {
    postMessage(String(error))
  }
}`

let site, server, browser, page

before(async () => {
  site = await makeSite({ 'worker.mjs': worker })
  server = await startServer(site.directory)
  browser = await launchChromium(['--enable-precise-memory-info'])
})

after(async () => {
  await browser?.close()
  await server?.close()
  await site?.remove()
})

beforeEach(async () => {
  const context = await browser.newContext()
  page = await context.newPage()
  page.on('pageerror', (error) => assert.fail(`nothing may be left unhandled: ${error}`))
  await page.goto(await server.page())
  await page.waitForFunction(() => globalThis.ready)
})

describe('a page', () => {
  test('runs commands, with nothing but its address', async () => {
    const got = await page.evaluate(async () => {
      const sandbox = await sdk.Sandbox.create('base')
      const pieces = []
      const result = await sandbox.commands.run('printf a; printf ü >&2; exit 3', {
        onStdout: (t) => pieces.push(t),
      })
      const { stdout, stderr, exitCode } = result
      return {
        stdout,
        stderr,
        exitCode,
        pieces,
        killed: await sandbox.kill(),
        shown: `${sandbox.provider} ${sandbox.isolation}`,
      }
    })
    assert.deepEqual(got, {
      stdout: 'a',
      stderr: 'ü',
      exitCode: 3,
      pieces: ['a'],
      killed: true,
      shown: 'local namespaces',
    })
  })

  test('sends and gets files in every form', async () => {
    const got = await page.evaluate(async () => {
      const sandbox = await sdk.Sandbox.create('base')
      try {
        const bytes = crypto.getRandomValues(new Uint8Array(60000))
        const whole = new Uint8Array(3 << 20).map((_, i) => bytes[i % bytes.length] ^ (i >> 8))
        const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i])
        const stream = () =>
          new ReadableStream({
            start(c) {
              for (let at = 0; at < whole.length; at += 100_000)
                c.enqueue(whole.slice(at, at + 100_000))
              c.close()
            },
          })
        const forms = {
          bytes: whole,
          buffer: whole.buffer,
          blob: new Blob([whole]),
          file: new File([whole], 'x'),
          stream: stream(),
        }
        const out = {}
        for (const [name, data] of Object.entries(forms)) {
          await sandbox.files.write(`/tmp/${name}`, data)
          out[name] = same(await sandbox.files.read(`/tmp/${name}`, { format: 'bytes' }), whole)
        }
        const blob = await sandbox.files.read('/tmp/blob', { format: 'blob' })
        out['as blob'] =
          blob instanceof Blob && same(new Uint8Array(await blob.arrayBuffer()), whole)
        const pieces = []
        for await (const piece of await sandbox.files.read('/tmp/blob', { format: 'stream' }))
          pieces.push(piece)
        out['as stream'] = same(new Uint8Array(await new Blob(pieces).arrayBuffer()), whole)
        await sandbox.files.write('/tmp/empty', '')
        out.empty = (await sandbox.files.read('/tmp/empty', { format: 'bytes' })).length === 0
        await sandbox.files.write('/tmp/text', 'zürich')
        out.text = (await sandbox.files.read('/tmp/text')) === 'zürich'
        return out
      } finally {
        await sandbox.kill()
      }
    })
    for (const [form, same] of Object.entries(got)) assert.ok(same, form)
  })

  test('sends a stream to a command', async () => {
    const stdout = await page.evaluate(async () => {
      const sandbox = await sdk.Sandbox.create('base')
      try {
        const handle = await sandbox.commands.run('tr a-z A-Z', { background: true, stdin: true })
        await handle.sendStdin('one ')
        await handle.sendStdin('two')
        await handle.closeStdin()
        return (await handle.wait()).stdout
      } finally {
        await sandbox.kill()
      }
    })
    assert.equal(stdout, 'ONE TWO')
  })

  test('kills while twenty streams are open', async () => {
    const got = await page.evaluate(async () => {
      const sandbox = await sdk.Sandbox.create('base')
      const handles = await Promise.all(
        Array.from({ length: 20 }, () =>
          sandbox.commands.run('echo up; exec sleep 1000', { background: true }),
        ),
      )
      // Each is read, so that each holds a connection.
      for (const handle of handles) await handle[Symbol.asyncIterator]().next()
      const before = (await sandbox.commands.list()).length
      const killed = await sandbox.commands.kill(handles[7].pid)
      const ended = await handles[7].wait()
      const list = (await sandbox.commands.list()).length
      const gone = await sandbox.kill()
      const rest = await Promise.allSettled(handles.filter((_, i) => i !== 7).map((h) => h.wait()))
      return { before, killed, signal: ended.signal, list, gone, lost: rest.length }
    })
    assert.deepEqual(
      { ...got, signal: '' },
      { before: 20, killed: true, signal: '', list: 19, gone: true, lost: 19 },
    )
    assert.match(String(got.signal), /kill/i)
  })

  test('cancels by a signal, which ends the process too', async () => {
    const got = await page.evaluate(async () => {
      const sandbox = await sdk.Sandbox.create('base')
      try {
        const stop = new AbortController()
        const running = sandbox.commands.run('echo up; exec sleep 1000', {
          signal: stop.signal,
          onStdout: () => stop.abort(new Error('enough')),
        })
        const reason = await running.then(
          () => 'ended',
          (error) => error.message,
        )
        for (let i = 0; i < 100; i++) {
          if ((await sandbox.commands.list()).length === 0) break
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
        return { reason, left: (await sandbox.commands.list()).length }
      } finally {
        await sandbox.kill()
      }
    })
    assert.deepEqual(got, { reason: 'enough', left: 0 })
  })

  test('keeps its memory flat under a flood of output that it does not keep', async () => {
    const mib = 200 * times
    const got = await page.evaluate(async (mib) => {
      const { instantiate } = WebAssembly
      let linear
      WebAssembly.instantiate = async (...args) => {
        const made = await instantiate(...args)
        linear = made.exports.memory
        return made
      }
      const sandbox = await sdk.Sandbox.create('base')
      try {
        let bytes = 0
        const heaps = []
        const memories = []
        const result = await sandbox.commands.run(`head -c ${mib}M /dev/zero`, {
          retainOutput: false,
          timeoutMs: 0,
          onStdout(text) {
            const before = bytes
            bytes += text.length
            if (bytes >> 22 === before >> 22) return
            heaps.push(performance.memory.usedJSHeapSize)
            memories.push(linear.buffer.byteLength)
          },
        })
        const half = heaps.length >> 1
        return {
          bytes,
          kept: result.stdout.length,
          // Between two collections it rises; what counts is what stays.
          heap: Math.min(...heaps.slice(half)) >> 20,
          grown: memories.at(-1) - memories[half],
          linear: memories.at(-1) >> 20,
        }
      } finally {
        await sandbox.kill()
      }
    }, mib)
    assert.equal(got.bytes, mib * 2 ** 20)
    assert.equal(got.kept, 0)
    assert.ok(got.heap < 80, `${got.heap} MiB of the heap stay`)
    assert.ok(got.linear <= 32, `the core's memory is ${got.linear} MiB`)
    assert.ok(got.grown <= 4 << 20, `it grew by ${got.grown} bytes in the second half`)
  })

  test('passes its key to a worker', async () => {
    const said = await page.evaluate(async () => {
      const key = await sdk.pageKey()
      const worker = new Worker('worker.mjs', { type: 'module' })
      const answer = new Promise((resolve, reject) => {
        worker.onmessage = (event) => resolve(event.data)
        worker.onerror = (event) => reject(new Error(event.message))
      })
      worker.postMessage({ ...key })
      try {
        return await answer
      } finally {
        worker.terminate()
      }
    })
    assert.equal(said, 'from a worker\n')
  })

  test('watches a directory and sees a terminal', async () => {
    const got = await page.evaluate(async () => {
      const sandbox = await sdk.Sandbox.create('base')
      try {
        const seen = []
        const watch = await sandbox.files.watchDir('/home/user', (event) => seen.push(event.name))
        let text = ''
        const terminal = await sandbox.pty.create({
          cols: 80,
          rows: 24,
          onData: (bytes) => {
            text += new TextDecoder().decode(bytes)
          },
        })
        await sandbox.pty.sendInput(
          terminal.pid,
          new TextEncoder().encode('touch made; echo $((6*7)); exit\n'),
        )
        await terminal.wait()
        for (let i = 0; i < 100 && seen.length === 0; i++)
          await new Promise((resolve) => setTimeout(resolve, 20))
        await watch.stop()
        return { name: seen[0], answer: text.includes('42') }
      } finally {
        await sandbox.kill()
      }
    })
    assert.deepEqual(got, { name: 'made', answer: true })
  })

  test('hears in words when its server is gone', async () => {
    const second = await startServer(site.directory)
    await page.goto(await second.page())
    await page.waitForFunction(() => globalThis.ready)
    await page.evaluate(async () => (await sdk.Sandbox.create('base')).kill()) // the core is loaded
    await second.close()
    const error = await page.evaluate(() =>
      sdk.Sandbox.create('base', { retries: 0 }).then(
        () => ({}),
        (e) => ({ name: e.name, code: e.code, message: e.message }),
      ),
    )
    assert.equal(error.code, 'E5001')
    assert.match(error.message, /sandboxc serve/)
    assert.match(error.message, /127\.0\.0\.1:\d+/)
  })
})

test('without a key, the error says how to get one', async () => {
  await page.goto(`${server.url}/pages/`)
  await page.evaluate(() => sessionStorage.clear())
  await page.reload()
  await page.waitForFunction(() => globalThis.ready)
  const error = await page.evaluate(() =>
    sdk.Sandbox.create('base').then(
      () => ({}),
      (e) => ({ code: e.code, name: e.name, suggestion: e.suggestion }),
    ),
  )
  assert.equal(error.code, 'E1001')
  assert.equal(error.name, 'InvalidAPIKeyError')
  assert.match(error.suggestion, /sandboxc serve --page-key http:\/\/127/)
})

test('importing the package does nothing', async () => {
  const requests = []
  await page.goto('about:blank')
  page.on('request', (request) => requests.push(new URL(request.url()).pathname))
  await page.goto(`${server.url}/pages/`)
  await page.waitForFunction(() => globalThis.ready)
  assert.deepEqual(requests, ['/pages/', '/pages/browser.mjs'])
})
