import { test } from 'node:test'
import { GitUpstreamError } from 'e2b'
import { assert, sandbox } from './sandbox.js'

const held = sandbox()

test('git: a repository from init to clone', async () => {
  const { git, files } = held.box
  await git.init('repo', { initialBranch: 'main' })
  await git.configureUser('Ann Author', 'ann@example.test', { scope: 'local', path: 'repo' })
  await files.write("repo/it's a file é.txt", 'one')
  let status = await git.status('repo')
  assert.equal(status.isClean, false)
  assert.equal(status.untrackedCount, 1)
  await git.add('repo')
  await git.commit('repo', "first; it's $HOME `x`")
  assert.equal((await git.status('repo')).isClean, true)
  await git.createBranch('repo', 'topic')
  const branches = await git.branches('repo')
  assert.equal(branches.currentBranch, 'topic')
  assert.deepEqual([...branches.branches].sort(), ['main', 'topic'])
  await git.clone('/home/user/repo', { path: 'copy' })
  assert.equal(await files.read("copy/it's a file é.txt"), 'one')
  const log = await held.box.commands.run('git -C copy log --format=%s:%an')
  assert.equal(log.stdout, "first; it's $HOME `x`:Ann Author\n")
  await assert.rejects(git.pull('repo'), GitUpstreamError)
})
