"""Output that goes past the frames."""

from __future__ import annotations

from agent_sandbox._engine import frame
from agent_sandbox._engine.gathered import Gathered


def framed(op: int, kind: int, payload: bytes) -> bytes:
    return frame.header(op, 0, kind, len(payload)) + payload + frame.padding(len(payload))


def test_output_of_whoever_gathers_is_no_frame() -> None:
    mine = Gathered(keep=True)
    buffer = bytearray(
        framed(1, frame.STDOUT, b"ab")
        + framed(2, frame.STDOUT, b"theirs")
        + framed(1, frame.STDERR, b"e")
        + framed(1, frame.RESULT, b"{}")
        + framed(1, frame.STDOUT, b"c")
    )
    frames = frame.parse(memoryview(buffer), {1: mine})
    buffer[:] = bytes(len(buffer))  # the core's memory, which the next crossing writes to
    assert frames == [(2, 0, frame.STDOUT, b"theirs"), (1, 0, frame.RESULT, b"{}")]
    assert mine.of(frame.STDOUT) == b"abc"
    assert mine.of(frame.STDERR) == b"e"
    assert mine.of(frame.PTY) == b""


def test_what_was_read_stays_when_more_comes() -> None:
    gathered = Gathered(keep=True)
    gathered.add(frame.STDOUT, memoryview(b"a"))
    early = gathered.of(frame.STDOUT)
    gathered.add(frame.STDOUT, memoryview(b"b"))
    assert early == b"a"
    assert gathered.of(frame.STDOUT) == b"ab"


def test_nothing_is_kept_where_nobody_wants_it_or_any_more() -> None:
    dropped = Gathered(keep=False)
    dropped.add(frame.STDOUT, memoryview(b"a"))
    assert dropped.of(frame.STDOUT) == b""
    left = Gathered(keep=True)
    left.add(frame.STDOUT, memoryview(b"a"))
    left.discard()
    left.add(frame.STDOUT, memoryview(b"b"))
    assert left.of(frame.STDOUT) == b""
