"""One HTTP/1.1 answer, as its bytes come in."""

from __future__ import annotations

from typing import Any

from .failure import NetFailure, unusable

HEAD_LIMIT = 256 << 10
"""The longest head, and the longest run of chunk extensions or trailers, in bytes."""

_LARGE = 16 << 10  # pieces of this size are not copied together

_CLOSE = -1  # the body ends with the connection
_CHUNKED = -2
_UNKNOWN = -3  # no head yet


class Answer:
    """Takes the bytes of one answer and says what they were.

    After each ``feed``: ``status`` is set once the head is complete, ``take()``
    gives the bytes of the body that came, ``complete`` tells that it has ended,
    ``keep`` that the connection may serve another request.
    """

    __slots__ = (
        "_framing",
        "_parser",
        "_pieces",
        "_refusal",
        "_silent",
        "complete",
        "headers",
        "keep",
        "status",
        "without_body",
    )

    def __init__(self, parser_type: Any, without_body: bool) -> None:
        self.without_body = without_body  # an answer to HEAD
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self.complete = False
        self.keep = False
        self._framing = _UNKNOWN
        self._pieces: list[bytes] = []
        self._refusal = ""  # why the answer is of no use
        self._silent = 0  # bytes since the last one of a body
        self._parser = parser_type(self)
        self._parser.set_dangerous_leniencies(
            # What other HTTP clients take without a word.
            lenient_chunked_length=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )

    def feed(self, data: bytes | memoryview) -> None:
        """Takes bytes. Fails on what is no HTTP."""
        if self._framing >= 0:
            self._count(data)
        elif self._framing == _CLOSE:
            self._pieces.append(bytes(data))
        else:
            self._parse(data)

    @property
    def left(self) -> int:
        """How much of the body is still to come; 0 where that is not known."""
        return max(self._framing, 0)

    def skip(self, count: int) -> None:
        """So many of the bytes that are left came elsewhere."""
        self._framing -= count
        self.complete = self._framing == 0

    def end(self) -> bool:
        """The connection has ended: whether that ends the answer too."""
        if self._framing == _CLOSE:
            self.complete = True
        return self.complete

    def close(self) -> None:
        """Nothing more is fed. The parser holds what it tells, which holds the parser: rubbish that only
        the collector of cycles finds."""
        self._parser = None

    def take(self) -> list[bytes]:
        """The bytes of the body that came since the last call, in one piece unless
        copying them together costs more than taking them one by one.
        """
        pieces = self._pieces
        if not pieces:
            return pieces
        self._pieces = []
        if len(pieces) == 1 or sum(map(len, pieces)) >= len(pieces) * _LARGE:
            return pieces
        return [b"".join(pieces)]

    def _count(self, data: bytes | memoryview) -> None:
        if len(data) > self._framing:
            data = data[: self._framing]
            self.keep = False  # what follows was not asked for
        self.skip(len(data))
        self._pieces.append(bytes(data))

    def _parse(self, data: bytes | memoryview) -> None:
        before = len(self._pieces)
        try:
            self._parser.feed_data(data)
        except Exception as error:
            if not self.complete and not self._refusal:
                raise _malformed(error) from None
            self.keep = False
        if self._refusal:
            raise unusable(f"the answer {self._refusal}")
        self._silent = 0 if len(self._pieces) > before else self._silent + len(data)
        if self._silent > HEAD_LIMIT and not self.complete:
            raise unusable(f"the answer has a head or trailer of more than {HEAD_LIMIT >> 10} KiB")

    # What the parser calls:

    def on_message_begin(self) -> None:
        if self.complete:
            self.keep = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._framing == _UNKNOWN:  # else it is a trailer
            self.headers.append((name.decode("utf-8", "replace"), value.decode("utf-8", "replace")))

    def on_headers_complete(self) -> None:
        if self.complete:
            return
        status = self._parser.get_status_code()
        if status < 200:
            if status == 101:
                self._refusal = "switches to a protocol that nobody asked for"
            self.headers = []
            return
        self.keep = self._parser.should_keep_alive()
        self._framing = self._framed(status)
        self.status = status

    def _framed(self, status: int) -> int:
        if self.without_body or status in (204, 304):
            self.complete = True
            return 0
        framing = _CLOSE
        for name, value in self.headers:
            match name.lower():
                case "transfer-encoding":
                    if value.strip().lower() != "chunked":
                        self._refusal = "has a transfer encoding that nobody asked for"
                    return _CHUNKED
                case "content-length":
                    framing = int(value)
        self.complete = framing == 0
        return framing

    def on_body(self, piece: bytes) -> None:
        if self.complete:
            self.keep = False
            return
        self._pieces.append(piece)
        if self._framing >= 0:
            self._framing -= len(piece)

    def on_message_complete(self) -> None:
        if self.status:
            self.complete = True


def _malformed(error: Exception) -> NetFailure:
    text = "".join(c for c in str(error) if c.isprintable())[:120]
    return unusable(f"the answer is not HTTP: {text}")
