"""What may stand in the head of a request."""

from __future__ import annotations

import pytest

from agent_sandbox._host.failure import NetFailure
from agent_sandbox._host.request import check

REFUSED = {
    "no name": ("", "v"),
    "a space in the name": ("A B", "v"),
    "a colon in the name": ("A:B", "v"),
    "a line's end in the name": ("A\nB", "v"),
    "a letter that is no ASCII in the name": ("\u00c4", "v"),
    "another header in the value": ("A", "v\nB: w"),
    "a return in the value": ("A", "v\r"),
    "a zero in the value": ("A", "\0"),
    "a deletion in the value": ("A", "\x7f"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_header_that_would_be_another_is_refused(name: str, place: int) -> None:
    headers = [("X", "1"), ("Y", "2")]
    headers.insert(place, REFUSED[name])
    with pytest.raises(NetFailure):
        check(headers)


@pytest.mark.parametrize("headers", [[], [("A", "")], [("A-b_c", "\tv w, \u00e9"), ("B", "x:y")]])
def test_what_headers_may_say(headers: list[tuple[str, str]]) -> None:
    check(headers)
