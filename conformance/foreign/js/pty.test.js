import { describe, test } from 'node:test'
import { CommandExitError, NotFoundError } from 'e2b'
import { assert, sandbox, until } from './sandbox.js'

const held = sandbox()
const encode = (text) => new TextEncoder().encode(text)

function screen() {
  const parts = []
  return { onData: (data) => parts.push(Buffer.from(data)), text: () => Buffer.concat(parts).toString() }
}

describe('pty', { concurrency: 3 }, () => {
  test('is a terminal of the size asked for, and resizes', async () => {
    const out = screen()
    const pty = await held.box.pty.create({ cols: 91, rows: 33, onData: out.onData, timeoutMs: 0 })
    await held.box.pty.sendInput(pty.pid, encode('stty size; tty; echo $TERM $LANG\n'))
    await until('33 91', () => /33 91\r\n\/dev\/pts\/\d+\r\nxterm-256color C.UTF-8\r\n/.test(out.text()))
    await held.box.pty.resize(pty.pid, { cols: 120, rows: 40 })
    await held.box.pty.sendInput(pty.pid, encode('stty size\n'))
    await until('40 120', () => out.text().includes('40 120\r\n'))
    await held.box.pty.sendInput(pty.pid, encode('exit 6\n'))
    await assert.rejects(pty.wait(), (e) => e instanceof CommandExitError && e.exitCode === 6)
  })

  test('environment, directory, user', async () => {
    const out = screen()
    const pty = await held.box.pty.create({
      cols: 80, rows: 24, onData: out.onData, envs: { MINE: 'my own' }, cwd: '/tmp', user: 'root',
    })
    await held.box.pty.sendInput(pty.pid, encode('echo "[$MINE] $(pwd) $(id -u)"; exit\n'))
    await pty.wait()
    assert.ok(out.text().includes('[my own] /tmp 0\r\n'), out.text())
  })

  test('control-C interrupts the foreground command, not the shell', async () => {
    const out = screen()
    const prompts = (n) => () => out.text().split('$ ').length > n
    const pty = await held.box.pty.create({ cols: 80, rows: 24, onData: out.onData })
    await until('a prompt', prompts(1))
    await held.box.pty.sendInput(pty.pid, encode('sleep 61\n'))
    // Earlier than this the signal would meet a shell that is still starting it.
    await until('sleep runs', async () => (await held.box.commands.run('ps -eo stat,args')).stdout.match(/\+ +sleep 61/))
    await held.box.pty.sendInput(pty.pid, encode('\x03'))
    await until('a prompt again', prompts(2))
    await held.box.pty.sendInput(pty.pid, encode('echo sta""tus $?\n'))
    await until('status 130', () => out.text().includes('status 130'))
    assert.equal(await held.box.pty.kill(pty.pid), true)
    await assert.rejects(pty.wait(), { exitCode: -1 })
    assert.equal(await held.box.pty.kill(pty.pid), false)
  })

  test('disconnect and connect again', async () => {
    const first = screen()
    const pty = await held.box.pty.create({ cols: 80, rows: 24, onData: first.onData, timeoutMs: 0 })
    await held.box.pty.sendInput(pty.pid, encode('export KEPT=kept\n'))
    await until('the echo', () => first.text().includes('KEPT'))
    await pty.disconnect()
    const second = screen()
    const again = await held.box.pty.connect(pty.pid, { onData: second.onData })
    assert.equal(again.pid, pty.pid)
    await held.box.pty.sendInput(pty.pid, encode('echo "<$KEPT>"; exit\n'))
    await again.wait()
    assert.ok(second.text().includes('<kept>'), second.text())
  })

  test('wide characters and much output', async () => {
    const out = screen()
    const pty = await held.box.pty.create({ cols: 200, rows: 50, onData: out.onData })
    await held.box.pty.sendInput(pty.pid, encode('seq 20000; echo 世界 🚀; exit\n'))
    await pty.wait()
    assert.ok(out.text().includes('\r\n19999\r\n20000\r\n世界 🚀\r\n'))
  })

  test('an unknown pid', async () => {
    await assert.rejects(held.box.pty.connect(4_000_000, { onData() {} }), NotFoundError)
    await assert.rejects(held.box.pty.sendInput(4_000_000, encode('x')), NotFoundError)
    await assert.rejects(held.box.pty.resize(4_000_000, { cols: 1, rows: 1 }), NotFoundError)
    assert.equal(await held.box.pty.kill(4_000_000), false)
  })
})
