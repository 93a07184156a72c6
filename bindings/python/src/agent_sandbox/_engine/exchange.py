"""An HTTP exchange of an operation: orders of the core become a request, what happens to it frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import frame
from .compression import compressed, compressing
from .download import Download
from .json import decode, encode

if TYPE_CHECKING:
    from .operation import Operation


class Exchange:
    """Takes the events of a request (see _host/events.py)."""

    def __init__(self, operation: Operation, stream: int) -> None:
        self._operation = operation
        self._stream = stream
        self._request: Any = None
        self._held: list[bytes] | None = None  #: chunks of a bulk body whose fate is not known yet
        self._ended: tuple[int, bytes] | None = None  #: the same for its end
        self._bulk = False
        self._over = False
        self._download: Download | None = None
        self._source: Any = None

    # Orders of the core.

    def start(self, order: bytes, raw: bytes) -> None:
        """Sends the request."""
        operation = self._operation
        request = decode(order)
        self._bulk = request.get("bulk", False)
        http = operation.driver.http(*operation.transport)
        headers = [(name, value) for name, value in request["headers"]]
        self._request = http.request(request["method"], request["url"], headers, self._body(request, raw), self)
        if operation.paused:
            self._request.pause()

    def _body(self, request: Any, raw: bytes) -> Any:
        kind = request["body"]
        if kind == "none":
            return None
        if kind == "bytes":
            return compressed(raw) if request.get("gzip") else raw
        if kind == "pieces":
            from .._host.upload import PIECES

            return PIECES
        prefix, suffix = request.get("prefix", 0), request.get("suffix", 0)
        source = self._operation.sources[request["source"]]
        self._source = source
        body = source.body(raw[:prefix], raw[len(raw) - suffix :], self._operation)
        return compressing(body) if request.get("gzip") else body

    def take(self, kind: int, payload: bytes) -> None:
        """A further order."""
        if kind == frame.HTTP_BODY:
            self._request.send_piece(payload)
        elif kind == frame.HTTP_BODY_END:
            self._request.end_pieces()
        elif kind == frame.BODY_TO_CORE:
            self._decided(None)
        elif kind == frame.BODY_TO_HOST:
            self._decided(Download(self._operation, self, decode(payload)))
            self._operation.opened()

    def _decided(self, download: Download | None) -> None:
        self._download = download
        held, self._held = self._held or [], None
        for chunk in held:
            if download is not None:
                download.data(chunk)
            else:
                self._operation.feed(self._stream, frame.HTTP_CHUNK, chunk)
        if self._ended is not None:
            self._end(*self._ended)
        elif not self._operation.paused:
            self._request.resume()

    def close(self) -> None:
        """The core wants no more."""
        if self._download is not None:
            self._download.close()
        if self._request is not None:
            self._request.abort()

    def pause(self) -> None:
        """Reads no further."""
        if self._download is not None:
            self._download.pause()
        self._request.pause()

    def resume(self) -> None:
        """Reads on."""
        if self._held is None:
            if self._download is not None:
                self._download.resume()
            self._request.resume()

    def loose_end(self) -> tuple[int, bytes]:
        """The connection is gone."""
        return frame.HTTP_ERROR, encode({"kind": "reset", "host": "", "message": "the event loop has ended"})

    # Events of the request.

    def head(self, status: int, headers: list[tuple[str, str]]) -> None:
        """The head of the answer."""
        if self._bulk:
            self._held = []
            self._request.pause()
        self._soon(frame.HTTP_HEAD, encode({"status": status, "headers": headers}))

    def data(self, chunk: bytes) -> None:
        """Bytes of the answer's body."""
        if self._held is not None:
            self._held.append(chunk)
        elif self._download is not None:
            self._download.data(chunk)
        else:
            self._soon(frame.HTTP_CHUNK, chunk)

    def place(self, left: int) -> memoryview | None:
        """Where the caller's copy of a body is read to."""
        return None if self._download is None else self._download.place(left)

    def placed(self, count: int) -> None:
        """So many bytes came there."""
        if self._download is not None:
            self._download.placed(count)

    def _soon(self, kind: int, payload: bytes) -> None:
        patient = self._operation.patient
        self._operation.feed(self._stream, kind, payload, patient, flushed=not patient)

    def end(self) -> None:
        """The body is complete."""
        self._end(frame.HTTP_END, b"", flushed=True)

    def error(self, kind: str, host: str, message: str) -> None:
        """The exchange failed."""
        if self._source is not None and self._operation.raised is not None:
            kind = "source"
        self._end(frame.HTTP_ERROR, encode({"kind": kind, "host": host, "message": message}), flushed=True)

    def _end(self, kind: int, payload: bytes, flushed: bool = False) -> None:
        if self._held is not None:
            self._ended = (kind, payload)
            return
        if self._download is not None and kind == frame.HTTP_END:
            kind, payload = self._download.end()
        self.over(kind, payload, flushed)

    def over(self, kind: int, payload: bytes, flushed: bool = False) -> None:
        """Says the last word to the core."""
        if self._download is not None:
            self._download.close()
        self._over = True
        self._operation.over(self._stream)
        self._operation.feed(self._stream, kind, payload, flushed=flushed)

    def fail(self, failure: dict[str, Any]) -> None:
        """Ends an exchange that the host itself finds at fault."""
        self._request.abort()
        self.over(frame.HTTP_ERROR, encode(failure))

    def wanted(self) -> None:
        """One more piece of the request's body is taken."""
        self._operation.feed(self._stream, frame.HTTP_WANTED)

    def flush(self) -> None:
        """Nothing more is at hand: cross, unless the end is worth waiting for."""
        if self._over or not self._operation.patient:
            self._operation.driver.flush()
