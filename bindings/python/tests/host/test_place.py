"""Large bodies are read to where the driver wants them."""

from __future__ import annotations

import pytest

from .peer import Heard, Link, answer, client, peer

SIZE = 3 << 20
BODY = bytes(range(256)) * (SIZE // 256)


class Placing(Heard):
    """Has a place for what comes after the first piece."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = bytearray(SIZE)
        self.at = 0

    def data(self, chunk: bytes) -> None:
        self.memory[self.at : self.at + len(chunk)] = chunk
        self.at += len(chunk)

    def place(self, left: int) -> memoryview | None:
        assert left == SIZE - self.at
        return memoryview(self.memory)[self.at :]

    def placed(self, count: int) -> None:
        assert 0 < count <= SIZE - self.at
        self.order.append("placed")
        self.at += count


async def test_a_body_of_known_length_goes_where_the_driver_says() -> None:
    async def serve(link: Link) -> None:
        await link.head()
        await link.send(answer(BODY))
        await link.head()
        await link.send(answer(b"next"))

    async with peer(serve) as there, client() as c:
        heard = Placing()
        c.http.request("GET", there.url, [], None, heard)
        await heard.done
        assert heard.failure is None
        assert bytes(heard.memory) == BODY
        assert "placed" in heard.order
        assert heard.order[-2:] == ["end", "flush"]
        assert (await c.ask(there.url)).outcome == (200, b"next")
        assert len(there.links) == 1


async def test_what_follows_a_body_that_was_placed_is_nobodys() -> None:
    async def serve(link: Link) -> None:
        await link.head()
        await link.send((answer(BODY) + answer(b"stray")) if link.number == 0 else answer(b"next"))

    async with peer(serve) as there, client() as c:
        heard = Placing()
        c.http.request("GET", there.url, [], None, heard)
        await heard.done
        assert bytes(heard.memory) == BODY
        assert (await c.ask(there.url)).outcome == (200, b"next")


@pytest.mark.parametrize("end", ["fin", "rst"])
async def test_a_cut_in_a_body_that_is_placed_is_a_reset(end: str) -> None:
    async def serve(link: Link) -> None:
        await link.head()
        await link.send(answer(BODY)[: SIZE // 2])
        getattr(link, end)()

    async with peer(serve) as there, client() as c:
        heard = Placing()
        c.http.request("GET", there.url, [], None, heard)
        await heard.done
        assert heard.kind == "reset"
        assert BODY.startswith(bytes(heard.memory[: heard.at]))


async def test_an_exchange_that_is_given_up_hears_of_no_further_bytes() -> None:
    async def serve(link: Link) -> None:
        await link.head()
        await link.send(answer(BODY))

    async with peer(serve) as there, client() as c:

        class Leaving(Placing):
            def placed(self, count: int) -> None:
                super().placed(count)
                exchange.abort()
                self.done.set_result(None)

        heard = Leaving()
        exchange = c.http.request("GET", there.url, [], None, heard)
        await heard.done
        assert heard.order[-1] == "placed"
        assert "end" not in heard.order
