"""URLs, taken apart into what a connection and a request line need."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from .failure import unusable

_UNUSABLE = re.compile(r"[\x00-\x20\x7f]")
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}
_SECURE = ("https", "wss")


class Address:
    """Where an absolute URL points.

    ``host`` has no brackets and is in ASCII, ``port`` is spelled out, ``netloc``
    is what a Host header says, ``target`` is path and query.
    """

    __slots__ = ("host", "netloc", "port", "secure", "target")

    def __init__(self, url: str, schemes: tuple[str, ...]) -> None:
        if _UNUSABLE.search(url):
            raise unusable("the URL cannot be parsed")
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:  # its text has the URL, which may hold a signature
            raise unusable("the URL cannot be parsed") from None
        if parts.scheme not in schemes or not host:
            raise unusable(f"the URL needs a host and the scheme {' or '.join(schemes)}")
        self.secure = parts.scheme in _SECURE
        self.host = _ascii(host)
        self.port = port if port is not None else _PORTS[parts.scheme]
        self.netloc = joined(self.host, port)
        self.target = _target(parts.path, parts.query)

    @property
    def peer(self) -> str:
        """host:port, for errors."""
        return joined(self.host, self.port)


def _target(path: str, query: str) -> str:
    target = f"{path or '/'}?{query}" if query else path or "/"
    return target if target.isascii() else quote(target, safe="/?%:@!$&'()*+,;=~-._")


def _ascii(host: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        raise unusable("the URL has a host name that no resolver can take") from None


def joined(host: str, port: int | None) -> str:
    """host:port, with brackets around an IPv6 address; no port when it is None."""
    if ":" in host:
        host = f"[{host}]"
    return host if port is None else f"{host}:{port}"


def is_localhost(host: str) -> bool:
    """Whether a name means this machine (RFC 6761 6.3).

    The system's resolver often does not know the names below localhost.
    """
    name = host.lower().removesuffix(".")
    return name == "localhost" or name.endswith(".localhost")


def is_address(host: str) -> bool:
    """Whether it is an address, which needs no resolver."""
    return ":" in host or _is_ipv4(host)


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine, which no proxy can reach."""
    if is_localhost(host):
        return True
    if ":" not in host:
        return host.startswith("127.") and _is_ipv4(host)
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_ipv4(host: str) -> bool:
    return host.count(".") == 3 and host.replace(".", "").isdigit()
