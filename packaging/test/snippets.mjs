// snippets.mjs PAGE DIR: makes a TypeScript module of each JavaScript snippet of a page, for a
// compiler to judge, and prints their names as a JSON array. What a snippet takes from those before
// it is declared.
import { readFileSync, writeFileSync } from 'node:fs'

const [page, dir] = process.argv.slice(2)
const given = `import { createReadStream } from 'node:fs'
import { CommandTimeoutError } from 'agent-sandbox'
declare const sandbox: import('agent-sandbox').Sandbox
void [createReadStream, CommandTimeoutError]
`
const snippets = [...readFileSync(page, 'utf8').matchAll(/^```js\n(.*?)^```$/gms)].map(([, s]) => s)
if (snippets.length < 4) throw new Error(`${page} has ${snippets.length} snippets only`)
const names = snippets.map((snippet, i) => {
  const whole = /^import /m.test(snippet)
  writeFileSync(`${dir}/snippet-${i}.mts`, whole ? snippet : given + snippet)
  return `snippet-${i}.mts`
})
console.log(JSON.stringify(names))
