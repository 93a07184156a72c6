// The loop of a coding agent on this machine: no account, no model.
//
// A model answers with actions; `scriptedModel` plays its part here. Put a real one in its place:
// it gets the task and what has happened so far, and gives the next action.
import { Sandbox, SandboxError } from 'agent-sandbox'

const program = 'print(sum(n for n in range(1, 101) if n % 3 == 0))\n'

/** What a model would answer, step by step. */
function* scriptedModel(_task) {
  yield { tool: 'run', command: 'python3 --version' }
  yield { tool: 'write', path: 'work/solve.py', data: program }
  yield { tool: 'run', command: 'python3 work/missing.py' }
  yield { tool: 'run', command: 'python3 work/solve.py | tee work/answer.txt' }
  yield { tool: 'read', path: 'work/answer.txt' }
  yield { tool: 'finish' }
}

/** Does what the model asks. Whatever goes wrong is something for it to read, too. */
async function act(sandbox, { tool, command, path, data }) {
  try {
    if (tool === 'run') {
      const { exitCode, stdout, stderr } = await sandbox.commands.run(command, { timeoutMs: 20_000 })
      return { exitCode, stdout: stdout.slice(-2000), stderr: stderr.slice(-2000) }
    }
    if (tool === 'write') return { written: (await sandbox.files.write(path, data)).path }
    return { content: await sandbox.files.read(path) }
  } catch (error) {
    if (error instanceof SandboxError) return { error: String(error) }
    throw error
  }
}

const task = 'What is the sum of the multiples of three up to 100?'
const sandbox = await Sandbox.create('python-base', { allowInternetAccess: false, timeoutMs: 300_000 })
try {
  let seen
  let step = 0
  for (const action of scriptedModel(task)) {
    if (action.tool === 'finish') break
    seen = await act(sandbox, action)
    console.log(++step, action.tool, JSON.stringify(seen).slice(0, 120))
  }
  console.log('answer:', seen.content.trim())
} finally {
  await sandbox.kill()
}
