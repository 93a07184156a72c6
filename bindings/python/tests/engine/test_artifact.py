"""What is compiled is kept, and only what we kept is loaded."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_sandbox._engine import artifact

#: A module that compiles at once.
TINY = bytes.fromhex("0061736d01000000")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    wasm = tmp_path / "tiny.wasm"
    wasm.write_bytes(TINY)
    monkeypatch.setenv("AGENT_SANDBOX_WASM", str(wasm))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "agent-sandbox"


def kept(cache: Path) -> Path:
    [path] = cache.iterdir()
    return path


def test_what_is_compiled_is_kept_privately(cache: Path) -> None:
    assert artifact.load(compile=False) is None
    assert artifact.load(compile=True) is not None
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert stat.S_IMODE(kept(cache).stat().st_mode) == 0o600
    assert artifact.load(compile=False) is not None


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def replace_by_link(path: Path) -> None:
    other = path.parent.parent / "other"
    path.rename(other)
    path.symlink_to(other)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a bit is wrong": flip,
    "it is cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "it is empty": lambda path: path.write_bytes(b""),
    "others may write it": lambda path: path.chmod(0o666),
    "others may read it": lambda path: path.chmod(0o644),
    "others may write the directory": lambda path: path.parent.chmod(0o777),
    "it is a link": replace_by_link,
}
if os.getuid() == 0:
    DAMAGES["it is another's"] = lambda path: os.chown(path, 12345, 12345)
    DAMAGES["the directory is another's"] = lambda path: os.chown(path.parent, 12345, 12345)


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_may_be_forged_is_not_loaded(cache: Path, damage: str) -> None:
    artifact.load(compile=True)
    DAMAGES[damage](kept(cache))
    assert artifact.load(compile=False) is None
    assert artifact.load(compile=True) is not None


def test_a_damaged_file_is_replaced(cache: Path) -> None:
    artifact.load(compile=True)
    flip(kept(cache))
    artifact.load(compile=True)
    assert artifact.load(compile=False) is not None
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize("home", ["/proc/nowhere", "relative", "/dev/null"])
def test_without_a_place_to_keep_it_the_core_is_compiled_each_time(
    cache: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    monkeypatch.setenv("HOME", "/proc/nowhere")
    assert artifact.load(compile=True) is not None
    assert artifact.load(compile=False) is None


def test_a_slow_compile_says_so(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(artifact, "_PATIENCE", -1.0)
    artifact.load(compile=True)
    artifact.load(compile=True)
    assert capfd.readouterr().err.count("compiled the core") == 1


def test_an_artifact_of_the_package_comes_first(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from wasmtime import Config, Engine, Module

    config = Config()
    config.target = "x86_64-unknown-linux-gnu"
    (tmp_path / "core.cwasm").write_bytes(Module(Engine(config), TINY).serialize())
    monkeypatch.delenv("AGENT_SANDBOX_WASM")
    monkeypatch.setattr(artifact, "_package", lambda: str(tmp_path))
    monkeypatch.setattr(artifact, "_machine", lambda: "x86_64")
    if sys.platform == "linux" and os.uname().machine == "x86_64":
        assert artifact.load(compile=False) is not None
    (tmp_path / "core.cwasm").write_bytes(b"of another version")
    (tmp_path / "core.wasm").write_bytes(TINY)
    assert artifact.load(compile=False) is None
    assert artifact.load(compile=True) is not None


def test_two_processes_compile_at_once(cache: Path) -> None:
    code = "from agent_sandbox._engine.artifact import load; assert load(compile=True)"
    both = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert len(list(cache.iterdir())) == 1
    assert artifact.load(compile=False) is not None


@pytest.mark.parametrize("home", ["absent", "file", ""])
def test_a_home_that_is_not_there_is_not_made(cache: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    (cache.parent.parent / "file").write_text("")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(cache.parent.parent / home) if home else "relative")
    assert artifact.load(compile=True) is not None
    assert artifact.load(compile=False) is None
    assert not (cache.parent.parent / "absent").exists()


PROGRAM = """
import asyncio, os, sys
if sys.argv[1] == "none":
    sys.modules["wasmtime"] = sys.modules["agent_sandbox_local"] = None
from agent_sandbox import HostSettings, InvalidArgumentError, Sandbox
from agent_sandbox.sync import Sandbox as Blocking
options = {"provider": "e2b", "api_key": "k", "settings": HostSettings({})}
async def main():
    await Sandbox.connect("i1", **options)
for call in (lambda: Blocking.connect("i1", **options), lambda: asyncio.run(main())) * 2:
    try:
        call()
    except InvalidArgumentError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("given", "message", "suggestion"),
    [
        ("absent", "absent: No such file", "AGENT_SANDBOX_WASM"),
        ("directory", "directory: Is a directory", "AGENT_SANDBOX_WASM"),
        ("text", "is not what wasmtime takes", "AGENT_SANDBOX_WASM"),
        ("none", "wasmtime cannot be imported", "SANDBOXC"),
        ("refused", "cannot be started in its place", "SANDBOXC"),
    ],
)
def test_without_a_core_it_is_said_what_to_do(tmp_path: Path, given: str, message: str, suggestion: str) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "text").write_text("no module")
    environ = {
        "HOME": str(tmp_path),
        "PATH": "/nowhere",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "AGENT_SANDBOX_WASM": str(tmp_path / given),
    }
    if given == "refused":
        environ |= {"SANDBOXC": str(tmp_path / "absent"), "AGENT_SANDBOX_HOST": "stdio"}
    command = [sys.executable, "-W", "error", "-c", PROGRAM, given]
    ended = subprocess.run(command, capture_output=True, text=True, env=environ, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    said = ended.stdout.splitlines()
    assert len(said) == 4 and len(set(said)) == 1
    assert said[0].startswith("E8000: ") and message in said[0] and suggestion in said[0].partition(" (")[2]
