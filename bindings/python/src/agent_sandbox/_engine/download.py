"""The body of a bulk answer, which goes to the caller past the core."""

from __future__ import annotations

import asyncio
import zlib
from typing import TYPE_CHECKING, Any

from . import frame
from .json import encode

if TYPE_CHECKING:
    from .exchange import Exchange
    from .operation import Operation

_DAMAGED = {"kind": "damaged", "host": "", "message": "its gzip body is damaged"}

#: Gzip is undone in steps of at most so many bytes: a small body may stand for a huge one.
_STEP = 1 << 20


class Download:
    """Undoes gzip, drops and cuts what was not asked for, and minds the idle clock. ``order`` is the
    payload of BODY_TO_HOST."""

    def __init__(self, operation: Operation, exchange: Exchange, order: dict[str, Any]) -> None:
        self._operation = operation
        self._exchange = exchange
        self._idle = int(order.get("idle_ms") or 0)
        self._skip = int(order.get("skip") or 0)
        take = order.get("take")
        self._take: int | None = int(take) if take else None
        self._gzip = zlib.decompressobj(31) if order.get("gzip") else None
        self._began = False
        self._given = 0
        self._closed = False
        self._paused = False
        self._heard = operation.driver.loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._arm()

    def data(self, chunk: bytes) -> None:
        """A piece as it came."""
        if self._closed:
            return
        self._heard = self._operation.driver.loop.time()
        if self._gzip is None:
            self._give(chunk)
            return
        try:
            self._unpack(chunk)
        except zlib.error:
            self._exchange.fail(_DAMAGED)

    def _unpack(self, chunk: bytes) -> None:
        while chunk and self._gzip is not None:
            if self._gzip.eof:
                self._gzip = zlib.decompressobj(31)
            self._began = True
            self._give(self._gzip.decompress(chunk, _STEP))
            chunk = self._gzip.unused_data if self._gzip.eof else self._gzip.unconsumed_tail

    def _give(self, block: bytes) -> None:
        if self._skip:
            skipped = min(self._skip, len(block))
            self._skip -= skipped
            block = block[skipped:]
        if self._take is not None:
            block = block[: self._take - self._given]
        self._given += len(block)
        self._operation.add(0, block)

    def place(self, left: int) -> memoryview | None:
        """Where the next bytes are read to, of which ``left`` are to come; None where they must be looked
        at or nobody keeps them."""
        if self._closed or self._gzip is not None or self._skip or self._take is not None:
            return None
        whole = self._operation.whole(self._given + left)
        return None if whole is None else whole.rest()

    def placed(self, count: int) -> None:
        """So many bytes came there."""
        self._heard = self._operation.driver.loop.time()
        self._given += count
        self._operation.fill(count)

    def end(self) -> tuple[int, bytes]:
        """The body is complete; gives the last word to the core."""
        if self._gzip is not None and self._began and not self._gzip.eof:
            return frame.HTTP_ERROR, encode(_DAMAGED)
        return frame.HTTP_END, encode({"bytes": self._given})

    def _arm(self) -> None:
        if self._idle:
            loop = self._operation.driver.loop
            self._timer = loop.call_at(self._heard + self._idle / 1000, self._check)

    def _check(self) -> None:
        now = self._operation.driver.loop.time()
        if self._paused:
            self._heard = now
        if now < self._heard + self._idle / 1000:
            self._arm()
            return
        self._timer = None
        self._exchange.fail(
            {"kind": "other", "host": "", "message": "no data came any more", "clock": "idle", "limit_ms": self._idle}
        )

    def pause(self) -> None:
        """The caller is busy: silence is not the peer's."""
        self._paused = True

    def resume(self) -> None:
        """The peer's turn."""
        self._paused = False
        self._heard = self._operation.driver.loop.time()

    def close(self) -> None:
        """Nothing more is given."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
