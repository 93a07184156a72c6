"""Making connections: names, proxies, TLS."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from .address import Address, is_address, is_localhost, joined
from .answer import Answer
from .closed import Ours
from .failure import CONNECT, LOST, NetFailure, dial_failure, reason, unusable
from .proxy import Proxy
from .race import connect, first_in_turn, first_to_connect
from .trust import Trust, handshake_failure

DIAL_LIMIT = 30.0
"""How long a connection may take to be made, in seconds. A request clock is usually shorter."""


class Dialler:
    """Makes connections under one set of proxy and trust settings."""

    def __init__(self, trust: Trust) -> None:
        self._trust = trust

    async def dial(self, address: Address, proxy: Proxy | None, protocol: asyncio.BaseProtocol) -> asyncio.Transport:
        """Connects ``protocol`` to an address. Its ``connection_made`` may be called
        for a transport below the one that this gives. Fails with a NetFailure.
        """
        loop = asyncio.get_running_loop()
        attempt = _Attempt(loop, self._trust, address, proxy, protocol)
        task = asyncio.current_task()
        assert task is not None
        expired = False

        def expire() -> None:
            nonlocal expired
            expired = True
            task.cancel()

        clock = loop.call_later(DIAL_LIMIT, expire)
        try:
            return await attempt.run()
        except asyncio.CancelledError:
            attempt.give_up()
            if not expired:
                raise
            raise NetFailure(attempt.stage, f"no connection within {DIAL_LIMIT:g} s", attempt.where) from None
        except NetFailure as failure:
            attempt.give_up()
            raise failure.at(attempt.where) from None
        finally:
            clock.cancel()


class _Attempt:
    """One connection in the making; ``where`` and ``stage`` tell how far it came."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        trust: Trust,
        address: Address,
        proxy: Proxy | None,
        protocol: asyncio.BaseProtocol,
    ) -> None:
        self.loop = loop
        self.trust = trust
        self.address = address
        self.proxy = proxy
        self.protocol = protocol
        self.stage = CONNECT
        self.where = proxy.peer if proxy else address.peer
        self.transport: asyncio.Transport | None = None

    async def run(self) -> asyncio.Transport:
        proxy, address = self.proxy, self.address
        if not proxy:
            transport = await self._connect(address.host, address.port)
        else:
            transport = await self._connect(proxy.host, proxy.port)
            if proxy.secure:
                transport = await self._secure(transport, proxy.host)
            if address.secure:
                await self._tunnel(transport, proxy)
                self.where = address.peer
        if address.secure:
            transport = await self._secure(transport, address.host)
        return transport

    def give_up(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    async def _connect(self, host: str, port: int) -> asyncio.Transport:
        try:
            self.transport = await self._open(host, port)
        except OSError as error:
            raise dial_failure(error, to_proxy=self.proxy is not None) from None
        except UnicodeError:
            raise unusable("the URL has a host name that no resolver can take") from None
        return self.transport

    async def _open(self, host: str, port: int) -> asyncio.Transport:
        if is_localhost(host):
            return await first_in_turn(self.loop, self.protocol, ("127.0.0.1", "::1"), port)
        if is_address(host):
            return await connect(self.loop, self.protocol, host, port)
        found = await self.loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return await first_to_connect(self.loop, self.protocol, [str(info[4][0]) for info in found], port)

    async def _secure(self, transport: asyncio.Transport, host: str) -> asyncio.Transport:
        self.stage = "tls"
        context = self.trust.context()
        name = host.removesuffix(".")
        try:
            secured = await self.loop.start_tls(transport, self.protocol, context, server_hostname=name)
        except TypeError:
            raise unusable("TLS inside TLS needs Python 3.11: use a proxy with the scheme http") from None
        except (OSError, ValueError) as error:
            raise handshake_failure(error) from None
        if secured is None:  # the connection ended meanwhile
            raise handshake_failure(ConnectionResetError())
        self.transport = secured
        return secured

    async def _tunnel(self, transport: asyncio.Transport, proxy: Proxy) -> None:
        self.stage = CONNECT
        tunnel = _Tunnel(self.loop)
        transport.set_protocol(tunnel)
        target = joined(self.address.host, self.address.port)
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        if proxy.authorization:
            lines.append(f"Proxy-Authorization: {proxy.authorization}")
        transport.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        await tunnel.opened
        transport.set_protocol(self.protocol)


class _Tunnel(Ours, asyncio.Protocol):
    """Waits for a proxy's answer to CONNECT."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.opened: asyncio.Future[None] = loop.create_future()
        self._answer = Answer(response_parser(), without_body=True)

    def data_received(self, data: bytes) -> None:
        try:
            self._answer.feed(data)
        except NetFailure as failure:
            self._settle(NetFailure(CONNECT, failure.message))
            return
        status = self._answer.status
        if 200 <= status < 300:
            self._settle(None)
        elif status:
            self._settle(NetFailure(CONNECT, f"the proxy answered {status} to CONNECT"))

    def connection_lost(self, exc: Exception | None) -> None:
        why = reason(exc) if exc else "unexpected end"
        self._settle(NetFailure(CONNECT, f"{LOST}: {why}"))

    def _settle(self, failure: NetFailure | None) -> None:
        if self.opened.done():
            return
        if failure is None:
            self.opened.set_result(None)
        else:
            self.opened.set_exception(failure)


def response_parser() -> Any:
    """The parser's class, imported when the first answer is awaited."""
    from httptools import HttpResponseParser

    return HttpResponseParser
