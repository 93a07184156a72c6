"""The core in a process of its own, where wasmtime cannot be had."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_sandbox._engine import frame, machine
from agent_sandbox._engine.json import decode, encode
from agent_sandbox._engine.machine import MachineDied
from agent_sandbox._engine.stdio import Stdio


@pytest.fixture
def stdio(sandboxc: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stdio]:
    monkeypatch.setenv("SANDBOXC", str(sandboxc))
    monkeypatch.setenv("AGENT_SANDBOX_HOST", "stdio")
    made = (machine.quick() or machine.slow())()
    assert isinstance(made, Stdio)
    yield made
    made.close()


def ask(stdio: Stdio, method: str) -> Any:
    payload = frame.mixed(encode({"method": method, "client": {"arguments": {}}, "params": {}}))
    parts = [frame.header(1, 0, frame.CALL, len(payload)), payload, frame.padding(len(payload))]
    return decode(stdio.run(parts, sum(map(len, parts)))[0][3])


def test_it_answers_as_the_instance_does(stdio: Stdio) -> None:
    assert ask(stdio, "settings.resolve")["provider"] == "local"
    assert stdio.run([], 0) == []
    assert ask(stdio, "test.panic")["code"] == "E9000"
    assert ask(stdio, "settings.resolve")["provider"] == "local"


def test_a_program_that_ends_is_a_dead_machine(stdio: Stdio) -> None:
    os.kill(stdio._process.pid, signal.SIGKILL)
    with pytest.raises(MachineDied):
        ask(stdio, "settings.resolve")
    stdio.close()


def test_without_wasmtime_and_without_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SANDBOXC", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "agent_sandbox_local", None)
    with pytest.raises(MachineDied, match="wasmtime"):
        Stdio.start()


SCRIPT = """
import asyncio, json, sys
sys.modules["wasmtime"] = None
from agent_sandbox import HostSettings, Sandbox
from agent_sandbox.sync import Sandbox as Blocking
options = json.loads(sys.argv[1]) | {"settings": HostSettings({})}
async def main():
    async with Sandbox.create("base", **options) as sandbox:
        results = await asyncio.gather(*[sandbox.commands.run(f"echo {n}") for n in range(20)])
        assert [result.stdout for result in results] == [f"{n}\\n" for n in range(20)]
        await sandbox.files.write("f", b"a" * 1_000_000)
        assert len(await sandbox.files.read("f")) == 1_000_000
        assert len((await sandbox.commands.run("head -c 5000000 /dev/zero")).stdout_bytes) == 5_000_000
asyncio.run(main())
with Blocking.create("base", **options) as sandbox:
    print(sandbox.commands.run("echo hello").stdout, end="")
"""


def test_the_classes_work_without_wasmtime(options: dict[str, Any], sandboxc: Path) -> None:
    given = {name: value for name, value in options.items() if name != "settings"}
    environ = {**os.environ, "SANDBOXC": str(sandboxc)}
    command = [sys.executable, "-W", "error", "-c", SCRIPT, encode(given).decode()]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environ)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "hello\n", "")
