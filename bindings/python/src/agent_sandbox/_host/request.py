"""The head of an HTTP/1.1 request."""

from __future__ import annotations

import re

from .address import Address
from .failure import unusable
from .proxy import Proxy

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_BAD_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_OF_THE_BODY = frozenset(("content-length", "transfer-encoding", "connection", "host"))
_WITH_LENGTH = frozenset(("POST", "PUT", "PATCH"))
# Repeating one of these does no harm, so that a connection which the peer may be
# closing just now is good enough for them.
_REPEATABLE = frozenset(("GET", "HEAD", "PUT", "DELETE", "OPTIONS"))

CHUNKED = -1
"""The length of a body that is not known before its end."""


class Request:
    """What is sent before a body, and where to."""

    __slots__ = ("address", "headers", "method", "proxy")

    def __init__(self, method: str, url: str, headers: list[tuple[str, str]], schemes: tuple[str, ...]) -> None:
        self.address = Address(url, schemes)
        if not _NAME.match(method):
            raise unusable("the method has a character that HTTP does not allow")
        check(headers)
        self.method = method
        self.headers = headers
        self.proxy: Proxy | None = None

    @property
    def repeatable(self) -> bool:
        """Whether sending it twice does no harm."""
        return self.method in _REPEATABLE

    def head(self, length: int | None) -> bytes:
        """The bytes of the head. ``length`` is that of the body, None without one."""
        host = self.address.netloc
        lines = []
        for name, value in self.headers:
            lowered = name.lower()
            if lowered not in _OF_THE_BODY:
                lines.append(f"{name}: {value}")
            elif lowered == "host":
                host = value
        if length == CHUNKED:
            lines.append("Transfer-Encoding: chunked")
        elif length is not None or self.method in _WITH_LENGTH:
            lines.append(f"Content-Length: {length or 0}")
        if self.proxy and not self.address.secure and self.proxy.authorization:
            lines.append(f"Proxy-Authorization: {self.proxy.authorization}")
        start = f"{self.method} {self._target()} HTTP/1.1\r\nHost: {host}\r\n"
        return (start + "".join(f"{line}\r\n" for line in lines) + "\r\n").encode()

    def _target(self) -> str:
        if self.proxy and not self.address.secure:
            return f"http://{self.address.netloc}{self.address.target}"
        return self.address.target


def check(headers: list[tuple[str, str]]) -> None:
    """Refuses what would end a header line."""
    names = [name for name, _ in headers]
    # Nearly always they are sound, and two looks are cheaper than two for each header.
    if _NAME.match("".join(names)) and "" not in names and not _BAD_VALUE.search("".join([v for _, v in headers])):
        return
    for name, value in headers:
        if not _NAME.match(name):
            raise unusable("a header name has a character that HTTP does not allow")
        if _BAD_VALUE.search(value):
            raise unusable(f"the value of header {name} has a character that HTTP does not allow")
