"""What becomes of a loop's operations when the loop is closed in the middle of them.

A loop tells nobody that it is closed, but it lets go of its timers. So one that never fires keeps an
object whose end is the loop's: then sockets are closed, tasks that will never run are put away, and the
background loop, which serves the blocking classes too, tells the remote side.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from . import frame
from .operation import Operation

if TYPE_CHECKING:
    import asyncio

    from .driver import Driver

#: Seconds until the timer fires and is set anew.
_FAR = 1e8


class Watch:
    """Ends with the loop of a driver, and tells the driver."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        _keep(driver.loop, self)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self._driver.orphaned()


def _keep(loop: asyncio.AbstractEventLoop, watch: Watch) -> None:
    loop.call_later(_FAR, _keep, loop, watch)  # the only one that has the watch


def hand_over(driver: Driver) -> None:
    """Gives what lives on a closed loop to the background loop, which ends it."""
    if not driver.engine.live(driver):
        return
    try:
        threading.Thread(target=_hand_over, args=(driver,), name="agent-sandbox-orphans").start()
    except RuntimeError:  # the interpreter ends
        from .undertaker import bury

        bury(driver)


def _hand_over(driver: Driver) -> None:
    from .background import background

    served = background().driver
    for old in driver.engine.live(driver):
        assert isinstance(old, Operation)
        new = Operation(served, old.transport)
        driver.engine.adopt(old.op, new)
        served.loop.call_soon_threadsafe(_end, new, old)


def _end(operation: Operation, old: Operation) -> None:
    timers, ends = old.timers(), [end for end in old.loose_ends() if end[1] != frame.TIMER]
    left, detached = old.left, old.followed and old.started
    old.abandon()
    if operation.done:
        return
    for stream, timer in timers:
        operation.inherit(stream, timer)
    if not left:
        operation.cancel("detach" if detached else "cancel")
        operation.driver.flush()  # it knows that, before it hears of lost connections
    operation.left = True
    for stream, kind, payload in ends:
        operation.feed(stream, kind, payload)
