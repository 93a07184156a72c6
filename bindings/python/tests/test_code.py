"""Running code, against an interpreter that says what it is told."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agent_sandbox import (
    BarChart,
    Chart,
    CodeContext,
    Execution,
    InvalidArgumentError,
    LineChart,
    OutputMessage,
    Result,
    SuperChart,
)
from agent_sandbox import Sandbox as Async
from agent_sandbox.sync import Sandbox

END = {"type": "end_of_execution"}


def printed(text: str, kind: str = "stdout") -> dict[str, Any]:
    return {"type": kind, "text": text}


class Interpreter:
    """Answers with lines; without an end it hangs until its caller leaves."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.asked: list[Any] = []
        self.left = threading.Event()
        it = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                it.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(200)
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for line in it.lines:
                    text = json.dumps(line).encode() + b"\n"
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
                if END in it.lines:
                    self.wfile.write(b"0\r\n\r\n")
                    return
                with contextlib.suppress(ConnectionResetError):  # what was sent and not read resets it
                    self.rfile.read(1)
                self.close_connection = True
                it.left.set()

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def options(self) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        handle = {"provider": "e2b", "sandbox_id": "i1", "urls": {"sandbox": url}, "envd_version": "0.6.13"}
        base = {"provider": "e2b", "api_key": "k", "api_url": url, "sandbox_url": url, "proxy": "direct", "retries": 0}
        return {"handle": handle, **base}


@pytest.fixture
def interpreter(core: Path) -> Iterator[Interpreter]:
    made = Interpreter()
    yield made
    made.server.shutdown()
    made.server.server_close()


def both(interpreter: Interpreter, run: Callable[[Any], Any]) -> Iterator[Any]:
    """What ``run`` gives with the blocking class, and with the other."""
    yield run(Sandbox.from_json(**interpreter.options()))

    async def main() -> Any:
        return await run(Async.from_json(**interpreter.options()))

    yield asyncio.run(main())


def test_callbacks_come_in_the_order_of_what_they_tell(interpreter: Interpreter) -> None:
    interpreter.lines = [
        printed("a"),
        printed("b", "stderr"),
        {"type": "result", "text": "1", "is_main_result": True},
        printed("é😀"),
        {"type": "error", "name": "E", "value": "v", "traceback": "t"},
        END,
    ]
    seen: list[Any] = []

    def see(value: Any) -> None:
        seen.append((type(value).__name__, getattr(value, "name", None) or str(value)))

    for execution in both(
        interpreter, lambda s: s.run_code("x", on_stdout=see, on_stderr=see, on_result=see, on_error=see)
    ):
        assert seen == [
            ("OutputMessage", "a"),
            ("OutputMessage", "b"),
            ("Result", "1"),
            ("OutputMessage", "é😀"),
            ("CodeError", "E"),
        ]
        seen.clear()
        assert isinstance(execution, Execution)
        assert (execution.logs.stdout, execution.logs.stderr) == (["a", "é😀"], ["b"])
        assert (execution.text, execution.stdout) == ("1", "aé😀")
        assert execution.error is not None and execution.error.value == "v"


def test_an_asynchronous_callback_is_awaited(interpreter: Interpreter) -> None:
    interpreter.lines = [printed("a"), printed("b"), END]
    seen: list[str] = []

    async def slow(message: OutputMessage) -> None:
        seen.append(f"{message} begins")
        await asyncio.sleep(0.005)
        seen.append(f"{message} ends")

    async def main() -> None:
        await Async.from_json(**interpreter.options()).run_code("x", on_stdout=slow)

    asyncio.run(main())
    assert seen == ["a begins", "a ends", "b begins", "b ends"]


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt(), SystemExit(3)])
def test_what_a_callback_raises_interrupts_the_code(interpreter: Interpreter, error: BaseException) -> None:
    interpreter.lines = [printed("a"), printed("b")]

    def fail(message: OutputMessage) -> None:
        raise error

    with pytest.raises(type(error)):
        Sandbox.from_json(**interpreter.options()).run_code("x", on_stdout=fail)
    assert interpreter.left.wait(10)


def test_a_cancelled_task_interrupts_the_code(interpreter: Interpreter) -> None:
    interpreter.lines = [printed("a")]

    async def main() -> None:
        came = asyncio.Event()
        sandbox = Async.from_json(**interpreter.options())
        task = asyncio.ensure_future(sandbox.run_code("x", on_stdout=lambda _: came.set()))
        await came.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(interpreter.left.wait, 10)

    asyncio.run(main())


def test_a_result_has_its_forms_and_everything_else_as_extra() -> None:
    raw = {"text": "t", "png": "QUJD\nREVG", "data": {"a": [1]}, "html": None, "new": 7, "extra": {"a/b": 1}}
    result = Result({**raw, "is_main_result": True})
    assert result.formats() == ["text", "png", "data", "a/b", "new"]
    assert result.extra == {"a/b": 1, "new": 7}
    assert (result.is_main_result, result.html, result["png"]) == (True, None, "QUJD\nREVG")
    assert (result.bytes_of("png"), result.bytes_of("data")) == (b"ABCDEF", b'{"a": [1]}')
    assert result._repr_mimebundle_() == {"text/plain": "t", "image/png": "QUJD\nREVG", "a/b": 1}
    with pytest.raises(KeyError):
        result.bytes_of("svg")
    assert len(repr(Result({"png": "A" * 100_000}))) < 1000


def test_charts_have_classes() -> None:
    bar = {"type": "bar", "title": "B", "x_label": "x", "elements": [{"label": "a", "group": "g", "value": 1.5}]}
    line = {"type": "line", "title": "L", "x_scale": "log", "elements": [{"label": "a", "points": [[1, None]]}]}
    chart = Result(
        {"chart": {"type": "superchart", "title": "S", "elements": [bar, line, {"type": "new", "x": 1}]}}
    ).chart
    assert isinstance(chart, SuperChart)
    first, second, third = chart.elements
    assert isinstance(first, BarChart) and (first.title, first.x_label, first.y_label) == ("B", "x", None)
    assert (first.elements[0].label, first.elements[0].value) == ("a", 1.5)
    assert isinstance(second, LineChart) and second.x_scale == "log" and second.elements[0].points == [[1, None]]
    assert type(third) is Chart and third.type == "new" and third.raw == {"type": "new", "x": 1}


@pytest.mark.parametrize(
    "odd", [[], "bar", {"type": ["bar"]}, {"type": "bar", "elements": "x"}, {"type": "pie", "elements": [7]}]
)
def test_an_odd_chart_is_no_fault(odd: Any) -> None:
    assert Result({"chart": odd}).raw == {"chart": odd}


def test_a_context_is_given_itself_or_by_its_id(interpreter: Interpreter) -> None:
    interpreter.lines = [END]
    sandbox = Sandbox.from_json(**interpreter.options())
    sandbox.run_code("x", context=CodeContext(id="c1", language="python", cwd="/"))
    sandbox.run_code("y", context="c1")
    assert interpreter.asked == [{"code": "x", "context_id": "c1"}, {"code": "y", "context_id": "c1"}]
    wrong: Any = 7
    with pytest.raises(InvalidArgumentError, match="context"):
        sandbox.run_code("x", context=wrong)
    with pytest.raises(TypeError, match="on_stdout"):
        sandbox.run_code("x", on_stdout=wrong)


@pytest.mark.parametrize("wrong", [None, b"1", 1])
def test_what_is_no_text_is_not_run(interpreter: Interpreter, wrong: Any) -> None:
    interpreter.lines = [END]
    with pytest.raises(InvalidArgumentError, match="code must be text") as refused:
        Sandbox.from_json(**interpreter.options()).run_code(wrong)
    assert refused.value.option == "code"
    assert interpreter.asked == []
