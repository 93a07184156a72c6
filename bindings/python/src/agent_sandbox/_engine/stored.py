"""A question of an operation to the store, or a lock that it holds there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import frame
from .json import encode

if TYPE_CHECKING:
    from .operation import Operation


class Stored:
    """One stream of questions."""

    def __init__(self, operation: Operation, stream: int) -> None:
        self._operation = operation
        self._stream = stream
        self._release: Any = None

    def order(self, order: dict[str, Any], blob: bytes) -> None:
        """Asks the store, or gives a lock back."""
        if order["verb"] == "unlock":
            self._operation.over(self._stream)
            self.close()
            return
        self._release = self._operation.driver.store().call(order["verb"], order.get("name", ""), blob, self._answer)
        self._verb = order["verb"]

    def _answer(self, answer: dict[str, Any], blob: bytes) -> None:
        if self._verb != "lock" or answer.get("error"):
            self._operation.over(self._stream)
        self._operation.feed(self._stream, frame.STORE_RESULT, frame.mixed(encode(answer), blob))

    def take(self, kind: int, payload: bytes) -> None:
        """Nothing else is asked."""

    def close(self) -> None:
        """Gives up the lock, or the question."""
        release, self._release = self._release, None
        if release is not None:
            release()

    def pause(self) -> None:
        """Nothing to hold back."""

    def resume(self) -> None:
        """Nothing to go on with."""

    def loose_end(self) -> tuple[int, bytes]:
        """No answer will come."""
        return frame.STORE_RESULT, frame.mixed(encode({"error": "the event loop has ended"}))
