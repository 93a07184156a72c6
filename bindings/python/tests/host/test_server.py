"""Finding the local server, or starting it."""

from __future__ import annotations

import asyncio
import json
import pathlib
import sys
from typing import Any

import pytest

from agent_sandbox._generated.errors import ConnectFailedError, SandboxError
from agent_sandbox._host import server
from agent_sandbox._host.server import find_binary, find_server

STATE = {"schema": 1, "pid": 1, "url": "http://127.0.0.1:1", "sandbox_url": "http://127.0.0.1:2", "api_key": "s3cr3t"}
FOUND = {"url": "http://127.0.0.1:1", "sandbox_url": "http://127.0.0.1:2", "api_key": "s3cr3t"}


class Core:
    """Plays server.check."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, state: str) -> dict[str, Any]:
        self.asked.append(state)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def program(tmp_path: pathlib.Path, body: str) -> str:
    path = tmp_path / "sandboxc"
    path.write_text(f"#!{sys.executable}\nimport os, sys, time\n{body}\n")
    path.chmod(0o755)
    return str(path)


def written(tmp_path: pathlib.Path) -> dict[str, str]:
    directory = tmp_path / "agent-sandbox"
    directory.mkdir(exist_ok=True)
    (directory / "server.json").write_text(json.dumps(STATE))
    return {"XDG_STATE_HOME": str(tmp_path)}


async def test_a_live_server_is_taken(tmp_path: pathlib.Path) -> None:
    core = Core({"server": STATE})
    assert await find_server(core, written(tmp_path), "/nowhere") == FOUND
    assert json.loads(core.asked[0]) == STATE


async def test_what_the_core_says_against_it_is_raised(tmp_path: pathlib.Path) -> None:
    error = ConnectFailedError("of another generation")
    with pytest.raises(ConnectFailedError) as raised:
        await find_server(Core(error), written(tmp_path), "/nowhere")
    assert raised.value is error


@pytest.mark.parametrize("dead", [True, False], ids=["a dead one", "none"])
async def test_a_server_is_started(tmp_path: pathlib.Path, dead: bool) -> None:
    binary = program(
        tmp_path, f"print('''{json.dumps(STATE)}''' if sys.argv[1:] == ['serve', '--detach', '--json'] else '')"
    )
    environ = written(tmp_path) if dead else {"XDG_STATE_HOME": str(tmp_path)}
    core = Core({"server": None})
    assert await find_server(core, environ, binary) == FOUND
    assert len(core.asked) == dead


async def test_the_server_gets_the_callers_view_of_its_places(tmp_path: pathlib.Path) -> None:
    state = dict(STATE, url="$")
    binary = program(
        tmp_path, f"print('''{json.dumps(state)}'''.replace('$', os.environ['XDG_STATE_HOME'] + os.environ['PATH']))"
    )
    found = await find_server(Core(), {"XDG_STATE_HOME": str(tmp_path)}, binary)
    assert found["url"].startswith(str(tmp_path) + "/")


async def test_a_server_that_keeps_its_output_open_delays_nobody(tmp_path: pathlib.Path) -> None:
    binary = program(tmp_path, f"print('''{json.dumps(STATE)}''', flush=True)\nif os.fork() == 0: time.sleep(5)")
    began = asyncio.get_running_loop().time()
    assert await find_server(Core(), {"XDG_STATE_HOME": str(tmp_path)}, binary) == FOUND
    assert asyncio.get_running_loop().time() - began < 4


FAILURES = {
    "an error of its own": (
        'print(\'{"error": {"code": "E2000", "message": "no namespaces", "suggestion": "doctor"}}\'); sys.exit(1)',
        ("E2000", "no namespaces", "doctor"),
    ),
    "words": ("sys.exit('port in use\\nmore')", ("E5001", "could not be started: port in use", "serve")),
    "nothing": ("sys.exit(7)", ("E5001", "exit status 7", "serve")),
    "no state": ("print('hello')", ("E5001", "did not print a server's state", None)),
    "half a state": ('print(\'{"url": "x"}\')', ("E5001", "did not print a server's state", None)),
    "no end": ("time.sleep(60)", ("E5001", "it did not answer within", "serve")),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_a_start_that_fails_with(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    body, (code, message, suggestion) = FAILURES[name]
    if name == "no end":
        monkeypatch.setattr(server, "START_LIMIT", 0.3)
    with pytest.raises(SandboxError) as raised:
        await find_server(Core(), {"XDG_STATE_HOME": str(tmp_path)}, program(tmp_path, body))
    assert raised.value.code == code
    assert message in raised.value.message
    assert suggestion is None or suggestion in raised.value.suggestion


async def test_a_program_that_is_not_there(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ConnectFailedError, match="/nowhere/sandboxc"):
        await find_server(Core(), {"XDG_STATE_HOME": str(tmp_path)}, "/nowhere/sandboxc")


def test_the_order_of_places(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = program(tmp_path, "")
    packaged = type("module", (), {"binary": staticmethod(lambda: "/packaged")})
    environ = {"SANDBOXC": "/named", "PATH": str(tmp_path)}
    monkeypatch.setitem(sys.modules, "agent_sandbox_local", packaged)
    assert find_binary(environ, "/option") == "/option"
    assert find_binary(environ, None) == "/named"
    del environ["SANDBOXC"]
    assert find_binary(environ, None) == "/packaged"
    monkeypatch.setitem(sys.modules, "agent_sandbox_local", None)
    assert find_binary(environ, None) == on_path
    with pytest.raises(ConnectFailedError, match="pip install agent-sandbox-local"):
        find_binary({"PATH": "/nowhere"}, None)


async def test_another_system_is_told_what_to_do(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.sys, "platform", "darwin")
    with pytest.raises(ConnectFailedError, match="needs Linux"):
        await find_server(Core(), {"XDG_STATE_HOME": str(tmp_path)}, None)
