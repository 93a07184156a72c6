from __future__ import annotations

import pytest

from agent_sandbox._engine import frame


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 4096])
def test_a_frame_goes_round_whatever_its_size(size: int) -> None:
    payload = bytes(range(256)) * 16
    payload = payload[:size]
    one = frame.header(7, 9, frame.HTTP_CHUNK, size) + payload + frame.padding(size)
    assert len(one) % 4 == 0
    assert frame.parse(memoryview(one + one)) == [(7, 9, frame.HTTP_CHUNK, payload)] * 2


def test_no_bytes_are_no_frames() -> None:
    assert frame.parse(memoryview(b"")) == []


def test_a_mixed_payload_goes_round() -> None:
    assert frame.split(frame.mixed(b"{}", b"raw")) == (b"{}", b"raw")
    assert frame.split(frame.mixed(b"{}")) == (b"{}", b"")
