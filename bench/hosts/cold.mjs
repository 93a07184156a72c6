// cold.mjs PACKAGE [SANDBOX]: milliseconds from before the import to the first
// finished command, in that sandbox or in a new one.
const [name, id] = process.argv.slice(2)
const began = performance.now()
const { Sandbox } = await import(name)
const sandbox = await (id ? Sandbox.connect(id) : Sandbox.create())
await sandbox.commands.run('true')
console.log(performance.now() - began)
if (!id) await sandbox.kill()
process.exit(0)
