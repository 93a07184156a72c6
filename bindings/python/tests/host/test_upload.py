"""Bodies of requests, and answers that come before their end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from agent_sandbox._host.upload import PIECES

from .peer import Link, answer, client, peer, timeout

LARGE = bytes(range(256)) * 16384  # 4 MiB


async def pieces_of(data: bytes, size: int = 100_000) -> AsyncIterator[bytes]:
    for i in range(0, len(data), size):
        yield data[i : i + size]


async def mirror(link: Link) -> None:
    while True:
        head = await link.head()
        if "chunked" in head:
            body = await link.chunks()
        else:
            length = next(
                int(line.partition(":")[2]) for line in head.split("\r\n") if line.startswith("Content-Length")
            )
            body = await link.reader.readexactly(length)
        await link.send(answer(body))


BODIES = {
    "none": (lambda: None, b""),
    "empty": (lambda: b"", b""),
    "bytes": (lambda: b"abc", b"abc"),
    "many bytes": (lambda: LARGE, LARGE),
    "a source of known length": (lambda: (b"<", pieces_of(LARGE), b">", len(LARGE) + 2), b"<" + LARGE + b">"),
    "a source of unknown length": (lambda: (b"<", pieces_of(LARGE), b">", None), b"<" + LARGE + b">"),
    "a source of one large piece": (lambda: (b"", pieces_of(LARGE, len(LARGE)), b"", None), LARGE),
    "a source of small pieces": (lambda: (b"", pieces_of(LARGE[:5000], 7), b"", 5000), LARGE[:5000]),
    "an empty source": (lambda: (b"", pieces_of(b""), b"", None), b""),
    "a source with empty pieces": (lambda: (b"a", _with_empty(), b"", None), b"abc"),
}


async def _with_empty() -> AsyncIterator[bytes]:
    for piece in (b"", b"b", b"", b"c", b""):
        yield piece


@pytest.mark.parametrize("name", BODIES)
async def test_a_body_arrives(name: str) -> None:
    make, want = BODIES[name]
    async with peer(mirror) as there, client() as c:
        for _ in range(2):
            assert (await c.ask(there.url, "POST", body=make())).outcome == (200, want)
        assert len(there.links) == 1


async def test_pieces_are_asked_for_one_by_one() -> None:
    async with peer(mirror) as there, client() as c:
        exchange, heard = c.begin(there.url, "POST", body=PIECES)
        for piece in (b"a", b"", b"bc", LARGE):
            async with timeout(5):
                await heard.asked.wait()
            heard.asked.clear()
            exchange.send_piece(piece)
            assert not heard.asked.is_set(), "not from inside a call"
        await heard.asked.wait()
        exchange.end_pieces()
        exchange.end_pieces()
        await heard.done
        assert heard.outcome == (200, b"abc" + LARGE)
        assert heard.order.count("wanted") == 5


@pytest.mark.parametrize("length", [3, 5], ids=["too much", "too little"])
async def test_a_source_of_another_length_fails(length: int) -> None:
    async with peer(mirror) as there, client() as c:
        exchange, heard = c.begin(there.url, "POST", body=(b"", pieces_of(b"abcd"), b"", length))
        await heard.done
        assert heard.kind == "source"
        assert isinstance(exchange.source_error, ValueError)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
async def test_a_source_that_fails(error: type[BaseException]) -> None:
    raised = error("s3cr3t")

    async def source() -> AsyncIterator[bytes]:
        yield b"a"
        raise raised

    async with peer(mirror) as there, client() as c:
        exchange, heard = c.begin(there.url, "POST", body=(b"", source(), b"", None))
        await heard.done
        assert heard.kind == "source" and "s3cr3t" not in str(heard.failure)
        assert exchange.source_error is raised
        assert (await c.ask(there.url, "POST", body=b"x")).body == b"x"


async def endless() -> AsyncIterator[bytes]:
    """Never waits for anything."""
    while True:
        yield b"x" * 1000


EARLY = {
    "bytes": lambda: LARGE * 8,
    "a source": lambda: (b"", endless(), b"", None),
    "a source of known length": lambda: (b"", endless(), b"", 1 << 40),
}


@pytest.mark.parametrize("end", ["keep", "fin", "rst"])
@pytest.mark.parametrize("body", EARLY)
async def test_an_early_answer_counts(body: str, end: str) -> None:
    async def early(link: Link) -> None:
        await link.head()
        await link.reader.read(1000)
        await link.send(answer(b"full", status="507 Insufficient Storage"))
        if end == "keep":
            await link.gone()
        elif end == "fin":
            link.fin()
        else:
            await asyncio.sleep(0.05)  # a reset that overtakes the answer takes it along
            link.rst()

    async with peer(early) as there, client() as c:
        for n in range(3):
            assert (await c.ask(there.url, "POST", body=EARLY[body]())).outcome == (507, b"full")
            assert len(there.links) == n + 1, "a connection with half a request is not kept"


async def test_an_answer_while_pieces_are_sent() -> None:
    async def early(link: Link) -> None:
        await link.head()
        await link.send(answer(b"no", status="403 Forbidden"))
        await link.gone()

    async with peer(early) as there, client() as c:
        exchange, heard = c.begin(there.url, "POST", body=PIECES)
        await heard.done
        assert heard.outcome == (403, b"no")
        exchange.send_piece(b"late")
        exchange.end_pieces()


@pytest.mark.parametrize("end", ["fin", "rst"])
@pytest.mark.parametrize("body", EARLY)
async def test_a_peer_that_leaves_during_an_upload(body: str, end: str) -> None:
    async def leave(link: Link) -> None:
        await link.head()
        await link.reader.read(1000)
        (link.fin if end == "fin" else link.rst)()

    async with peer(leave) as there, client() as c:
        assert (await c.ask(there.url, "POST", body=EARLY[body]())).kind == "reset"


async def test_an_upload_waits_for_a_peer_that_does_not_read() -> None:
    given = 0

    async def source() -> AsyncIterator[bytes]:
        nonlocal given
        for _ in range(1 << 10):
            yield bytes(1 << 16)
            given += 1 << 16

    go = asyncio.Event()

    async def slow(link: Link) -> None:
        await link.head()
        await go.wait()
        await link.send(answer(str(len(await link.chunks())).encode()))

    async with peer(slow) as there, client() as c:
        _exchange, heard = c.begin(there.url, "POST", body=(b"", source(), b"", None))
        last = -1
        while given != last:
            last = given
            await asyncio.sleep(0.1)
        assert given < 16 << 20, "what the system buffers, and no more"
        go.set()
        await heard.done
        assert heard.body == b"%d" % (1 << 26)
