"""Proxies: which one, how it is spoken to, and what is said when it refuses."""

from __future__ import annotations

import asyncio
import contextlib
import sys

import pytest

from agent_sandbox._host.address import Address
from agent_sandbox._host.failure import NetFailure
from agent_sandbox._host.proxy import Proxies

from .authority import authority
from .peer import Link, answer, client, peer
from .test_upload import LARGE, mirror


class Relay:
    """A proxy that connects everything to one port of this machine."""

    def __init__(self, port: int, status: int = 200) -> None:
        self.port, self.status = port, status
        self.heads: list[str] = []

    async def __call__(self, link: Link) -> None:
        head = await link.head()
        self.heads.append(head)
        if not head.startswith("CONNECT "):
            await link.send(answer(head.split(" ")[1].encode()))
            return await self(link)
        if self.status != 200:
            await link.send(answer(b"no", status=f"{self.status} No"))
            return
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        await link.send(b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n")
        try:
            await asyncio.gather(_pump(link.reader, writer), _pump(reader, link.writer))
        finally:
            writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


async def test_plain_requests_name_their_peer_to_the_proxy() -> None:
    relay = Relay(0)
    async with peer(relay) as there, client(proxy=f"http://u%40:s3cr3t@127.0.0.1:{there.port}") as c:
        for name in ("a.test", "b.test:81"):
            assert (await c.ask(f"http://{name}/p?q")).body == f"http://{name}/p?q".encode()
        assert "Host: a.test\r\n" in relay.heads[0]
        assert "Proxy-Authorization: Basic dUA6czNjcjN0\r\n" in relay.heads[0]
        assert len(there.links) == 1


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_tunnel(scheme: str) -> None:
    if scheme == "https" and sys.version_info < (3, 11):
        pytest.skip("no TLS inside TLS before Python 3.11")
    ca = authority()
    secured = {"ssl": ca.server()} if scheme == "https" else {}
    async with peer(mirror, ssl=ca.server()) as there:
        relay = Relay(there.port)
        async with (
            peer(relay, **secured) as between,
            client(ca_file=ca.file, environ={"https_proxy": f"{scheme}://u:s3cr3t@127.0.0.1:{between.port}"}) as c,
        ):
            for body in (b"abc", LARGE):
                assert (await c.ask("https://x.test/", "POST", body=body)).outcome == (200, body)
            assert len(relay.heads) == 1
            assert relay.heads[0].startswith("CONNECT x.test:443 HTTP/1.1\r\nHost: x.test:443\r\nProxy-Authorization: ")


@pytest.mark.parametrize("status", [403, 407, 502])
async def test_a_proxy_that_refuses(status: int) -> None:
    relay = Relay(0, status)
    async with peer(relay) as there, client(proxy=f"http://u:s3cr3t@127.0.0.1:{there.port}") as c:
        heard = await c.ask("https://x.test/")
        assert heard.failure == (
            "connect",
            f"the proxy 127.0.0.1:{there.port}",
            f"the proxy answered {status} to CONNECT",
        )


@pytest.mark.parametrize("wire", [b"", b"SSH-2.0\r\n\r\n", b"HTTP/1.1 200"])
async def test_a_proxy_that_is_none(wire: bytes) -> None:
    async def serve(link: Link) -> None:
        await link.head()
        await link.send(wire)
        link.fin()

    async with peer(serve) as there, client(proxy=f"127.0.0.1:{there.port}") as c:
        heard = await c.ask("https://x.test/")
        assert heard.failure[:2] == ("connect", f"the proxy 127.0.0.1:{there.port}")


async def test_a_proxy_that_is_not_there() -> None:
    async with peer(mirror) as there:
        pass
    async with client(proxy=f"http://u:s3cr3t@127.0.0.1:{there.port}") as c:
        for url in ("http://x.test/", "https://x.test/"):
            heard = await c.ask(url)
            assert heard.failure[:2] == ("connect", f"the proxy 127.0.0.1:{there.port}")
            assert "s3cr3t" not in str(heard.failure)


async def test_loopback_goes_through_no_proxy() -> None:
    async with peer(mirror) as there, client(proxy="http://127.0.0.1:1") as c:
        for host in ("127.0.0.1", "localhost", "a.localhost"):
            assert (await c.ask(f"http://{host}:{there.port}/", "POST", body=b"x")).body == b"x"


@pytest.mark.parametrize("turns", range(0, 30, 3))
async def test_an_abort_in_the_tunnel(turns: int) -> None:
    async def hang(link: Link) -> None:
        await link.head()
        await link.gone()

    async with peer(hang) as there, client(proxy=f"127.0.0.1:{there.port}") as c:
        exchange, heard = c.begin("https://x.test/")
        for _ in range(turns):
            await asyncio.sleep(0)
        exchange.abort()
        await asyncio.sleep(0.01)
        assert heard.order == []


BOTH = {"HTTP_PROXY": "p", "https_proxy": "http://q:8"}


@pytest.mark.parametrize(
    ("environ", "url", "want"),
    [
        ({}, "http://x.test", None),
        (BOTH, "http://x.test", "the proxy p:80"),
        (BOTH, "https://x.test", "the proxy q:8"),
        (BOTH, "wss://x.test", "the proxy q:8"),
        (BOTH, "https://127.9.9.9", None),
        (BOTH, "https://[::1]", None),
        (BOTH, "https://a.localhost", None),
        ({"HTTPS_PROXY": "https://q"}, "https://x.test", "the proxy q:443"),
        ({**BOTH, "NO_PROXY": "*"}, "https://x.test", None),
        ({**BOTH, "NO_PROXY": "y.test, x.test"}, "https://a.X.test", None),
        ({**BOTH, "NO_PROXY": "x.test"}, "https://ax.test", "the proxy q:8"),
        ({**BOTH, "no_proxy": ".x.test"}, "https://a.x.test", None),
        ({**BOTH, "no_proxy": "*.x.test"}, "https://a.x.test", None),
        ({**BOTH, "no_proxy": ".x.test"}, "https://x.test", "the proxy q:8"),
        ({**BOTH, "no_proxy": "x.test:8443"}, "https://x.test:8443", None),
        ({**BOTH, "no_proxy": "x.test:8443"}, "https://x.test", "the proxy q:8"),
        ({**BOTH, "no_proxy": "10.0.0.0/8"}, "https://10.1.2.3", None),
        ({**BOTH, "no_proxy": "10.0.0.0/8"}, "https://11.1.2.3", "the proxy q:8"),
        ({**BOTH, "no_proxy": "10.0.0.1"}, "https://10.0.0.1", None),
        ({**BOTH, "no_proxy": "[fd00::1]:443"}, "https://[fd00::1]", None),
        ({**BOTH, "no_proxy": "fd00::/8"}, "https://[fd00::2]", None),
        ({**BOTH, "no_proxy": ",,1x,"}, "https://x.test", "the proxy q:8"),
    ],
)
def test_which_proxy(environ: dict[str, str], url: str, want: str | None) -> None:
    found = Proxies(None, environ).of(Address(url, ("http", "https", "wss")))
    assert (found.peer if found else None) == want


def test_an_explicit_proxy_beats_the_environment() -> None:
    address = Address("https://x.test", ("https",))
    assert Proxies("direct", BOTH).of(address) is None
    assert Proxies("http://r", {**BOTH, "NO_PROXY": "*"}).of(address).peer == "the proxy r:80"


@pytest.mark.parametrize("url", ["socks5://u:s3cr3t@x", "http://u:s3cr3t@x:99999", "http://[s3cr3t", "http://"])
def test_a_setting_that_is_no_proxy(url: str) -> None:
    with pytest.raises(NetFailure) as raised:
        Proxies(url, {}).of(Address("https://x.test", ("https",)))
    assert raised.value.kind == "other" and "s3cr3t" not in str(raised.value)


def test_no_text_shows_the_credential() -> None:
    proxies = Proxies("http://u:s3cr3t@x", {})
    proxy = proxies.of(Address("https://x.test", ("https",)))
    assert "s3cr3t" not in f"{proxies!r} {proxy!r} {proxy.peer}"
