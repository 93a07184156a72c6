"""Certificates of an authority of our own, made once."""

from __future__ import annotations

import atexit
import functools
import pathlib
import ssl
import tempfile

import trustme


class Authority:
    """Signs servers for 127.0.0.1, localhost and x.test."""

    def __init__(self) -> None:
        self._authority = trustme.CA()
        self._directory = tempfile.TemporaryDirectory()
        self.file = str(pathlib.Path(self._directory.name) / "ca.pem")
        self._authority.cert_pem.write_to_path(self.file)

    def forget(self) -> None:
        self._directory.cleanup()

    def server(self, *names: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert(*(names or ("127.0.0.1", "localhost", "x.test"))).configure_cert(context)
        return context


@functools.cache
def authority() -> Authority:
    made = Authority()
    atexit.register(made.forget)
    return made
