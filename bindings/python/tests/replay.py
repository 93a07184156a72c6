"""Answers of a real server, recorded once and given again: whole, cut short, or byte by byte."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import struct
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)


async def request(reader: asyncio.StreamReader) -> bytes:
    """One request, with its body."""
    head = await reader.readuntil(b"\r\n\r\n")
    if length := _LENGTH.search(head):
        return head + await reader.readexactly(int(length[1]))
    if b"transfer-encoding: chunked" not in head.lower():
        return head
    body = b""
    while not body.endswith(b"\r\n0\r\n\r\n") and body != b"0\r\n\r\n":
        body += await reader.readuntil(b"\r\n")
    return head + body


class Recorder:
    """Stands before a server, and keeps what that answered to each request of interest."""

    def __init__(self, url: str) -> None:
        self._peer = urlsplit(url)
        self.answers: list[tuple[bytes, bytes]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            up, down = await asyncio.open_connection(self._peer.hostname, self._peer.port)
            with contextlib.closing(down), contextlib.closing(writer):
                asked = await request(reader)
                down.write(asked.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
                answer = await up.read(-1)
                self.answers.append((asked.partition(b" HTTP/1.1")[0], answer))
                writer.write(answer)
                await writer.drain()


class Player:
    """Gives ``answer``, up to a byte, to the first request; hangs up on every other one."""

    def __init__(self) -> None:
        self.answer = b""
        self.reset = False
        self.slowly = False
        self._given = True

    def cut(self, answer: bytes, *, reset: bool = False, slowly: bool = False) -> None:
        """What the next request gets."""
        self.answer, self.reset, self.slowly, self._given = answer, reset, slowly, False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError), contextlib.closing(writer):
            await request(reader)
            if self._given:
                return
            self._given = True
            for at in range(0, len(self.answer), 1 if self.slowly else 1 << 20):
                writer.write(self.answer[at : at + 1] if self.slowly else self.answer)
                await writer.drain()
                await asyncio.sleep(0)
            if self.reset:
                own: socket.socket = writer.get_extra_info("socket")
                own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@contextlib.asynccontextmanager
async def listening(peer: Recorder | Player) -> AsyncIterator[str]:
    """Gives the peer's URL."""
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
