"""What is called with the output of a process."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import Any

from . import frame

Callback = Callable[[Any], Any]


class Callbacks:
    """Callbacks by what they take: ``start`` the pid, ``stdout`` and ``stderr`` text,
    ``stdout_bytes``, ``stderr_bytes`` and ``pty`` bytes. Text comes in whole characters."""

    def __init__(self, **callbacks: Callback | None) -> None:
        self._given = {name: callback for name, callback in callbacks.items() if callback is not None}
        for name, callback in self._given.items():
            if not callable(callback):
                raise TypeError(f"on_{_OPTIONS.get(name, name)} must be callable, not {type(callback).__name__}")
        self._decoders = {name: new_decoder() for name in ("stdout", "stderr") if name in self._given}

    def __bool__(self) -> bool:
        return bool(self._given)

    def started(self, pid: int | None) -> Iterator[tuple[Callback, Any]]:
        """What is due when the process runs."""
        if "start" in self._given:
            yield self._given["start"], pid

    def due(self, channel: int, block: bytes) -> Iterator[tuple[Callback, Any]]:
        """What is due with a block of output."""
        name = _NAMES[channel]
        raw = self._given.get(name + "_bytes" if channel != frame.PTY else name)
        if raw is not None:
            yield raw, block
        if name in self._decoders:
            text = self._decoders[name].decode(block)
            if text:
                yield self._given[name], text

    def last(self) -> Iterator[tuple[Callback, Any]]:
        """What is due at the end: characters that were cut short."""
        for name, decode in self._decoders.items():
            text = decode.decode(b"", True)
            if text:
                yield self._given[name], text


_OPTIONS = {"pty": "data"}
_NAMES = {frame.STDOUT: "stdout", frame.STDERR: "stderr", frame.PTY: "pty"}


def new_decoder() -> codecs.IncrementalDecoder:
    """Bytes to text, whatever the pieces they come in; what is broken becomes U+FFFD."""
    return codecs.getincrementaldecoder("utf-8")("replace")
