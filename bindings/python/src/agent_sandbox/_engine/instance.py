"""One instance of the core's WebAssembly module, in wasmtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wasmtime import Engine, Linker, Memory, Module, Store

from .call import Call, Size, hot_call, hot_size
from .frame import NOBODY, VERSION, Frame, number, parse
from .immortal import immortal
from .machine import MachineDied
from .wasi import System

if TYPE_CHECKING:
    from .gathered import Gathered


class Instance:
    """A machine (see machine.py) with a memory of its own. It does not lock: its owner does."""

    def __init__(self, engine: Engine, module: Module) -> None:
        self._system = System()
        self._store = Store(engine)
        linker = Linker(engine)
        self._system.define(linker)
        exports: Any = linker.instantiate(self._store, module).exports(self._store)
        self._start(exports)
        self._memory: Memory = exports["memory"]
        self._in_buf: Call = hot_call(self._store, exports["in_buf"])
        self._run: Call = hot_call(self._store, exports["run"])
        self._data_size: Size = hot_size(self._store, self._memory)
        self._size = 0
        self._view = memoryview(b"")
        self._system.attach(self._memory_view)
        immortal(self._store)  # only now: one that did not start is freed

    def _start(self, exports: Any) -> None:
        try:
            exports["_initialize"](self._store)
            version = exports["abi_version"](self._store)
        except Exception as error:
            raise self._died(error) from None
        if version != VERSION:
            raise MachineDied(f"the core speaks version {version} of the frames, this package {VERSION}")

    def _died(self, error: Exception) -> MachineDied:
        words = self._system.words.decode("utf-8", "replace").strip() or str(error)
        return MachineDied(words.partition("\n")[0][:500])

    def run(self, parts: list[bytes], size: int, gathering: Mapping[int, Gathered] = NOBODY) -> list[Frame]:
        """Takes ``size`` bytes of input frames in pieces and gives the output frames."""
        try:
            at = self._in_buf(size)
            view = self._memory_view()
            for part in parts:
                end = at + len(part)
                view[at:end] = part
                at = end
            out = self._run(size)
        except Exception as error:
            raise self._died(error) from None
        view = self._memory_view()
        total = number(view[out : out + 4])
        return parse(view[out + 4 : out + 4 + total], gathering)

    def _memory_view(self) -> memoryview:
        """The linear memory. It may grow in any call, and be somewhere else then."""
        size = self._data_size()
        if size != self._size:
            self._view = memoryview(self._memory.get_buffer_ptr(self._store)).cast("B")
            self._size = size
        return self._view

    def memory_size(self) -> int:
        """Bytes of linear memory."""
        return self._data_size()

    def close(self) -> None:
        """Frees it."""
        self._view = memoryview(b"")
        self._size = 0
        self._store.close()
