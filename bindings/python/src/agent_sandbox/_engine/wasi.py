"""The few system calls that the core makes. Nothing of this machine is reachable through them.

wasmtime has a WASI of its own, but that one starts threads, which forking and ending processes do
not forgive.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from struct import Struct
from typing import Any

from wasmtime import Caller, FuncType, Linker, Memory, ValType

from .call import hot_import

_MODULE = "wasi_snapshot_preview1"
_BAD_DESCRIPTOR = 8
_U32 = Struct("<I")
_U64 = Struct("<Q")
_PAIR = Struct("<II")

#: What a dying instance says is kept up to so many bytes.
_LAST_WORDS = 4096


#: By name, how many arguments they have.
_SUCCEED = (("args_get", 2), ("environ_get", 2), ("sched_yield", 0), ("poll_oneoff", 4))
_REFUSED = (
    ("fd_close", 1),
    ("fd_fdstat_get", 2),
    ("fd_fdstat_set_flags", 2),
    ("fd_prestat_get", 2),
    ("fd_prestat_dir_name", 3),
)


class Exited(Exception):
    """The core ended itself."""


class System:
    """The imports of one instance. It does not outlive it."""

    def __init__(self) -> None:
        self.words = bytearray()
        self._view: Callable[[], memoryview] | None = None
        self._kept: list[Any] = []

    def attach(self, view: Callable[[], memoryview]) -> None:
        """Names the memory once the instance stands; before that it is asked of each caller."""
        self._view = view

    def define(self, linker: Linker) -> None:
        """Offers the imports."""
        i32, i64 = ValType.i32(), ValType.i64()
        define = linker.define_func
        self._kept = [
            hot_import(linker, (_MODULE, "random_get"), FuncType([i32] * 2, [i32]), self._random_get),
            hot_import(linker, (_MODULE, "clock_time_get"), FuncType([i32, i64, i32], [i32]), self._clock_time_get),
        ]
        define(_MODULE, "fd_write", FuncType([i32] * 4, [i32]), self._fd_write, True)
        define(_MODULE, "proc_exit", FuncType([i32], []), _proc_exit)
        for name in ("args_sizes_get", "environ_sizes_get"):
            define(_MODULE, name, FuncType([i32] * 2, [i32]), self._sizes_get, True)
        for name, count in _SUCCEED:
            define(_MODULE, name, FuncType([i32] * count, [i32]), _success)
        for name, count in _REFUSED:
            define(_MODULE, name, FuncType([i32] * count, [i32]), _no_descriptor)

    def _memory(self, caller: Any) -> memoryview:
        if self._view is not None:
            return self._view()
        if not isinstance(caller, Caller):
            caller = Caller(caller)
        memory: Any = caller["memory"]
        assert isinstance(memory, Memory)
        return memoryview(memory.get_buffer_ptr(caller)).cast("B")

    def _random_get(self, caller: Any, at: int, size: int) -> int:
        self._memory(caller)[at : at + size] = os.urandom(size)
        return 0

    def _clock_time_get(self, caller: Any, clock: int, precision: int, at: int) -> int:
        now = time.time_ns() if clock == 0 else time.monotonic_ns()
        _U64.pack_into(self._memory(caller), at, now)
        return 0

    def _fd_write(self, caller: Caller, fd: int, vectors: int, count: int, written: int) -> int:
        memory, at, total = self._memory(caller), _unsigned(vectors), 0
        for _ in range(_unsigned(count)):
            start, size = _PAIR.unpack_from(memory, at)
            self.words += memory[start : start + min(size, _LAST_WORDS - len(self.words))]
            at, total = at + 8, total + size
        _U32.pack_into(memory, _unsigned(written), total)
        return 0

    def _sizes_get(self, caller: Caller, count: int, size: int) -> int:
        memory = self._memory(caller)
        _U32.pack_into(memory, _unsigned(count), 0)
        _U32.pack_into(memory, _unsigned(size), 0)
        return 0


def _unsigned(n: int) -> int:
    return n & 0xFFFFFFFF


def _proc_exit(code: int) -> None:
    raise Exited(f"it exited with {code}")


def _success(*arguments: int) -> int:
    return 0


def _no_descriptor(*arguments: int) -> int:
    return _BAD_DESCRIPTOR
