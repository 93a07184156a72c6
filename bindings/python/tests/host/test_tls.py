"""TLS: whom we trust, and what is said when we do not."""

from __future__ import annotations

import asyncio
import pathlib

import pytest

from .authority import authority
from .peer import Link, answer, client, peer, timeout
from .test_upload import EARLY, LARGE, mirror


def url(there: object, host: str = "127.0.0.1") -> str:
    return f"https://{host}:{there.port}/"


@pytest.mark.parametrize("by", ["ca_file", "SSL_CERT_FILE"])
async def test_a_private_authority(by: str) -> None:
    ca = authority()
    given = {"ca_file": ca.file} if by == "ca_file" else {"environ": {by: ca.file}}
    async with peer(mirror, ssl=ca.server()) as there, client(**given) as c:
        for body in (b"abc", LARGE, b""):
            assert (await c.ask(url(there), "POST", body=body)).outcome == (200, body)
        assert (await c.ask(url(there, "localhost"), "POST", body=b"x")).body == b"x"
        assert len(there.links) == 2


async def test_an_unknown_authority() -> None:
    async with peer(mirror, ssl=authority().server()) as there, client() as c:
        heard = await c.ask(url(there))
        assert heard.kind == "tls"
        assert "unable to get local issuer certificate" in heard.failure[2]


async def test_another_name() -> None:
    ca = authority()
    async with peer(mirror, ssl=ca.server("other.test")) as there, client(ca_file=ca.file) as c:
        heard = await c.ask(url(there))
        assert heard.kind == "tls"
        assert "127.0.0.1" in heard.failure[2]


@pytest.mark.parametrize("wire", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""], ids=["plain HTTP", "nothing"])
async def test_a_peer_that_speaks_no_tls(wire: bytes) -> None:
    async def serve(link: Link) -> None:
        await link.reader.read(10)
        await link.send(wire)
        link.fin()

    async with peer(serve) as there, client() as c:
        assert (await c.ask(url(there))).kind == "tls"


@pytest.mark.parametrize("content", [None, "no certificate"], ids=["absent", "empty"])
async def test_a_ca_file_that_cannot_be_used(tmp_path: pathlib.Path, content: str | None) -> None:
    path = tmp_path / "ca.pem"
    if content:
        path.write_text(content)
    async with peer(mirror) as there, client(ca_file=str(path)) as c:
        heard = await c.ask(url(there))
        assert heard.kind == "other" and str(path) in heard.failure[2]
        assert (await c.ask(there.url, "POST", body=b"x")).body == b"x", "plain HTTP needs no authority"


@pytest.mark.parametrize("body", EARLY)
async def test_an_early_answer_counts(body: str) -> None:
    ca = authority()

    async def early(link: Link) -> None:
        await link.head()
        await link.reader.read(1000)
        await link.send(answer(b"full", status="507 Insufficient Storage"))
        await link.gone()

    async with peer(early, ssl=ca.server()) as there, client(ca_file=ca.file) as c:
        assert (await c.ask(url(there), "POST", body=EARLY[body]())).outcome == (507, b"full")


@pytest.mark.parametrize("turns", [*range(0, 40, 3), 80])
async def test_an_abort_at_any_time(turns: int) -> None:
    ca = authority()

    async def hang(link: Link) -> None:
        await link.head()
        await link.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
        await link.gone()

    async with peer(hang, ssl=ca.server()) as there, client(ca_file=ca.file) as c:
        exchange, heard = c.begin(url(there), "POST", body=bytes(1 << 20))
        for _ in range(turns):
            await asyncio.sleep(0)
        exchange.abort()
        said = list(heard.order)
        await asyncio.sleep(0.01)
        assert heard.order == said


async def test_cuts_are_resets_and_kept_connections_are_checked() -> None:
    ca = authority()

    async def cut(link: Link) -> None:
        await link.request()
        if link.number % 2:
            await link.send(answer(b"x"))
        else:
            await link.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
        link.fin()

    async with peer(cut, ssl=ca.server()) as there, client(ca_file=ca.file) as c:
        for _ in range(5):
            assert (await c.ask(url(there), "POST", body=b"x")).kind == "reset"
            assert (await c.ask(url(there), "POST", body=b"x")).body == b"x"
            await asyncio.sleep(0.01)  # the end of the connection arrives


async def test_a_paused_exchange_reads_no_more() -> None:
    ca = authority()

    async def flood(link: Link) -> None:
        await link.head()
        await link.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (1 << 24))
        for _ in range(1 << 8):
            await link.send(bytes(1 << 16))
        await link.gone()

    async with peer(flood, ssl=ca.server()) as there, client(ca_file=ca.file) as c:
        exchange, heard = c.begin(url(there))
        await heard.headed
        exchange.pause()
        before = len(heard.body)
        await asyncio.sleep(0.1)
        assert len(heard.body) <= before + (1 << 19)
        exchange.resume()
        async with timeout(10):
            await heard.done
        assert len(heard.body) == 1 << 24
