import { describe, test } from 'node:test'
import { Sandbox } from 'e2b'
import { API_KEY, API_URL, assert, made, request, sandbox, until } from './sandbox.js'

const held = sandbox()
const serve = (box, port, text) =>
  box.commands.run(
    `mkdir -p site${port} && cd site${port} && printf '%s' '${text}' > index.html && exec python3 -m http.server ${port}`,
    { background: true, timeoutMs: 0 }
  )
const served = (host, opts) =>
  until('the port answers 200', async () => {
    const res = await request(host, '/', opts)
    return res.status === 200 && res
  })

describe('ports', { concurrency: 4 }, () => {
  test('getHost leads to a server inside', async () => {
    const host = held.box.getHost(8000)
    assert.equal(host, `8000-${held.box.sandboxId}.localhost:${new URL(API_URL).port}`)
    const server = await serve(held.box, 8000, 'hello from inside')
    const res = await served(host)
    assert.equal(res.text, 'hello from inside')
    await server.kill()
  })

  test('a closed port and a dead sandbox are 502 with a reason', async () => {
    const json = { headers: { Accept: 'application/json' } }
    const closed = await request(held.box.getHost(8123), '/', json)
    assert.equal(closed.status, 502)
    const body = JSON.parse(closed.text)
    assert.deepEqual(body, {
      sandboxId: held.box.sandboxId, message: 'The sandbox is running but port is not open', port: 8123, code: 502,
    })
    const gone = await Sandbox.create()
    await gone.kill()
    const dead = await request(gone.getHost(8000), '/', json)
    assert.equal(dead.status, 502)
    assert.equal(JSON.parse(dead.text).message, 'The sandbox was not found')
  })

  test('a port outside 1..65535 is 400', async () => {
    assert.equal((await request(held.box.getHost(70_000), '/')).status, 400)
    assert.equal((await request(held.box.getHost(0), '/')).status, 400)
  })

  test('a browser gets a page, not JSON', async () => {
    const res = await request(held.box.getHost(8124), '/', {
      headers: { Accept: 'text/html,application/xhtml+xml', 'Sec-Fetch-Mode': 'navigate' },
    })
    assert.equal(res.status, 502)
    assert.match(res.headers['content-type'], /text\/html/)
  })

  test('private traffic needs its token', async (t) => {
    const box = await made(t, { network: { allowPublicTraffic: false } })
    assert.ok(box.trafficAccessToken)
    await serve(box, 8000, 'private')
    const headers = { 'e2b-traffic-access-token': box.trafficAccessToken }
    assert.equal((await served(box.getHost(8000), { headers })).text, 'private')
    assert.equal((await request(box.getHost(8000), '/')).status, 403)
    const wrong = await request(box.getHost(8000), '/', { headers: { 'e2b-traffic-access-token': 'wrong' } })
    assert.equal(wrong.status, 403)
    assert.equal((await box.commands.run('echo still')).stdout, 'still\n')
  })

  test('maskRequestHost is what the server inside sees', async (t) => {
    const box = await made(t, { network: { maskRequestHost: 'app.test:${PORT}' } })
    const script = [
      'from http.server import *',
      'class H(BaseHTTPRequestHandler):',
      '  def do_GET(self):',
      '    self.send_response(200); self.end_headers(); self.wfile.write(self.headers["Host"].encode())',
      'HTTPServer(("", 9001), H).serve_forever()',
    ].join('\n')
    await box.files.write('server.py', script)
    await box.commands.run('python3 server.py', { background: true, timeoutMs: 0 })
    assert.equal((await served(box.getHost(9001))).text, 'app.test:9001')
  })

  test('streams a body through as it is written', async () => {
    const script = [
      'import time',
      'from http.server import *',
      'class H(BaseHTTPRequestHandler):',
      '  protocol_version="HTTP/1.1"',
      '  def do_POST(self):',
      '    body=self.rfile.read(int(self.headers["Content-Length"]))',
      '    self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers(); self.wfile.write(body)',
      'ThreadingHTTPServer(("", 9002), H).serve_forever()',
    ].join('\n')
    await held.box.files.write('echo.py', script)
    const server = await held.box.commands.run('python3 echo.py', { background: true, timeoutMs: 0 })
    const body = 'x'.repeat(2_000_000)
    const res = await until('the echo server', async () => {
      const got = await request(held.box.getHost(9002), '/', {
        method: 'POST', body, headers: { 'Content-Length': body.length },
      })
      return got.status === 200 && got
    })
    assert.equal(res.text, body)
    await server.kill()
  })
})

describe('egress', { concurrency: 4 }, () => {
  // A transparent relay may accept a connection before it refuses it: what counts is an answer.
  const fetched = (box, target) =>
    box.commands.run(
      `timeout 3 bash -c 'exec 3<>/dev/tcp/${target} && printf "GET / HTTP/1.0\\r\\n\\r\\n" >&3 && head -c 1 <&3' 2>/dev/null | wc -c`
    )

  test('the host and private addresses do not answer', async () => {
    const { port } = new URL(API_URL)
    for (const target of [`127.0.0.1/${port}`, '169.254.169.254/80', '10.0.0.1/80', '192.168.0.1/80']) {
      assert.equal((await fetched(held.box, target)).stdout, '0\n', target)
    }
  })

  test('with internet off nothing answers, and info says so', async (t) => {
    const box = await made(t, { allowInternetAccess: false })
    assert.equal((await box.getInfo()).allowInternetAccess, false)
    assert.equal((await fetched(box, '1.1.1.1/80')).stdout, '0\n')
  })

  test('updateNetwork changes what info shows', async (t) => {
    const box = await made(t, { network: { denyOut: ['203.0.113.0/24'] } })
    assert.deepEqual((await box.getInfo()).network.denyOut, ['203.0.113.0/24'])
    await box.updateNetwork({ denyOut: ({ allTraffic }) => [allTraffic], allowOut: ['example.com', '192.0.2.1'] })
    const { network } = await box.getInfo()
    assert.deepEqual(network.denyOut, ['0.0.0.0/0'])
    assert.deepEqual(network.allowOut, ['example.com', '192.0.2.1'])
    await assert.rejects(box.updateNetwork({ allowOut: ['example.com'] }), { statusCode: 400 })
    await box.updateNetwork({})
    const cleared = (await box.getInfo()).network
    assert.ok(!cleared?.denyOut?.length && !cleared?.allowOut?.length, JSON.stringify(cleared))
  })
})

test('the control plane needs the key and the right Host', async () => {
  const own = new URL(API_URL).host
  assert.equal((await request(own, '/health')).status, 204)
  assert.equal((await request(own, '/v2/sandboxes')).status, 401)
  assert.equal((await request(own, '/v2/sandboxes', { headers: { 'X-API-KEY': API_KEY } })).status, 200)
  const foreign = await request('evil.example', '/v2/sandboxes', { headers: { 'X-API-KEY': API_KEY } })
  assert.ok(foreign.status >= 400, `${foreign.status}`)
  const crossed = await request(own, '/v2/sandboxes', {
    headers: { 'X-API-KEY': API_KEY, Origin: 'https://evil.example' },
  })
  assert.ok(crossed.status >= 400, `${crossed.status}`)
})
