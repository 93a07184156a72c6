import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { serveFiles } from '../conformance/chromium-files.mjs'
import { launchChromium } from '../conformance/chromium-launch.mjs'
import { bundle } from './bundle.mjs'

/** What the page under test is given besides the platform: an exchange as a list of its events. */
const helpers = `
import { createPlatform } from '/platform.mjs'
const platform = createPlatform()
let host
globalThis.platform = platform
globalThis.ask = (request, during = () => {}) => new Promise((resolve) => {
  host ??= platform.host({})
  const seen = { events: [], text: '' }
  const decoder = new TextDecoder()
  const exchange = host.http({ headers: [], body: { kind: 'none' }, lasting: false, bulk: false, ...request }, {
    head: (status, headers) => { seen.status = status; seen.headers = Object.fromEntries(headers); seen.events.push('head'); during('head', exchange) },
    chunk: (bytes) => { seen.text += decoder.decode(bytes, { stream: true }); if (seen.events.at(-1) !== 'chunk') seen.events.push('chunk'); during('chunk', exchange) },
    end: () => { seen.events.push('end'); resolve(seen) },
    error: (failure) => { seen.events.push('error'); seen.failure = failure; resolve(seen) },
    wanted: () => { seen.events.push('wanted'); during('wanted', exchange) },
  })
  seen.events.push('begun')
  during('begun', exchange)
})
globalThis.ready = true
`

let files, browser, page, peer, seen

/** A server of another origin, which lets every page in. */
async function startPeer() {
  const server = createServer((request, response) => {
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-expose-headers', '*')
    if (request.method === 'OPTIONS') {
      response.writeHead(204, {
        'access-control-allow-headers': request.headers['access-control-request-headers'] ?? '',
        'access-control-allow-methods': 'GET, POST, PUT, DELETE',
      })
      return response.end()
    }
    seen.push({
      host: request.headers.host,
      path: request.url,
      headers: request.headers,
      method: request.method,
    })
    const answer = answers[new URL(request.url, 'http://x').pathname]
    if (answer) answer(request, response)
    else response.writeHead(404).end()
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, port: server.address().port, url: `http://127.0.0.1:${server.address().port}` }
}

const answers = {
  '/plain': (_request, response) => response.end('plain text'),
  '/echo': async (request, response) => {
    const pieces = []
    for await (const piece of request) pieces.push(piece)
    response.end(Buffer.concat(pieces))
  },
  '/size': async (request, response) => {
    let size = 0
    for await (const piece of request) size += piece.length
    response.end(`${size} ${request.headers['content-length']}`)
  },
  '/gzip': (_request, response) => {
    const packed = gzipSync('unpacked'.repeat(1000))
    response
      .writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length })
      .end(packed)
  },
  '/redirect': (_request, response) => response.writeHead(302, { location: '/plain' }).end(),
  '/closed': (_request, response) => {
    response.removeHeader('access-control-allow-origin')
    response.end('not for pages')
  },
  '/cut': (_request, response) => {
    response.writeHead(200, { 'content-length': 10 })
    response.write('12345', () => setTimeout(() => response.destroy(), 50))
  },
  '/hang': (_request, response) => response.flushHeaders(),
}

before(async () => {
  seen = []
  peer = await startPeer()
  files = await serveFiles([
    ['/', `<!doctype html><script type="module">${helpers}</script>`],
    ['/platform.mjs', await bundle('platform/browser.ts')],
  ])
  browser = await launchChromium()
  page = await browser.newPage()
  await page.goto(`${files.origin}/`)
  await page.waitForFunction(() => globalThis.ready)
})

after(async () => {
  await browser?.close()
  await files?.close()
  peer?.server.closeAllConnections()
  peer?.server.close()
})

const ask = (request) => page.evaluate((r) => globalThis.ask(r), request)

describe('an exchange', () => {
  test('comes in order, and never before the call has returned', async () => {
    const { status, text, events } = await ask({ method: 'GET', url: `${peer.url}/plain` })
    assert.deepEqual(
      { status, text, events },
      { status: 200, text: 'plain text', events: ['begun', 'head', 'chunk', 'end'] },
    )
  })

  test('leaves out what a browser says itself', async () => {
    await ask({
      method: 'GET',
      url: `${peer.url}/plain`,
      headers: [
        ['User-Agent', 'ours'],
        ['accept-encoding', 'identity'],
        ['Content-Length', '5'],
        ['x-kept', 'a'],
        ['x-kept', 'b'],
      ],
    })
    const { headers } = seen.at(-1)
    assert.match(headers['user-agent'], /^Mozilla/)
    assert.equal(headers['x-kept'], 'a, b')
    assert.equal(headers.cookie, undefined)
    assert.equal(headers.referer, undefined)
  })

  test('does not tell of a packed form that is already undone', async () => {
    const { text, headers } = await ask({ method: 'GET', url: `${peer.url}/gzip` })
    assert.equal(text.length, 8000)
    assert.equal(headers['content-encoding'], undefined)
    assert.equal(headers['content-length'], undefined)
  })

  test('follows no redirect', async () => {
    const { status, headers } = await ask({ method: 'GET', url: `${peer.url}/redirect` })
    assert.equal(status, 302)
    assert.deepEqual(headers, {})
    assert.equal(seen.at(-1).path, '/redirect')
  })

  test('that is aborted says nothing more', async () => {
    const events = await page.evaluate(async (url) => {
      const said = []
      const note = (name) => () => said.push(name)
      const host = globalThis.platform.host({})
      const events = {
        head: note('head'),
        chunk: note('chunk'),
        end: note('end'),
        error: note('error'),
        wanted: note('wanted'),
      }
      host
        .http(
          {
            method: 'GET',
            url: `${url}/hang`,
            headers: [],
            body: { kind: 'none' },
            lasting: true,
            bulk: false,
          },
          events,
        )
        .abort()
      const second = host.http(
        {
          method: 'GET',
          url: `${url}/hang`,
          headers: [],
          body: { kind: 'none' },
          lasting: true,
          bulk: false,
        },
        {
          ...events,
          head: () => {
            said.push('head')
            second.abort()
          },
        },
      )
      await new Promise((resolve) => setTimeout(resolve, 300))
      return said
    }, peer.url)
    assert.deepEqual(events, ['head'])
  })

  test('reads no further while it is paused', async () => {
    const order = await page.evaluate(async (url) => {
      const order = []
      await globalThis.ask({ method: 'GET', url: `${url}/plain` }, (event, exchange) => {
        if (event === 'begun') {
          exchange.pause()
          setTimeout(() => {
            order.push('resumed')
            exchange.resume()
          }, 200)
        } else order.push(event)
      })
      return order
    }, peer.url)
    assert.deepEqual(order, ['head', 'resumed', 'chunk'])
  })
})

describe('a failure', () => {
  test('of a connection that nobody answers names the three causes', async () => {
    const { server, port } = await startPeer()
    await new Promise((resolve) => server.close(resolve))
    const { failure } = await ask({
      method: 'POST',
      url: `http://127.0.0.1:${port}/?token=s3cr3t`,
      body: { kind: 'none' },
    })
    assert.equal(failure.kind, 'connect')
    assert.equal(failure.host, `127.0.0.1:${port}`)
    for (const cause of [/sandboxc serve/, /CORS/, /mixed content/])
      assert.match(failure.message, cause)
    assert.doesNotMatch(JSON.stringify(failure), /s3cr3t/)
  })

  test('of CORS names the origin, and is not taken for unsent', async () => {
    const { failure } = await ask({
      method: 'POST',
      url: `${peer.url}/closed`,
      body: { kind: 'none' },
    })
    assert.equal(failure.kind, 'send')
    assert.match(failure.message, /--allow-origin/)
    assert.ok(failure.message.includes(files.origin))
  })

  test('inside the answer is a reset', async () => {
    const { events, failure, text } = await ask({ method: 'GET', url: `${peer.url}/cut` })
    assert.deepEqual(events, ['begun', 'head', 'chunk', 'error'])
    assert.equal(text, '12345')
    assert.equal(failure.kind, 'reset')
  })
})

describe('a body', () => {
  const send = (source, path = '/echo') =>
    page.evaluate(
      ([url, make]) => {
        const text = (s) => new TextEncoder().encode(s)
        const source = new Function(`return (${make})`)()
        return globalThis.ask({
          method: 'POST',
          url,
          body: { kind: 'source', prefix: text('<'), source, suffix: text('>') },
        })
      },
      [`${peer.url}${path}`, source],
    )

  for (const [what, source] of Object.entries({
    'a blob': `{ replayable: true, blob: new Blob(['middle']) }`,
    bytes: `{ replayable: true, bytes: new TextEncoder().encode('middle') }`,
    'a stream, which is spooled': `{ replayable: false, async *open() { for (const c of 'middle') yield new TextEncoder().encode(c) } }`,
  })) {
    test(`composes ${what} between prefix and suffix`, async () => {
      const { text } = await send(source)
      assert.equal(text, '<middle>')
      assert.equal(seen.at(-1).headers['content-length'], '8')
    })
  }

  test('of a long stream keeps every byte, from a buffer that is used again', async () => {
    const { text } = await send(
      `{ replayable: false, async *open() { const b = new Uint8Array(1 << 20); for (let i = 0; i < 20; i++) { b.fill(i); yield b } } }`,
      '/size',
    )
    assert.equal(text, `${(20 << 20) + 2} ${(20 << 20) + 2}`)
  })

  test('whose source fails says so', async () => {
    const { failure } = await send(
      `{ replayable: false, async *open() { throw new Error('the disk is gone') } }`,
    )
    assert.equal(failure.kind, 'source')
    assert.match(failure.message, /the disk is gone/)
  })

  test('of pieces is sent when the last one is there', async () => {
    const { text, events } = await page.evaluate((url) => {
      const pieces = ['one ', 'two ', 'three']
      return globalThis.ask(
        { method: 'POST', url, body: { kind: 'pieces' } },
        (event, exchange) => {
          if (event !== 'wanted') return
          const next = pieces.shift()
          next ? exchange.sendPiece(new TextEncoder().encode(next)) : exchange.endPieces()
        },
      )
    }, `${peer.url}/echo`)
    assert.equal(text, 'one two three')
    assert.deepEqual(events, [
      'begun',
      'wanted',
      'wanted',
      'wanted',
      'wanted',
      'head',
      'chunk',
      'end',
    ])
  })
})

describe('a bulk answer', () => {
  test('waits for who takes it', async () => {
    const got = await page.evaluate(async (url) => {
      const events = []
      const body = await new Promise((resolve) => {
        const exchange = globalThis.platform.host({}).http(
          { method: 'GET', url, headers: [], body: { kind: 'none' }, lasting: false, bulk: true },
          {
            head: () => {
              events.push('head')
              setTimeout(() => resolve(exchange.toHost(false)), 100)
            },
            chunk: () => events.push('chunk'),
            end: () => events.push('end'),
            error: () => events.push('error'),
            wanted() {},
          },
        )
      })
      let text = ''
      for (let piece = await body.read(); piece; piece = await body.read())
        text += new TextDecoder().decode(piece)
      return { events, text }
    }, `${peer.url}/plain`)
    assert.deepEqual(got, { events: ['head'], text: 'plain text' })
  })

  test('that is cut rejects with a failure, not with the browser’s words', async () => {
    const failure = await page.evaluate(async (url) => {
      const body = await new Promise((resolve) => {
        const exchange = globalThis.platform.host({}).http(
          { method: 'GET', url, headers: [], body: { kind: 'none' }, lasting: false, bulk: true },
          {
            head: () => resolve(exchange.toHost(false)),
            chunk() {},
            end() {},
            error() {},
            wanted() {},
          },
        )
      })
      try {
        while (await body.read());
      } catch (reason) {
        return reason
      }
    }, `${peer.url}/cut`)
    assert.equal(failure.kind, 'reset')
  })
})

describe('names', () => {
  test('lasting requests are spread, five to a name; short ones keep the plain name', async () => {
    seen = []
    const host = `49983-iabc.localhost:${peer.port}`
    await page.evaluate(async (url) => {
      const host = globalThis.platform.host({})
      const nothing = { chunk() {}, end() {}, wanted() {} }
      const open = (lasting, path) =>
        new Promise((resolve, reject) => {
          host.http(
            {
              method: 'GET',
              url: url + path,
              headers: [],
              body: { kind: 'none' },
              lasting,
              bulk: false,
            },
            { ...nothing, head: resolve, error: reject },
          )
        })
      await Promise.all(Array.from({ length: 20 }, () => open(true, '/hang')))
      await open(false, '/plain')
    }, `http://${host}`)
    const counts = {}
    for (const { host: name, path } of seen)
      if (path === '/hang') counts[name] = (counts[name] ?? 0) + 1
    assert.deepEqual(Object.values(counts), [5, 5, 5, 5])
    for (const name of Object.keys(counts))
      assert.match(name, new RegExp(`^49983-iabc-\\d+\\.localhost:${peer.port}$`))
    assert.deepEqual(
      seen.filter(({ path }) => path === '/plain').map((r) => r.host),
      [host],
    )
  })

  test('a name is free again after its request; other hosts are left alone', async () => {
    seen = []
    await page.evaluate(
      async ([port, url]) => {
        const host = globalThis.platform.host({})
        for (const base of [`http://49983-ixyz.localhost:${port}`, url]) {
          for (let i = 0; i < 12; i++) {
            await new Promise((resolve) => {
              host.http(
                {
                  method: 'GET',
                  url: `${base}/plain`,
                  headers: [],
                  body: { kind: 'none' },
                  lasting: true,
                  bulk: false,
                },
                { head() {}, chunk() {}, end: resolve, error: resolve, wanted() {} },
              )
            })
          }
        }
      },
      [peer.port, peer.url],
    )
    assert.equal(new Set(seen.map((r) => r.host)).size, 2)
    assert.equal(seen.filter((r) => r.host === `127.0.0.1:${peer.port}`).length, 12)
  })
})

describe('the core', () => {
  // The smallest module.
  const empty = 'new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])'
  const compiles = (make) =>
    page.evaluate(
      async (make) =>
        String(await globalThis.platform.loadWasm(new Function(`return (${make})`)())),
      make,
    )

  for (const [what, make] of Object.entries({
    bytes: empty,
    'an ArrayBuffer': `${empty}.buffer`,
    'a module': `new WebAssembly.Module(${empty})`,
    'a promise': `Promise.resolve(${empty})`,
    'a Response of the right type': `new Response(${empty}, { headers: { 'content-type': 'application/wasm; x=y' } })`,
    'a Response of a wrong type': `new Response(${empty}, { headers: { 'content-type': 'text/html' } })`,
    'the address of one': `URL.createObjectURL(new Blob([${empty}]))`,
  })) {
    test(`is taken as ${what}`, async () =>
      assert.equal(await compiles(make), '[object WebAssembly.Module]'))
  }

  test('that is not there is missed by name and with advice', async () => {
    await assert.rejects(compiles('undefined'), /core\.wasm.*status 404.*option wasm/s)
    await assert.rejects(
      compiles(`'${peer.url}/none?key=s3cr3t'`),
      (error) => /status 404/.test(error) && !/s3cr3t/.test(error),
    )
  })
})

test('options that only a program has are refused by name', async () => {
  for (const option of ['proxy', 'caFile', 'sandboxc']) {
    await assert.rejects(
      page.evaluate((o) => void globalThis.platform.host({ [o]: 'x' }), option),
      new RegExp(`option ${option}`),
    )
  }
})

test('settings are what the page was given', async () => {
  const found = await page.evaluate(() =>
    globalThis.platform.readSettings({ settings: { env: { A: 'a', B: 'b' }, config: 'x = 1' } }, [
      'A',
      'C',
    ]),
  )
  assert.deepEqual(found, { env: { A: 'a' }, config: 'x = 1' })
})

test('a page without a key is told how to get one', async () => {
  const error = await page.evaluate(() =>
    globalThis.platform
      .credential((e) => Object.assign(new Error(e.message), e))
      .catch((e) => ({ ...e })),
  )
  assert.equal(error.code, 'E1001')
  assert.ok(error.suggestion.includes(`sandboxc serve --page-key ${files.origin}`))
})

describe('a WebSocket', () => {
  test('that would need headers says that a page has none', async () => {
    const failure = await page.evaluate(
      (url) =>
        new Promise((resolve) =>
          globalThis.platform
            .host({})
            .socket(
              { url, headers: [['x-token', 's3cr3t']], subprotocols: [], maxMessage: 10 },
              { open() {}, text() {}, binary() {}, closed: resolve },
            ),
        ),
      `ws://127.0.0.1:${peer.port}/`,
    )
    assert.match(failure.message, /headers.*x-token/)
    assert.doesNotMatch(JSON.stringify(failure), /s3cr3t/)
  })

  test('that nobody answers', async () => {
    const failure = await page.evaluate(
      (url) =>
        new Promise((resolve) =>
          globalThis.platform
            .host({})
            .socket(
              { url, headers: [], subprotocols: [], maxMessage: 10 },
              { open() {}, text() {}, binary() {}, closed: resolve },
            ),
        ),
      `ws://127.0.0.1:${peer.port}/`,
    )
    assert.equal(failure.kind, 'connect')
    assert.equal(failure.host, `127.0.0.1:${peer.port}`)
  })
})
