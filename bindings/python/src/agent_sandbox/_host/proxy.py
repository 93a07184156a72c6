"""Which proxy a connection takes."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from .address import Address, is_loopback, joined
from .failure import unusable

DIRECT = "direct"


class Proxy:
    """One proxy. Its credential is in no text of it."""

    __slots__ = ("authorization", "host", "port", "secure")

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            host, port = parts.hostname, parts.port
        except ValueError:  # its text may hold a password
            raise unusable("the proxy setting is no URL") from None
        if not host:
            raise unusable("the proxy setting is no URL")
        if parts.scheme not in ("http", "https"):
            raise unusable(f"a proxy of the scheme {parts.scheme} is not supported: use http or https")
        self.secure = parts.scheme == "https"
        self.host = host
        self.port = port or (443 if self.secure else 80)
        self.authorization = _basic(parts.username, parts.password)

    @property
    def peer(self) -> str:
        """How errors name it."""
        return f"the proxy {joined(self.host, self.port)}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Proxy) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[object, ...]:
        return self.secure, self.host, self.port, self.authorization

    def __repr__(self) -> str:
        return f"Proxy({joined(self.host, self.port)})"


def _basic(user: str | None, password: str | None) -> str:
    if user is None:
        return ""
    pair = f"{unquote(user)}:{unquote(password or '')}"
    return "Basic " + b64encode(pair.encode()).decode("ascii")


class Proxies:
    """The proxy settings of a host.

    ``proxy`` is a URL for every connection, ``direct`` for none, and None takes
    HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment, in either case.
    """

    def __init__(self, proxy: str | None, environ: Mapping[str, str]) -> None:
        self._known: dict[str, Proxy] = {}
        self._except: list[_Exception] = []
        if proxy:
            plain = secure = "" if proxy == DIRECT else proxy
        else:
            plain = _either(environ, "HTTP_PROXY")
            secure = _either(environ, "HTTPS_PROXY")
            self._except = [_Exception(p) for p in _either(environ, "NO_PROXY").lower().split(",") if p.strip()]
        self._urls = (plain, secure)

    def of(self, address: Address) -> Proxy | None:
        """The proxy of an address, None when it is reached directly."""
        url = self._urls[address.secure]
        if not url or is_loopback(address.host):
            return None
        if any(e.matches(address.host.lower(), address.port) for e in self._except):
            return None
        if url not in self._known:
            self._known[url] = Proxy(url)
        return self._known[url]

    def __repr__(self) -> str:
        return "Proxies()"


def _either(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower()) or ""


class _Exception:
    """One entry of NO_PROXY: ``*``, an address, a network, a domain (with what is
    below it) or ``.domain`` (only what is below it), the last with a port or none.
    """

    def __init__(self, entry: str) -> None:
        entry = entry.strip()
        self.every = entry == "*"
        self.network = _network(entry)
        self.port: int | None = None
        if self.network is None:
            entry, self.port = _split_port(entry)
            self.network = _network(entry.strip("[]"))
        self.domain = entry.removeprefix("*")

    def matches(self, host: str, port: int) -> bool:
        if self.every:
            return True
        if self.port is not None and self.port != port:
            return False
        if self.network is not None:
            return _within(host, self.network)
        if self.domain.startswith("."):
            return host.endswith(self.domain)
        return bool(self.domain) and (host == self.domain or host.endswith("." + self.domain))


def _split_port(entry: str) -> tuple[str, int | None]:
    name, colon, port = entry.rpartition(":")
    if colon and port.isdigit():
        return name, int(port)
    return entry, None


def _network(entry: str) -> object | None:
    if not any(c.isdigit() for c in entry):
        return None
    from ipaddress import ip_network

    try:
        return ip_network(entry, strict=False)
    except ValueError:
        return None


def _within(host: str, network: object) -> bool:
    from ipaddress import IPv4Network, IPv6Network, ip_address

    assert isinstance(network, (IPv4Network, IPv6Network))
    try:
        return ip_address(host) in network
    except ValueError:
        return False
