"""The core of this process: one machine, and the operations that live in it.

Operations belong to drivers (one for each event loop). Any thread may cross into the core, one at a
time; what comes out goes to the drivers concerned, in the order in which it came.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, Any

from . import frame
from .json import encode
from .machine import Machine, MachineDied, Maker, NoMachine, quick, slow

if TYPE_CHECKING:
    from .driver import Driver, Target
    from .gathered import Gathered


class Engine:
    """See the module. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._maker: Maker | None = None
        self._machine: Machine | None = None
        self._targets: dict[int, Target] = {}
        self._gathering: dict[int, Gathered] = {}
        self._last = 0

    def loaded(self) -> bool:
        """Whether the core can be had within milliseconds. What goes wrong is found again, and told, by
        the first call."""
        if self._maker is not None:
            return True
        with self._lock, contextlib.suppress(Exception):
            if self._maker is None:
                self._maker = quick()
            return self._maker is not None
        return True

    def load(self) -> None:
        """Compiles the core where that is needed: seconds, in the calling thread. Errors as above."""
        with self._lock, contextlib.suppress(Exception):
            if self._maker is None:
                self._maker = slow()

    def call(self, target: Target, parts: list[bytes], size: int, call: bytes) -> int:
        """Begins an operation: first ``parts``, then the CALL with that payload. Gives its number."""
        with self._lock:
            op = self._next()
            target.op = op
            self._targets[op] = target
            if target.gathered is not None:
                self._gathering[op] = target.gathered
            padding = frame.padding(len(call))
            parts += (frame.header(op, 0, frame.CALL, len(call)), call, padding)
            woken = self._cross(parts, size + 16 + len(call) + len(padding))
        self._wake(woken, target.driver)
        return op

    def run(self, driver: Driver, parts: list[bytes], size: int) -> None:
        """Takes input frames of a driver."""
        with self._lock:
            woken = self._cross(parts, size)
        self._wake(woken, driver)

    def live(self, driver: Driver) -> list[Target]:
        """The operations of a driver that have not ended."""
        with self._lock:
            return [t for t in self._targets.values() if t.driver is driver]

    def adopt(self, op: int, target: Target) -> None:
        """Gives an operation that has not ended to another target."""
        with self._lock:
            if op in self._targets:
                self._gathering.pop(op, None)
                target.op = op
                self._targets[op] = target
            else:
                target.fail(RuntimeError("it has ended"))

    def _next(self) -> int:
        while True:
            self._last = self._last % 0xFFFFFFFF + 1
            if self._last not in self._targets:
                return self._last

    def _cross(self, parts: list[bytes], size: int) -> set[Driver]:
        try:
            if self._machine is None:
                self._machine = self._make()
            frames = self._machine.run(parts, size, self._gathering)
        except MachineDied as died:
            return self._bury(died)
        woken: set[Driver] = set()
        targets = self._targets
        for op, stream, kind, payload in frames:
            target = targets.get(op)
            if target is None:
                continue
            if kind == frame.DONE:
                del targets[op]
                self._gathering.pop(op, None)
            target.driver.outbox.append((target, stream, kind, payload))
            woken.add(target.driver)
        return woken

    def _make(self) -> Machine:
        try:
            if self._maker is None:
                self._maker = quick() or slow()
            return self._maker()
        except Exception as error:
            if isinstance(error, MachineDied):
                raise
            raise MachineDied(f"it cannot be loaded: {error}") from None

    def _bury(self, died: MachineDied) -> set[Driver]:
        """The machine is dead, and with it every operation. The next crossing makes a new one."""
        machine, self._machine = self._machine, None
        if machine is not None:
            machine.close()
        error = encode(_told(died))
        woken = set()
        for target in self._targets.values():
            target.driver.outbox.append((target, 0, frame.ERROR, error))
            target.driver.outbox.append((target, 0, frame.DONE, b""))
            woken.add(target.driver)
        self._targets.clear()
        self._gathering.clear()
        return woken

    @staticmethod
    def _wake(woken: set[Driver], own: Driver) -> None:
        """The own driver looks by itself."""
        for driver in woken:
            if driver is not own:
                driver.wake()

    def memory_size(self) -> int:
        """Bytes of the core's linear memory; 0 when it does not run in this process."""
        with self._lock:
            size: Any = getattr(self._machine, "memory_size", None)
            return 0 if size is None else int(size())


def _told(died: MachineDied) -> dict[str, str]:
    if isinstance(died, NoMachine):
        return {"code": "E8000", "message": str(died), "suggestion": died.suggestion, "docs": "docs/python.md"}
    return {
        "code": "E9000",
        "message": f"the core ended unexpectedly: {died}",
        "suggestion": "please report this; the next call works on a new one",
        "docs": "docs/errors.md",
    }


_engine: Engine | None = None
_guard = threading.Lock()
#: Engines of a parent process: never touched again, and never freed, since other threads of the
#: parent may have been inside them.
_inherited: list[Engine] = []


def engine() -> Engine:
    """The process's one engine."""
    global _engine
    if _engine is None:
        with _guard:
            if _engine is None:
                _engine = Engine()
    return _engine


def _forked() -> None:
    global _engine, _guard
    _guard = threading.Lock()
    if _engine is not None:
        _inherited.append(_engine)
        _engine = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
