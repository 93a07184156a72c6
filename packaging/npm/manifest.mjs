// manifest.mjs VERSION <package.json prints the package.json that is published:
// what serves development goes, and the local provider's packages come in.
const [version] = process.argv.slice(2)
const chunks = []
for await (const chunk of process.stdin) chunks.push(chunk)
const {
  scripts,
  devDependencies,
  private: unpublished,
  imports,
  ...kept
} = JSON.parse(Buffer.concat(chunks).toString())

const machines = ['x64', 'arm64']
const local = Object.fromEntries(
  machines.map((machine) => [`@agent-sandbox/local-linux-${machine}`, version]),
)
console.log(JSON.stringify({ ...kept, version, optionalDependencies: local }, undefined, 2))
