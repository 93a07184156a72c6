import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname } from 'node:path'

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
}

/**
 * Serves files on loopback: `routes` are pairs of a path and the file, or the directory when the
 * path ends with a slash, that answers there. `close` ends the server.
 */
export async function serveFiles(routes) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    try {
      const file = locate(routes, pathname)
      const bytes = typeof file === 'string' ? Buffer.from(file) : await readFile(file)
      response.writeHead(200, { 'content-type': types[extname(pathname)] ?? types['.html'] })
      response.end(bytes)
    } catch {
      response.writeHead(404, { 'content-length': 0 })
      response.end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A string is the content itself, a URL the file. */
function locate(routes, pathname) {
  for (const [path, target] of routes) {
    if (path === pathname) return target
    if (
      path.endsWith('/') &&
      path !== '/' &&
      pathname.startsWith(path) &&
      !pathname.includes('..')
    ) {
      return new URL(pathname.slice(path.length), target)
    }
  }
  throw new Error('no such file')
}
