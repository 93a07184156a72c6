const { CommandExitError, Sandbox } = require('agent-sandbox/e2b')
const { CommandExitError: same } = require('agent-sandbox/e2b/code-interpreter')

async function main() {
  const sandbox = await Sandbox.create({ timeoutMs: 60_000 })
  try {
    console.log((await sandbox.commands.run('echo hello')).stdout.trim())
    await sandbox.commands.run('exit 3')
  } catch (error) {
    if (error instanceof CommandExitError && same === CommandExitError) console.log(error.exitCode)
  } finally {
    await sandbox.kill()
  }
}

main()
