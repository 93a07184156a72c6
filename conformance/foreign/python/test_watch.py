import e2b
import pytest

CREATE, WRITE = e2b.FilesystemEventType.CREATE, e2b.FilesystemEventType.WRITE
REMOVE, RENAME = e2b.FilesystemEventType.REMOVE, e2b.FilesystemEventType.RENAME
CHMOD = e2b.FilesystemEventType.CHMOD


class Watch:
    """Events of a directory: pushed to the asyncio client, polled by the other."""

    def __init__(self, client, box):
        self.client, self.box, self.events, self.exits = client, box, [], []

    async def start(self, path, **kwargs):
        if self.client.is_async:
            kwargs.update(on_event=self.events.append, on_exit=self.exits.append)
        self.handle = await self.client(self.box.files.watch_dir, path, **kwargs)
        return self

    async def seen(self, kind, name):
        if not self.client.is_async:
            self.events += await self.client(self.handle.get_new_events)
        return any((e.type, e.name) == (kind, name) for e in self.events)

    async def stop(self):
        await self.client(self.handle.stop)


@pytest.fixture
def watch(client, box):
    return Watch(client, box)


async def test_every_kind_of_event(client, box, watch, until):
    await client(box.files.make_dir, "w1")
    await watch.start("w1")
    await client(box.files.write, "w1/a.txt", "x")
    await until("create", lambda: watch.seen(CREATE, "a.txt"))
    await until("write", lambda: watch.seen(WRITE, "a.txt"))
    await client(box.commands.run, "chmod 600 w1/a.txt")
    await until("chmod", lambda: watch.seen(CHMOD, "a.txt"))
    await client(box.files.rename, "w1/a.txt", "w1/b.txt")
    await until("rename", lambda: watch.seen(RENAME, "a.txt"))
    await until("create", lambda: watch.seen(CREATE, "b.txt"))
    await client(box.files.remove, "w1/b.txt")
    await until("remove", lambda: watch.seen(REMOVE, "b.txt"))
    assert all(e.entry is None for e in watch.events)
    await watch.stop()


async def test_recursive_with_entries(client, box, watch, until):
    await client(box.files.make_dir, "w2")
    await watch.start("w2", recursive=True, include_entry=True)
    await client(box.commands.run, "mkdir -p w2/x/y/z && echo hi > w2/x/y/z/é.txt")
    for name in ("x", "x/y", "x/y/z", "x/y/z/é.txt"):
        await until(name, lambda: watch.seen(CREATE, name))
    entry = [e.entry for e in watch.events if e.name == "x/y/z/é.txt" and e.entry][0]
    assert (entry.path, entry.type) == ("/home/user/w2/x/y/z/é.txt", e2b.FileType.FILE)
    await watch.stop()


async def test_stop_ends_the_events(client, box, watch, until):
    await client(box.files.make_dir, "w3")
    await watch.start("w3")
    await client(box.files.write, "w3/one", "")
    await until("one", lambda: watch.seen(CREATE, "one"))
    await watch.stop()
    before = len(watch.events)
    await client(box.files.write, "w3/two", "")
    if client.is_async:
        await until("on_exit", lambda: len(watch.exits) == 1)
        assert watch.exits == [None]
        assert len(watch.events) == before
    else:
        with pytest.raises(e2b.SandboxException):
            await client(watch.handle.get_new_events)


async def test_nothing_happened(client, box, watch):
    await client(box.files.make_dir, "w4")
    await watch.start("w4")
    if not client.is_async:
        assert await client(watch.handle.get_new_events) == []
    await watch.stop()


async def test_what_cannot_be_watched(client, box, watch):
    with pytest.raises(e2b.FileNotFoundException):
        await watch.start("none")
    await client(box.files.write, "w5", "a file")
    with pytest.raises(e2b.InvalidArgumentException):
        await watch.start("w5")


async def test_a_timeout_ends_it(client, box, watch, until):
    if not client.is_async:
        pytest.skip("the blocking client polls: it has no such timeout")
    await client(box.files.make_dir, "w6")
    await watch.start("w6", timeout=0.4)
    await until("on_exit", lambda: watch.exits)
    assert isinstance(watch.exits[0], e2b.TimeoutException)
