"""HTTP/1.1 on one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from .connection import Connection, key_of
from .dial import Dialler, response_parser
from .events import Events
from .exchange import Exchange
from .failure import CONNECT, NetFailure
from .pool import Pool
from .proxy import Proxies
from .request import Request
from .trust import Trust
from .upload import Body, upload

_ENDED = NetFailure(CONNECT, "the event loop ended")


class Http:
    """Sends requests over kept connections. One for each event loop; ``aclose`` it
    before the loop ends.

    ``proxy`` is a URL, ``direct`` for none, None for what the environment says;
    ``ca_file`` is a PEM file of authorities to trust besides the system's, None
    for SSL_CERT_FILE. Nothing is dialled or read before the first request.
    """

    def __init__(self, *, proxy: str | None, ca_file: str | None, environ: Mapping[str, str]) -> None:
        self._proxies = Proxies(proxy, environ)
        self._dialler = Dialler(Trust(ca_file, environ))
        self._pool = Pool()
        self._live: set[Exchange] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._parser: Any = None
        self._closed = False

    def request(self, method: str, url: str, headers: list[tuple[str, str]], body: Body, events: Events) -> Exchange:
        """Starts an exchange. Redirects are not followed, and no header is added but
        what HTTP itself needs. Everything that goes wrong comes to ``events``, later.
        """
        self.parser()  # a parser that is missing is known before anything is sent
        exchange = Exchange(self, events)
        self._live.add(exchange)
        try:
            if self._closed:
                raise NetFailure(CONNECT, "the client was closed")
            request = Request(method, url, headers, ("http", "https"))
            request.proxy = self._proxies.of(request.address)
        except NetFailure as failure:
            self.soon(exchange.fail, failure)
            return exchange
        exchange.prepare(request, upload(body))
        connection = self._pool.take(key_of(request.address, request.proxy), request.repeatable)
        if connection:
            connection.begin(exchange)
        else:
            exchange.dialling(self.spawn(self._dial(exchange, request), partial(exchange.fail, _ENDED)))
        return exchange

    async def aclose(self) -> None:
        """Aborts what is under way, without a word to its events, and closes every
        connection. It is idempotent.
        """
        self._closed = True
        for exchange in list(self._live):
            exchange.abort()
        for task in list(self._tasks):
            task.cancel()
        while self._tasks:
            await asyncio.wait(list(self._tasks))
        await self._pool.close()

    async def _dial(self, exchange: Exchange, request: Request) -> None:
        connection = Connection(self._pool, key_of(request.address, request.proxy))
        try:
            transport = await self._dialler.dial(request.address, request.proxy, connection)
        except NetFailure as failure:
            exchange.dialling(None)
            exchange.fail(failure)
        else:
            connection.opened(transport)
            if exchange.live:
                connection.begin(exchange)
            else:
                connection.abort()

    # What exchanges call:

    def parser(self) -> Any:
        """The class that parses answers, imported at the first one."""
        if self._parser is None:
            self._parser = response_parser()
        return self._parser

    def spawn(self, work: Coroutine[Any, Any, None], cancelled: Callable[[], None]) -> asyncio.Task[None]:
        """Runs work that ends with this object. ``cancelled`` is called when somebody
        cancels it, even before it began.
        """

        def done(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if task.cancelled():
                cancelled()

        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(done)
        return task

    def soon(self, call: Callable[..., None], *args: Any) -> None:
        """Calls from the loop, later."""
        asyncio.get_running_loop().call_soon(call, *args)

    def forget(self, exchange: Exchange) -> None:
        """An exchange is over."""
        self._live.discard(exchange)
