// Code that keeps what it defines: output as it is printed, values, errors.
import { Sandbox } from 'agent-sandbox'

const sandbox = await Sandbox.create('code-interpreter-v1')
try {
  await sandbox.runCode('x = 20')
  let execution = await sandbox.runCode("print('working'); x + 22", {
    onStdout: (message) => process.stdout.write(message.line),
  })
  console.log(execution.text)
  execution = await sandbox.runCode('x / 0')
  console.log(execution.error?.name)
} finally {
  await sandbox.kill()
}
