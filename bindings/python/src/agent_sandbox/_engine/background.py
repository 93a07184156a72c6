"""The event loop that serves the blocking classes, in a thread of its own."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from .driver import CLEANUP_CLOCK, Driver
from .loading import load
from .sync_wait import acquire, opener

T = TypeVar("T")


class Background:
    """One a process. It ends with the interpreter, after draining tails."""

    def __init__(self) -> None:
        load()
        self.loop = asyncio.new_event_loop()
        self.driver = Driver(self.loop)
        self._thread = threading.Thread(target=self._run, name="agent-sandbox", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def _run(self) -> None:
        self.loop.run_forever()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs work on the loop and waits for it; leaving cancels it."""
        lock = threading.Lock()
        lock.acquire()
        outcome: list[Any] = []
        tasks: list[asyncio.Task[T]] = []

        def start() -> None:
            task = self.loop.create_task(work)
            tasks.append(task)
            task.add_done_callback(end)

        def end(task: asyncio.Task[T]) -> None:
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            outcome.extend((error, None if error else task.result()))
            opener(lock)()

        self.loop.call_soon_threadsafe(start)
        try:
            acquire(lock)
        except BaseException:
            self.loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
            raise
        error, result = outcome
        if error is not None:
            raise error
        value: T = result
        return value

    def stop(self) -> None:
        """Drains, closes every connection, and ends the thread. Twice is fine."""
        atexit.unregister(self.stop)
        if current() is self:
            _forget()
        if self.loop.is_closed() or not self._thread.is_alive():
            return
        ended = asyncio.run_coroutine_threadsafe(self.driver.aclose(everybody=True), self.loop)
        try:
            ended.result(2 * CLEANUP_CLOCK)
        except Exception:
            ended.cancel()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(CLEANUP_CLOCK)
        if not self._thread.is_alive():
            self.loop.close()


_background: Background | None = None
_guard = threading.Lock()
#: Of a parent process: its loop's descriptors are shared, so it must not be freed here.
_inherited: list[Background] = []


def background() -> Background:
    """The process's one background loop."""
    global _background
    if _background is None:
        with _guard:
            if _background is None:
                _background = Background()
    return _background


def current() -> Background | None:
    """The background loop, if there is one."""
    return _background


def _forget() -> None:
    global _background
    _background = None


def _forked() -> None:
    global _background, _guard
    _guard = threading.Lock()
    if _background is not None:
        _inherited.append(_background)
        atexit.unregister(_background.stop)
        _background = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
