"""What a strict type checker must accept of a program for E2B's SDK."""

from __future__ import annotations

from typing_extensions import assert_type

from agent_sandbox.e2b import (
    AsyncCommandHandle,
    AsyncSandbox,
    CommandHandle,
    CommandResult,
    EntryInfo,
    PtySize,
    Sandbox,
    SandboxInfo,
    SandboxQuery,
    SandboxState,
    TimeoutException,
    WriteInfo,
)
from agent_sandbox.e2b.code_interpreter import AsyncSandbox as AsyncInterpreter
from agent_sandbox.e2b.code_interpreter import Execution
from agent_sandbox.e2b.code_interpreter import Sandbox as Interpreter


def blocking() -> None:
    with Sandbox.create("base", timeout=60, envs={"A": "b"}, api_key="k") as sandbox:
        assert_type(sandbox, Sandbox)
        assert_type(sandbox.commands.run("true"), CommandResult)
        assert_type(sandbox.commands.run("true", background=True), CommandHandle)
        assert_type(sandbox.files.read("f"), str)
        assert_type(sandbox.files.read("f", format="bytes"), bytearray)
        assert_type(sandbox.files.write("f", "x"), WriteInfo)
        assert_type(sandbox.files.list("."), list[EntryInfo])
        assert_type(sandbox.pty.create(PtySize(rows=1, cols=2)), CommandHandle)
        assert_type(Sandbox.list(SandboxQuery(state=[SandboxState.RUNNING])).next_items(), list[SandboxInfo])
    with Interpreter.create() as interpreter:
        assert_type(interpreter.run_code("1", on_stdout=lambda m: print(m.line)), Execution)
    try:
        Sandbox.connect("id", timeout=5).kill()
    except TimeoutException as error:
        assert_type(error.status_code, int | None)


async def asynchronous() -> None:
    async with await AsyncSandbox.create(lifecycle={"on_timeout": "pause", "auto_resume": True}) as sandbox:
        assert_type(sandbox, AsyncSandbox)
        assert_type(await sandbox.commands.run("true", background=True), AsyncCommandHandle)
        assert_type(await AsyncSandbox.kill("id", api_key="k"), bool)
    interpreter = await AsyncInterpreter.create(network={"allow_out": ["1.1.1.1"]})
    assert_type(interpreter, AsyncInterpreter)
    assert_type(await interpreter.run_code("1"), Execution)
