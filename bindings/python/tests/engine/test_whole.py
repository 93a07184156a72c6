"""Bodies in one piece of memory."""

from __future__ import annotations

import sys

import pytest

from agent_sandbox._engine.whole import Whole


def test_what_came_before_is_its_start() -> None:
    blocks = [(0, b"ab"), (0, b"c")]
    whole = Whole.of(6, blocks)
    assert whole is not None
    assert blocks == []
    whole.rest()[:2] = b"de"
    whole.filled(2)
    whole.add(b"f")
    assert whole.close() == b"abcdef"


def test_one_that_ends_early_is_what_came() -> None:
    whole = Whole(1 << 20)
    whole.add(b"abc")
    assert whole.close() == b"abc"


def test_a_size_that_no_memory_holds_is_told_from_one_that_does() -> None:
    blocks = [(0, b"ab")]
    assert Whole.of(sys.maxsize, blocks) is None
    assert Whole.of(sys.maxsize + 1, blocks) is None
    assert blocks == [(0, b"ab")]


def test_a_size_that_never_comes_takes_no_memory() -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    whole = Whole(256 << 20)
    whole.add(b"abc")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10
