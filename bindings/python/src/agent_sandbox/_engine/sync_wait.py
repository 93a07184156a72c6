"""Waiting for an operation in a thread. The wait can be interrupted: KeyboardInterrupt ends it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from .driver import CLEANUP_CLOCK
from .operation import Operation
from .outcome import cancelled, outcome

#: Threads that wait, and what they are to be interrupted with.
_waiting: dict[int, threading.Lock] = {}
_interrupts: dict[int, BaseException] = {}


def opener(lock: threading.Lock) -> Callable[[], None]:
    """Releases a lock that somebody waits for. More than once is fine."""

    def release() -> None:
        try:
            lock.release()
        except RuntimeError:
            return

    return release


def acquire(lock: threading.Lock, timeout: float = -1) -> bool:
    """Waits for a lock that another thread releases; false when the time is over."""
    me = threading.get_ident()
    _waiting[me] = lock
    try:
        if sys.platform == "win32" and timeout < 0:
            while not lock.acquire(timeout=0.2):
                pass
            got = True
        else:
            got = lock.acquire(timeout=timeout)
    finally:
        del _waiting[me]
    error = _interrupts.pop(me, None)
    if error is not None:
        raise error
    return got


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
