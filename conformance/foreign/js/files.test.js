import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { FileNotFoundError, FileType, InvalidArgumentError, NotFoundError, SandboxError } from 'e2b'
import { assert, sandbox } from './sandbox.js'

const held = sandbox()
const files = () => held.box.files
const names = (entries) => entries.map((entry) => entry.name)

function streamOf(...chunks) {
  return new ReadableStream({
    start(controller) {
      chunks.forEach((chunk) => controller.enqueue(new Uint8Array(chunk)))
      controller.close()
    },
  })
}

async function collect(stream) {
  const parts = []
  for await (const part of stream) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}

describe('write and read', { concurrency: 4 }, () => {
  const bytes = randomBytes(300_000)
  const exact = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  const inputs = {
    string: ['grüße 世界 🚀\r\n\0', Buffer.from('grüße 世界 🚀\r\n\0')],
    'empty string': ['', Buffer.alloc(0)],
    ArrayBuffer: [exact, bytes],
    Blob: [new Blob([bytes]), bytes],
    stream: [() => streamOf(bytes.subarray(0, 70_000), bytes.subarray(70_000)), bytes],
  }
  const ways = { default: {}, gzip: { gzip: true }, 'octet-stream': { useOctetStream: true } }
  for (const [input, [data, wanted]] of Object.entries(inputs)) {
    for (const [way, opts] of Object.entries(ways)) {
      test(`${input}, ${way}`, async () => {
        const path = `rw/${input} ${way}.bin`
        const info = await files().write(path, typeof data === 'function' ? data() : data, opts)
        assert.deepEqual({ name: info.name, type: info.type, path: info.path }, {
          name: `${input} ${way}.bin`, type: 'file', path: `/home/user/${path}`,
        })
        assert.ok(Buffer.from(await files().read(path, { format: 'bytes' })).equals(wanted))
      })
    }
  }

  test('every read format, plain and gzip', async () => {
    const text = 'line é\n'.repeat(5000)
    await files().write('formats.txt', text)
    for (const gzip of [false, true]) {
      assert.equal(await files().read('formats.txt', { gzip }), text)
      assert.equal(await files().read('formats.txt', { format: 'text', gzip }), text)
      const bytes = await files().read('formats.txt', { format: 'bytes', gzip })
      assert.ok(bytes instanceof Uint8Array)
      assert.equal(Buffer.from(bytes).toString(), text)
      const blob = await files().read('formats.txt', { format: 'blob', gzip })
      assert.ok(blob instanceof Blob)
      assert.equal(await blob.text(), text)
      assert.equal((await collect(await files().read('formats.txt', { format: 'stream', gzip }))).toString(), text)
    }
  })

  test('an empty file in every format', async () => {
    await files().write('empty', '')
    assert.equal(await files().read('empty'), '')
    assert.equal((await files().read('empty', { format: 'bytes' })).length, 0)
    assert.equal((await files().read('empty', { format: 'blob' })).size, 0)
    assert.equal((await collect(await files().read('empty', { format: 'stream' }))).length, 0)
  })

  test('a stream can be left half-way', async () => {
    await held.box.commands.run('head -c 30000000 /dev/zero > zeros')
    const reader = (await files().read('zeros', { format: 'stream' })).getReader()
    assert.ok((await reader.read()).value.length > 0)
    await reader.cancel()
    assert.equal(await files().exists('zeros'), true)
  })

  test('10 MB of noise, both directions', async () => {
    const noise = randomBytes(10 << 20)
    await files().write('noise', new Blob([noise]))
    assert.ok(Buffer.from(await files().read('noise', { format: 'bytes' })).equals(noise))
  })

  test('a shorter write leaves nothing of the longer one', async () => {
    await files().write('shrink', 'long content')
    await files().write('shrink', 'short')
    assert.equal(await files().read('shrink'), 'short')
  })

  test('many files in one call, in their own directories', async () => {
    const many = Array.from({ length: 12 }, (_, i) => ({ path: `many/d${i % 3}/f ${i}é.txt`, data: `content ${i}` }))
    const infos = await files().write(many)
    assert.deepEqual(infos.map((info) => info.path).sort(), many.map((f) => `/home/user/${f.path}`).sort())
    for (const { path, data } of many) assert.equal(await files().read(path), data)
    const again = await files().writeFiles([
      { path: '/tmp/abs 文件.txt', data: new Blob(['blob']) },
      { path: 'many/stream.bin', data: streamOf([1, 2, 3]) },
    ])
    assert.deepEqual(again.map((info) => info.path), ['/tmp/abs 文件.txt', '/home/user/many/stream.bin'])
    assert.equal(await files().read('/tmp/abs 文件.txt'), 'blob')
    assert.deepEqual(await files().write([]), [])
  })

  test('parallel writes into one new directory', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, i) => files().write(`race/a/b/${i}`, `${i}`)))
    assert.equal((await files().list('race/a/b')).length, 8)
  })

  test('user decides home and owner', async () => {
    await files().write('roots.txt', 'r', { user: 'root' })
    assert.equal(await files().read('/root/roots.txt', { user: 'root' }), 'r')
    const info = await files().getInfo('/root/roots.txt', { user: 'root' })
    // An ordinary user's server has one id for everybody inside.
    const ids = (await held.box.commands.run("awk '{ n += $3 } END { print n }' /proc/self/uid_map")).stdout
    assert.equal(info.owner, ids === '1\n' ? 'user' : 'root')
    assert.equal((await files().getInfo('formats.txt')).owner, 'user')
    await assert.rejects(files().read('x', { user: 'nobody-here' }))
  })

  test('metadata is kept, replaced and cleared by the next write', async () => {
    const written = await files().write('meta.txt', 'x', { metadata: { Color: 'dark blue', n: '1' } })
    assert.deepEqual(written.metadata, { color: 'dark blue', n: '1' })
    assert.deepEqual((await files().getInfo('meta.txt')).metadata, { color: 'dark blue', n: '1' })
    const [entry] = (await files().list('.')).filter((e) => e.name === 'meta.txt')
    assert.deepEqual(entry.metadata, { color: 'dark blue', n: '1' })
    await files().write('meta.txt', 'y', { metadata: { other: 'z' }, useOctetStream: true })
    assert.deepEqual((await files().getInfo('meta.txt')).metadata, { other: 'z' })
    await files().write('meta.txt', 'z')
    assert.equal((await files().getInfo('meta.txt')).metadata, undefined)
    await assert.rejects(files().write('meta.txt', 'z', { metadata: { k: 'é' } }), InvalidArgumentError)
  })
})

describe('list, info, change', { concurrency: 4 }, () => {
  test('list goes as deep as asked', async () => {
    await files().write([
      { path: 'tree/a/b/c.txt', data: 'c' },
      { path: 'tree/z.txt', data: 'z' },
      { path: 'tree/.hidden', data: '' },
    ])
    assert.deepEqual(names(await files().list('tree')), ['.hidden', 'a', 'z.txt'])
    assert.deepEqual(names(await files().list('tree', { depth: 2 })), ['.hidden', 'a', 'b', 'z.txt'])
    assert.deepEqual(names(await files().list('tree', { depth: 3 })), ['.hidden', 'a', 'b', 'c.txt', 'z.txt'])
    await assert.rejects(files().list('tree', { depth: 0 }), InvalidArgumentError)
    await files().makeDir('nothing-inside')
    assert.deepEqual(await files().list('nothing-inside'), [])
  })

  test('info of a file, a directory, a link and a dangling link', async () => {
    await held.box.commands.run(
      'mkdir kinds && cd kinds && printf 12345 > f && chmod 640 f && ln -s f l && mkdir d && ln -s d dl && ln -s gone dead'
    )
    const file = await files().getInfo('kinds/f')
    assert.deepEqual({ ...file, modifiedTime: undefined }, {
      name: 'f', type: FileType.FILE, path: '/home/user/kinds/f', size: 5, mode: 0o640, permissions: '-rw-r-----',
      owner: 'user', group: 'user', modifiedTime: undefined, symlinkTarget: undefined, metadata: undefined,
    })
    assert.ok(Math.abs(file.modifiedTime.getTime() - Date.now()) < 30_000)
    const dir = await files().getInfo('kinds/d')
    assert.equal(dir.type, FileType.DIR)
    assert.equal(dir.permissions[0], 'd')
    const link = await files().getInfo('kinds/l')
    assert.equal(link.symlinkTarget, '/home/user/kinds/f')
    assert.equal((await files().getInfo('kinds/dl')).symlinkTarget, '/home/user/kinds/d')
    assert.deepEqual(names(await files().list('kinds')), ['d', 'dl', 'f', 'l'])
  })

  test('paths: home, absolute, tilde, dots', async () => {
    await files().write('~/tilde.txt', 't')
    assert.equal(await files().read('/home/user/tilde.txt'), 't')
    assert.equal(await files().read('./x/../tilde.txt'), 't')
    await assert.rejects(files().getInfo('~other/x'), InvalidArgumentError)
  })

  test('exists', async () => {
    assert.equal(await files().exists('.'), true)
    assert.equal(await files().exists('never'), false)
    assert.equal(await files().exists('/etc/passwd'), true)
  })

  test('makeDir is true once, with parents', async () => {
    assert.equal(await files().makeDir('md/a/b'), true)
    assert.equal(await files().makeDir('md/a/b'), false)
    await files().write('md/file', '')
    await assert.rejects(files().makeDir('md/file'), InvalidArgumentError)
    assert.equal((await files().getInfo('md/a')).owner, 'user')
  })

  test('rename files and directories', async () => {
    await files().write('mv/a.txt', 'a')
    const moved = await files().rename('mv/a.txt', 'mv/new/parent/b.txt')
    assert.equal(moved.path, '/home/user/mv/new/parent/b.txt')
    assert.equal(moved.name, 'b.txt')
    assert.equal(await files().exists('mv/a.txt'), false)
    await files().rename('mv/new', 'mv/newer')
    assert.equal(await files().read('mv/newer/parent/b.txt'), 'a')
    await assert.rejects(files().rename('mv/none', 'mv/x'), FileNotFoundError)
  })

  test('remove files, trees and nothing', async () => {
    await files().write('rm/a/b/c', '1')
    await files().remove('rm/a/b/c')
    assert.equal(await files().exists('rm/a/b/c'), false)
    await files().remove('rm')
    assert.equal(await files().exists('rm'), false)
    await files().remove('rm')
  })
})

describe('errors', { concurrency: 4 }, () => {
  test('what is missing is FileNotFoundError', async () => {
    for (const call of [
      () => files().read('none'),
      () => files().read('none', { format: 'bytes' }),
      () => files().read('none', { format: 'stream' }),
      () => files().getInfo('none'),
      () => files().list('none'),
      () => files().watchDir('none', () => {}),
    ]) {
      await assert.rejects(call(), (e) => {
        assert.ok(e instanceof FileNotFoundError, `${e.constructor.name}: ${e.message}`)
        assert.ok(e instanceof NotFoundError)
        return true
      })
    }
  })

  test('the wrong kind is InvalidArgumentError', async () => {
    await files().write('wrong/file', 'x')
    await assert.rejects(files().read('wrong'), InvalidArgumentError)
    await assert.rejects(files().write('wrong', 'x'), InvalidArgumentError)
    await assert.rejects(files().list('wrong/file'), InvalidArgumentError)
    await assert.rejects(files().watchDir('wrong/file', () => {}), InvalidArgumentError)
  })

  test('what cannot be done is a SandboxError', async () => {
    await assert.rejects(files().write('/etc/passwd/x', 'x'), SandboxError)
    await assert.rejects(files().write('/proc/version', 'x'), SandboxError)
    await assert.rejects(files().rename('/proc/version', 'x'), SandboxError)
  })
})
