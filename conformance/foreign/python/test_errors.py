import asyncio
import time

import e2b
import pytest

NOT_RUNNING = (e2b.SandboxNotRunningException, e2b.SandboxNotFoundException)


async def test_a_wrong_key(client):
    key, unknown = "e2b_" + "f" * 40, "i" + "0" * 20
    for call in (
        lambda: client.create(api_key=key),
        lambda: client(client.Sandbox.connect, unknown, api_key=key),
        lambda: client(client.Sandbox.kill, unknown, api_key=key),
        lambda: client(client.Sandbox.get_info, unknown, api_key=key),
        lambda: client(client.Sandbox.list(api_key=key).next_items),
    ):
        with pytest.raises(e2b.AuthenticationException) as caught:
            await call()
        assert key not in str(caught.value)


async def test_a_sandbox_killed_before(client):
    box = await client.create()
    await client(box.kill)
    size = e2b.PtySize(rows=24, cols=80)
    pty = {"size": size, "on_data": print} if client.is_async else {"size": size}
    watch = {"on_event": print} if client.is_async else {}
    for name, call in {
        "run": lambda: client(box.commands.run, "true"),
        "background": lambda: client(box.commands.run, "true", background=True),
        "list": lambda: client(box.commands.list),
        "connect": lambda: client(box.commands.connect, 1),
        "read": lambda: client(box.files.read, "x"),
        "write": lambda: client(box.files.write, "x", "y"),
        "files": lambda: client(box.files.list, "."),
        "exists": lambda: client(box.files.exists, "x"),
        "watch": lambda: client(box.files.watch_dir, ".", **watch),
        "pty": lambda: client(box.pty.create, **pty),
    }.items():
        with pytest.raises(NOT_RUNNING):
            await call()
            pytest.fail(name)


async def test_a_sandbox_killed_under_a_command(client, until):
    box = await client.create()
    waiting = asyncio.create_task(client(box.commands.run, "sleep 60"))

    async def runs():
        return len(await client(box.commands.list)) == 1

    await until("it runs", runs)
    await client(box.kill)
    began = time.monotonic()
    with pytest.raises(e2b.SandboxNotRunningException):
        await waiting
    assert time.monotonic() - began < 5


async def test_a_wrong_envd_token(client, create):
    box = await create()
    other = client.Sandbox(
        sandbox_id=box.sandbox_id,
        sandbox_domain=box.sandbox_domain,
        envd_version=box._envd_version,
        envd_access_token="wrong",
        traffic_access_token=None,
        connection_config=e2b.ConnectionConfig(extra_sandbox_headers={
            "E2b-Sandbox-Id": box.sandbox_id, "E2b-Sandbox-Port": "49983", "X-Access-Token": "wrong",
        }),
    )
    for call in (
        lambda: client(other.commands.run, "true"),
        lambda: client(other.commands.list),
        lambda: client(other.files.read, ".bashrc"),
        lambda: client(other.files.write, "x", "y"),
        lambda: client(other.files.list, "."),
    ):
        with pytest.raises(e2b.AuthenticationException):
            await call()
    assert await client(other.is_running) is True


async def test_paused_without_auto_resume(client, create):
    box = await create()
    await client(box.pause)
    for call in (lambda: client(box.commands.run, "true", timeout=5), lambda: client(box.files.read, "x")):
        with pytest.raises(e2b.SandboxException):
            await call()
    await client(box.connect)
    assert (await client(box.commands.run, "echo on")).stdout == "on\n"


async def test_a_full_disk(client, create):
    box = await create()
    free = int((await client(box.commands.run, "df --output=avail -B1 /home/user | tail -1")).stdout)
    if free > 2**33:
        pytest.skip(f"no small disk on this machine: {free} bytes free")
    await client(box.commands.run, f"fallocate -l {free - 65536} fill || head -c {free} /dev/zero > fill || true")
    # The answer comes in the middle of the upload, and must reach the client every time.
    for way in [{}, {"use_octet_stream": True}] * 5:
        with pytest.raises(e2b.NotEnoughSpaceException):
            await client(box.files.write, "more", b"\0" * (4 << 20), **way)


async def test_cancelling_a_task(client, box):
    if not client.is_async:
        pytest.skip("the blocking client has nothing to cancel")
    task = asyncio.create_task(box.commands.run("sleep 30"))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await box.commands.run("echo fine")).stdout == "fine\n"
