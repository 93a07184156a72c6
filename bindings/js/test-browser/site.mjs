import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))

/** A page that has the built package as `sdk`. */
const page = `<!doctype html><title>test</title><script type="module">
globalThis.sdk = await import('./browser.mjs')
globalThis.ready = true
</script>`

/** Makes a directory of pages with the built package in it (npm run build). */
export async function makeSite(files = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'site-'))
  const wasm = process.env.AGENT_SANDBOX_WASM ?? join(dist, 'core.wasm')
  await copyFile(join(dist, 'browser.mjs'), join(directory, 'browser.mjs'))
  await copyFile(wasm, join(directory, 'core.wasm'))
  for (const [name, text] of Object.entries({ 'index.html': page, ...files }))
    await writeFile(join(directory, name), text)
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) }
}
