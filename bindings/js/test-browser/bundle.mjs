import { build } from 'esbuild'

/** Bundles one source file as the browser build is bundled, and gives its text. */
export async function bundle(entry) {
  const made = await build({
    entryPoints: [new URL(`../src/${entry}`, import.meta.url).pathname],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['browser'],
    write: false,
  })
  return made.outputFiles[0].text
}
