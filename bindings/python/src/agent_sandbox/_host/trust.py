"""Whom TLS connections trust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .failure import NetFailure, unusable

if TYPE_CHECKING:
    import ssl


class Trust:
    """The system's authorities and those of a PEM file.

    The file is ``ca_file``, else SSL_CERT_FILE. Nothing is read before the first
    TLS connection: reading a bundle costs more than making a local sandbox.
    """

    def __init__(self, ca_file: str | None, environ: Mapping[str, str]) -> None:
        self._file = ca_file or environ.get("SSL_CERT_FILE") or ""
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext:
        """The context of every TLS connection. Fails on a CA file that cannot be used."""
        if self._context is None:
            self._context = self._make()
        return self._context

    def _make(self) -> ssl.SSLContext:
        import ssl

        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        if not self._file:
            return context
        # Private authorities are often older than the strict reading of RFC 5280.
        context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
        try:
            context.load_verify_locations(cafile=self._file)
        except ssl.SSLError:
            raise unusable(f"the CA file {self._file} holds no certificate") from None
        except OSError as error:
            raise unusable(f"the CA file {self._file} cannot be read: {error.strerror}") from None
        return context


def handshake_failure(error: BaseException) -> NetFailure:
    """The failure of a TLS handshake."""
    import ssl

    if isinstance(error, ssl.SSLCertVerificationError):
        text = error.verify_message or "the certificate is not trusted"
    elif isinstance(error, ssl.SSLError):
        text = (error.reason or "protocol error").replace("_", " ").lower()
    elif isinstance(error, OSError) and error.errno:
        text = (error.strerror or "").lower()
    else:
        text = "the peer ended the connection"
    return NetFailure("tls", f"TLS handshake failed: {text}")
