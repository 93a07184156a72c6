"""WebSockets."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from .authority import authority
from .peer import Link, answer, client, peer, timeout
from .test_proxy import Relay


class Heard:
    def __init__(self) -> None:
        self.order: list[Any] = []
        self.open = asyncio.Event()
        self.done = asyncio.Event()
        self.news = asyncio.Event()

    def opened(self, subprotocol: str) -> None:
        self.order.append("opened")
        self.subprotocol = subprotocol
        self.open.set()

    def text(self, message: bytes) -> None:
        self.order.append(("text", message))

    def binary(self, message: bytes) -> None:
        self.order.append(("binary", message))

    def closed(self, failure: tuple[str, str, str] | None) -> None:
        assert failure is None or failure[2].isprintable()
        self.order.append(("closed", failure[0] if failure else None))
        self.failure = failure
        self.done.set()

    def flush(self) -> None:
        self.news.set()

    async def until(self, count: int) -> None:
        async with timeout(5):
            while len(self.order) < count:
                await self.news.wait()
                self.news.clear()


async def echo(there: ServerConnection) -> None:
    async for message in there:
        await there.send(message)


@contextlib.asynccontextmanager
async def server(handler: Any = echo, **options: Any) -> AsyncIterator[int]:
    async with serve(handler, "127.0.0.1", 0, compression=None, max_size=None, **options) as there:
        yield there.sockets[0].getsockname()[1]


async def test_messages_go_both_ways() -> None:
    async with server() as port, client() as c:
        heard = Heard()
        socket = c.http.dial(f"ws://127.0.0.1:{port}/p?q", [("x-token", "t")], [], 0, heard)
        assert heard.order == []
        await heard.until(1)
        socket.send_text("\u00e9".encode())
        socket.send_binary(bytes(1 << 20))
        socket.send_binary(b"")
        await heard.until(4)
        assert heard.order[1:] == [("text", "\u00e9".encode()), ("binary", bytes(1 << 20)), ("binary", b"")]
        socket.close()
        await asyncio.sleep(0.05)
        assert len(heard.order) == 4


@pytest.mark.parametrize("code", [1000, 1001, 1011])
async def test_the_peer_closes(code: int) -> None:
    async def leave(there: ServerConnection) -> None:
        await there.send("bye")
        await there.close(code)

    async with server(leave) as port, client() as c:
        heard = Heard()
        c.http.dial(f"http://x.localhost:{port}/", [], [], 0, heard)
        await heard.until(3)
        assert heard.order == ["opened", ("text", b"bye"), ("closed", None if code == 1000 else "reset")]
        if code != 1000:
            assert str(code) in heard.failure[2]


async def test_the_connection_is_cut() -> None:
    async def cut(there: ServerConnection) -> None:
        there.transport.abort()

    async with server(cut) as port, client() as c:
        heard = Heard()
        c.http.dial(f"ws://127.0.0.1:{port}/", [], [], 0, heard)
        await heard.until(2)
        assert heard.order == ["opened", ("closed", "reset")]
        assert heard.failure[1] == f"127.0.0.1:{port}"


async def test_a_message_over_the_limit() -> None:
    async def big(there: ServerConnection) -> None:
        await there.send(bytes(100))
        await there.send([bytes(60), bytes(60)])
        await there.wait_closed()

    async with server(big) as port, client() as c:
        heard = Heard()
        c.http.dial(f"ws://127.0.0.1:{port}/", [], [], 100, heard)
        await heard.until(3)
        assert heard.order == ["opened", ("binary", bytes(100)), ("closed", "other")]
        assert "larger than the limit" in heard.failure[2]


async def test_a_message_in_parts_is_one() -> None:
    async def parts(there: ServerConnection) -> None:
        await there.send(["a", "b", "c"])
        await there.wait_closed()

    async with server(parts) as port, client() as c:
        heard = Heard()
        socket = c.http.dial(f"ws://127.0.0.1:{port}/", [], [], 0, heard)
        await heard.until(2)
        assert heard.order == ["opened", ("text", b"abc")]
        socket.close()


@pytest.mark.parametrize(
    ("wire", "kind"),
    [
        (answer(b"no", status="403 Forbidden"), "other"),
        (answer(b"s3cr3t"), "other"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "other"),
        (b"SSH-2.0\r\n\r\n", "other"),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * (1 << 17), "other"),
        (b"", "reset"),
        (b"HTTP/1.1 101", "reset"),
    ],
)
async def test_no_websocket(wire: bytes, kind: str) -> None:
    async def refuse(link: Link) -> None:
        await link.head()
        await link.send(wire)
        link.fin()

    async with peer(refuse) as there, client() as c:
        heard = Heard()
        c.http.dial(there.url, [("x", "s3cr3t")], [], 0, heard)
        await heard.until(1)
        assert heard.order == [("closed", kind)]
        assert "s3cr3t" not in str(heard.failure)


async def test_headers_and_subprotocols_are_sent() -> None:
    seen = {}

    async def look(there: ServerConnection) -> None:
        seen.update(there.request.headers.raw_items())
        seen["path"], seen["subprotocol"] = there.request.path, there.subprotocol

    async with server(look, subprotocols=["b"]) as port, client() as c:
        heard = Heard()
        c.http.dial(f"ws://127.0.0.1:{port}/a?b=%20", [("Host", "other"), ("X-Token", "t")], ["a", "b"], 0, heard)
        await heard.until(2)
        assert heard.subprotocol == "b"
        assert (seen["Host"], seen["X-Token"], seen["path"], seen["subprotocol"]) == ("other", "t", "/a?b=%20", "b")
        assert "User-Agent" not in seen and "Sec-WebSocket-Extensions" not in seen


async def test_tls_through_a_proxy() -> None:
    ca = authority()
    async with server(ssl=ca.server()) as port:
        relay = Relay(port)
        async with peer(relay) as between, client(ca_file=ca.file, proxy=f"127.0.0.1:{between.port}") as c:
            heard = Heard()
            socket = c.http.dial("wss://x.test/", [], [], 0, heard)
            await heard.until(1)
            socket.send_text(b"x")
            await heard.until(2)
            assert heard.order == ["opened", ("text", b"x")]
            assert relay.heads[0].startswith("CONNECT x.test:443 ")
            socket.close()


async def test_a_paused_socket_reads_no_more() -> None:
    async with server() as port, client() as c:
        heard = Heard()
        socket = c.http.dial(f"ws://127.0.0.1:{port}/", [], [], 0, heard)
        await heard.until(1)
        socket.pause()
        socket.send_text(b"x")
        await asyncio.sleep(0.05)
        assert len(heard.order) == 1
        socket.resume()
        await heard.until(2)
        socket.close()


@pytest.mark.parametrize("turns", range(12))
async def test_an_end_at_any_time(turns: int) -> None:
    async with server() as port, client() as c:
        heard = Heard()
        socket = c.http.dial(f"ws://127.0.0.1:{port}/", [], [], 0, heard)
        for _ in range(turns):
            await asyncio.sleep(0)
        socket.close()
        said = list(heard.order)
        socket.close()
        socket.send_text(b"x")
        socket.resume()
        await asyncio.sleep(0.01)
        assert heard.order == said


async def test_refused() -> None:
    async with server() as port:
        pass
    async with client() as c:
        heard = Heard()
        c.http.dial(f"ws://127.0.0.1:{port}/", [], [], 0, heard)
        await heard.until(1)
        assert heard.failure == ("refused", f"127.0.0.1:{port}", "cannot connect: connection refused")
        for url, headers in (("ftp://x", []), ("ws://x", [("a", "\n")])):
            bad = Heard()
            c.http.dial(url, headers, [], 0, bad)
            await bad.until(1)
            assert bad.order == [("closed", "other")]
