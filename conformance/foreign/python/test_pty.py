import asyncio
import re

import e2b
import pytest


class Terminal:
    """A terminal whose output is read all the time, by either client."""

    def __init__(self, client, box):
        self.client, self.box, self.output, self.handle, self.reading = client, box, b"", None, None

    def _take(self, data):
        self.output += data

    async def _hold(self, opening):
        self.handle = await opening
        if not self.client.is_async:
            self.reading = asyncio.create_task(asyncio.to_thread(self.handle.wait, on_pty=self._take))
        return self

    def _callback(self):
        return {"on_data": self._take} if self.client.is_async else {}

    async def create(self, rows=24, cols=80, **kwargs):
        size = e2b.PtySize(rows=rows, cols=cols)
        return await self._hold(self.client(self.box.pty.create, size=size, **self._callback(), **kwargs))

    async def connect(self, pid):
        return await self._hold(self.client(self.box.pty.connect, pid, **self._callback()))

    async def type(self, text):
        await self.client(self.box.pty.send_stdin, self.handle.pid, text.encode())

    def shows(self, text):
        return lambda: text.encode() in self.output

    async def wait(self):
        return await (self.reading or self.client.wait(self.handle))


@pytest.fixture
def terminal(client, box):
    return lambda: Terminal(client, box)


async def test_size_and_resize(client, box, terminal, until):
    term = await terminal().create(rows=33, cols=91, timeout=0)
    await term.type("stty size; tty; echo $TERM $LANG\n")
    await until("33 91", term.shows("33 91\r\n/dev/pts/"))
    await until("TERM", term.shows("xterm-256color C.UTF-8\r\n"))
    await client(box.pty.resize, term.handle.pid, e2b.PtySize(rows=40, cols=120))
    await term.type("stty size\n")
    await until("40 120", term.shows("40 120\r\n"))
    await term.type("exit 6\n")
    with pytest.raises(e2b.CommandExitException) as caught:
        await term.wait()
    assert caught.value.exit_code == 6


async def test_environment_directory_user(terminal):
    term = await terminal().create(envs={"MINE": "my own"}, cwd="/tmp", user="root")
    await term.type('echo "[$MINE] $(pwd) $(id -u)"; exit\n')
    await term.wait()
    assert b"[my own] /tmp 0\r\n" in term.output


async def test_control_c_and_kill(client, box, terminal, until):
    term = await terminal().create()
    await until("a prompt", term.shows("$ "))
    await term.type("sleep 61\n")

    async def sleeps():
        return re.search(r"\+ +sleep 61", (await client(box.commands.run, "ps -eo stat,args")).stdout)

    # Earlier than this the signal would meet a shell that is still starting it.
    await until("sleep runs", sleeps)
    await term.type("\x03")
    await until("a prompt again", lambda: term.output.count(b"$ ") > 1)
    await term.type('echo sta""tus $?\n')
    await until("130", term.shows("status 130"))
    assert await client(box.pty.kill, term.handle.pid) is True
    with pytest.raises(e2b.CommandExitException) as caught:
        await term.wait()
    assert caught.value.exit_code == -1
    assert await client(box.pty.kill, term.handle.pid) is False


async def test_connect_from_a_second_handle(client, box, terminal, until):
    first = await terminal().create(timeout=0)
    await first.type("export KEPT=kept\n")
    await until("the echo", first.shows("KEPT"))
    if client.is_async:
        await first.handle.disconnect()
    second = await terminal().connect(first.handle.pid)
    await second.type('echo "<$KEPT> 世界"; exit\n')
    await second.wait()
    assert "<kept> 世界".encode() in second.output
    if first.reading:
        await first.reading


async def test_stream_input(client, box, terminal):
    term = await terminal().create()
    if client.is_async:
        async with box.pty.stream_input(term.handle.pid) as stream:
            await stream.send(b"echo one\n")
            await stream.send("exit\n")
    else:
        await asyncio.to_thread(box.pty.stream_input, term.handle.pid, [b"echo one\n", "exit\n"])
    await term.wait()
    # What is typed ahead may be echoed between the two: the line starts after either end of a line.
    assert re.search(rb"[\r\n]one\r\n", term.output)


async def test_an_unknown_pid(client, box, terminal):
    with pytest.raises(e2b.NotFoundException):
        await terminal().connect(4_000_000)
    with pytest.raises(e2b.NotFoundException):
        await client(box.pty.send_stdin, 4_000_000, b"x")
    with pytest.raises(e2b.NotFoundException):
        await client(box.pty.resize, 4_000_000, e2b.PtySize(rows=1, cols=1))
    assert await client(box.pty.kill, 4_000_000) is False
