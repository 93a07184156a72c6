"""Waiting for an operation in a thread. The wait can be interrupted: KeyboardInterrupt ends it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol

from .driver import CLEANUP_CLOCK
from .operation import Operation
from .outcome import cancelled, outcome


class Opens(Protocol):
    """What a thread waits for: a lock, or the like."""

    def release(self) -> None:
        """Ends the waiting. Raises RuntimeError when that has ended."""


#: Threads that wait, and what they are to be interrupted with.
_waiting: dict[int, Opens] = {}
_interrupts: dict[int, BaseException] = {}


def opener(lock: Opens) -> Callable[[], None]:
    """Releases a lock that somebody waits for. More than once is fine."""

    def release() -> None:
        try:
            lock.release()
        except RuntimeError:
            return

    return release


def acquire(lock: threading.Lock, timeout: float = -1) -> bool:
    """Waits for a lock that another thread releases; false when the time is over."""
    with interruptible(lock):
        if sys.platform == "win32" and timeout < 0:
            while not lock.acquire(timeout=0.2):
                pass
            return True
        return lock.acquire(timeout=timeout)


class interruptible:
    """A context in which interrupt() reaches this thread: it ends the waiting, and raises at the end."""

    def __init__(self, waits_for: Opens) -> None:
        self._waits_for = waits_for
        self._me = threading.get_ident()

    def __enter__(self) -> None:
        self._outer = _waiting.get(self._me)  # a handler of a signal is called in the middle of a wait, and waits
        _waiting[self._me] = self._waits_for

    def __exit__(self, kind: Any, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._outer is None:
            del _waiting[self._me]
        else:
            _waiting[self._me] = self._outer
        interrupt = _interrupts.pop(self._me, None)
        if interrupt is not None and error is None:
            raise interrupt


def interrupted() -> bool:
    """Whether this thread has been interrupted."""
    return threading.get_ident() in _interrupts


def interrupt(thread: int, error: BaseException) -> bool:
    """Raises an error in a thread that waits here, as a signal does in the main thread; false when it
    does not wait."""
    lock = _waiting.get(thread)
    if lock is None:
        return False
    _interrupts[thread] = error
    opener(lock)()
    return True


def until(operation: Operation, waiting: str, ready: Callable[[], object], timeout: float = -1) -> None:
    """Waits for a change until ``ready`` says so; ``waiting`` names the list of those who wait.
    Meanwhile it gives what the operation asks of the caller's thread."""
    while not ready():
        while operation.pulls:
            operation.pulls.popleft()()
        lock = threading.Lock()
        lock.acquire()
        getattr(operation, waiting).append(opener(lock))
        if ready() or operation.pulls:
            continue
        if not acquire(lock, timeout):
            return


def settled(operation: Operation) -> None:
    """Waits for the outcome. Whoever leaves before, cancels."""
    try:
        until(operation, "settlers", lambda: operation.outcome)
    except BaseException as error:
        leave(operation, error)
        raise


def leave(operation: Operation, error: BaseException, output: bool = False) -> None:
    """The caller leaves by an exception: the remote side is told by the background loop, which goes on
    serving the operation. A KeyboardInterrupt carries what there is to say, the output so far included,
    as ``sandbox_error``."""
    if isinstance(error, KeyboardInterrupt):
        error.sandbox_error = cancelled(operation, output)  # type: ignore[attr-defined]
    cancel(operation)
    operation.discard()  # whoever has the error has the operation as well, through its traceback
    operation.pulls.clear()


def told(operation: Operation) -> None:
    """Waits until the remote side knows that the caller left, for at most the cleanup clock."""
    until(operation, "enders", lambda: operation.done, CLEANUP_CLOCK)


def cancel(operation: Operation, reason: str = "cancel") -> None:
    """Tells the core that the caller has left. From here on nobody is called back."""
    operation.left = True
    try:
        operation.driver.loop.call_soon_threadsafe(operation.cancel, reason)
    except RuntimeError:
        operation.done = True  # the loop has ended, and the operation with it


def value(operation: Operation) -> Any:
    """Waits for the result. Raises the operation's error."""
    settled(operation)
    return outcome(operation)
