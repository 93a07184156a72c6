"""What is read of an answer."""

from __future__ import annotations

import pytest

from agent_sandbox._host.answer import HEAD_LIMIT

from .peer import Link, answer, client, peer

ENDS = {
    "fin": lambda link: link.fin(),
    "rst": lambda link: link.rst(),
}


async def outcome(wire: bytes, *, slowly: bool = False, end: str = "fin", method: str = "GET") -> object:
    async def serve(link: Link) -> None:
        await link.head()
        await (link.send_slowly if slowly else link.send)(wire)
        ENDS[end](link)

    async with peer(serve) as there, client() as c:
        return (await c.ask(there.url, method)).outcome


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

WHOLE = {
    "a length": (answer(b"abc"), (200, b"abc")),
    "no body": (answer(b""), (200, b"")),
    "an empty header value": (answer(b"x", "A:", "B: "), (200, b"x")),
    "bytes that are no ASCII in a header": (answer(b"x", "A: \u00e9"), (200, b"x")),
    "no reason phrase": (b"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", (200, b"x")),
    "names in capitals": (b"HTTP/1.1 200 OK\r\nCONTENT-LENGTH: 1\r\n\r\nx", (200, b"x")),
    "lines that end with LF alone": (b"HTTP/1.1 200 OK\nContent-Length: 1\n\nx", (200, b"x")),
    "204 with a length": (b"HTTP/1.1 204 No Content\r\n\r\n", (204, b"")),
    "304 with a length": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", (304, b"")),
    "heads that are none yet": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + answer(b"abc"),
        (200, b"abc"),
    ),
    "chunks": (CHUNKED + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", (200, b"abcde")),
    "chunks with extensions and a trailer": (
        CHUNKED + b'3;x="y"\r\nabc\r\n0;z\r\nContent-Length: 9\r\nY:\r\n\r\n',
        (200, b"abc"),
    ),
    "chunks and a length": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        (200, b"x"),
    ),
    "its end by the connection's": (b"HTTP/1.1 200 OK\r\n\r\nabc", (200, b"abc")),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\n\r\nabc", (200, b"abc")),
    "more than was announced": (answer(b"abc") + b"HTTP/1.1 400 Bad\r\n\r\n", (200, b"abc")),
    "an offer to upgrade": (answer(b"x", "Upgrade: h2c", "Connection: Upgrade"), (200, b"x")),
}


@pytest.mark.parametrize("slowly", [False, True], ids=["at once", "byte by byte"])
@pytest.mark.parametrize("name", WHOLE)
async def test_an_answer_with(name: str, slowly: bool) -> None:
    wire, want = WHOLE[name]
    assert await outcome(wire, slowly=slowly) == want


BROKEN = {
    "another protocol": b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
    "binary": bytes(range(256)),
    "a chunk size that is no number": CHUNKED + b"zz\r\n",
    "a chunk size that is too large": CHUNKED + b"f" * 17 + b"\r\n",
    "a chunk longer than its size": CHUNKED + b"1\r\nabcdef\r\n0\r\n\r\n",
    "a negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a space in a header name": b"HTTP/1.1 200 OK\r\nA B: 1\r\n\r\n",
    "another transfer encoding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "a switch of protocols": b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    "a head without end": b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * (HEAD_LIMIT // 3),
    "one endless header": b"HTTP/1.1 200 OK\r\nA: " + b"b" * (HEAD_LIMIT * 2),
    "endless heads that are none yet": b"HTTP/1.1 103 Early Hints\r\n\r\n" * (HEAD_LIMIT // 10),
    "an endless trailer": CHUNKED + b"0\r\nA: " + b"b" * (HEAD_LIMIT * 2),
    "an endless chunk extension": CHUNKED + b"1;" + b"b" * (HEAD_LIMIT * 2),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_bad_framing(name: str) -> None:
    assert await outcome(BROKEN[name]) == "other"


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(
    "wire", [answer(b"abcdef"), CHUNKED + b"3\r\nabc\r\n0\r\nA: b\r\n\r\n"], ids=["length", "chunked"]
)
async def test_every_cut_is_a_reset(wire: bytes, end: str) -> None:
    async def serve(link: Link) -> None:
        await link.head()
        await link.send(wire[: link.number])
        ENDS[end](link)

    async with peer(serve) as there, client() as c:
        for _ in range(len(wire)):
            heard = await c.ask(there.url)
            assert heard.kind == "reset"
            assert heard.failure[1] == f"127.0.0.1:{there.port}"
            assert wire.endswith(heard.body) or heard.body in wire


async def test_head_has_no_body_whatever_it_announces() -> None:
    assert await outcome(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", method="HEAD") == (200, b"")


async def test_events_come_in_order_and_one_flush_closes_a_read() -> None:
    async def serve(link: Link) -> None:
        await link.head()
        await link.send(answer(b"abc", "X: y"))

    async with peer(serve) as there, client() as c:
        heard = await c.ask(there.url)
        assert heard.order == ["head", "data", "end", "flush"]
        assert heard.headers == [("X", "y"), ("Content-Length", "3")]
