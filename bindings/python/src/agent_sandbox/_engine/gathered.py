"""Output that nobody looks at before its end, by channel."""

from __future__ import annotations

import threading
from io import BytesIO


class Gathered:
    """Takes blocks straight from the core's memory, in whatever thread crosses, so that what is kept is
    copied once. With ``keep`` false it drops them."""

    def __init__(self, keep: bool) -> None:
        self._keep = keep
        self._channels: dict[int, BytesIO] = {}
        self._lock = threading.Lock()

    def add(self, channel: int, block: memoryview) -> None:
        """One block."""
        with self._lock:
            if not self._keep:
                return
            kept = self._channels.get(channel)
            if kept is None:
                kept = self._channels[channel] = BytesIO()
            kept.write(block)

    def of(self, channel: int) -> bytes:
        """What came of a channel so far."""
        kept = self._channels.get(channel)
        return b"" if kept is None else kept.getvalue()

    def discard(self) -> None:
        """Forgets everything, and what still comes."""
        with self._lock:
            self._keep = False
            self._channels.clear()
