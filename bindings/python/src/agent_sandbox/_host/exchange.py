"""One HTTP request on its way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from .answer import Answer
from .failure import SEND, SOURCE, NetFailure, lost
from .request import Request
from .upload import PiecesUpload, SourceUpload, Upload

if TYPE_CHECKING:
    from .connection import Connection
    from .events import Events
    from .http import Http


_WORTH = 128 << 10  # of a body that is left: from here on it is read to where it is wanted


class Exchange:
    """What the driver holds of a request. After its end every method does nothing."""

    source_error: BaseException | None = None
    """What the source of the body failed with, for the caller to see."""

    def __init__(self, http: Http, events: Events) -> None:
        self._http = http
        self._events: Events | None = events
        self._request: Request | None = None
        self._upload = Upload()
        self._connection: Connection | None = None
        self._dialling: asyncio.Task[None] | None = None
        self._answer: Answer | None = None
        self._head_given = False
        self._heard = False  # any byte of an answer
        self._paused = False

    # What the driver calls:

    def abort(self) -> None:
        """Ends the exchange and closes its connection. No event follows."""
        self._settle()
        self._hang_up()

    def abandon(self) -> None:
        """The loop is closed. No event follows."""
        self._events = self._dialling = self._connection = None

    def pause(self) -> None:
        """Reads no more. What the last read brought may still come."""
        self._paused = True
        if self._connection:
            self._connection.pause()

    def resume(self) -> None:
        """Reads again."""
        self._paused = False
        if self._connection:
            self._connection.resume()

    def send_piece(self, piece: bytes) -> None:
        """Sends a piece of the body, after ``wanted``."""
        if isinstance(self._upload, PiecesUpload) and self._connection:
            self._upload.send(piece)

    def end_pieces(self) -> None:
        """The body is complete."""
        if isinstance(self._upload, PiecesUpload) and self._connection:
            self._upload.end()

    # What Http calls:

    def prepare(self, request: Request, upload: Upload) -> None:
        """Says what is to be sent."""
        self._request, self._upload = request, upload

    def dialling(self, task: asyncio.Task[None] | None) -> None:
        """A connection is being made by a task, which ends with the exchange; None:
        no longer."""
        self._dialling = task

    @property
    def live(self) -> bool:
        """Whether events may still come."""
        return self._events is not None

    def begin(self, connection: Connection) -> None:
        """Sends the request over a connection."""
        assert self._request is not None
        self._dialling = None
        self._connection = connection
        self._answer = Answer(self._http.parser(), without_body=self._request.method == "HEAD")
        if self._paused:
            connection.pause()
        self._upload.start(self, self._request.head(self._upload.length))

    def fail(self, failure: NetFailure) -> None:
        """Ends the exchange with a failure."""
        events = self._settle()
        self._hang_up()
        if events:
            if self._request:
                failure = failure.at(self._request.address.peer)
            events.error(failure.kind, failure.host, failure.message)
            events.flush()

    # What the connection calls:

    def place(self) -> memoryview | None:
        """Where the next bytes of the body go, if the driver has a place for them."""
        answer = self._answer
        if answer is None or self._events is None or answer.left < _WORTH:
            return None
        return self._events.place(answer.left)

    def placed(self, count: int) -> None:
        """So many bytes came where ``place`` said."""
        answer, events = self._answer, self._events
        if answer is None or events is None:  # given up while the bytes were read
            return
        self._heard = True
        answer.skip(count)
        try:
            events.placed(count)
            if answer.complete:
                self._finish(answer)
        except BaseException:  # of the driver: nothing more can be done for it
            self.abort()
            raise

    def received(self, data: bytes | memoryview) -> None:
        """Bytes of the answer came. They are copied, if they are kept."""
        answer = self._answer
        assert answer is not None
        self._heard = True
        try:
            self._take(answer, data)
        except BaseException:  # of the driver: nothing more can be done for it
            self.abort()
            raise

    def _take(self, answer: Answer, data: bytes | memoryview) -> None:
        try:
            answer.feed(data)
        except NetFailure as failure:
            self._deliver(answer)
            self.fail(failure)
            return
        news = self._deliver(answer)
        if answer.complete:
            self._finish(answer)
        elif news and self._events:
            self._events.flush()

    def ended(self, error: BaseException | None, reused: bool) -> None:
        """The connection ended."""
        answer = self._answer
        if answer and answer.end():
            self._finish(answer)
        elif reused and not self._heard:
            self.fail(NetFailure(SEND, "the peer closed the connection as the request was sent"))
        else:
            self.fail(lost(error))

    def room(self) -> None:
        """The connection takes bytes again."""
        self._upload.room()

    def _deliver(self, answer: Answer) -> bool:
        headed = self._head_given
        if answer.status and not headed:
            self._head_given = True
            if self._events:
                self._events.head(answer.status, answer.headers)
        chunks = answer.take()
        for chunk in chunks:
            if self._events:
                self._events.data(chunk)
        return bool(chunks) or headed != self._head_given

    def _finish(self, answer: Answer) -> None:
        events = self._settle()
        connection, self._connection = self._connection, None
        sent = self._upload.done
        self._upload.stop()
        if connection:
            connection.release(keep=answer.keep and sent)
        if events:
            events.end()
            events.flush()

    def _settle(self) -> Events | None:
        events, self._events = self._events, None
        if self._answer:
            self._answer.close()
        self._http.forget(self)
        return events

    def _hang_up(self) -> None:
        self._upload.stop()
        if self._dialling:
            self._dialling.cancel()
            self._dialling = None
        connection, self._connection = self._connection, None
        if connection:
            connection.abort()

    # What the upload calls (Sink):

    def write(self, *pieces: bytes | memoryview) -> None:
        if self._connection:
            self._connection.write(pieces)

    @property
    def full(self) -> bool:
        return self._connection is not None and self._connection.full

    def wanted(self) -> None:
        self._http.soon(self._ask)

    def _ask(self) -> None:
        if self._events:
            self._events.wanted()
        if self._events:
            self._events.flush()

    def soon(self, call: Callable[[], None]) -> None:
        self._http.soon(call)

    def spawn(self, upload: SourceUpload) -> asyncio.Task[None]:
        return self._http.spawn(upload.run(), self._source_cancelled)

    def _source_cancelled(self) -> None:
        self.source_failed(asyncio.CancelledError())

    def source_failed(self, error: BaseException) -> None:
        if self._events:
            self.source_error = error
            self.fail(NetFailure(SOURCE, f"the source of the body failed: {type(error).__name__}"))
