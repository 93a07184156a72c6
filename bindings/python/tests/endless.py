"""A server whose every answer is a body that never ends."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ntransfer-encoding: chunked\r\n\r\n"
PIECE = b"40000\r\n" + bytes(0x40000) + b"\r\n"


@contextmanager
def endless() -> Iterator[str]:
    """Gives its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_accept, args=(listener,), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket) -> None:
    with suppress(OSError):
        while True:
            threading.Thread(target=_serve, args=(listener.accept()[0],), daemon=True).start()


def _serve(connection: socket.socket) -> None:
    with connection, suppress(OSError):
        connection.recv(65536)
        connection.sendall(HEAD)
        while True:
            connection.sendall(PIECE)
