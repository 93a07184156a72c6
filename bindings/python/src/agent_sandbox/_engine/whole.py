"""A body whose size is known, in one piece of memory that the network is read to."""

from __future__ import annotations

from io import BytesIO


class Whole:
    """Grows from its start to its size. What it ends as is that very memory, without a copy."""

    def __init__(self, size: int) -> None:
        # Zeros that nobody has touched cost nothing, whatever size the peer announced. BytesIO takes
        # over bytes that nobody else holds, and gives them back.
        self._memory = BytesIO(bytes(size))
        self._view = self._memory.getbuffer()
        self._at = 0

    @classmethod
    def of(cls, size: int, blocks: list[tuple[int, bytes]]) -> Whole | None:
        """One that takes over the blocks that came before; None where there is no memory for it."""
        try:
            whole = cls(size)
        except (MemoryError, OverflowError):
            return None  # its bytes may never come
        for _, block in blocks:
            whole.add(block)
        blocks.clear()
        return whole

    def rest(self) -> memoryview:
        """Where the next bytes go."""
        return self._view[self._at :]

    def filled(self, count: int) -> None:
        """So many bytes went there."""
        self._at += count

    def add(self, block: bytes) -> None:
        """Bytes that came elsewhere."""
        end = self._at + len(block)
        self._view[self._at : end] = block
        self._at = end

    def close(self) -> bytes:
        """What came. Nothing is added any more."""
        self._view.release()
        whole = self._memory.getvalue()
        return whole if self._at == len(whole) else whole[: self._at]
