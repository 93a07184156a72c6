"""Aborting at every stage, and reading at the driver's pace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from agent_sandbox._host.upload import PIECES

from .peer import Link, answer, client, descriptors, peer, timeout

BODIES = {
    "none": lambda: None,
    "bytes": lambda: bytes(1 << 25),
    "source": lambda: (b"", _endless(), b"", None),
    "pieces": lambda: PIECES,
}


async def _endless() -> AsyncIterator[bytes]:
    while True:
        await asyncio.sleep(0)
        yield b"x" * 10_000


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 4, 5, 8, 20])
@pytest.mark.parametrize("body", BODIES)
async def test_an_abort_closes_the_connection_and_says_nothing(body: str, turns: int) -> None:
    closed = asyncio.Event()

    async def hang(link: Link) -> None:
        await link.head()
        await link.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
        await link.gone()
        closed.set()

    before = descriptors()
    async with peer(hang) as there, client() as c:
        exchange, heard = c.begin(there.url, "POST", body=BODIES[body]())
        for _ in range(turns):
            await asyncio.sleep(0)
        exchange.abort()
        said = list(heard.order)
        exchange.abort()
        exchange.resume()
        exchange.pause()
        exchange.send_piece(b"x")
        exchange.end_pieces()
        if there.links:
            async with timeout(5):
                await closed.wait()
        await asyncio.sleep(0.01)
        assert heard.order == said
        assert not c.http._live
    await asyncio.sleep(0)
    assert descriptors() <= before + 2


async def test_an_abort_from_inside_a_callback() -> None:
    async def serve(link: Link) -> None:
        await link.head()
        await link.send(answer(b"abc"))
        await link.gone()

    async with peer(serve) as there, client() as c:
        exchange, heard = c.begin(there.url)
        heard.on_data = exchange.abort
        await heard.headed
        await asyncio.sleep(0.01)
        assert heard.order == ["head", "data"]


async def test_closing_the_client_ends_everything() -> None:
    async def hang(link: Link) -> None:
        await link.head()
        await link.gone()

    async with peer(hang) as there, client() as c:
        begun = [c.begin(there.url, "POST", body=BODIES[name]()) for name in BODIES for _ in range(10)]
        await asyncio.sleep(0.05)
        begun += [c.begin(there.url) for _ in range(10)]
        await c.http.aclose()
        assert all(set(heard.order) <= {"wanted", "flush"} for _, heard in begun)


async def test_what_a_driver_raises_ends_only_its_exchange() -> None:
    async def serve(link: Link) -> None:
        while True:
            await link.request()
            await link.send(answer(b"abc"))

    async with peer(serve) as there, client() as c:
        seen = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context["exception"]))
        _exchange, heard = c.begin(there.url)
        heard.on_data = lambda: 1 // 0
        await heard.headed
        await asyncio.sleep(0.01)
        assert [type(e) for e in seen] == [ZeroDivisionError]
        assert not c.http._live
        assert (await c.ask(there.url)).body == b"abc"


async def test_a_paused_exchange_reads_no_more() -> None:
    sent = 0

    async def flood(link: Link) -> None:
        nonlocal sent
        await link.head()
        await link.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (1 << 26))
        for _ in range(1 << 10):
            await link.send(bytes(1 << 16))
            sent += 1 << 16
        await link.gone()

    async with peer(flood) as there, client() as c:
        exchange, heard = c.begin(there.url)
        exchange.pause()  # before there is a connection
        await asyncio.sleep(0.05)
        assert heard.order == []
        exchange.resume()
        await heard.headed
        exchange.pause()
        last = -1
        while sent != last:
            last = sent
            await asyncio.sleep(0.1)
        assert sent < 16 << 20 and len(heard.body) <= 1 << 19
        exchange.resume()
        async with timeout(10):
            await heard.done
        assert len(heard.body) == 1 << 26
        assert max(map(len, heard.pieces)) <= 1 << 18


async def test_a_connection_that_was_paused_serves_the_next_request() -> None:
    async def serve(link: Link) -> None:
        while True:
            await link.request()
            await link.send(answer(b"abc"))

    async with peer(serve) as there, client() as c:
        exchange, heard = c.begin(there.url)
        heard.on_data = exchange.pause
        await heard.done
        for _ in range(3):
            assert (await c.ask(there.url)).body == b"abc"
        assert len(there.links) == 1


async def test_whoever_cancels_every_task_of_the_loop_ends_no_connection() -> None:
    """As asyncio.run does at its end, before what was half made is cleaned up."""

    async def serve(link: Link) -> None:
        head = await link.head()
        if "chunked" not in head:
            await link.send(answer(b"abc"))
        await link.gone()

    async with peer(serve) as there, client() as c:
        _, sending = c.begin(there.url, "POST", body=(b"", _endless(), b"", None))
        await asyncio.sleep(0.02)
        _, dialling = c.begin(there.url)
        for turn in range(2):  # before the task begins, and in the middle of it
            for task in list(c.http._tasks):
                task.cancel()
            for _ in range(turn + 2):
                await asyncio.sleep(0)
        async with timeout(5):
            await asyncio.gather(sending.done, dialling.done)
        assert sending.kind == "source"
        assert dialling.body == b"abc"
