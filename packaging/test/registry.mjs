// registry.mjs DIR: an npm registry on loopback that knows the tarballs of DIR
// and nothing else. Prints its address.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [dir] = process.argv.slice(2)
const packages = new Map(
  readdirSync(dir)
    .filter((file) => file.endsWith('.tgz'))
    .map((file) => {
      const manifest = JSON.parse(
        execFileSync('tar', ['-xzOf', `${dir}/${file}`, 'package/package.json']).toString(),
      )
      return [manifest.name, { file, manifest }]
    }),
)

function describe({ file, manifest }, base) {
  const integrity = `sha512-${createHash('sha512')
    .update(readFileSync(`${dir}/${file}`))
    .digest('base64')}`
  const version = { ...manifest, dist: { tarball: `${base}/-/${file}`, integrity } }
  return {
    name: manifest.name,
    'dist-tags': { latest: manifest.version },
    versions: { [manifest.version]: version },
  }
}

const server = createServer((request, response) => {
  const base = `http://${request.headers.host}`
  const path = decodeURIComponent(new URL(request.url, base).pathname).slice(1)
  const found = packages.get(path)
  if (found)
    return response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify(describe(found, base)))
  const tarball = [...packages.values()].find(({ file }) => path === `-/${file}`)
  if (tarball) return response.end(readFileSync(`${dir}/${tarball.file}`))
  response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}')
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`))
