import { Sandbox } from './agent-sandbox/browser.mjs'

const output = document.querySelector('#output')
const state = document.querySelector('#state')
const onStdout = (text) => output.append(text)

try {
  // The page was opened with a one-time code, which gives it its key.
  const sandbox = await Sandbox.create('python-base')
  try {
    await sandbox.commands.run('for i in 1 2 3; do echo "line $i"; sleep 0.1; done', { onStdout })

    await sandbox.files.write('/home/user/square.py', 'print([n * n for n in range(6)])\n')
    await sandbox.commands.run(['python3', '/home/user/square.py'], { onStdout })

    const file = await sandbox.files.read('/home/user/square.py')
    output.append(`${file.length} characters in square.py\n`)
  } finally {
    await sandbox.kill()
  }
  state.textContent = 'done'
} catch (error) {
  state.textContent = `${error}${error.suggestion ? `\n${error.suggestion}` : ''}`
}
