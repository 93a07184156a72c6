"""The asyncio classes against a real local server."""

from __future__ import annotations

import asyncio
import gc
import os
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_sandbox import (
    CancelledOperationError,
    CommandExitError,
    CommandTimeoutError,
    InvalidArgumentError,
    Sandbox,
    SandboxFileNotFoundError,
)
from agent_sandbox._engine import driver
from agent_sandbox._engine.engine import engine

Test = Callable[[Sandbox], Awaitable[None]]


def run(options: dict[str, Any], test: Test) -> None:
    """Runs a test with a sandbox, on a loop of its own, which leaves nothing behind."""

    async def main() -> None:
        async with Sandbox.create("base", **options) as sandbox:
            await asyncio.wait_for(test(sandbox), 60)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(main())
        gc.collect()
    assert not driver._drivers
    assert not engine()._targets


async def gone(sandbox: Sandbox) -> None:
    """Waits until no command runs any more."""
    for _ in range(400):
        if not await sandbox.commands.list():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(await sandbox.commands.list())


def test_a_command(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        result = await sandbox.commands.run("echo hello; echo oops >&2; exit 3")
        assert (result.stdout, result.stderr, result.exit_code, result.ok) == ("hello\n", "oops\n", 3, False)
        assert (await sandbox.commands.run(["echo", "$HOME"])).stdout == "$HOME\n"
        with pytest.raises(CommandExitError) as raised:
            await sandbox.commands.run("echo a; exit 1", check=True)
        assert raised.value.partial.stdout == "a\n"
        killed = await sandbox.commands.run("kill -9 $$")
        assert (killed.exit_code, killed.signal) == (137, "killed")

    run(options, test)


def test_a_sandbox_can_be_awaited_or_entered(options: dict[str, Any]) -> None:
    async def main() -> None:
        async with await Sandbox.create("base", **options) as one, Sandbox.create("base", **options) as two:
            assert one.sandbox_id != two.sandbox_id
            assert one.sandbox_id in repr(one)
            assert options["api_key"] not in repr(one) + repr(vars(one)) + repr(one.commands)
            again = Sandbox.from_json(one.to_json(), **options)
            assert await again.is_running()
            assert (await Sandbox.get_info(one.sandbox_id, **options)).sandbox_id == one.sandbox_id
            found = [info.sandbox_id async for info in Sandbox.list(**options)]
            assert {one.sandbox_id, two.sandbox_id} <= set(found)
        assert not await again.is_running()
        assert await Sandbox.kill(one.sandbox_id, **options) is False

    asyncio.run(main())


def test_callbacks_are_awaited_in_order(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        seen: list[str] = []
        running = 0

        async def slow(text: str) -> None:
            nonlocal running
            running += 1
            assert running == 1
            await asyncio.sleep(0.01)
            seen.append(text)
            running -= 1

        result = await sandbox.commands.run("for i in 1 2 3 4 5; do echo $i; done", on_stdout=slow)
        assert "".join(seen) == result.stdout == "1\n2\n3\n4\n5\n"

    run(options, test)


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError()])
def test_a_callback_may_raise_anything(options: dict[str, Any], error: BaseException) -> None:
    async def test(sandbox: Sandbox) -> None:
        def fail(text: str) -> None:
            raise error

        with pytest.raises(type(error)):
            await sandbox.commands.run("echo a; sleep 100", on_stdout=fail)
        await gone(sandbox)

    run(options, test)


def test_a_callback_may_kill_and_disconnect_but_not_wait(options: dict[str, Any]) -> None:
    endless = "while true; do echo a; sleep 0.01; done"

    async def test(sandbox: Sandbox) -> None:
        made: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        async def use(method: str, wrap: Callable[[Any], Any] = lambda call: call) -> None:
            returned = getattr(await made, method)()
            if returned is not None:
                await wrap(returned)

        async def started(how: Callable[[], Any]) -> Any:
            nonlocal made
            made = asyncio.get_running_loop().create_future()
            handle = await sandbox.commands.run(endless, background=True, on_stdout=lambda _: how())
            made.set_result(handle)
            return handle

        killed = await started(lambda: use("kill"))
        assert (await asyncio.wait_for(killed.wait(), 10)).signal == "killed"
        left = await started(lambda: use("disconnect"))
        with pytest.raises(CancelledOperationError):
            await asyncio.wait_for(left.wait(), 10)
        await left.kill()
        for wrap in (lambda call: call, asyncio.create_task, lambda call: asyncio.wait_for(call, 60)):
            waiting = await started(lambda wrap=wrap: use("wait", wrap))
            with pytest.raises(RuntimeError, match="inside a callback"):
                await asyncio.wait_for(waiting.wait(), 10)
            await waiting.kill()

    run(options, test)


def test_a_task_that_a_callback_leaves_behind_may_wait(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        ended: list[asyncio.Task[Any]] = []

        def watch(text: str) -> None:
            ended.append(asyncio.create_task(handle.wait()))

        handle = await sandbox.commands.run("sleep 0.2; echo a; sleep 0.2", background=True, on_stdout=watch)
        assert (await handle.wait()).ok
        assert (await ended[0]).ok

    run(options, test)


def test_a_cancelled_task_ends_at_once_and_so_does_the_command(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        came = asyncio.Event()
        task = asyncio.create_task(sandbox.commands.run("echo a; sleep 100", on_stdout=lambda _: came.set()))
        await came.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as raised:
            await task
        # Python 3.10 wraps it in another one.
        own = raised.value if hasattr(raised.value, "sandbox_error") else raised.value.__context__
        about = own.sandbox_error  # type: ignore[union-attr]
        assert isinstance(about, CancelledOperationError) and about.partial.stdout == "a\n" and about.pid
        await gone(sandbox)

    run(options, test)


def test_tails_are_drained_before_the_loop_ends(options: dict[str, Any]) -> None:
    """asyncio.run ends while a command runs: the command must be killed all the same."""
    handle: list[str] = []

    async def leaving() -> None:
        sandbox = await Sandbox.create("base", **options)
        handle.append(sandbox.to_json())
        came = asyncio.Event()
        task = asyncio.create_task(sandbox.commands.run("echo a; sleep 100", on_stdout=lambda _: came.set()))
        await came.wait()
        del task

    asyncio.run(leaving())

    async def looking() -> None:
        async with Sandbox.from_json(handle[0], **options) as sandbox:
            await gone(sandbox)

    asyncio.run(looking())


def test_many_loops_one_after_the_other(options: dict[str, Any]) -> None:
    sandbox = asyncio.run(Sandbox.create("base", **options)._make())
    for n in range(20):
        assert asyncio.run(sandbox.commands.run(f"echo {n}")).stdout == f"{n}\n"  # type: ignore[arg-type]
    assert not driver._drivers
    asyncio.run(sandbox.kill())  # type: ignore[arg-type]


def test_a_loop_that_is_closed_without_a_word(options: dict[str, Any]) -> None:
    loop = asyncio.new_event_loop()
    sandbox = loop.run_until_complete(Sandbox.create("base", **options))
    task = loop.create_task(sandbox.commands.run("sleep 100"))
    loop.run_until_complete(asyncio.sleep(0.2))
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.close()
    del task
    gc.collect()
    asyncio.run(gone(sandbox))
    asyncio.run(sandbox.kill())  # type: ignore[arg-type]
    assert not engine()._targets


def test_sandboxes_leave_no_descriptor(options: dict[str, Any]) -> None:
    async def test(_: Sandbox) -> None:
        left = []
        for _ in range(12):
            await (await Sandbox.create("base", **options)).kill()
            left.append(len(os.listdir("/proc/self/fd")))
        assert left[-1] <= left[1] + 1, left

    run(options, test)


def test_a_background_command(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        seen: list[str] = []
        handle = await sandbox.commands.run("cat", background=True, stdin=True, on_stdout=seen.append)
        assert handle.pid and handle.exit_code is None
        await handle.send_stdin("one\n")
        await sandbox.commands.send_stdin(handle.pid, b"two\n")
        await handle.close_stdin()
        result = await handle.wait()
        assert result.stdout == handle.stdout == "".join(seen) == "one\ntwo\n"
        assert handle.exit_code == 0
        assert [o.text async for o in handle] == [o.text async for o in handle]
        sleeper = await sandbox.commands.run("sleep 100", background=True)
        assert await sleeper.kill()
        assert (await sleeper.wait()).signal == "killed"
        assert not await sleeper.kill()

    run(options, test)


def test_output_that_is_not_kept_waits_for_its_reader(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        size = 20_000_000
        handle = await sandbox.commands.run(f"head -c {size} /dev/zero", background=True, retain_output=False)
        await asyncio.sleep(0.5)
        operation = handle._process._operation
        assert operation.produced < size / 2, "nobody reads, and yet it goes on"
        assert sum([len(o.data) async for o in handle]) == size
        assert handle.stdout == ""

    run(options, test)


def test_disconnect_leaves_the_command_alone(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        handle = await sandbox.commands.run("sleep 100", background=True, tag="mine")
        handle.disconnect()
        with pytest.raises(CancelledOperationError):
            await asyncio.wait_for(handle.wait(), 5)
        assert [p.tag for p in await sandbox.commands.list()] == ["mine"]
        again = await sandbox.commands.connect(tag="mine")
        assert await sandbox.commands.kill(tag="mine")
        assert (await again.wait()).exit_code == 137

    run(options, test)


def test_timeouts(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        with pytest.raises(CommandTimeoutError) as raised:
            await sandbox.commands.run("echo a; sleep 100", timeout=0.3)
        assert isinstance(raised.value, TimeoutError)
        assert (raised.value.limit, raised.value.killed, raised.value.partial.stdout) == (0.3, True, "a\n")
        for bad in (-1, float("nan"), float("inf"), "1"):
            with pytest.raises(InvalidArgumentError):
                await sandbox.commands.run("true", timeout=bad)  # type: ignore[call-overload]

    run(options, test)


async def pieces(*given: bytes) -> AsyncIterator[bytes]:
    for piece in given:
        await asyncio.sleep(0)
        yield piece


def test_contents_of_files(options: dict[str, Any], tmp_path: Path) -> None:
    async def test(sandbox: Sandbox) -> None:
        big = os.urandom(3_000_000)
        here = tmp_path / "here"
        here.write_bytes(big)
        contents: list[tuple[Any, bytes]] = [
            ("héllo\r\n", "héllo\r\n".encode()),
            (b"", b""),
            (b"\x00\xff\xfe", b"\x00\xff\xfe"),
            (bytearray(b"ab"), b"ab"),
            (memoryview(b"abc")[1:], b"bc"),
            (big, big),
            (here, big),
            (pieces(b"a", b"", b"b"), b"ab"),
            (iter([b"a", "b"]), b"ab"),
            (pieces(), b""),
        ]
        for given, expected in contents:
            await sandbox.files.write("a/b/c", given)
            assert await sandbox.files.read("a/b/c", "bytes") == expected
        with here.open("rb") as file:
            file.seek(10)
            await sandbox.files.write("f", file)
        assert await sandbox.files.read("f", "bytes") == big[10:]
        with here.open("w") as text:
            text.write("grüße")
        with here.open() as text:
            await sandbox.files.write("t", text)
        assert await sandbox.files.read("t") == "grüße"
        await sandbox.files.write("z", "a" * 100_000, gzip=True)
        assert await sandbox.files.read("z", gzip=True) == "a" * 100_000
        assert await sandbox.files.read("f", "bytes", offset=5, length=7) == big[15:22]
        stream = await sandbox.files.read("f", "stream")
        assert b"".join([piece async for piece in stream]) == big[10:]
        with pytest.raises(SandboxFileNotFoundError) as missing:
            await sandbox.files.read("nothing", "stream")
        assert isinstance(missing.value, FileNotFoundError)
        for bad in (3, object(), [1], tmp_path):
            with pytest.raises(InvalidArgumentError):
                await sandbox.files.write("f", bad)  # type: ignore[arg-type]
        infos = await sandbox.files.write_files([{"path": "x", "data": "1"}, {"path": "y", "data": big}])
        assert [info.name for info in infos] == ["x", "y"]
        assert await sandbox.files.read("y", "bytes") == big

    run(options, test)


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt(), SystemExit(3)])
def test_a_source_may_raise_anything(options: dict[str, Any], error: BaseException) -> None:
    async def source() -> AsyncIterator[bytes]:
        yield b"a" * 100_000
        raise error

    async def test(sandbox: Sandbox) -> None:
        with pytest.raises(type(error)):
            await sandbox.files.write("f", source())
        assert (await sandbox.commands.run("true")).ok

    run(options, test)


def test_a_stream_that_is_left_early(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        await sandbox.files.write("f", b"a" * 30_000_000)
        async with await sandbox.files.read("f", "stream") as stream:
            assert await stream.__anext__()
        forgotten = await sandbox.files.read("f", "stream")
        await asyncio.sleep(0.3)
        assert forgotten._operation.produced < 15_000_000
        del forgotten
        for _ in range(100):
            if not engine()._targets:
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the transfer goes on")

    run(options, test)


def test_a_watch(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        called: list[str] = []
        async with (
            await sandbox.files.watch_dir("."),
            await sandbox.files.watch_dir(".", lambda event: called.append(event.name)),
            await sandbox.files.watch_dir(".") as watch,
        ):
            await sandbox.files.write("new", "")
            async for event in watch:
                assert event.name == "new"
                break
            while not called:
                await asyncio.sleep(0.01)
        assert called[0] == "new"
        assert [event async for event in watch] == []
        with pytest.raises(SandboxFileNotFoundError) as missing:
            await sandbox.files.watch_dir("absent")
        assert missing.value.partial is None  # a watch has no output

    run(options, test)


@pytest.mark.parametrize("method", ["stop", "wait"])
def test_a_watch_may_be_stopped_by_its_callback_but_not_waited_for(options: dict[str, Any], method: str) -> None:
    async def test(sandbox: Sandbox) -> None:
        called = asyncio.Event()

        async def use(event: Any) -> None:
            called.set()
            await getattr(watch, method)()

        watch = await sandbox.files.watch_dir(".", use)
        await sandbox.files.write("new", "")
        await called.wait()
        if method == "stop":
            await asyncio.wait_for(watch.wait(), 10)
        else:
            with pytest.raises(RuntimeError, match="inside a callback"):
                await asyncio.wait_for(watch.wait(), 10)

    run(options, test)


def test_a_terminal(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        shown = bytearray()
        terminal = await sandbox.pty.create(80, 24, on_data=shown.extend)
        await sandbox.pty.resize(terminal.pid, cols=100, rows=30)
        await terminal.send_stdin("stty size; exit 7\n")
        assert (await asyncio.wait_for(terminal.wait(), 10)).exit_code == 7
        assert b"30 100" in shown

    run(options, test)


def test_text_that_is_cut_anywhere_is_whole(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        script = r"for b in '\360' '\237' '\230' '\200' '\377' '\342\202'; do printf $b; sleep 0.03; done"
        texts: list[str] = []
        result = await sandbox.commands.run(script, on_stdout=texts.append)
        assert "".join(texts) == result.stdout == "\U0001f600\ufffd\ufffd"
        assert texts[0] == "\U0001f600"

    run(options, test)


def test_many_commands_at_once(options: dict[str, Any]) -> None:
    count = 1000 if os.environ.get("SOAK") else 50

    async def test(sandbox: Sandbox) -> None:
        results = await asyncio.gather(*[sandbox.commands.run(["echo", str(n)], timeout=0) for n in range(count)])
        assert [result.stdout for result in results] == [f"{n}\n" for n in range(count)]

    run({**options, "request_timeout": 0, "idle_timeout": 0}, test)


def test_cancelled_commands_leave_nothing(options: dict[str, Any]) -> None:
    count = 10_000 if os.environ.get("SOAK") else 500

    async def test(sandbox: Sandbox) -> None:
        async def cancelled(n: int) -> None:
            task = asyncio.create_task(sandbox.commands.run("sleep 100"))
            await asyncio.sleep(n % 5 * 0.002)
            task.cancel()
            await asyncio.wait([task])

        async def settled() -> None:
            for _ in range(500):
                if not engine()._targets:
                    return
                await asyncio.sleep(0.02)
            raise AssertionError(f"{len(engine()._targets)} operations are left")

        for n in range(20):
            await cancelled(n)
        await settled()
        descriptors, memory = len(os.listdir("/proc/self/fd")), engine().memory_size()
        for start in range(0, count, 20):
            await asyncio.gather(*[cancelled(n) for n in range(start, start + 20)])
        await settled()
        await gone(sandbox)
        assert len(os.listdir("/proc/self/fd")) <= descriptors + 110, "more than idle connections"
        assert engine().memory_size() <= max(2 * memory, 32 << 20)

    run(options, test)


def test_a_dead_core_fails_what_is_live_and_a_new_one_takes_over(options: dict[str, Any]) -> None:
    from agent_sandbox import InternalError
    from agent_sandbox._engine.async_caller import AsyncCaller
    from agent_sandbox._engine.client import Client
    from agent_sandbox._engine.link import Link

    async def test(sandbox: Sandbox) -> None:
        others = [asyncio.create_task(sandbox.commands.run("sleep 100")) for _ in range(3)]
        await asyncio.sleep(0.2)
        with pytest.raises(InternalError):
            await AsyncCaller(Link(Client(dict(options))))._call("test.trap", {})
        for other in others:
            with pytest.raises(InternalError):
                await other
        assert (await sandbox.commands.run("echo again")).stdout == "again\n"

    run(options, test)
