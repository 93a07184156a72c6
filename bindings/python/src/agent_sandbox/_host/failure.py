"""Why an exchange failed, in the words that the core understands."""

from __future__ import annotations

import errno
import os
import socket

RESOLVE = "resolve"  # the name has no address
CONNECT = "connect"  # no connection: the request was never sent
REFUSED = "refused"  # no connection, for nothing listens there: the request was never sent
TLS = "tls"  # certificate or handshake: the request was never sent
SEND = "send"  # the request may have reached the peer
RESET = "reset"  # the connection ended inside the exchange
OTHER = "other"
SOURCE = "source"  # what the caller sends could not be read

LOST = "the connection ended inside the exchange"


class NetFailure(Exception):
    """A failed exchange. Its message has no credential and no query.

    ``host`` is the ``host:port`` that was tried, ``the proxy host:port`` for a
    proxy's, empty when nothing was tried.
    """

    def __init__(self, kind: str, message: str, host: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.host = host

    def at(self, host: str) -> NetFailure:
        """The same failure, with the place where it happened."""
        return self if self.host else NetFailure(self.kind, self.message, host)


def unusable(message: str) -> NetFailure:
    """A request that cannot be sent as it is."""
    return NetFailure(OTHER, message)


def dial_failure(error: OSError, to_proxy: bool = False) -> NetFailure:
    """The failure of a connection that could not be made; one to a proxy says nothing of the peer."""
    if isinstance(error, socket.gaierror):
        return NetFailure(RESOLVE, f"the name does not resolve: {error.strerror or 'no address'}")
    kind = REFUSED if isinstance(error, ConnectionRefusedError) and not to_proxy else CONNECT
    return NetFailure(kind, f"cannot connect: {reason(error)}")


def lost(error: BaseException | None) -> NetFailure:
    """The failure of an exchange whose connection ended."""
    if error is None:
        return NetFailure(RESET, f"{LOST}: unexpected end")
    return NetFailure(RESET, f"{LOST}: {reason(error)}")


def reason(error: BaseException) -> str:
    """What the operating system says of an error, without addresses."""
    if isinstance(error, TimeoutError) and not getattr(error, "errno", None):
        return os.strerror(errno.ETIMEDOUT).lower()
    number = getattr(error, "errno", None)
    if isinstance(error, OSError) and isinstance(number, int):
        return os.strerror(number).lower()
    if isinstance(error, OSError):
        return "no address of the name takes the connection"
    return type(error).__name__
