"""Ends the operations of a loop that is gone: nothing that they wait for will ever come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import frame
from .json import encode

if TYPE_CHECKING:
    from .driver import Driver

_GONE = encode({"kind": "other", "host": "", "message": "the event loop has ended"})
_NOT_STORED = frame.mixed(encode({"error": "the event loop has ended"}))

#: Rounds of answers that an operation gets; one that still lives then is left alone.
_ROUNDS = 100

#: What an order is answered with, so that nobody waits.
_ANSWERS = {
    frame.HTTP_REQUEST: (frame.HTTP_ERROR, _GONE),
    frame.BODY_TO_HOST: (frame.HTTP_ERROR, _GONE),
    frame.BODY_TO_CORE: (frame.HTTP_ERROR, _GONE),
    frame.WS_DIAL: (frame.WS_CLOSED, _GONE),
    frame.TIMER_SET: (frame.TIMER, b""),
    frame.STORE: (frame.STORE_RESULT, _NOT_STORED),
    frame.INPUT_WANTED: (frame.INPUT_END, encode({"error": "the event loop has ended"})),
}


def bury(driver: Driver) -> None:
    """Cancels what the driver still has, and answers for it until it has ended."""
    driver.outbox.clear()
    parts: list[bytes] = []
    for target in driver.engine.live(driver):
        for stream, kind, payload in target.loose_ends():
            _append(parts, target.op, stream, kind, payload)
        _append(parts, target.op, 0, frame.CANCEL, encode({"reason": "cancel"}))
    for _ in range(_ROUNDS):
        if not parts:
            return
        driver.engine.run(driver, parts, sum(map(len, parts)))
        parts = []
        while driver.outbox:
            target, stream, kind, _payload = driver.outbox.popleft()
            answer = _ANSWERS.get(kind)
            if answer is not None:
                _append(parts, target.op, stream, *answer)


def _append(parts: list[bytes], op: int, stream: int, kind: int, payload: bytes) -> None:
    parts += (frame.header(op, stream, kind, len(payload)), payload, frame.padding(len(payload)))
