"""What runs the core: an instance of its WebAssembly module, or ``sandboxc host --stdio``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from .frame import Frame

if TYPE_CHECKING:
    from wasmtime import Engine, Module

    from .gathered import Gathered


class MachineDied(Exception):
    """The machine is gone for good; the text is what it said last. Make a new one."""


class NoMachine(MachineDied):
    """There is none as things are set up here; ``suggestion`` says what to change."""

    def __init__(self, words: str, suggestion: str) -> None:
        super().__init__(words)
        self.suggestion = suggestion


class Machine(Protocol):
    """Takes input frames and gives output frames. One thread at a time, never re-entered."""

    def run(self, parts: list[bytes], size: int, gathering: Mapping[int, Gathered]) -> list[Frame]:
        """Takes ``size`` bytes in pieces; for ``gathering`` see frame.parse. Raises MachineDied."""

    def close(self) -> None:
        """Ends it. Twice is fine."""


#: Makes one more machine of a kind that is loaded already: milliseconds.
Maker = Callable[[], Machine]


def quick() -> Maker | None:
    """A maker that is ready within milliseconds; None when something must be compiled first."""
    if not has_wasmtime():
        return _stdio
    from .artifact import load

    loaded = load(compile=False)
    return None if loaded is None else _instances(loaded)


def slow() -> Maker:
    """A maker, compiling the core first if that is needed: seconds, once a machine and version."""
    from .artifact import load

    loaded = load(compile=True)
    assert loaded is not None
    return _instances(loaded)


def _instances(loaded: tuple[Engine, Module]) -> Maker:
    from .instance import Instance

    engine, module = loaded
    return lambda: Instance(engine, module)


def _stdio() -> Machine:
    from .stdio import Stdio

    return Stdio.start()


def has_wasmtime() -> bool:
    """Whether the core can run in this process."""
    if os.environ.get("AGENT_SANDBOX_HOST") == "stdio":
        return False
    try:
        import wasmtime  # noqa: F401
    except (ImportError, OSError):
        return False
    return True
