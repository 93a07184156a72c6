"""Finds the core's compiled code, or compiles it once and keeps the result.

Loading compiled code is running it. So what is kept on disk is loaded only from a private directory
of ours, from a private file of ours, and only when its digest is right.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from hashlib import sha256
from typing import TYPE_CHECKING

from .machine import NoMachine

if TYPE_CHECKING:
    from wasmtime import Engine, Module

#: A compile that takes longer is told about, in seconds.
_PATIENCE = 1.0


def load(compile: bool) -> tuple[Engine, Module] | None:
    """The core's module; None when it has to be compiled and ``compile`` is false."""
    from wasmtime import Engine

    from .immortal import immortal

    engine = Engine()
    module = _shipped(engine) or _portable(engine, compile)
    return None if module is None else (immortal(engine), immortal(module))


def _portable(engine: Engine, compile: bool) -> Module | None:
    wasm = _wasm()
    path = _kept_path(sha256(wasm).hexdigest())
    module = None if path is None else _kept(engine, path)
    if module is None and compile:
        module = _compile(engine, wasm, path)
    return module


def _shipped(engine: Engine) -> Module | None:
    """The artifact of this platform's wheel. wasmtime itself refuses one of another major version."""
    if os.environ.get("AGENT_SANDBOX_WASM") or sys.platform != "linux" or _machine() != "x86_64":
        return None
    return _deserialize(engine, os.path.join(_package(), "core.cwasm"))


def _deserialize(engine: Engine, path: str) -> Module | None:
    from wasmtime import Module, WasmtimeError

    if not os.path.isfile(path):
        return None
    try:
        return Module.deserialize_file(engine, path)
    except WasmtimeError:
        return None


def _package() -> str:
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _wasm() -> bytes:
    path = _wasm_path()
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError as error:
        raise _unusable(f"{path}: {error.strerror}") from None


def _wasm_path() -> str:
    return os.environ.get("AGENT_SANDBOX_WASM") or os.path.join(_package(), "core.wasm")


def _unusable(why: str) -> NoMachine:
    again = "install the package again: pip install --force-reinstall agent-sandbox"
    given = "set AGENT_SANDBOX_WASM to a core.wasm, or unset it"
    suggestion = given if os.environ.get("AGENT_SANDBOX_WASM") else again
    return NoMachine(f"the core, which is a part of this package, cannot be used: {why}", suggestion)


def _machine() -> str:
    return os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "unknown")


def _kept_path(digest: str) -> str | None:
    """Where the compiled core is kept for this user; None when there is no such place."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.path.expanduser("~")
        if not os.path.isabs(home) or not os.path.isdir(home):
            return None  # a home that is not there is not made
        base = os.path.join(home, ".cache")
    name = f"core-{digest[:32]}-wasmtime{_wasmtime_major()}-{sys.platform}-{_machine()}.cwasm"
    return os.path.join(base, "agent-sandbox", name)


def _wasmtime_major() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("wasmtime").partition(".")[0]
    except PackageNotFoundError:
        return "unknown"


_DIGEST = 32


def _kept(engine: Engine, path: str) -> Module | None:
    """What an earlier process kept; None when there is none, or it is not to be trusted."""
    from wasmtime import Module, WasmtimeError

    try:
        text = _read_private(path)
    except OSError:
        return None
    code = memoryview(text)[_DIGEST:]
    if len(text) < _DIGEST or sha256(code).digest() != text[:_DIGEST]:
        return None
    try:
        return Module.deserialize(engine, bytes(code))
    except WasmtimeError:
        return None


def _read_private(path: str) -> bytes:
    """A file that nobody but us can have written. Raises OSError when it is not such a one."""
    directory = os.lstat(os.path.dirname(path))
    if not stat.S_ISDIR(directory.st_mode) or not _private(directory):
        raise PermissionError(path)
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    with open(fd, "rb") as f:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode) or not _private(info):
            raise PermissionError(path)
        return f.read()


def _private(info: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or (info.st_uid == os.getuid() and not info.st_mode & 0o077)


def _compile(engine: Engine, wasm: bytes, path: str | None) -> Module:
    from wasmtime import Module, WasmtimeError

    began = time.monotonic()
    try:
        module = Module(engine, wasm)
    except WasmtimeError as error:
        raise _unusable(f"{_wasm_path()} is not what wasmtime takes: {_first_line(error)}") from None
    took = time.monotonic() - began
    kept = path is not None and _keep(path, module)
    if took > _PATIENCE:
        again = "kept for the next time" if kept else "there is no private cache directory to keep the result in"
        print(f"agent-sandbox: compiled the core in {took:.1f} s ({again})", file=sys.stderr)
    return module


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]


def _keep(path: str, module: Module) -> bool:
    """Writes the compiled core where the next process looks; false when that cannot be."""
    directory = os.path.dirname(path)
    try:
        os.makedirs(os.path.dirname(directory), exist_ok=True)
        if not os.path.isdir(directory):
            os.mkdir(directory, 0o700)
        if not _private(os.lstat(directory)):
            return False
        code = bytes(module.serialize())
        _write_private(path, sha256(code).digest() + code)
    except OSError:
        return False
    return True


def _write_private(path: str, data: bytes) -> None:
    temporary = f"{path}.{os.getpid()}.{time.monotonic_ns()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(temporary, flags, 0o600), "wb") as f:
            f.write(data)
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
