"""What is shown when something fails: never a key or a token, not even with the variables of every frame."""

from __future__ import annotations

import asyncio
import inspect
import socket
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import agent_sandbox
from agent_sandbox import HostSettings, InvalidArgumentError, SandboxError
from agent_sandbox import Sandbox as Async
from agent_sandbox.e2b import AsyncSandbox as EAsync
from agent_sandbox.e2b import Sandbox as EClass
from agent_sandbox.sync import Sandbox

KEY, TOKEN = "k3y-of-the-account", "t0ken-of-the-sandbox"
HOME = str(Path(agent_sandbox.__file__).parent)


def shown(error: BaseException) -> str:
    """The error and what caused it, with the variables of our own frames, as debuggers and services that
    gather errors render them."""
    whole = traceback.TracebackException.from_exception(error, capture_locals=True)
    lines: list[str] = []
    while whole is not None:
        assert any(frame.filename.startswith(HOME) for frame in whole.stack), "nothing of ours failed"
        for frame in whole.stack:
            if frame.filename.startswith(HOME):
                lines += (f"{frame.name}: {name} = {value}" for name, value in (frame.locals or {}).items())
        lines += whole.format_exception_only()
        whole = whole.__cause__ or (None if whole.__suppress_context__ else whole.__context__)
    return "\n".join([*lines, repr(error), repr(vars(error))])


def hidden(error: BaseException) -> None:
    text = shown(error)
    for secret in (KEY, TOKEN):
        assert secret not in text, [line for line in text.splitlines() if secret in line]


@pytest.fixture
def nowhere() -> Iterator[str]:
    """The URL of a port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture
def astray(core: Path, nowhere: str) -> dict[str, Any]:
    """Options with which every request fails."""
    environ = {"E2B_API_KEY": KEY, "HTTP_PROXY": f"http://u:{KEY}@127.0.0.1:1"}
    return {
        "provider": "e2b",
        "api_key": KEY,
        "api_url": nowhere,
        "sandbox_url": nowhere,
        "proxy": "direct",
        "retries": 0,
        "settings": HostSettings(environ),
    }


def handle(url: str) -> dict[str, Any]:
    """Names a sandbox whose traffic goes to a URL."""
    return {"provider": "e2b", "sandbox_id": "i1", "urls": {"sandbox": url}, "tokens": {"envd": TOKEN}}


#: What a parameter without a default is given, by its name.
GIVEN = {
    "command": "true",
    "data": b"x",
    "files": [{"path": "a", "data": "x"}],
    "path": "a",
    "source": "a",
    "destination": "b",
    "pid": 7,
    "signal": 9,
    "cols": 80,
    "rows": 24,
    "timeout": 5,
    "port": 80,
    "handle": "{}",
    "sandbox_id": "i1",
    "watcher_id": "w1",
}
#: Those that make no request, so that they do not fail; or fail without the core.
QUIET = {"to_json", "describe", "capabilities", "get_host", "get_url", "download_url", "upload_url", "forward"}


def calls(sandbox: Any) -> dict[str, Callable[[], Any]]:
    """Every method of a sandbox and of its parts, with something for its parameters."""
    found: dict[str, Callable[[], Any]] = {}
    for part in (sandbox, sandbox.commands, sandbox.files, sandbox.pty):
        for name, method in inspect.getmembers(part, inspect.ismethod):
            if name.startswith("_") or name in QUIET or inspect.isclass(method.__self__):
                continue
            found[f"{type(part).__name__}.{name}"] = _with_arguments(name, method)
    return found


def _with_arguments(name: str, method: Any) -> Callable[[], Any]:
    needed = {
        p.name: [b"x"] if p.name == "pieces" else GIVEN.get(p.name, "x")
        for p in inspect.signature(method).parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    }
    if name in ("send_signal", "send_stdin", "send_input", "close_stdin", "connect", "resize", "kill"):
        needed |= {n: GIVEN[n] for n in ("pid",) if n in inspect.signature(method).parameters}
    return lambda: method(**needed)


def of_the_class(kind: Any, options: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    return {
        "create": lambda: kind.create("base", **options),
        "connect": lambda: kind.connect("i1", **options),
        "resume": lambda: kind.resume("i1", **options),
        "kill": lambda: kind.kill("i1", **options),
        "get_info": lambda: kind.get_info("i1", **options),
        "set_timeout": lambda: kind.set_timeout("i1", 5, **options),
        "keep_alive": lambda: kind.keep_alive("i1", 5, **options),
        "pause": lambda: kind.pause("i1", **options),
        "list": lambda: kind.list(**options).next_items(),
    }


def test_no_method_that_fails_shows_a_secret(astray: dict[str, Any], nowhere: str) -> None:
    sandbox = Sandbox.from_json(handle(nowhere), **astray)
    every = {**calls(sandbox), **of_the_class(Sandbox, astray)}
    assert len(every) > 35, sorted(every)
    for name, call in every.items():
        try:
            call()
        except SandboxError as error:
            hidden(error)
        else:
            assert name == "Sandbox.is_running", name


def test_no_asyncio_method_that_fails_shows_a_secret(astray: dict[str, Any], nowhere: str) -> None:
    async def main() -> None:
        sandbox = Async.from_json(handle(nowhere), **astray)
        every = {**calls(sandbox), **of_the_class(Async, astray), "create_sync": lambda: blocking(astray)}
        for name, call in every.items():
            try:
                await call()
            except (SandboxError, TypeError) as error:
                hidden(error)
            else:
                assert name == "Sandbox.is_running", name

    async def blocking(options: dict[str, Any]) -> None:
        Async.create_sync("base", **options)

    asyncio.run(main())


WRONG: dict[str, dict[str, Any]] = {
    "an unknown option": {"tiemout": 5},
    "a key of another type": {"api_key": KEY.encode()},
    "a key in a list": {"api_key": [KEY]},
    "a key that is cut": {"api_key": KEY + "\n"},
    "text that is no text": {"api_key": KEY + "\ud800"},
    "a duration that is none": {"request_timeout": "5s"},
    "a number that is none": {"retries": 1.5},
    "an address that is none": {"api_url": f"nonsense {KEY}:{KEY}@"},
    "a proxy that is none": {"proxy": f"ftp://u:{KEY}@x"},
    "a proxy that is not there": {"proxy": f"http://u:{KEY}@127.0.0.1:1", "api_url": "https://127.0.0.2:1"},
    "authorities that are not there": {"ca_file": "/nonexistent", "api_url": "https://127.0.0.2:1"},
}


@pytest.mark.parametrize("name", WRONG)
def test_no_wrong_option_shows_a_secret(astray: dict[str, Any], name: str) -> None:
    options = {**astray, **WRONG[name]}
    for call in of_the_class(Sandbox, options).values():
        with pytest.raises((SandboxError, TypeError)) as raised:
            call()
        hidden(raised.value)

    async def main() -> None:
        for call in of_the_class(Async, options).values():
            with pytest.raises((SandboxError, TypeError)) as raised:
                await call()
            hidden(raised.value)

    asyncio.run(main())


@pytest.mark.parametrize(
    "astray_parameters",
    [{"timeout": "x"}, {"envs": 5}, {"metadata": {"a": object()}}, {"network": {"nonsense": 1}}, {"memory_mb": "x"}],
    ids=str,
)
def test_no_wrong_parameter_shows_a_secret(astray: dict[str, Any], astray_parameters: dict[str, Any]) -> None:
    for kind in (Sandbox, Async):
        with pytest.raises(SandboxError) as raised:
            waited(kind.create("base", **astray_parameters, **astray))
        hidden(raised.value)


def waited(made: Any) -> Any:
    async def main() -> Any:
        return await made

    return asyncio.run(main()) if isinstance(made, Awaitable) else made


@pytest.mark.parametrize(
    "given",
    [
        f'{{"tokens": "{TOKEN}"',
        f'["{TOKEN}"]',
        {"sandbox_id": 5, "tokens": {"envd": TOKEN}},
        {"provider": "e2b", "sandbox_id": "i1", "tokens": TOKEN},
        {"provider": "e2b", "sandbox_id": "i1", "domain": "a b", "tokens": {"envd": TOKEN, "astray": object()}},
        TOKEN.encode() + b"\xff",
    ],
    ids=["cut", "a list", "a number", "a text", "an object", "no text"],
)
def test_a_handle_that_is_none_shows_no_token(astray: dict[str, Any], given: Any) -> None:
    for kind in (Sandbox, Async):
        with pytest.raises(InvalidArgumentError) as raised:
            kind.from_json(given, **astray)
        hidden(raised.value)


def test_a_local_server_that_is_not_ours_shows_no_key(core: Path, tmp_path: Path) -> None:
    state = tmp_path / "agent-sandbox"
    state.mkdir()
    (state / "server.json").write_text(f'{{"schema": 999, "pid": 1, "api_key": "{KEY}"')
    environ = {"XDG_STATE_HOME": str(tmp_path), "SANDBOXC": "/nonexistent", "E2B_DEBUG": KEY, "HOME": str(tmp_path)}
    for kind in (Sandbox, Async):
        with pytest.raises(SandboxError) as raised:
            waited(kind.create("base", provider="local", settings=HostSettings(environ)))
        hidden(raised.value)


def test_a_host_that_cannot_send_shows_no_secret(astray: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httptools", None)

    async def main() -> None:
        for call in of_the_class(Async, astray).values():
            with pytest.raises(ImportError) as raised:
                await call()
            hidden(raised.value)

    asyncio.run(main())


def test_a_cancelled_call_shows_no_secret(astray: dict[str, Any]) -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            options = {**astray, "api_url": url, "sandbox_url": url}
            sandbox = Async.from_json(handle(url), **options)
            for call in {**calls(sandbox), **of_the_class(Async, options)}.values():
                with pytest.raises(asyncio.TimeoutError) as raised:
                    await asyncio.wait_for(wrapped(call), 0.05)
                cause = raised.value.__cause__
                if cause is not None:
                    hidden(cause)

    async def wrapped(call: Callable[[], Any]) -> None:
        await call()

    asyncio.run(main())


@pytest.mark.parametrize("kind", [EClass, EAsync])
def test_no_error_of_the_classes_by_e2bs_names_shows_a_secret(kind: Any, astray: dict[str, Any]) -> None:
    del astray["settings"], astray["proxy"]
    for name in ("create", "connect", "kill", "get_info", "set_timeout", "pause", "list"):
        for options in ({"proxy": "direct"}, {"proxy": "direct", "headers": {"x": KEY}}):
            call = of_the_class(kind, {**astray, **options})[name]
            with pytest.raises(Exception) as caught:
                returned = call()
                if hasattr(returned, "__await__"):
                    asyncio.run(returned)
            hidden(caught.value)
