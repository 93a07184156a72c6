// Makes a sandbox, runs commands in it, moves files and reaches a server inside.
import { Sandbox } from 'agent-sandbox'

const sandbox = await Sandbox.create('python-base')
try {
  const result = await sandbox.commands.run('echo hello')
  process.stdout.write(result.stdout)

  await sandbox.files.write('site/index.html', 'from inside\n')
  const server = await sandbox.commands.run('python3 -m http.server 8000', {
    background: true,
    cwd: '/home/user/site',
  })
  const wait = 'for i in $(seq 100); do curl -sf localhost:8000 && break; sleep 0.1; done'
  process.stdout.write((await sandbox.commands.run(wait)).stdout)
  await server.kill()

  const steps = await sandbox.commands.run('for i in 1 2 3; do echo step $i; done', {
    background: true,
  })
  for await (const { text } of steps) process.stdout.write(text)

  const code = 'import json; print(json.dumps([n * n for n in range(4)]))'
  const { stdout } = await sandbox.commands.run(['python3', '-c', code])
  console.log(JSON.parse(stdout))
} finally {
  await sandbox.kill()
}
