"""A peer that sends exact bytes, and a driver that notes what the host says."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from agent_sandbox._host.http import Http

Handler = Callable[["Link"], Awaitable[None]]

#: What a debugging loop says of a handshake that failed, on the peer's side.
OF_THE_PEER = "Error on transport creation for incoming connection"


class Link:
    """The peer's end of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        self.reader, self.writer, self.number = reader, writer, number

    async def head(self) -> str:
        """Reads a request's head."""
        return (await self.reader.readuntil(b"\r\n\r\n")).decode()

    async def request(self) -> tuple[str, bytes]:
        """Reads a request with a body of known length."""
        head = await self.head()
        length = 0
        for line in head.split("\r\n"):
            if line.lower().startswith("content-length:"):
                length = int(line.partition(":")[2])
        return head, await self.reader.readexactly(length)

    async def chunks(self) -> bytes:
        """Reads a chunked body."""
        whole = bytearray()
        while True:
            size = int(await self.reader.readuntil(b"\r\n"), 16)
            whole += await self.reader.readexactly(size)
            assert await self.reader.readexactly(2) == b"\r\n"
            if not size:
                return bytes(whole)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def send_slowly(self, data: bytes) -> None:
        """Sends byte by byte, each as a packet of its own."""
        for i in range(len(data)):
            await self.send(data[i : i + 1])
            await asyncio.sleep(0)

    def fin(self) -> None:
        self.writer.close()

    def rst(self) -> None:
        """Ends the connection with a reset."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def gone(self) -> bytes:
        """Reads until the host's end closes; gives what came."""
        with contextlib.suppress(ConnectionError):
            return await self.reader.read()
        return b""


@dataclass
class Peer:
    """A listening peer."""

    port: int
    links: list[Link] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


@contextlib.asynccontextmanager
async def peer(handler: Handler, **options: object) -> AsyncIterator[Peer]:
    """Serves every connection by handler, which may end early."""
    tasks: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        tasks.add(task)
        link = Link(reader, writer, len(made.links))
        made.links.append(link)
        try:
            await handler(link)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            made.failures.append(error)
        finally:
            writer.close()
            tasks.discard(task)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, backlog=2048, limit=1 << 20, **options)
    made = Peer(server.sockets[0].getsockname()[1])
    try:
        yield made
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for link in made.links:
            with contextlib.suppress(AttributeError):  # TLS that was closed twice, in early 3.11
                link.writer.transport.abort()
        await asyncio.sleep(0)
        assert not made.failures, made.failures


class Heard:
    """Events of one exchange, noted."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: tuple[tuple[str, str], ...] = ()
        self.pieces: list[bytes] = []
        self.order: list[str] = []
        self.failure: tuple[str, str, str] | None = None
        self.done = asyncio.get_running_loop().create_future()
        self.headed = asyncio.get_running_loop().create_future()
        self.asked = asyncio.Event()
        self.on_data: Callable[[], None] = lambda: None

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    def head(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.order.append("head")
        self.status, self.headers = status, headers
        self.headed.set_result(None)

    def data(self, chunk: bytes) -> None:
        assert chunk
        self.order.append("data")
        self.pieces.append(chunk)
        self.on_data()

    def place(self, left: int) -> memoryview | None:
        return None

    def placed(self, count: int) -> None:
        raise AssertionError("there was no place")

    def end(self) -> None:
        self.order.append("end")
        self.done.set_result(None)

    def error(self, kind: str, host: str, message: str) -> None:
        self.order.append("error")
        assert message.isprintable() and len(message) < 300
        self.failure = (kind, host, message)
        self.done.set_result(None)

    def wanted(self) -> None:
        self.order.append("wanted")
        self.asked.set()

    def flush(self) -> None:
        assert self.order[-1] != "flush"
        self.order.append("flush")

    @property
    def kind(self) -> str:
        return self.failure[0] if self.failure else ""

    @property
    def outcome(self) -> object:
        """What an exchange came to."""
        return self.failure[0] if self.failure else (self.status, self.body)


@contextlib.asynccontextmanager
async def client(**options: object) -> AsyncIterator[Client]:
    """A host that must leave nothing behind."""
    loop = asyncio.get_running_loop()
    complaints: list[dict[str, object]] = []
    loop.set_exception_handler(
        lambda _, context: None if context["message"] == OF_THE_PEER else complaints.append(context)
    )
    options = {"proxy": None, "ca_file": None, "environ": {}} | options
    made = Client(Http(**options))
    try:
        yield made
    finally:
        await made.http.aclose()
        assert not made.http._live and not made.http._tasks and not made.http._pool._all
        assert not complaints, complaints


class Client:
    """Short ways to ask."""

    def __init__(self, http: Http) -> None:
        self.http = http

    def begin(self, url: str, method: str = "GET", headers: tuple[tuple[str, str], ...] = (), body: object = None):
        heard = Heard()
        return self.http.request(method, url, list(headers), body, heard), heard

    async def ask(
        self, url: str, method: str = "GET", headers: tuple[tuple[str, str], ...] = (), body: object = None
    ) -> Heard:
        _, heard = self.begin(url, method, headers, body)
        async with timeout(30):
            await heard.done
        return heard


@contextlib.asynccontextmanager
async def timeout(seconds: float) -> AsyncIterator[None]:
    """Fails a test that hangs."""
    task = asyncio.current_task()
    handle = asyncio.get_running_loop().call_later(seconds, task.cancel)
    try:
        yield
    finally:
        handle.cancel()


def descriptors() -> int:
    """How many descriptors this process has."""
    return len(os.listdir("/proc/self/fd"))


def answer(body: bytes = b"ok", *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
