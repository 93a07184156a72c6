// A scripted peer and a client of it.
import { createServer } from 'node:http'

/** Serves requests by handlers of `METHOD path` (without query), until the test is over. */
export async function peer(t, handlers) {
  const server = createServer((request, response) => {
    const key = `${request.method} ${request.url.split('?')[0]}`
    const handle = handlers[key]
    if (handle) return handle(request, response)
    response.writeHead(404).end()
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${server.address().port}`, server }
}

/** Options of a client of a peer, which reads nothing else. */
export function options(url) {
  return {
    provider: 'e2b',
    apiKey: 'e2b_secret-key',
    apiUrl: url,
    sandboxUrl: url,
    retries: 0,
    settings: {},
    store: false,
  }
}

/** A handle of a sandbox at a peer. */
export const handleAt = (url) => ({
  provider: 'e2b',
  sandbox_id: 'i1',
  urls: { sandbox: url },
  envd_version: '0.6.13',
  tokens: { envd: 'secret-token' },
})

/** Answers with JSON. */
export function json(response, value, status = 200) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** One message of a Connect stream in JSON. */
export function envelope(message, flags = 0) {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(5)
  head[0] = flags
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

/** Answers a start of a process with events; JSON alone is spoken. */
export function process(response, ...events) {
  response.writeHead(200, { 'content-type': 'application/connect+json' })
  for (const event of events) response.write(envelope({ event }))
}

/** The end of such a stream. */
export function finish(response, exitCode = 0) {
  response.write(
    envelope({ event: { end: { exitCode, exited: true, status: `exit status ${exitCode}` } } }),
  )
  response.end(envelope({}, 2))
}

/** Refuses protobuf, so that the client speaks JSON. */
export function speaksJSON(request, response) {
  if (request.headers['content-type'].includes('json')) return true
  request.resume()
  response.writeHead(415).end()
  return false
}
