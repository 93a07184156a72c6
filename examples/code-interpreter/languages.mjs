// Several languages in one sandbox, each with a state of its own, and one directory of files.
import { Sandbox } from 'agent-sandbox'

const sandbox = await Sandbox.create('code-interpreter-v1')
try {
  await sandbox.runCode('name=world; echo hello > greeting.txt', { language: 'bash' })
  const bash = await sandbox.runCode('echo "$(cat greeting.txt), $name"', { language: 'bash' })
  process.stdout.write(bash.stdout)
  const squares = "console.log([1, 2, 3].map((n) => n * n).join(' '))"
  process.stdout.write((await sandbox.runCode(squares, { language: 'javascript' })).stdout)
  const context = await sandbox.createCodeContext({ language: 'python', cwd: '/tmp' })
  console.log((await sandbox.runCode('import os; os.getcwd()', { context })).text)
  await sandbox.removeCodeContext(context)
} finally {
  await sandbox.kill()
}
