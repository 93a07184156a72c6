"""When a connection serves another request, and when not."""

from __future__ import annotations

import asyncio
import sys

import pytest

from agent_sandbox._host import pool
from agent_sandbox._host.http import Http

from .peer import Heard, Link, answer, client, descriptors, peer


async def serve(link: Link) -> None:
    while True:
        await link.request()
        await link.send(answer(str(link.number).encode()))


async def test_requests_in_turn_share_a_connection() -> None:
    async with peer(serve) as there, client() as c:
        for _ in range(5):
            assert (await c.ask(there.url, "POST", body=b"x")).body == b"0"
        assert len(there.links) == 1


async def test_names_below_localhost_share_connections() -> None:
    async with peer(serve) as there, client() as c:
        for name in ("localhost", "49983-i1.localhost", "49983-i2.LOCALHOST."):
            assert (await c.ask(f"http://{name}:{there.port}/")).body == b"0"


async def test_a_name_below_localhost_reaches_the_loopback_of_ipv6_too() -> None:
    server = await asyncio.start_server(_six, "::1", 0)
    async with server, client() as c:
        heard = await c.ask(f"http://x.localhost:{server.sockets[0].getsockname()[1]}/")
        assert heard.body == b"six"


async def _six(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(answer(b"six", "Connection: close"))
    writer.close()


@pytest.mark.parametrize(
    "wire",
    [
        answer(b"x", "Connection: close"),
        b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
        answer(b"x") + b"rubbish",
        answer(b"", status="204 No Content") + b"rubbish",
    ],
    ids=["close", "HTTP/1.0", "more than the answer", "more than no body"],
)
async def test_a_connection_is_not_kept_after(wire: bytes) -> None:
    async def once(link: Link) -> None:
        await link.request()
        await link.send(wire)
        await link.gone()

    async with peer(once) as there, client() as c:
        for n in range(3):
            assert (await c.ask(there.url)).status in (200, 204)
            assert len(there.links) == n + 1


@pytest.mark.parametrize("way", ["fin", "rst", "words"])
async def test_a_connection_that_the_peer_ended_is_never_picked(way: str) -> None:
    async def once(link: Link) -> None:
        await link.request()
        await link.send(answer(b"x"))
        if way == "fin":
            link.fin()
        elif way == "rst":
            link.rst()
        else:
            await link.send(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
            await link.gone()

    async with peer(once) as there, client() as c:
        for n in range(20):
            assert (await c.ask(there.url, "POST", body=b"x")).body == b"x"
            if n % 2:
                await asyncio.sleep(0)  # with and without a turn for the loop


async def test_a_kept_connection_that_ends_as_the_request_is_sent() -> None:
    async def once(link: Link) -> None:
        await link.request()
        await link.send(answer(b"x"))
        await link.head()
        link.fin()

    async with peer(once) as there, client() as c:
        await c.ask(there.url)
        assert (await c.ask(there.url)).kind == "send"
        assert (await c.ask(there.url)).body == b"x"


async def test_no_answer_on_a_new_connection_is_a_reset() -> None:
    async def silent(link: Link) -> None:
        await link.head()
        link.fin()

    async with peer(silent) as there, client() as c:
        assert (await c.ask(there.url)).kind == "reset"


async def test_an_old_connection_serves_only_what_may_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "SURE_LIFE", 0.0)
    async with peer(serve) as there, client() as c:
        await c.ask(there.url)
        await asyncio.sleep(0.01)
        assert (await c.ask(there.url)).body == b"0"
        await asyncio.sleep(0.01)
        assert (await c.ask(there.url, "POST")).body == b"1"


async def test_idle_connections_end_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "IDLE_LIFE", 0.0)
    monkeypatch.setattr(pool, "_SWEEP", 0.01)
    async with peer(serve) as there, client() as c:
        await c.ask(there.url)
        while c.http._pool._all:
            await asyncio.sleep(0.005)


async def test_a_thousand_requests_at_once() -> None:
    async def echo(link: Link) -> None:
        while True:
            head, _ = await link.request()
            await link.send(answer(head.split(" ")[1].encode()))

    before = descriptors()
    count = 200 if sys.flags.dev_mode else 1000  # a loop that debugs is ten times as slow
    async with peer(echo) as there, client() as c:
        for _ in range(2):
            heard = await asyncio.gather(*(c.ask(f"{there.url}{n}") for n in range(count)))
            assert [h.body for h in heard] == [b"/%d" % n for n in range(count)]
        assert len(c.http._pool._idle) <= pool.IDLE_CONNECTIONS
    await asyncio.sleep(0)
    assert descriptors() <= before + 2


async def test_a_refused_connection() -> None:
    async with peer(serve) as there:
        pass
    async with client() as c:
        heard = await c.ask(there.url)
        assert heard.failure == ("refused", f"127.0.0.1:{there.port}", "cannot connect: connection refused")
        assert heard.order == ["error", "flush"]


async def test_a_name_that_does_not_resolve() -> None:
    async with client() as c:
        heard = await c.ask("http://no-such-name.invalid/?token=s3cr3t")
        assert heard.failure[:2] == ("resolve", "no-such-name.invalid:80")
        assert "s3cr3t" not in str(heard.failure)


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("ftp://x/", []),
        ("/relative", []),
        ("http://", []),
        ("http://x:99999/", []),
        ("http://x/ y", []),
        ("http://x/\r\nA: b", []),
        ("http://x/", [("A b", "c")]),
        ("http://x/", [("A", "s3cr3t\r\nB: c")]),
        ("http://x/", [("A", "s3cr3t\0")]),
    ],
)
async def test_what_cannot_be_sent(url: str, headers: list[tuple[str, str]]) -> None:
    async with client() as c:
        _exchange, heard = c.begin(url, headers=headers)
        assert heard.order == [], "nothing comes from inside a call"
        await heard.done
        assert heard.kind == "other"
        assert "s3cr3t" not in str(heard.failure)


async def test_only_what_http_needs_is_added() -> None:
    async def mirror(link: Link) -> None:
        while True:
            head, body = await link.request()
            await link.send(answer(head.encode() + body))

    async with peer(mirror) as there, client() as c:
        host = f"127.0.0.1:{there.port}"
        get = (await c.ask(f"{there.url}p?q=1", headers=[("x-a", "\u00e9")])).body.decode()
        assert get == f"GET /p?q=1 HTTP/1.1\r\nHost: {host}\r\nx-a: \u00e9\r\n\r\n"
        post = (await c.ask(there.url, "POST", [("host", "other"), ("Content-Length", "7")], b"ab")).body.decode()
        assert post == "POST / HTTP/1.1\r\nHost: other\r\nContent-Length: 2\r\n\r\nab"
        for body in (None, b""):
            empty = (await c.ask(there.url, "POST", body=body)).body.decode()
            assert "Content-Length: 0\r\n" in empty
        path = (await c.ask(f"{there.url}\u6587?x=\u00e9%20")).body.decode()
        assert path.startswith("GET /%E6%96%87?x=%C3%A9%20 HTTP/1.1\r\n")


async def test_a_closed_client_refuses() -> None:
    http = Http(proxy=None, ca_file=None, environ={})
    await http.aclose()
    await http.aclose()
    heard = Heard()
    http.request("GET", "http://127.0.0.1:1/", [], None, heard)
    await heard.done
    assert heard.kind == "connect"
