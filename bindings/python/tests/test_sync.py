"""The blocking classes against a real local server: threads, loops, forks, interrupts."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agent_sandbox import CancelledOperationError, SandboxFileNotFoundError
from agent_sandbox._engine.engine import engine
from agent_sandbox.sync import Sandbox


@pytest.fixture
def sandbox(options: dict[str, Any]) -> Iterator[Sandbox]:
    with Sandbox.create("base", **options) as made:
        yield made


def gone(sandbox: Sandbox) -> None:
    """Waits until no command runs any more."""
    for _ in range(400):
        if not sandbox.commands.list():
            return
        time.sleep(0.05)
    raise AssertionError(sandbox.commands.list())


def test_a_command(sandbox: Sandbox) -> None:
    seen: list[str] = []
    result = sandbox.commands.run("echo hello; exit 3", on_stdout=seen.append)
    assert (result.stdout, result.exit_code, seen) == ("hello\n", 3, ["hello\n"])


def test_callbacks_run_in_the_callers_thread(sandbox: Sandbox) -> None:
    threads = set()
    sandbox.commands.run("echo a; echo b >&2", on_stdout=lambda _: threads.add(threading.get_ident()))
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt(), SystemExit(3), StopIteration()])
def test_a_callback_may_raise_anything(sandbox: Sandbox, error: BaseException) -> None:
    def fail(text: str) -> None:
        raise error

    with pytest.raises(type(error)):
        sandbox.commands.run("echo a; sleep 100", on_stdout=fail)
    gone(sandbox)


def test_a_callback_may_use_the_sandbox(sandbox: Sandbox) -> None:
    inner: list[str] = []
    sandbox.commands.run("echo a", on_stdout=lambda text: inner.append(sandbox.commands.run("echo b").stdout))
    assert inner == ["b\n"]


def test_a_callback_may_kill_and_disconnect_but_not_wait(sandbox: Sandbox) -> None:
    endless = "while true; do echo a; sleep 0.01; done"
    handle = sandbox.commands.run(endless, background=True, on_stdout=lambda _: handle.kill())
    assert handle.wait().signal == "killed"
    handle = sandbox.commands.run(endless, background=True, on_stdout=lambda _: handle.disconnect())
    with pytest.raises(CancelledOperationError):
        handle.wait()
    handle.kill()
    handle = sandbox.commands.run(endless, background=True, on_stdout=lambda _: handle.wait())
    with pytest.raises(RuntimeError, match="inside a callback"):
        handle.wait()
    handle.kill()
    gone(sandbox)


def test_another_thread_may_wait_while_a_callback_runs(sandbox: Sandbox) -> None:
    waited: list[bool] = []

    def call(text: str) -> None:
        thread = threading.Thread(target=lambda: waited.append(handle.wait().ok))
        thread.start()
        thread.join()

    handle = sandbox.commands.run("echo a", background=True, on_stdout=call)
    assert handle.wait().ok and waited == [True]


@pytest.mark.parametrize("method", ["stop", "wait"])
def test_a_watch_may_be_stopped_by_its_callback_but_not_waited_for(sandbox: Sandbox, method: str) -> None:
    watch = sandbox.files.watch_dir(".", lambda event: getattr(watch, method)())
    sandbox.files.write("new", "")
    if method == "stop":
        watch.wait()
    else:
        with pytest.raises(RuntimeError, match="inside a callback"):
            watch.wait()


def test_an_asynchronous_callback_is_refused(sandbox: Sandbox) -> None:
    async def callback(text: str) -> None: ...

    with pytest.raises(TypeError, match="blocking"):
        sandbox.commands.run("echo a; sleep 100", on_stdout=callback)
    gone(sandbox)


def test_an_interrupt_ends_the_command(sandbox: Sandbox) -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as raised:
        sandbox.commands.run("echo a; sleep 100")
    assert time.monotonic() - began < 10
    assert raised.value.sandbox_error.partial.stdout == "a\n"  # type: ignore[attr-defined]
    gone(sandbox)
    assert sandbox.commands.run("echo b").stdout == "b\n"


def test_it_works_where_a_loop_runs(sandbox: Sandbox) -> None:
    async def main() -> str:
        return sandbox.commands.run("echo a").stdout

    assert asyncio.run(main()) == "a\n"


def test_many_threads_at_once(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(16) as pool:
        outputs = list(pool.map(lambda n: sandbox.commands.run(["echo", str(n)]).stdout, range(200)))
    assert outputs == [f"{n}\n" for n in range(200)]


def test_both_twins_in_many_threads_at_once(sandbox: Sandbox, options: dict[str, Any]) -> None:
    from agent_sandbox import Sandbox as Async

    def work(n: int) -> str:
        if n % 2:
            return sandbox.commands.run(["echo", str(n)]).stdout

        async def main() -> str:
            one = Async.from_json(sandbox.to_json(), **options)
            both = await asyncio.gather(*[one.commands.run(["echo", str(n)]) for _ in range(3)])
            return both[0].stdout

        return asyncio.run(main())

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(40))) == [f"{n}\n" for n in range(40)]


def test_a_background_command(sandbox: Sandbox) -> None:
    handle = sandbox.commands.run("echo a; cat", background=True, stdin=True)
    output = iter(handle)
    assert next(output).text == "a\n"
    handle.send_stdin("b\n")
    assert next(output).data == b"b\n"
    handle.close_stdin()
    assert list(output) == []
    assert handle.wait().stdout == handle.stdout == "a\nb\n"
    called: list[str] = []
    handle = sandbox.commands.run("echo a", background=True, on_stdout=called.append)
    assert handle.wait().ok and called == ["a\n"]


def test_disconnect_ends_a_wait_in_another_thread(sandbox: Sandbox) -> None:
    handle = sandbox.commands.run("sleep 100", background=True)
    threading.Timer(0.2, handle.disconnect).start()
    with pytest.raises(CancelledOperationError):
        handle.wait()
    assert sandbox.commands.kill(handle.pid)


def test_contents_of_files(sandbox: Sandbox, tmp_path: Path) -> None:
    big = os.urandom(3_000_000)
    here = tmp_path / "here"
    here.write_bytes(big)
    me, readers = threading.get_ident(), set()

    def read() -> Iterator[bytes]:
        for start in range(0, len(big), 100_000):
            readers.add(threading.get_ident())
            yield big[start : start + 100_000]

    with here.open("rb") as file:
        for given in (big, here, read(), file):
            sandbox.files.write("f", given)
            assert sandbox.files.read("f", "bytes") == big
    assert readers == {me}
    assert b"".join(sandbox.files.read("f", "stream")) == big
    with pytest.raises(SandboxFileNotFoundError):
        sandbox.files.read("nothing")
    infos = sandbox.files.write_files([{"path": str(n), "data": read() if n % 2 else "x"} for n in range(6)])
    assert [info.name for info in infos] == [str(n) for n in range(6)]
    assert sandbox.files.read("5", "bytes") == big


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt(), SystemExit(3)])
def test_a_source_may_raise_anything(sandbox: Sandbox, error: BaseException) -> None:
    def source() -> Iterator[bytes]:
        yield b"a" * 100_000
        raise error

    with pytest.raises(type(error)):
        sandbox.files.write("f", source())
    assert sandbox.commands.run("true").ok


def test_a_source_may_use_the_sandbox(sandbox: Sandbox) -> None:
    sandbox.files.write("one", "1")
    sandbox.files.write("two", (sandbox.files.read("one") for _ in range(3)))
    assert sandbox.files.read("two") == "111"


def test_a_watch(sandbox: Sandbox) -> None:
    with sandbox.files.watch_dir(".") as watch:
        sandbox.files.write("new", "")
        assert next(iter(watch)).name == "new"
        threading.Timer(0.2, watch.stop).start()
        assert all(event.name == "new" for event in watch)


def test_stdin_in_pieces(sandbox: Sandbox) -> None:
    handle = sandbox.commands.run("cat", background=True, stdin=True)
    sandbox.commands.stream_stdin(handle.pid, [b"a", b"b" * 2_000_000, b"c"])
    handle.close_stdin()
    assert handle.wait().stdout_bytes == b"a" + b"b" * 2_000_000 + b"c"


def in_a_child(work: Callable[[], bool]) -> int:
    """The exit status of a fork that does some work."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_has_a_core_of_its_own(sandbox: Sandbox, options: dict[str, Any]) -> None:
    from agent_sandbox import Sandbox as Async

    handle = sandbox.commands.run("cat", background=True, stdin=True)
    parents = engine()

    def blocking() -> bool:
        return sandbox.commands.run("echo child").stdout == "child\n" and engine() is not parents

    def asynchronous() -> bool:
        one = Async.from_json(sandbox.to_json(), **options)
        return asyncio.run(one.commands.run("echo child")).stdout == "child\n"  # type: ignore[arg-type]

    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            sandbox.commands.run("true")

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for work in (blocking, asynchronous) * 3:
            assert in_a_child(work) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    handle.send_stdin("still here")
    handle.close_stdin()
    assert handle.wait().stdout == "still here"


SCRIPT = """
import sys, json
from threading import Thread
from agent_sandbox import HostSettings
from agent_sandbox.sync import Sandbox
options = json.loads(sys.argv[1]) | {"settings": HostSettings({})}
sandbox = Sandbox.create("base", **options)
"""


@pytest.mark.parametrize(
    "code",
    [
        "print(sandbox.commands.run('echo a').stdout, end='')",
        "h = sandbox.commands.run('sleep 100', background=True); print('a')",
        "import atexit; atexit.register(lambda: print(sandbox.commands.run('echo a').stdout, end=''))",
        "Thread(target=lambda: print(sandbox.commands.run('echo a').stdout, end='')).start()",
        "Thread(target=sandbox.commands.run, args=('sleep 9',), daemon=True).start(); print('a')",
    ],
)
def test_the_interpreter_ends_cleanly(options: dict[str, Any], code: str) -> None:
    import json

    given = {name: value for name, value in options.items() if name != "settings"}
    command = [sys.executable, "-W", "error", "-c", SCRIPT + code, json.dumps(given)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "a\n", "")


def test_a_loop_that_logs_what_it_runs_logs_no_secret(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from agent_sandbox._engine.background import background

    loop = background().loop
    monkeypatch.setattr(loop, "slow_callback_duration", 0.0)
    loop.call_soon_threadsafe(loop.set_debug, True)
    try:
        with caplog.at_level("DEBUG", "asyncio"), Sandbox.create("base", **options) as sandbox:
            sandbox.commands.run("true")
    finally:
        loop.call_soon_threadsafe(loop.set_debug, False)
    assert caplog.text
    assert options["api_key"] not in caplog.text


def test_what_went_wrong_inside_is_not_hidden_by_a_kill_that_fails(options: dict[str, Any]) -> None:
    from agent_sandbox import ConnectFailedError

    made = Sandbox.create("base", **options)
    astray = Sandbox.from_json(made.to_json(), **{**options, "api_url": "http://127.0.0.1:1", "retries": 0})
    with pytest.raises(ValueError, match="mine"), astray:
        raise ValueError("mine")
    with pytest.raises(ConnectFailedError), astray:
        pass
    made.kill()
