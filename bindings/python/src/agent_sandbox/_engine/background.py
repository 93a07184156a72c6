"""The event loop that serves the blocking classes, in a thread of its own."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from .driver import CLEANUP_CLOCK, Driver
from .lead import Loop, Signals, new_loop, nothing, runs_a_loop
from .loading import load
from .operation import Operation
from .sync_wait import acquire, interrupted, interruptible, opener

#: Seconds after which a loop that nobody needs is looked after.
_REST = 5.0

T = TypeVar("T")


class _Stop:
    """Ends the wait of a thread that runs the loop."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def release(self) -> None:
        """As that of a lock."""
        self._loop.call_soon_threadsafe(self._loop.stop)


class Background:
    """One a process. It ends with the interpreter, after draining tails.

    The loop runs in the thread of a caller that waits for one outcome, while nothing else runs it; what
    lives on after that, and all others that come meanwhile, are served by a thread of its own.
    """

    def __init__(self) -> None:
        load()
        self.loop = new_loop()
        self.driver = Driver(self.loop)
        self.driver.ended = self._look
        self._turn = threading.Lock()  #: whoever holds it runs the loop
        self._called = threading.Lock()
        self._called.acquire()
        self._call = opener(self._called)
        self._serving = False  #: the own thread runs the loop
        self._works = 0
        self._ended = False
        self._signals = Signals()
        if isinstance(self.loop, Loop):
            self.loop.posted = self._call
        self._thread = threading.Thread(target=self._run, name="agent-sandbox", daemon=True)
        self._thread.start()
        atexit.register(self._leave)

    def _run(self) -> None:
        if not isinstance(self.loop, Loop):
            self.loop.run_forever()
            return
        while not self._ended:
            self._called.acquire(timeout=_REST)
            with self._turn:
                self._serve()

    def _serve(self) -> None:
        """Runs the loop as long as it is needed, at least for what is due."""
        self._serving = True
        while True:
            self.loop.call_soon(self._look)
            again = self.loop.call_later(_REST, self._look)
            self.loop.run_forever()
            again.cancel()
            if self._ended or not self._busy():
                break
        self._serving = False

    def _look(self) -> None:
        if self._serving and not self._needed():
            self.loop.stop()

    def _needed(self) -> bool:
        return self._works > 0 or self.driver.busy()

    def _busy(self) -> bool:
        return self._needed() or not isinstance(self.loop, Loop) or self.loop.waiting()

    def lead(self, operation: Operation) -> bool:
        """Begins an operation and serves it to its outcome in this thread, which spares handing it to
        another one and back; false when that cannot be, and nothing was done. Interrupts as acquire() in
        sync_wait.py does."""
        if not isinstance(self.loop, Loop) or self._turn.locked() or runs_a_loop() or not self._signals.quiet():
            return False
        release = nothing
        with interruptible(_Stop(self.loop)):
            try:
                release = self._signals.hold()
                led = self._turn.acquire(blocking=False)
                if led:
                    self._led(operation)
            finally:
                release()
        return led

    def _led(self, operation: Operation) -> None:
        assert isinstance(self.loop, Loop)
        try:
            operation.settlers.append(self.loop.stop)
            self.loop.call_soon(self.driver.begin, operation)
            while operation.outcome is None and not self._ended and not interrupted():
                self.loop.run_forever()
            if self.loop.waiting():  # mostly a last word to the core, of which nothing comes
                self.loop.call_soon(self.loop.stop)
                self.loop.run_forever()
        finally:
            self._turn.release()
            if self._ended or self._busy():
                self._call()
        if self._ended:
            threading.Event().wait()  # as everybody does who still waits when the interpreter ends

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs work on the loop and waits for it; leaving cancels it."""
        lock = threading.Lock()
        lock.acquire()
        outcome: list[Any] = []
        tasks: list[asyncio.Task[T]] = []

        def start() -> None:
            self._works += 1
            task = self.loop.create_task(work)
            tasks.append(task)
            task.add_done_callback(end)

        def end(task: asyncio.Task[T]) -> None:
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            outcome.extend((error, None if error else task.result()))
            self._works -= 1
            self._look()
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

    def _leave(self) -> None:
        """The interpreter ends."""
        global _leaving
        _leaving = True
        self.stop()

    def stop(self) -> None:
        """Drains, closes every connection, and ends the thread. Twice is fine."""
        atexit.unregister(self._leave)
        if current() is self:
            _forget()
        if self.loop.is_closed() or not self._thread.is_alive():
            return
        ended = asyncio.run_coroutine_threadsafe(self.driver.aclose(everybody=True), self.loop)
        try:
            ended.result(2 * CLEANUP_CLOCK)
        except Exception:
            ended.cancel()
        self._ended = True
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._call()
        self._thread.join(CLEANUP_CLOCK)
        if not self._thread.is_alive():
            self.loop.close()


_background: Background | None = None
_leaving = False
_guard = threading.Lock()
#: Of a parent process: its loop's descriptors are shared, so it must not be freed here.
_inherited: list[Background] = []


def background() -> Background:
    """The process's one background loop. Other threads than the main one, which the interpreter leaves
    behind as it ends, get none any more: they wait, as they would wait for an answer.
    """
    global _background
    if _leaving and threading.current_thread() is not threading.main_thread():
        threading.Event().wait()
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
        atexit.unregister(_background._leave)
        _background = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
