import { describe, test } from 'node:test'
import { TimeoutError } from 'e2b'
import { assert, made, sandbox, sleep, until } from './sandbox.js'

const held = sandbox()

/** Watches a new directory and gives the events so far. */
async function watch(t, dir, opts = {}) {
  await held.box.files.makeDir(dir)
  const events = []
  const handle = await held.box.files.watchDir(dir, (event) => events.push(event), opts)
  t.after(() => handle.stop())
  return { events, handle, seen: (type, name) => events.some((e) => e.type === type && e.name === name) }
}

describe('watch', { concurrency: 4 }, () => {
  test('create, write, chmod, rename, remove', async (t) => {
    const { events, seen } = await watch(t, 'w1')
    const { files, commands } = held.box
    await files.write('w1/a.txt', 'x')
    await until('create', () => seen('create', 'a.txt') && seen('write', 'a.txt'))
    await commands.run('chmod 600 w1/a.txt')
    await until('chmod', () => seen('chmod', 'a.txt'))
    await files.rename('w1/a.txt', 'w1/b.txt')
    await until('rename', () => seen('rename', 'a.txt') && seen('create', 'b.txt'))
    await files.remove('w1/b.txt')
    await until('remove', () => seen('remove', 'b.txt'))
    assert.ok(events.every((event) => event.entry === undefined))
  })

  test('not recursive unless asked', async (t) => {
    const { events, seen } = await watch(t, 'w2')
    await held.box.commands.run('mkdir w2/sub && touch w2/sub/deep && touch w2/last')
    await until('last', () => seen('create', 'last'))
    assert.ok(!events.some((event) => event.name.includes('/')))
  })

  test('recursive sees what is made in directories just made', async (t) => {
    const { seen } = await watch(t, 'w3', { recursive: true })
    await held.box.commands.run('mkdir -p w3/x/y/z && echo hi > w3/x/y/z/deep.txt')
    for (const name of ['x', 'x/y', 'x/y/z', 'x/y/z/deep.txt']) {
      await until(`create of ${name}`, () => seen('create', name))
    }
  })

  test('entries when asked', async (t) => {
    const { events, seen } = await watch(t, 'w4', { includeEntry: true })
    await held.box.files.write('w4/é f.txt', '12345')
    await until('write', () => seen('write', 'é f.txt'))
    const entry = await until('an entry', () => events.find((e) => e.entry)?.entry)
    assert.equal(entry.path, '/home/user/w4/é f.txt')
    assert.equal(entry.type, 'file')
    await held.box.files.remove('w4/é f.txt')
    const removed = await until('remove', () => events.find((e) => e.type === 'remove'))
    assert.equal(removed.entry, undefined)
  })

  test('stop ends the events and calls onExit once', async (t) => {
    let exits = 0
    const { events, handle, seen } = await watch(t, 'w5', { onExit: () => exits++ })
    await held.box.files.write('w5/one', '')
    await until('one', () => seen('create', 'one'))
    await handle.stop()
    await until('onExit', () => exits === 1)
    const before = events.length
    await held.box.files.write('w5/two', '')
    await sleep(200)
    assert.equal(events.length, before)
    assert.equal(exits, 1)
  })

  test('a timeout ends it with TimeoutError', async (t) => {
    let error
    await watch(t, 'w6', { timeoutMs: 400, onExit: (e) => (error = e) })
    await until('onExit', () => error)
    assert.ok(error instanceof TimeoutError, `${error}`)
  })

  test('the end of the sandbox ends it with an error', async (t) => {
    const box = await made(t)
    let error
    await box.files.watchDir('.', () => {}, { timeoutMs: 0, onExit: (e) => (error = e) })
    await box.kill()
    await until('onExit', () => error)
  })
})
