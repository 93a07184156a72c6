// The same package from CommonJS: output while it comes, bytes, and an error.
const { Sandbox, SandboxFileNotFoundError } = require('agent-sandbox')

async function main() {
  const sandbox = await Sandbox.create({ template: 'base', timeoutMs: 60_000 })
  try {
    await sandbox.commands.run('echo one; echo two', { onStdout: (text) => process.stdout.write(text) })
    await sandbox.files.write('data.bin', Uint8Array.of(0, 255, 10))
    console.log(await sandbox.files.read('data.bin', { format: 'bytes' }))
    const error = await sandbox.files.read('missing').catch((e) => e)
    console.log(error instanceof SandboxFileNotFoundError, error.code)
  } finally {
    await sandbox.kill()
  }
}

main()
