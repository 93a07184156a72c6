"""Which of the addresses of a name takes a connection.

asyncio has such a race too, but one that loses a socket when it is cancelled in
the wrong moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import zip_longest

from .closed import Ours

_NEXT = 0.25  # RFC 8305: seconds before the next address is tried beside the others


class _Attempt(Ours, asyncio.Protocol):
    """Holds a connection of which nobody knows yet whether it is wanted."""


async def connect(
    loop: asyncio.AbstractEventLoop, protocol: asyncio.BaseProtocol, host: str, port: int
) -> asyncio.Transport:
    """Connects to one address."""
    return (await loop.create_connection(lambda: protocol, host, port))[0]


async def first_in_turn(
    loop: asyncio.AbstractEventLoop, protocol: asyncio.BaseProtocol, hosts: Sequence[str], port: int
) -> asyncio.Transport:
    """Connects to the first address that takes it. Fails with what the first said."""
    failure: OSError | None = None
    for host in hosts:
        try:
            return await connect(loop, protocol, host, port)
        except OSError as error:
            failure = failure or error
    raise failure or OSError()


async def first_to_connect(
    loop: asyncio.AbstractEventLoop, protocol: asyncio.BaseProtocol, hosts: Sequence[str], port: int
) -> asyncio.Transport:
    """Connects to the address that takes it first; each has a head start on the
    next, and the two families take turns. Fails with what the first said.
    """
    hosts = in_turns(hosts)
    if len(hosts) == 1:
        return await connect(loop, protocol, hosts[0], port)
    attempts: list[asyncio.Task[asyncio.Transport]] = []
    winner: asyncio.Task[asyncio.Transport] | None = None
    try:
        for host in hosts:
            attempts.append(loop.create_task(connect(loop, _Attempt(), host, port)))
            winner = await _winner(attempts, _NEXT)
            if winner:
                break
        winner = winner or await _winner(attempts, None)
    finally:
        await _end([a for a in attempts if a is not winner])
    transport = (winner or attempts[0]).result()
    transport.set_protocol(protocol)
    protocol.connection_made(transport)
    return transport


async def _winner(
    attempts: list[asyncio.Task[asyncio.Transport]], seconds: float | None
) -> asyncio.Task[asyncio.Transport] | None:
    """Waits for an attempt that succeeds; None when the time is over or all have failed."""
    loop = asyncio.get_running_loop()
    until = None if seconds is None else loop.time() + seconds
    while True:
        for attempt in attempts:
            if attempt.done() and not attempt.cancelled() and attempt.exception() is None:
                return attempt
        left = None if until is None else until - loop.time()
        pending = [a for a in attempts if not a.done()]
        if not pending or (left is not None and left <= 0):
            return None
        await asyncio.wait(pending, timeout=left, return_when=asyncio.FIRST_COMPLETED)


async def _end(attempts: list[asyncio.Task[asyncio.Transport]]) -> None:
    for attempt in attempts:
        attempt.cancel()
    if attempts:
        await asyncio.wait(attempts)
    for attempt in attempts:
        if not attempt.cancelled() and attempt.exception() is None:
            attempt.result().abort()


def in_turns(hosts: Sequence[str]) -> list[str]:
    """The addresses without doubles, one family after the other in turn."""
    unique = list(dict.fromkeys(hosts))
    first = [h for h in unique if (":" in h) == (":" in unique[0])]
    other = [h for h in unique if h not in first]
    return [h for pair in zip_longest(first, other) for h in pair if h]
