"""What a caller may give, and what becomes of the rest."""

from __future__ import annotations

import asyncio
import copy
import pickle
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agent_sandbox import InvalidArgumentError
from agent_sandbox import Sandbox as Async
from agent_sandbox.sync import Sandbox


def test_a_handle_is_taken_where_nothing_is_configured(found: dict[str, Any]) -> None:
    with Sandbox.create("base", **found) as made:
        again = Sandbox.from_json(made.to_json(), **found)
        assert again.get_url(80) == made.get_url(80)
        assert again.commands.run("echo hello").stdout == "hello\n"
        assert Sandbox.from_json(made.to_json(), **found).get_info().sandbox_id == made.sandbox_id

        async def main() -> str:
            return (await Async.from_json(made.to_json(), **found).commands.run("echo hello")).stdout

        assert asyncio.run(main()) == "hello\n"


def test_a_name_that_is_no_option_is_refused(options: dict[str, Any]) -> None:
    astray: dict[str, Any] = {**options, "timeuot": 1}
    for call in (
        Sandbox.create,
        Sandbox.list,
        lambda **o: Sandbox.connect("i1", **o),
        lambda **o: Sandbox.kill("i1", **o),
    ):
        with pytest.raises(TypeError, match="timeuot"):
            call(**astray)

    async def main() -> None:
        with pytest.raises(TypeError, match="timeuot"):
            await Async.create(**astray)

    asyncio.run(main())


@pytest.mark.parametrize("value", [5, float("nan"), b"s3cr3t", ["s3cr3t"], {"a": "s3cr3t"}, "s3cr3t\ud800", object()])
@pytest.mark.parametrize("name", ["api_key", "api_url", "provider", "proxy", "ca_file", "sandboxc", "settings"])
def test_a_setting_of_another_type_is_refused_by_its_name(name: str, value: Any) -> None:
    if isinstance(value, str) and name not in ("api_key", "api_url", "provider"):
        pytest.skip("such a text may name a file, or a proxy")
    with pytest.raises(InvalidArgumentError) as raised:
        Sandbox.connect("i1", **{name: value})
    assert name in str(raised.value) or "settings" in str(raised.value)
    assert "s3cr3t" not in str(raised.value)
    assert raised.value.__context__ is None  # which would hold the value


@pytest.mark.parametrize("value", [float("inf"), "1", True, 1.5, Decimal(1)])
def test_retries_are_a_whole_number(value: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="retries"):
        Sandbox.connect("i1", retries=value)


@pytest.mark.parametrize("value", ["1", True, float("nan"), float("inf"), b"1", timedelta(1), Decimal(1), [], {}])
def test_a_duration_is_a_number_of_seconds(options: dict[str, Any], value: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="request_timeout"):
        Sandbox.connect("i1", **{**options, "request_timeout": value})


def test_a_duration_that_is_too_long_is_as_long_as_can_be_said(options: dict[str, Any]) -> None:
    with Sandbox.create("base", **{**options, "request_timeout": 10**400}) as sandbox:
        assert sandbox.commands.run("true", timeout=10**400, request_timeout=1e300).ok


def test_a_path_of_any_kind_names_a_file(options: dict[str, Any], tmp_path: Path) -> None:
    with Sandbox.create("base", **{**options, "ca_file": Path(__file__).parent / "absent.pem"}):
        pass  # loopback has no TLS: the file is not read


@pytest.mark.parametrize("data", [5, None, 1.5, ["a"], "\ud800"])
def test_what_cannot_go_to_stdin_is_refused(options: dict[str, Any], data: Any) -> None:
    with Sandbox.create("base", **options) as sandbox, pytest.raises(InvalidArgumentError, match="data"):
        sandbox.commands.send_stdin(1, data)


@pytest.mark.parametrize("name", ["on_start", "on_stdout", "on_stderr_bytes"])
def test_what_cannot_be_called_is_no_callback(options: dict[str, Any], name: str) -> None:
    with Sandbox.create("base", **options) as sandbox:
        with pytest.raises(TypeError, match=name):
            sandbox.commands.run("echo a", **{name: 5})
        with pytest.raises(InvalidArgumentError, match="command"):
            sandbox.commands.run(None)  # type: ignore[call-overload]


def test_a_sandbox_is_not_pickled_but_copied(options: dict[str, Any]) -> None:
    with Sandbox.create("base", **options) as sandbox:
        for kind in (sandbox, Async.from_json(sandbox.to_json(), **options)):
            with pytest.raises(TypeError, match="to_json"):
                pickle.dumps(kind)
        assert copy.deepcopy(sandbox).commands.run("echo hello").stdout == "hello\n"
        assert copy.copy(sandbox).sandbox_id == sandbox.sandbox_id


def test_where_no_loop_of_asyncio_runs_it_is_said(options: dict[str, Any]) -> None:
    call = Async.connect("i1", **options)
    with pytest.raises(RuntimeError, match=r"asyncio.*agent_sandbox\.sync"):
        call.send(None)


@pytest.mark.parametrize("command", [b"echo hello", bytearray(b"ls"), None])
def test_a_command_that_is_no_text_is_refused_by_its_name(found: dict[str, Any], command: Any) -> None:
    with Sandbox.create("base", **found) as sandbox, pytest.raises(InvalidArgumentError, match=r"command must be text"):
        sandbox.commands.run(command)


def test_a_dict_is_no_content_of_a_file(found: dict[str, Any]) -> None:
    astray: Any = {"a": 1}
    with Sandbox.create("base", **found) as sandbox:
        with pytest.raises(InvalidArgumentError, match="not dict"):
            sandbox.files.write("x", astray)
        assert not sandbox.files.exists("x")


def test_a_sandbox_is_not_made_by_calling_the_class() -> None:
    shapes: list[tuple[tuple[Any, ...], dict[str, Any]]] = [((), {}), (("base",), {}), ((), {"template": "base"})]
    for given, options in shapes:
        with pytest.raises(TypeError, match=r"use Sandbox\.create\("):
            Sandbox(*given, **options)
        with pytest.raises(TypeError, match=r"use await Sandbox\.create\("):
            Async(*given, **options)


#: A method, what it is given, and the option that the error names.
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("commands.run", ("true",), {"envs": {"A": 5}}, "envs"),
    ("commands.run", ("true",), {"envs": 5}, "envs"),
    ("commands.run", ("true",), {"envs": {"A=": "x"}}, "envs"),
    ("commands.run", ("true",), {"envs": {"A": object()}}, "envs"),
    ("commands.run", ("true",), {"timeout": -1}, "timeout"),
    ("commands.run", ("true",), {"timeout": "5"}, "timeout"),
    ("commands.run", ("true",), {"request_timeout": -0.001}, "request_timeout"),
    ("commands.run", ("true",), {"idle_timeout": float("nan")}, "idle_timeout"),
    ("commands.run", ("true",), {"user": 5}, "user"),
    ("commands.run", ("true",), {"cwd": "a\0b"}, "cwd"),
    ("commands.run", ("true",), {"cwd": "\ud800"}, "cwd"),
    ("commands.run", ("true",), {"check": "yes"}, "check"),
    ("commands.run", ([],), {}, "command"),
    ("commands.run", ([5],), {}, "command"),
    ("commands.run", (b"true",), {}, "command"),
    ("commands.send_signal", (1, "KILL"), {}, "signal"),
    ("commands.send_stdin", (1, 5), {}, "data"),
    ("pty.create", (0, 24), {}, "cols"),
    ("pty.create", (80, 2.5), {}, "rows"),
    ("files.read", ("",), {}, "path"),
    ("files.read", (5,), {}, "path"),
    ("files.read", ("a", "nonsense"), {}, "format"),
    ("files.read", ("a",), {"offset": -1}, "offset"),
    ("files.list", ("a",), {"depth": "x"}, "depth"),
    ("files.rename", ("a", ""), {}, "destination"),
    ("files.write", ("a", 5), {}, "data"),
    ("files.write", ("a", "x"), {"metadata": {"a b": "x"}}, "metadata"),
    ("files.write_files", ([{"path": "a"}],), {}, "files"),
    ("files.watch_dir", ("a",), {"idle_timeout": []}, "idle_timeout"),
    ("set_timeout", (-1,), {}, "timeout"),
    ("set_timeout", ("1",), {}, "timeout"),
    ("get_host", (0,), {}, "port"),
    ("get_metrics", (), {"start": 5}, "start"),
    ("download_url", ("a",), {"expires": -1}, "expires"),
    ("update_network", (), {"allow_out": "a"}, "allow_out"),
    ("create", (), {"metadata": {"": "x"}}, "metadata"),
    ("create", (), {"timeout": -1}, "timeout"),
    ("create", (), {"cpu_count": "2"}, "cpu_count"),
    ("create", (), {"memory_mb": 1.5}, "memory_mb"),
    ("create", (), {"network": {"allow_out": 5}}, "allow_out"),
    ("create", (), {"mounts": [{"source": 5, "target": "/a"}]}, "mounts"),
    ("create", (), {"api_key": 5}, "api_key"),
    ("create", (), {"api_key": "\ud800"}, "api_key"),
    ("create", (), {"provider": "nonsense"}, "provider"),
    ("create", (), {"min_isolation": "nonsense"}, "min_isolation"),
    ("create", (), {"retries": -1}, "retries"),
    ("create", (), {"request_timeout": "1"}, "request_timeout"),
]


def test_what_is_refused_is_named_as_python_spells_it(options: dict[str, Any]) -> None:
    wrong = []
    with Sandbox.create("base", **options) as sandbox:
        for path, given, named, option in REFUSED:
            what: Any = Sandbox if path == "create" else sandbox
            for name in path.split("."):
                what = getattr(what, name)
            try:
                what(*given, **({**options, **named} if path == "create" else named))
                wrong.append((path, given, named, "is taken"))
            except InvalidArgumentError as error:
                words = f"{error.message} {error.suggestion}"
                foreign = any(spelling in words for spelling in ("_ms ", "imeoutMs", "Options", "piKey"))
                if foreign or option not in (error.option or "").split(".") or option not in words:
                    wrong.append((path, given, named, f"option {error.option}: {error}"))
    assert not wrong, "\n".join(map(str, wrong))
