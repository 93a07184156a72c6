"""Nothing happens at import."""

from __future__ import annotations

import subprocess
import sys

import pytest


def loaded(code: str) -> set[str]:
    said = subprocess.run(
        [sys.executable, "-W", "error", "-c", code + "\nimport sys as _s; print(' '.join(_s.modules))"],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(said.stdout.split())


HEAVY = {"wasmtime", "httptools", "websockets", "concurrent.futures.thread", "subprocess", "importlib.metadata"}


def test_importing_the_package_loads_nothing() -> None:
    modules = loaded("import agent_sandbox")
    assert not modules & (HEAVY | {"asyncio", "ssl", "agent_sandbox._generated.types"})


@pytest.mark.parametrize(
    "name", ["agent_sandbox", "agent_sandbox.sync", "agent_sandbox.e2b", "agent_sandbox.e2b.code_interpreter"]
)
def test_naming_a_class_loads_no_engine(name: str) -> None:
    assert not loaded(f"from {name} import Sandbox") & {"wasmtime", "httptools", "websockets"}


def test_everything_can_be_imported_at_once_and_is_listed() -> None:
    import agent_sandbox

    names: dict[str, object] = {}
    exec("from agent_sandbox import *", names)
    for name in ("Sandbox", "SandboxError", "RateLimitError", "EntryInfo", "FileType", "BarChart"):
        assert names[name] is getattr(agent_sandbox, name)
        assert name in dir(agent_sandbox)
    assert not loaded("from agent_sandbox import *") & {"wasmtime", "httptools", "websockets"}


def test_every_name_is_there() -> None:
    import agent_sandbox
    import agent_sandbox.sync

    for name in agent_sandbox._HOMES:
        assert getattr(agent_sandbox, name) is not None
    for name in ("SandboxError", "CommandTimeoutError", "EntryInfo", "FileType", "FilesystemEvent", "SandboxInfo"):
        assert isinstance(getattr(agent_sandbox, name), type)
    with pytest.raises(AttributeError):
        agent_sandbox.no_such_name  # noqa: B018
