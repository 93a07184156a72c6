"""What a run of code gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._generated.types import CodeError
    from .chart import Chart

#: The forms that have an attribute, in the order of ``formats``, with their MIME types.
_FORMS = {
    "text": "text/plain",
    "html": "text/html",
    "markdown": "text/markdown",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "pdf": "application/pdf",
    "latex": "text/latex",
    "json": "application/json",
    "javascript": "application/javascript",
    "data": "",
    "chart": "",
}
_SHOWN = 200


class Result:
    """One value that code showed: that of its last line, or what a display call showed. Shown in a notebook, it
    looks as it would have there.

    Attributes:
        text: text/plain; like all forms, None when there is none.
        html: text/html.
        markdown: text/markdown.
        svg: image/svg+xml.
        png: image/png, in base64; see :meth:`bytes_of`.
        jpeg: image/jpeg, in base64.
        pdf: application/pdf, in base64.
        latex: text/latex.
        json: application/json.
        javascript: application/javascript.
        data: Of a DataFrame: its columns.
        chart: What a figure shows.
        extra: All other forms by MIME type, and whatever else the interpreter said of the result.
        is_main_result: Whether it is the value of the last line; else it was displayed.
        raw: Everything as it came. NaN and infinity, which JSON does not have, are None.
    """

    text: str | None
    html: str | None
    markdown: str | None
    svg: str | None
    png: str | None
    jpeg: str | None
    pdf: str | None
    latex: str | None
    json: Any
    javascript: str | None
    data: Any
    chart: Chart | None

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.is_main_result = raw.get("is_main_result") is True
        for name in _FORMS:
            setattr(self, name, raw.get(name))
        chart = raw.get("chart")
        if isinstance(chart, Mapping):
            from .chart import read_chart

            self.chart = read_chart(chart)
        more = raw.get("extra")
        self.extra: dict[str, Any] = dict(more) if isinstance(more, Mapping) else {}
        own = {"is_main_result", "extra", *_FORMS}
        self.extra.update((name, value) for name, value in raw.items() if name not in own)

    def formats(self) -> list[str]:
        """The names of the forms that there are, those of ``extra`` included."""
        return [name for name in _FORMS if self.raw.get(name) is not None] + sorted(self.extra)

    def bytes_of(self, form: str) -> bytes:
        """A form as bytes: ``png``, ``jpeg`` and ``pdf`` without base64, others as UTF-8.

        Args:
            form: Its name, as :meth:`formats` gives it.

        Raises:
            KeyError: There is no such form.
        """
        import base64
        import json

        value = self.raw.get(form)
        if value is None:
            value = self.extra[form]
        if not isinstance(value, str):
            return json.dumps(value).encode()
        return base64.b64decode(value) if form in ("png", "jpeg", "pdf") else value.encode("utf-8", "replace")

    def __getitem__(self, form: str) -> Any:
        return self.raw[form] if self.raw.get(form) is not None else self.extra[form]

    def to_json(self) -> Mapping[str, Any]:
        """As it came."""
        return self.raw

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """What a notebook shows."""
        own = {mime: self.raw[name] for name, mime in _FORMS.items() if mime and self.raw.get(name) is not None}
        return {**{name: value for name, value in self.extra.items() if "/" in name}, **own}

    def __str__(self) -> str:
        return self.text if self.text is not None else repr(self)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_short(self[name])}" for name in self.formats())
        return f"Result({shown})"

    def __eq__(self, other: object) -> bool:
        return self.raw == other.raw if isinstance(other, Result) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:60]}... ({len(text)} characters)"


class Logs:
    """What the code printed, message by message. One of more than a mebibyte comes in several pieces.

    Attributes:
        stdout: Of stdout.
        stderr: Of stderr.
    """

    __slots__ = ("stderr", "stdout")

    def __init__(self, stdout: list[str] | None = None, stderr: list[str] | None = None) -> None:
        self.stdout: list[str] = [] if stdout is None else stdout
        self.stderr: list[str] = [] if stderr is None else stderr

    def __repr__(self) -> str:
        return f"Logs(stdout={_short(''.join(self.stdout))}, stderr={_short(''.join(self.stderr))})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Logs):
            return NotImplemented
        return (self.stdout, self.stderr) == (other.stdout, other.stderr)

    __hash__ = None  # type: ignore[assignment]


class Execution:
    """What one run of code gave.

    Attributes:
        results: What display calls showed, and the value of the last line.
        logs: What it printed.
        error: What it raised; None when it raised nothing.
        execution_count: The number of the execution in its context; None when the service did not say.
    """

    __slots__ = ("error", "execution_count", "logs", "results")

    def __init__(
        self,
        results: list[Result] | None = None,
        logs: Logs | None = None,
        error: CodeError | None = None,
        execution_count: int | None = None,
    ) -> None:
        self.results: list[Result] = [] if results is None else results
        self.logs = Logs() if logs is None else logs
        self.error = error
        self.execution_count = execution_count

    @property
    def text(self) -> str | None:
        """The text of the main result, the value of the last line."""
        return next((result.text for result in self.results if result.is_main_result), None)

    @property
    def stdout(self) -> str:
        """All that was printed to stdout."""
        return "".join(self.logs.stdout)

    @property
    def stderr(self) -> str:
        """All that was printed to stderr."""
        return "".join(self.logs.stderr)

    def __repr__(self) -> str:
        return f"Execution(results={self.results!r}, logs={self.logs!r}, error={self.error!r})"


class OutputMessage:
    """A message that code printed.

    Attributes:
        line: Whole characters; it need not be one line.
        timestamp: When it came here, UTC.
        error: Whether it is stderr's.
    """

    __slots__ = ("error", "line", "timestamp")

    def __init__(self, line: str, error: bool = False) -> None:
        self.line = line
        self.error = error
        self.timestamp = datetime.now(timezone.utc)

    def __str__(self) -> str:
        return self.line

    def __repr__(self) -> str:
        return f"OutputMessage({_short(self.line)}, error={self.error})"


def messages(block: bytes) -> Iterator[tuple[str, bool]]:
    """The messages of a block (MESSAGES in wasm/ABI.md), each with whether it is stderr's. There may be very
    many: they are decoded together where each byte is a character."""
    from struct import unpack_from

    (count,) = unpack_from("<I", block, len(block) - 4)
    start = len(block) - 4 - 4 * count
    texts = block[:start]
    text = texts.decode("utf-8", "replace")
    whole = len(text) == len(texts)
    at = 0
    for size in unpack_from(f"<{count}I", block, start):
        end = at + (size >> 1)
        yield text[at:end] if whole else texts[at:end].decode("utf-8", "replace"), size & 1 == 1
        at = end
