import asyncio
import gzip as gz
import io
import os

import e2b
import httpx
import pytest

NOISE = os.urandom(300_000)


class Chunks:
    """Bytes in pieces, for both kinds of iteration."""

    def __init__(self, *parts):
        self.parts = parts

    def of(self, client):
        async def async_parts():
            for part in self.parts:
                yield part

        return async_parts() if client.is_async else iter(self.parts)


INPUTS = {
    "text": ("grüße 世界 🚀\r\n\0", "grüße 世界 🚀\r\n\0".encode()),
    "empty": ("", b""),
    "bytes": (NOISE, NOISE),
    "file": (lambda _: io.BytesIO(NOISE), NOISE),
    "iterable": (lambda client: Chunks(NOISE[:70_000], NOISE[70_000:]).of(client), NOISE),
}


@pytest.mark.parametrize("way", [{}, {"gzip": True}, {"use_octet_stream": True}], ids=["default", "gzip", "octet"])
@pytest.mark.parametrize("kind", INPUTS)
async def test_write_then_read(client, box, kind, way):
    data, wanted = INPUTS[kind]
    path = f"rw/{kind} {'-'.join(way)} é.bin"
    info = await client(box.files.write, path, data(client) if callable(data) else data, **way)
    assert (info.name, info.type, info.path) == (path[3:], e2b.FileType.FILE, f"/home/user/{path}")
    assert bytes(await client(box.files.read, path, format="bytes")) == wanted


async def collect(client, reader):
    if client.is_async:
        return b"".join([part async for part in reader])
    return b"".join(await asyncio.to_thread(list, reader))


@pytest.mark.parametrize("gzip", [False, True])
async def test_every_read_format(client, box, gzip):
    text = "line é\n" * 5000
    await client(box.files.write, "formats.txt", text)
    assert await client(box.files.read, "formats.txt", gzip=gzip) == text
    got = await client(box.files.read, "formats.txt", format="bytes", gzip=gzip)
    assert isinstance(got, bytearray) and got == text.encode()
    reader = await client(box.files.read, "formats.txt", format="stream", gzip=gzip)
    assert await collect(client, reader) == text.encode()
    await client(box.files.write, "none.txt", "")
    assert await client(box.files.read, "none.txt", gzip=gzip) == ""
    assert await client(box.files.read, "none.txt", format="bytes", gzip=gzip) == b""
    assert await collect(client, await client(box.files.read, "none.txt", format="stream", gzip=gzip)) == b""


async def test_leaving_a_stream_half_way(client, box):
    await client(box.commands.run, "head -c 30000000 /dev/zero > zeros")
    reader = await client(box.files.read, "zeros", format="stream")
    if client.is_async:
        assert await anext(reader)
        await reader.aclose()
    else:
        assert await asyncio.to_thread(next, reader)
        reader.close()
    assert await client(box.files.exists, "zeros")


async def test_ten_megabytes_of_noise(client, box):
    noise = os.urandom(10 << 20)
    await client(box.files.write, "noise", noise)
    assert bytes(await client(box.files.read, "noise", format="bytes")) == noise


async def test_a_shorter_write_leaves_nothing(client, box):
    await client(box.files.write, "shrink", "long content")
    await client(box.files.write, "shrink", "short")
    assert await client(box.files.read, "shrink") == "short"


async def test_many_files_in_one_call(client, box):
    many = [{"path": f"many/d{i % 3}/f {i}é.txt", "data": f"content {i}"} for i in range(12)]
    infos = await client(box.files.write_files, many)
    assert sorted(i.path for i in infos) == sorted(f"/home/user/{f['path']}" for f in many)
    for file in many:
        assert await client(box.files.read, file["path"]) == file["data"]
    mixed = [{"path": "/tmp/abs 文件", "data": b"b"}, {"path": "many/io", "data": io.BytesIO(b"io")}]
    for way in ({}, {"gzip": True}, {"use_octet_stream": True}):
        mixed[1]["data"] = io.BytesIO(b"io")
        infos = await client(box.files.write_files, mixed, **way)
        assert [i.path for i in infos] == ["/tmp/abs 文件", "/home/user/many/io"]
        assert await client(box.files.read, "many/io") == "io"
    assert await client(box.files.write_files, []) == []


async def test_parallel_writes_into_one_new_directory(client, box):
    await asyncio.gather(*(client(box.files.write, f"race/a/b/{i}", str(i)) for i in range(8)))
    assert len(await client(box.files.list, "race/a/b")) == 8


async def test_user_decides_home_and_owner(client, box):
    await client(box.files.write, "roots.txt", "r", user="root")
    info = await client(box.files.get_info, "/root/roots.txt", user="root")
    # An ordinary user's server has one id for everybody inside.
    ids = (await client(box.commands.run, "awk '{ n += $3 } END { print n }' /proc/self/uid_map")).stdout
    owner = "user" if ids == "1\n" else "root"
    assert (info.owner, info.group) == (owner, owner)
    assert await client(box.files.read, "roots.txt", user="root") == "r"
    with pytest.raises(e2b.AuthenticationException):
        await client(box.files.read, "x", user="nobody-here")
    with pytest.raises(e2b.AuthenticationException):
        await client(box.files.list, ".", user="nobody-here")


async def test_metadata(client, box):
    written = await client(box.files.write, "meta.txt", "x", metadata={"Color": "dark blue", "n": "1"})
    assert written.metadata == {"color": "dark blue", "n": "1"}
    assert (await client(box.files.get_info, "meta.txt")).metadata == {"color": "dark blue", "n": "1"}
    (entry,) = [e for e in await client(box.files.list, ".") if e.name == "meta.txt"]
    assert entry.metadata == {"color": "dark blue", "n": "1"}
    await client(box.files.write, "meta.txt", "y", metadata={"other": "z"}, use_octet_stream=True)
    assert (await client(box.files.get_info, "meta.txt")).metadata == {"other": "z"}
    await client(box.files.write, "meta.txt", "z")
    assert not (await client(box.files.get_info, "meta.txt")).metadata
    with pytest.raises(e2b.InvalidArgumentException):
        await client(box.files.write, "meta.txt", "z", metadata={"k": "é"})


async def test_list_depth(client, box):
    files = [{"path": p, "data": ""} for p in ("tree/a/b/c.txt", "tree/z.txt", "tree/.hidden")]
    await client(box.files.write_files, files)

    async def names(depth):
        return [e.name for e in await client(box.files.list, "tree", depth=depth)]

    assert await names(1) == [".hidden", "a", "z.txt"]
    assert await names(2) == [".hidden", "a", "b", "z.txt"]
    assert await names(3) == [".hidden", "a", "b", "c.txt", "z.txt"]
    with pytest.raises(e2b.InvalidArgumentException):
        await names(0)
    await client(box.files.make_dir, "nothing-inside")
    assert await client(box.files.list, "nothing-inside") == []


async def test_info(client, box):
    script = "rm -rf kinds; mkdir kinds && cd kinds && printf 12345 > f && chmod 640 f && ln -s f l && mkdir d && ln -s gone dead"
    await client(box.commands.run, script)
    info = await client(box.files.get_info, "kinds/f")
    assert (info.name, info.type, info.path) == ("f", e2b.FileType.FILE, "/home/user/kinds/f")
    assert (info.size, info.mode, info.permissions) == (5, 0o640, "-rw-r-----")
    assert (info.owner, info.group, info.symlink_target) == ("user", "user", None)
    assert info.modified_time.tzinfo is not None
    assert (await client(box.files.get_info, "kinds/d")).type == e2b.FileType.DIR
    assert (await client(box.files.get_info, "kinds/l")).symlink_target == "/home/user/kinds/f"
    assert [e.name for e in await client(box.files.list, "kinds")] == ["d", "f", "l"]


async def test_exists_make_rename_remove(client, box):
    files = box.files
    await client(files.remove, "tree2")
    assert await client(files.exists, "tree2") is False
    assert await client(files.make_dir, "tree2/a/b") is True
    assert await client(files.make_dir, "tree2/a/b") is False
    await client(files.write, "tree2/file", "content")
    with pytest.raises(e2b.InvalidArgumentException):
        await client(files.make_dir, "tree2/file")
    moved = await client(files.rename, "tree2/file", "tree2/new/parent/moved")
    assert (moved.path, moved.name) == ("/home/user/tree2/new/parent/moved", "moved")
    assert await client(files.exists, "tree2/file") is False
    assert await client(files.read, "tree2/new/parent/moved") == "content"
    with pytest.raises(e2b.FileNotFoundException):
        await client(files.rename, "tree2/none", "tree2/x")
    await client(files.remove, "tree2")
    assert await client(files.exists, "tree2") is False
    await client(files.remove, "tree2")


async def test_missing_files(client, box):
    files = box.files
    for call in (
        lambda: client(files.read, "none"),
        lambda: client(files.read, "none", format="bytes"),
        lambda: client(files.read, "none", format="stream"),
        lambda: client(files.get_info, "none"),
        lambda: client(files.list, "none"),
    ):
        with pytest.raises(e2b.FileNotFoundException):
            await call()


async def test_the_wrong_kind(client, box):
    await client(box.files.write, "wrong/file", "x")
    for call in (
        lambda: client(box.files.read, "wrong"),
        lambda: client(box.files.write, "wrong", "x"),
        lambda: client(box.files.list, "wrong/file"),
        lambda: client(box.files.get_info, "~other/x"),
    ):
        with pytest.raises(e2b.InvalidArgumentException):
            await call()


async def test_signed_urls(client, box):
    await client(box.files.write, "signed é.txt", "content é")
    async with httpx.AsyncClient() as http:
        for kwargs in ({}, {"use_signature_expiration": 60}, {"user": "user"}):
            url = await client(box.download_url, "/home/user/signed é.txt", **kwargs)
            answer = await http.get(url)
            assert (answer.status_code, answer.text) == (200, "content é"), url
        part = await http.get(url, headers={"Range": "bytes=3-5", "Accept-Encoding": "identity"})
        assert (part.status_code, part.text) == (206, "ten")
        zipped = await http.get(url, headers={"Accept-Encoding": "gzip"})
        assert (zipped.headers["content-encoding"], zipped.text) == ("gzip", "content é")

        up = await client(box.upload_url, "up/to.txt", use_signature_expiration=60)
        assert (await http.post(up, files={"file": ("x", b"uploaded")})).status_code == 200
        assert await client(box.files.read, "up/to.txt") == "uploaded"
        body = gz.compress(b"raw zipped")
        headers = {"Content-Type": "application/octet-stream", "Content-Encoding": "gzip"}
        assert (await http.post(up, content=body, headers=headers)).status_code == 200
        assert await client(box.files.read, "up/to.txt") == "raw zipped"

        assert (await http.get(up)).status_code == 401
        brief = await client(box.download_url, "up/to.txt", use_signature_expiration=1)
        await asyncio.sleep(2.2)
        assert (await http.get(brief)).status_code == 401
        assert (await http.get(brief.replace("to.txt", "xx.txt"))).status_code == 401
