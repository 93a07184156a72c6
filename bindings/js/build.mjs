// Builds dist/: the package for Node (ESM and CommonJS), for browsers, and its types.
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const here = dirname(fileURLToPath(import.meta.url))
process.chdir(here)
rmSync('dist', { recursive: true, force: true })
mkdirSync('dist')

const common = {
  entryPoints: ['src/index.ts'],
  bundle: true,
  target: 'es2022',
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: false,
  legalComments: 'none',
  logLevel: 'warning',
}
// ws lies in a file of its own, which is loaded when the first socket is dialled.
const separate = (file) => ({
  name: 'ws',
  setup: (b) => b.onResolve({ filter: /^ws$/ }, () => ({ path: file, external: true })),
})
const node = { ...common, platform: 'node', conditions: ['node'] }
// The classes by E2B's names stand beside the package's own: both drive the same core.
const beside = (own, theirs) => ({
  name: 'beside',
  setup: (b) => {
    b.onResolve({ filter: /^\.\.\/index\.ts$/ }, () => ({ path: own, external: true }))
    b.onResolve({ filter: /^\.\/index\.ts$/ }, () => ({ path: theirs, external: true }))
  },
})
const byTheirNames = (options, name, own, extension) =>
  build({
    ...options,
    entryPoints: { [name]: 'src/e2b/index.ts', [`${name}-code`]: 'src/e2b/code_interpreter.ts' },
    outdir: 'dist',
    outExtension: { '.js': extension },
    plugins: [beside(own, `./${name}${extension}`)],
  })
const bare = ['bufferutil', 'utf-8-validate']
await Promise.all([
  build({ ...node, format: 'esm', outfile: 'dist/node.mjs', plugins: [separate('./ws.mjs')] }),
  build({
    ...node,
    format: 'cjs',
    outfile: 'dist/node.cjs',
    plugins: [separate('./ws.cjs')],
    define: { 'import.meta.url': 'importMetaURL' },
    banner: { js: "const importMetaURL = require('node:url').pathToFileURL(__filename).href;" },
  }),
  build({ ...common, platform: 'browser', format: 'esm', outfile: 'dist/browser.mjs' }),
  build({
    ...node,
    entryPoints: ['src/platform/node/ws.ts'],
    format: 'cjs',
    outfile: 'dist/ws.cjs',
    external: bare,
  }),
  build({
    ...node,
    entryPoints: ['src/platform/node/ws.ts'],
    format: 'esm',
    outfile: 'dist/ws.mjs',
    external: bare,
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  }),
])
await Promise.all([
  byTheirNames({ ...node, format: 'esm' }, 'e2b', './node.mjs', '.mjs'),
  byTheirNames({ ...node, format: 'cjs' }, 'e2b', './node.cjs', '.cjs'),
  byTheirNames({ ...common, format: 'esm' }, 'e2b-browser', './browser.mjs', '.mjs'),
])
for (const file of readdirSync('dist').filter((name) => /^(node|browser|e2b)/.test(name)))
  ownNames(`dist/${file}`)
types()

const wasm = process.env.AGENT_SANDBOX_WASM || join(here, '../../.tmp/core.wasm')
if (existsSync(wasm)) copyFileSync(wasm, 'dist/core.wasm')

/** esbuild calls a class that names itself inside `_Name`, which errors would show. */
function ownNames(path) {
  let code = readFileSync(path, 'utf8')
  const names = [...code.matchAll(/=class _([A-Z]\w*)/g)].map(([, name]) => name)
  for (const name of names) code = code.replace(new RegExp(`\\b_${name}\\b`, 'g'), name)
  writeFileSync(path, code)
}

/** Declarations twice: a file's own extension or package says to TypeScript what kind of module it is. */
function types() {
  execFileSync('node_modules/.bin/tsc', ['-p', '.', '--emitDeclarationOnly', '--stripInternal'], {
    stdio: 'inherit',
  })
  for (const file of readdirSync('dist/types', { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue
    const path = join('dist/types', file)
    writeFileSync(path, readFileSync(path, 'utf8').replace(/(from '\.[^']*)\.ts'/g, "$1.js'"))
  }
  cpSync('dist/types', 'dist/types-cjs', { recursive: true })
  writeFileSync('dist/types-cjs/package.json', '{ "type": "commonjs" }\n')
}
