"""Connections that wait for their next request."""

from __future__ import annotations

import asyncio

from .connection import Connection, Key

IDLE_CONNECTIONS = 100
"""How many idle connections are kept."""

IDLE_LIFE = 55.0
"""How long an idle connection is kept, in seconds."""

SURE_LIFE = 4.0
"""How long an idle connection serves a request that must not be sent twice.

Common servers close after 5 seconds, and a close may be on its way as the request
is sent. Other requests are repeated, and save a handshake far more often than they
meet a close.
"""

_SWEEP = 5.0


class Pool:
    """All connections of one event loop, busy and idle."""

    def __init__(self) -> None:
        self._all: set[Connection] = set()
        self._idle: dict[Connection, None] = {}  # the one that waits longest is first
        self._by_key: dict[Key, list[Connection]] = {}
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed = False
        self._emptied: asyncio.Future[None] | None = None

    def take(self, key: Key, repeatable: bool) -> Connection | None:
        """An idle connection that is surely open, the one used last; None without one."""
        waiting = self._by_key.get(key)
        if not waiting:
            return None
        life = IDLE_LIFE if repeatable else SURE_LIFE
        since = asyncio.get_running_loop().time() - life
        while waiting:
            connection = waiting[-1]
            if connection.idle_since < since:
                return None  # and so are the others
            self._leave(connection)
            if connection.usable:
                return connection
            connection.abort()
        return None

    def put(self, connection: Connection) -> None:
        """Keeps a connection for the next request."""
        if self._closed:
            connection.abort()
            return
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        self._idle[connection] = None
        self._by_key.setdefault(connection.key, []).append(connection)
        if len(self._idle) > IDLE_CONNECTIONS:
            self._drop(next(iter(self._idle)))
        if self._sweeper is None:
            self._sweeper = loop.call_later(_SWEEP, self._sweep, loop)

    def add(self, connection: Connection) -> None:
        """A connection was made."""
        self._all.add(connection)

    def remove(self, connection: Connection) -> None:
        """A connection has ended."""
        self._all.discard(connection)
        self._leave(connection)
        if self._emptied and not self._all and not self._emptied.done():
            self._emptied.set_result(None)

    def abandon(self) -> None:
        """The loop is closed."""
        self._closed = True
        for connection in list(self._all):
            connection.abandon()

    async def close(self) -> None:
        """Closes every connection and waits until they are gone."""
        self._closed = True
        if self._sweeper:
            self._sweeper.cancel()
        for connection in list(self._all):
            self._leave(connection)
            connection.abort()
        if self._all:
            self._emptied = asyncio.get_running_loop().create_future()
            await self._emptied

    def _leave(self, connection: Connection) -> None:
        if connection not in self._idle:
            return
        del self._idle[connection]
        waiting = self._by_key[connection.key]
        waiting.remove(connection)
        if not waiting:
            del self._by_key[connection.key]

    def _drop(self, connection: Connection) -> None:
        self._leave(connection)
        connection.abort()

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        self._sweeper = None
        since = loop.time() - IDLE_LIFE
        for connection in [c for c in self._idle if c.idle_since < since]:
            self._drop(connection)
        if self._idle:
            self._sweeper = loop.call_later(_SWEEP, self._sweep, loop)
