"""Programs for E2B's SDK, with another import, against a real local server."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Iterator
from typing import Any
from urllib.request import urlopen

import pytest

import agent_sandbox
from agent_sandbox.e2b import (
    AsyncSandbox,
    CommandExitException,
    CommandResult,
    FileNotFoundException,
    FileType,
    InvalidArgumentException,
    NotFoundException,
    PtySize,
    Sandbox,
    SandboxException,
    SandboxNotFoundException,
    SandboxNotRunningException,
    SandboxQuery,
    SandboxState,
    TemplateException,
    TimeoutException,
)


@pytest.fixture(scope="module")
def given(core: Any, server: dict[str, Any]) -> dict[str, Any]:
    return {"api_key": server["api_key"], "api_url": server["url"], "sandbox_url": server["sandbox_url"]} | {
        "provider": "local",
        "proxy": "direct",
    }


@pytest.fixture(scope="module")
def sandbox(given: dict[str, Any]) -> Iterator[Sandbox]:
    with Sandbox.create("base", 300, {"of": "e2b"}, {"WHO": "you"}, **given) as made:
        yield made


def test_a_command_gives_what_it_wrote(sandbox: Sandbox) -> None:
    out: list[str] = []
    result = sandbox.commands.run("echo hi $WHO; echo err >&2", on_stdout=out.append)
    assert result == CommandResult(stdout="hi you\n", stderr="err\n", exit_code=0, error=None)
    assert out == ["hi you\n"]
    assert sandbox.commands.run("echo $A; pwd", False, {"A": "1"}, cwd="/tmp").stdout == "1\n/tmp\n"


def test_input_that_a_process_does_not_take_is_no_missing_process(sandbox: Sandbox) -> None:
    handle = sandbox.commands.run("sleep 1000", background=True)
    with pytest.raises(SandboxException) as caught:
        handle.send_stdin("x")
    assert not isinstance(caught.value, NotFoundException)
    handle.kill()


def test_an_exit_other_than_0_is_an_exception_that_is_a_result(sandbox: Sandbox) -> None:
    with pytest.raises(CommandExitException) as caught:
        sandbox.commands.run("echo out; echo err >&2; exit 3")
    error = caught.value
    assert (error.exit_code, error.stdout, error.stderr) == (3, "out\n", "err\n")
    assert isinstance(error, SandboxException) and isinstance(error, CommandResult)
    assert "code 3" in str(error) and "err" in str(error)
    assert pickle.loads(pickle.dumps(error)).exit_code == 3


def test_a_killed_command_exits_with_minus_1(sandbox: Sandbox) -> None:
    handle = sandbox.commands.run("sleep 1000", background=True)
    assert sandbox.commands.kill(handle.pid)
    with pytest.raises(CommandExitException) as caught:
        handle.wait()
    assert caught.value.exit_code == handle.exit_code == -1
    assert not sandbox.commands.kill(handle.pid)


def test_iterating_gives_each_piece_once_as_stdout_stderr_pty(sandbox: Sandbox) -> None:
    handle = sandbox.commands.run("printf 1; read x; printf 2 >&2", background=True, stdin=True)
    assert next(iter(handle)) == ("1", None, None)
    handle.send_stdin("\n")
    rest: list[str] = []
    assert handle.wait(on_stderr=rest.append).exit_code == 0
    assert rest == ["2"]


def test_stdin_is_written_by_pid_and_streamed(sandbox: Sandbox) -> None:
    handle = sandbox.commands.run("head -c 6", background=True, stdin=True)
    sandbox.commands.send_stdin(handle.pid, "ab")
    sandbox.commands.stream_input(handle.pid, ["cd", b"ef"])
    assert handle.wait().stdout == "abcdef"


def test_a_command_without_retained_output_has_none(sandbox: Sandbox) -> None:
    result = sandbox.commands.run("echo hi", retain_output=False)
    assert (result.stdout, result.stderr, result.exit_code) == (None, None, 0)


def test_running_processes_are_listed_and_connected_to(sandbox: Sandbox) -> None:
    handle = sandbox.commands.run("read x; echo got $x", background=True, stdin=True)
    assert handle.pid in [process.pid for process in sandbox.commands.list()]
    again = sandbox.commands.connect(handle.pid)
    handle.disconnect()
    again.send_stdin("it\n")
    assert again.wait().stdout == "got it\n"


#: What is done wrong, E2B's class of it, and this package's own.
WRONG: dict[str, tuple[Callable[[Sandbox], Any], type[Exception], type[Exception]]] = {
    "command timeout": (
        lambda s: s.commands.run("sleep 9", timeout=0.2),
        TimeoutException,
        agent_sandbox.CommandTimeoutError,
    ),
    "missing file": (lambda s: s.files.read("/no"), FileNotFoundException, FileNotFoundError),
    "missing directory": (lambda s: s.files.list("/no"), FileNotFoundException, FileNotFoundError),
    "directory as file": (
        lambda s: s.files.read("/tmp"),
        InvalidArgumentException,
        agent_sandbox.PathIsDirectoryError,
    ),
    "missing process": (lambda s: s.commands.connect(4_000_000), NotFoundException, agent_sandbox.ExecutionError),
    "input of a missing process": (
        lambda s: s.commands.send_stdin(4_000_000, "x"),
        NotFoundException,
        agent_sandbox.ExecutionError,
    ),
    "missing terminal": (lambda s: s.pty.connect(4_000_000), NotFoundException, agent_sandbox.ExecutionError),
    "unknown format": (
        lambda s: s.files.read("a", "picture"),  # type: ignore[call-overload]
        InvalidArgumentException,
        ValueError,
    ),
    "no depth": (lambda s: s.files.list("/", depth=0), InvalidArgumentException, agent_sandbox.SandboxError),
    "bad mode": (lambda s: s.pause(mode="half"), InvalidArgumentException, agent_sandbox.SandboxError),
    "snapshots": (lambda s: s.create_snapshot(), SandboxException, agent_sandbox.CapabilityNotSupportedError),
    "git": (lambda s: s.git, SandboxException, agent_sandbox.CapabilityNotSupportedError),
    "mcp": (lambda s: s.get_mcp_url(), SandboxException, agent_sandbox.CapabilityNotSupportedError),
}


@pytest.mark.parametrize("what", WRONG)
def test_an_error_is_of_e2bs_class_and_of_our_own(sandbox: Sandbox, what: str) -> None:
    act, theirs, ours = WRONG[what]
    with pytest.raises(theirs) as caught:
        act(sandbox)
    assert isinstance(caught.value, ours)
    assert type(caught.value).__name__ == theirs.__name__
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and str(again) == str(caught.value)


@pytest.mark.parametrize(
    "options",
    [{"headers": {"a": "b"}}, {"api_headers": {"a": "b"}}, {"mcp": {"x": {}}}, {"iam": {"t": 1}}, {"volume_mounts": 1}],
    ids=lambda options: next(iter(options)),
)
def test_an_option_that_means_nothing_here_is_refused_by_name(given: dict[str, Any], options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentException, match=next(iter(options))):
        Sandbox.create(**given, **options)


def test_options_that_change_nothing_are_taken(given: dict[str, Any]) -> None:
    with Sandbox.create(
        timeout=60, secure=False, logger=None, validate_api_key=True, http_version="1.1", request_timeout=30, **given
    ) as made:
        assert made.is_running()
        assert not made.is_running() or made.get_info().template_id == "base"


def test_an_unknown_template_is_a_template_exception(given: dict[str, Any]) -> None:
    with pytest.raises(TemplateException):
        Sandbox.create("no-such-template", **given)


def test_files_are_written_read_and_described(sandbox: Sandbox) -> None:
    info = sandbox.files.write("d/a.txt", "hello", metadata={"k": "v"})
    assert (info.path, info.type, info.metadata) == ("/home/user/d/a.txt", FileType.FILE, {"k": "v"})
    assert sandbox.files.read("d/a.txt") == "hello"
    data = sandbox.files.read("d/a.txt", format="bytes", request_timeout=10)
    assert data == b"hello" and isinstance(data, bytearray)
    assert b"".join(sandbox.files.read("d/a.txt", format="stream")) == b"hello"
    written = sandbox.files.write_files([{"path": "d/b", "data": b"1"}, {"path": "d/c", "data": "2"}])
    assert [one.name for one in written] == ["b", "c"]
    assert sandbox.files.write_files([]) == []
    assert sorted(entry.name for entry in sandbox.files.list("d")) == ["a.txt", "b", "c"]
    assert sandbox.files.rename("d/b", "d/e").name == "e"
    sandbox.files.remove("d/e")
    assert not sandbox.files.exists("d/e") and sandbox.files.exists("d/c")
    assert (sandbox.files.make_dir("d/f"), sandbox.files.make_dir("d/f")) == (True, False)
    entry = sandbox.files.get_info("d")
    assert (entry.type, entry.owner, entry.symlink_target) == (FileType.DIR, "user", None)


def test_a_watch_gives_new_events(sandbox: Sandbox) -> None:
    sandbox.files.make_dir("watched")
    handle = sandbox.files.watch_dir("watched")
    sandbox.files.write("watched/x", "1")
    seen: list[str] = []
    while "x" not in seen:
        seen += [event.name for event in handle.get_new_events()]
    handle.stop()


def test_a_terminal_takes_a_size_and_bytes(sandbox: Sandbox) -> None:
    terminal = sandbox.pty.create(PtySize(rows=10, cols=33), envs={"A": "b"})
    sandbox.pty.resize(terminal.pid, PtySize(rows=11, cols=44))
    sandbox.pty.send_stdin(terminal.pid, b"stty size; exit 0\n")
    shown = bytearray()
    assert terminal.wait(on_pty=shown.extend).exit_code == 0
    assert b"11 44" in shown


def test_the_account_lists_describes_and_changes(given: dict[str, Any], sandbox: Sandbox) -> None:
    pages = Sandbox.list(SandboxQuery({"of": "e2b"}, [SandboxState.RUNNING]), limit=10, order="asc", **given)
    assert [info.sandbox_id for info in pages.next_items()] == [sandbox.sandbox_id]
    assert not pages.has_next and pages.next_token is None
    info = Sandbox.get_info(sandbox.sandbox_id, **given)
    assert (info.state, info.metadata, info.volume_mounts) == (SandboxState.RUNNING, {"of": "e2b"}, [])
    assert info.lifecycle == {"on_timeout": "kill", "auto_resume": False}
    Sandbox.set_timeout(sandbox.sandbox_id, 500, **given)
    sandbox.set_timeout(600, request_timeout=10)
    assert info.end_at is not None and sandbox.get_info().end_at > info.end_at
    assert isinstance(sandbox.get_metrics(), list)
    assert isinstance(Sandbox.get_metrics(sandbox.sandbox_id, **given), list)
    assert sandbox.sandbox_id in sandbox.get_host(3000)
    assert "signature_expiration=" in sandbox.download_url("a", use_signature_expiration=60)
    assert "/files" in sandbox.upload_url("a", "user")


def test_connecting_takes_it_again(given: dict[str, Any], sandbox: Sandbox) -> None:
    again = Sandbox.connect(sandbox.sandbox_id, timeout=700, **given)
    assert again.sandbox_id == sandbox.sandbox_id and again.is_running()
    assert again.connect(timeout=800) is again
    assert again.commands.run("echo $WHO").stdout == "you\n"


def test_what_is_gone_is_not_running_inside_and_not_found_outside(given: dict[str, Any]) -> None:
    made = Sandbox.create(lifecycle={"on_timeout": {"action": "kill"}}, **given)
    assert Sandbox.kill(made.sandbox_id, **given)
    assert not made.kill() and not made.is_running()
    for act in (lambda: made.commands.run("true"), lambda: made.files.read("a")):
        with pytest.raises(SandboxNotRunningException):
            act()
    for act in (made.get_info, lambda: made.set_timeout(5), lambda: Sandbox.connect(made.sandbox_id, **given)):
        with pytest.raises(SandboxNotFoundException):
            act()


def test_network_rules_may_be_functions() -> None:
    from agent_sandbox.e2b.options import network_options

    rules = {"api.example.com": [{"transform": {"headers": {"a": "b"}}}]}
    given = {"allow_out": lambda ctx: list(ctx.rules), "deny_out": lambda ctx: [ctx.all_traffic], "rules": rules}
    assert network_options(given) == {"allow_out": ["api.example.com"], "deny_out": ["0.0.0.0/0"], "rules": rules}


@pytest.mark.parametrize(
    ("lifecycle", "meant"),
    [
        (None, (None, None, None)),
        ({"on_timeout": "pause", "auto_resume": True}, ("pause", None, True)),
        ({"on_timeout": {"action": "pause", "mode": "filesystem"}}, ("pause", False, None)),
        ({"on_timeout": {"action": "pause", "keep_memory": True}}, ("pause", True, None)),
    ],
)
def test_a_lifecycle_means(lifecycle: Any, meant: tuple[Any, ...]) -> None:
    from agent_sandbox.e2b.options import lifecycle_options

    assert tuple(lifecycle_options(lifecycle).values()) == meant


def test_the_rules_of_a_network_are_told_as_a_dict(given: dict[str, Any]) -> None:
    rules = {"http://api.example.com": [{"transform": {"headers": {"a": "b"}}}]}
    network: Any = {"allow_out": ["1.1.1.1", "api.example.com"], "deny_out": lambda c: [c.all_traffic], "rules": rules}
    with Sandbox.create(network=network, **given) as made:
        told = made.get_info().network
        made.update_network({"deny_out": ["8.8.8.8"]})
        assert Sandbox.get_info(made.sandbox_id, **given).network == {"deny_out": ["8.8.8.8"]}
        Sandbox.update_network(made.sandbox_id, {"deny_out": ["8.8.4.4"]}, **given)
        assert made.get_info().network == {"deny_out": ["8.8.4.4"]}
    assert told is not None
    assert (told["allow_out"], told["deny_out"]) == (network["allow_out"], ["0.0.0.0/0"])
    assert told["rules"] == rules


def test_a_signed_url_works_without_a_name_to_resolve(sandbox: Sandbox) -> None:
    sandbox.files.write("signed", "it")
    url = sandbox.download_url("signed")
    assert url.startswith("http://127.0.0.1:")
    with urlopen(url) as answer:
        assert answer.read() == b"it"


def test_every_exception_may_be_named() -> None:
    from agent_sandbox.e2b import exceptions

    for name in exceptions.__all__:
        assert issubclass(getattr(exceptions, name), agent_sandbox.SandboxError)
    assert not issubclass(exceptions.AuthenticationException, SandboxException)
    assert issubclass(exceptions.VolumeNotFoundException, NotFoundException)


def test_what_is_missing_says_what_to_do_instead() -> None:
    with pytest.raises(ImportError, match="template build"):
        from agent_sandbox.e2b import Template  # type: ignore[attr-defined]  # noqa: F401
    with pytest.raises(ImportError, match="cannot import name"):
        from agent_sandbox.e2b import Nonsense  # type: ignore[attr-defined]  # noqa: F401


def test_calling_the_class_says_how_one_is_made() -> None:
    with pytest.raises(TypeError, match=r"Sandbox\.create"):
        Sandbox(api_key="k")


def test_the_asyncio_twin(given: dict[str, Any]) -> None:
    async def main() -> None:
        async with await AsyncSandbox.create(timeout=120, **given) as sandbox:
            heard: list[Any] = []

            async def hear(what: Any) -> None:
                heard.append(what)

            result = await sandbox.commands.run("echo hi", on_stdout=hear)
            assert (result.stdout, heard) == ("hi\n", ["hi\n"])
            with pytest.raises(CommandExitException):
                await sandbox.commands.run("false")
            handle = await sandbox.commands.run("cat", background=True, stdin=True)
            stdin = sandbox.commands.stream_input(handle.pid)
            await stdin.send("a")
            await stdin.send(b"b")
            await stdin.close()
            await handle.close_stdin()
            assert (await handle.wait()).stdout == handle.stdout == "ab"
            assert (handle.exit_code, handle.error) == (0, None)
            terminal = await sandbox.pty.create(PtySize(24, 80), on_data=hear, timeout=0)
            await sandbox.pty.send_stdin(terminal.pid, b"exit 4\n")
            with pytest.raises(CommandExitException) as caught:
                await terminal.wait()
            assert caught.value.exit_code == 4
            assert [info.sandbox_id async for info in AsyncSandbox.list(**given)].count(sandbox.sandbox_id) == 1
            assert await AsyncSandbox.kill(sandbox.sandbox_id, **given)

    asyncio.run(main())


def test_an_asyncio_watch_calls_back_and_says_how_it_ended(given: dict[str, Any]) -> None:
    async def main() -> None:
        async with await AsyncSandbox.create(timeout=120, **given) as sandbox:
            seen, ends = asyncio.Event(), list[Any]()
            ended = asyncio.Event()

            def end(error: Exception | None) -> None:
                ends.append(error)
                ended.set()

            handle = await sandbox.files.watch_dir(".", lambda event: seen.set(), end)
            await sandbox.files.write("x", "1")
            await seen.wait()
            await handle.stop()
            assert ends == [None]
            ended.clear()
            await sandbox.files.watch_dir(".", lambda event: None, on_exit=end, timeout=0.05)
            await ended.wait()
            assert isinstance(ends[1], TimeoutException)

    asyncio.run(main())


def test_a_client_binds_options_that_a_call_may_change(given: dict[str, Any]) -> None:
    from agent_sandbox.e2b import E2B, code_interpreter

    client = E2B(**given)
    assert given["api_key"] not in repr(vars(client)) + repr(client)
    with client.Sandbox.create("base", timeout=60, api_key=None) as made:
        assert isinstance(made, Sandbox)
        assert client.Sandbox.get_info(made.sandbox_id).sandbox_id == made.sandbox_id
        client.Sandbox.set_timeout(made.sandbox_id, 70)
        assert client.Sandbox.list(SandboxQuery(metadata={"of": "nobody"})).next_items() == []
        with pytest.raises(agent_sandbox.SandboxError):
            client.Sandbox.get_info(made.sandbox_id, api_url="http://127.0.0.1:9", provider="e2b", retries=0)
    assert issubclass(client.AsyncSandbox, AsyncSandbox)
    assert issubclass(code_interpreter.E2B(**given).Sandbox, code_interpreter.Sandbox)
