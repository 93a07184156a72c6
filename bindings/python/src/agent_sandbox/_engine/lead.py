"""What a caller's own thread needs to run the background loop while it waits."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from .sync_wait import interrupt

try:  # what `signal` wraps: it makes enums of every answer, and is asked for each signal before each call
    import _signal as _plain  # type: ignore[import-not-found]
except ImportError:
    _plain = signal

_handler_of: Callable[[int], Any] = _plain.getsignal
_handle: Callable[[int, Any], Any] = _plain.signal


class Loop(asyncio.SelectorEventLoop):
    """A loop that may stand still: then ``posted`` is told when another thread gives it something to do."""

    posted: Callable[[], object] | None = None

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """See asyncio."""
        handle = super().call_soon_threadsafe(callback, *args, context=context)
        # Looked at after the handle was put in. Whoever stops the loop looks the other way round.
        if not self.is_running() and self.posted is not None:
            self.posted()
        return handle

    def waiting(self) -> bool:
        """Whether something is to be done at once."""
        return bool(getattr(self, "_ready", True))


def new_loop() -> asyncio.AbstractEventLoop:
    """A loop as the program's policy makes it: one that may stand still where that is asyncio's own."""
    loop = asyncio.new_event_loop()
    if type(loop) is not asyncio.SelectorEventLoop or sys.platform == "win32":
        return loop
    loop.close()
    return Loop()


def runs_a_loop() -> bool:
    """Whether this thread runs a loop already, of whomever."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class Signals:
    """Keeps handlers of signals, which are called in the main thread and may raise anything or call us, out
    of the loop."""

    def __init__(self) -> None:
        self._others = sorted(int(number) for number in signal.valid_signals() if number != signal.SIGINT)
        self._main = threading.main_thread().ident

    def quiet(self) -> bool:
        """Whether no handler of the program's own can be called in this thread."""
        if threading.get_ident() != self._main:
            return True
        own = _handler_of(signal.SIGINT)
        if callable(own) and own is not signal.default_int_handler:
            return False
        return not any(map(callable, map(_handler_of, self._others)))

    def hold(self) -> Callable[[], None]:
        """Turns SIGINT into an interrupt of the wait (see sync_wait.py), until what this gives is called."""
        if threading.get_ident() != self._main or not callable(_handler_of(signal.SIGINT)):
            return nothing
        main = threading.get_ident()

        def note(number: int, frame: FrameType | None) -> None:
            interrupt(main, KeyboardInterrupt())

        try:
            _handle(signal.SIGINT, note)
        except ValueError:  # signals come to another thread than the one that counts as the main one
            return nothing
        return _release


def nothing() -> None:
    """Nothing was held."""


def _release() -> None:
    _handle(signal.SIGINT, signal.default_int_handler)
