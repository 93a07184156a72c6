"""How a sandbox's classes reach the core: the client, and the handle that names the sandbox."""

from __future__ import annotations

from typing import Any

from . import frame
from .client import Client
from .json import encode_given
from .secret import Secret


class Link:
    """A client and, for a sandbox's own calls, the text of its handle."""

    __slots__ = ("client", "handle")

    def __init__(self, client: Client, handle: bytes = b"") -> None:
        self.client = client
        self.handle = handle

    def __repr__(self) -> str:
        return "Link(...)"

    def payload(
        self, method: str, params: dict[str, Any], attached: bytes = b"", request_timeout_ms: int | None = None
    ) -> bytes:
        """The payload of a CALL. Raises InvalidArgumentError for what cannot be said in JSON."""
        clock = b"" if request_timeout_ms is None else b',"request_timeout_ms":%d' % request_timeout_ms
        text = b'{"method":"%b","client":%b%b%b,"params":%b}' % (
            method.encode(),
            self.client.text,
            b',"sandbox":%b' % self.handle if self.handle else b"",
            clock,
            encode_given(Secret(params)),
        )
        return frame.mixed(text, attached)
