// A program for E2B's SDK with another import.
import { CommandExitError, Sandbox } from 'agent-sandbox/e2b'
import { Sandbox as Interpreter, TimeoutError } from 'agent-sandbox/e2b/code-interpreter'

const sandbox = await Sandbox.create('base', { timeoutMs: 60_000 })
try {
  console.log((await sandbox.commands.run('echo hello')).stdout.trim())
  await sandbox.commands.run('exit 3')
} catch (error) {
  if (error instanceof CommandExitError) console.log(error.exitCode)
} finally {
  await sandbox.kill()
}
await Interpreter.connect(sandbox.sandboxId).catch((error) =>
  console.log(error.constructor.name, error instanceof TimeoutError),
)
