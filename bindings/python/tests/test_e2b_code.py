"""Programs for E2B's code interpreter SDK, with another import."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from agent_sandbox import Sandbox as OwnAsync
from agent_sandbox.e2b import code_interpreter
from agent_sandbox.e2b.code_interpreter import (
    AsyncSandbox,
    ChartType,
    Context,
    Execution,
    ExecutionError,
    LineChart,
    OutputMessage,
    Result,
    Sandbox,
    TimeoutException,
)
from agent_sandbox.sync import Sandbox as Own

from .test_code import END, Interpreter, printed

CHART = {"type": "line", "title": "t", "elements": [{"label": "l", "points": [[1, 2]]}]}


@pytest.fixture
def interpreter(core: Any) -> Iterator[Interpreter]:
    made = Interpreter()
    made.lines = [
        printed("a"),
        printed("b", "stderr"),
        {"type": "result", "text": "1", "chart": CHART, "is_main_result": True},
        {"type": "error", "name": "E", "value": "v", "traceback": "t"},
        END,
    ]
    yield made
    made.server.shutdown()
    made.server.server_close()


def checked(execution: Execution, heard: list[Any]) -> None:
    assert (execution.text, execution.logs.stdout, execution.logs.stderr) == ("1", ["a"], ["b"])
    assert isinstance(execution.error, ExecutionError) and execution.error.name == "E"
    told = json.loads(execution.to_json())
    assert json.loads(told["error"]) == {"name": "E", "value": "v", "traceback": "t"}
    assert json.loads(told["logs"]) == {"stdout": ["a"], "stderr": ["b"]}
    assert told["results"] == [{"text": "1", "chart": CHART}]
    assert json.loads(execution.logs.to_json()) == {"stdout": ["a"], "stderr": ["b"]}
    chart = execution.results[0].chart
    assert isinstance(chart, LineChart) and chart.type == ChartType.LINE and chart.to_dict() == CHART
    assert [type(one) for one in heard] == [OutputMessage, OutputMessage, Result, ExecutionError]
    assert isinstance(heard[0].timestamp, int) and (heard[0].line, heard[1].error) == ("a", True)


def test_code_runs_and_calls_back(interpreter: Interpreter) -> None:
    heard: list[Any] = []
    sandbox = Sandbox(Own.from_json(**interpreter.options()))
    hear = heard.append
    execution = sandbox.run_code("x", on_stdout=hear, on_stderr=hear, on_result=hear, on_error=hear, timeout=5)
    checked(execution, heard)
    sandbox.run_code("x", "javascript", envs={"A": "1"})
    sandbox.run_code("x", context=Context(id="c1", language="python", cwd="/"))
    assert [asked.get("language") for asked in interpreter.asked] == [None, "javascript", None]
    assert interpreter.asked[2]["context_id"] == "c1"


def test_code_runs_and_awaits_callbacks(interpreter: Interpreter) -> None:
    heard: list[Any] = []

    async def hear(what: Any) -> None:
        heard.append(what)

    async def main() -> None:
        sandbox = AsyncSandbox(OwnAsync.from_json(**interpreter.options()))
        checked(await sandbox.run_code("x", on_stdout=hear, on_stderr=hear, on_result=hear, on_error=hear), heard)

    asyncio.run(main())


def test_code_that_runs_too_long_is_a_timeout_exception(interpreter: Interpreter) -> None:
    interpreter.lines = []
    with pytest.raises(TimeoutException):
        Sandbox(Own.from_json(**interpreter.options())).run_code("x", timeout=0.2)


def test_everything_of_the_plain_module_is_there_too() -> None:
    from agent_sandbox import e2b

    assert set(e2b.__all__) <= set(code_interpreter.__all__)
    for name in code_interpreter.__all__:
        assert getattr(code_interpreter, name) is not None
    assert issubclass(code_interpreter.Sandbox, e2b.Sandbox) and code_interpreter.Sandbox is not e2b.Sandbox
    assert (e2b.Sandbox.default_template, Sandbox.default_template) == ("base", "code-interpreter-v1")
