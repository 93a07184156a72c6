"""Callbacks that never return: every wait for them has a clock."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_sandbox import CommandTimeoutError, Sandbox, SandboxError

from .test_async import run
from .test_code import END, Interpreter, interpreter, printed

__all__ = ["interpreter"]


async def never(_: object) -> None:
    await asyncio.get_running_loop().create_future()


ENDS = {"was stopped": "echo a; sleep 100", "has ended": "echo a"}


@pytest.mark.parametrize("script", ENDS.values(), ids=ENDS)
def test_a_command_does_not_wait_for_ever_for_a_callback(options: dict[str, Any], script: str) -> None:
    async def test(sandbox: Sandbox) -> None:
        with pytest.raises(CommandTimeoutError, match="a callback had not returned") as raised:
            await sandbox.commands.run(script, timeout=0.5, on_stdout=never)
        error = raised.value
        assert (error.limit, error.clock, error.partial.stdout) == (0.5, "command", "a\n")

    run(options, test)


def test_a_handle_whose_timeout_has_fired_does_not_either(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        handle = await sandbox.commands.run("echo a; sleep 100", background=True, timeout=0.5, on_stdout=never)
        with pytest.raises(CommandTimeoutError, match="a callback had not returned"):
            await handle.wait()

    run(options, test)


def test_a_callback_that_returns_soon_after_the_timeout_is_waited_for(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        returned = []

        async def slow(text: str) -> None:
            await asyncio.sleep(0.7)
            returned.append(text)

        with pytest.raises(CommandTimeoutError) as raised:
            await sandbox.commands.run("echo a; sleep 100", timeout=0.5, on_stdout=slow)
        assert "callback" not in raised.value.message
        assert returned == ["a\n"]

    run(options, test)


def test_a_caller_who_cancels_gets_his_cancel(options: dict[str, Any]) -> None:
    async def test(sandbox: Sandbox) -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(sandbox.commands.run("echo a", on_stdout=never), 0.5)

    run(options, test)


@pytest.mark.parametrize("lines", [[printed("a")], [printed("a"), END]], ids=ENDS)
def test_code_does_not_wait_for_ever_for_a_callback(interpreter: Interpreter, lines: list[dict[str, Any]]) -> None:
    interpreter.lines = lines

    async def main() -> None:
        with pytest.raises(SandboxError, match="a callback had not returned") as raised:
            await Sandbox.from_json(**interpreter.options()).run_code("x", timeout=0.3, on_stdout=never)
        error = raised.value
        assert (error.limit, error.clock, error.partial.logs.stdout) == (0.3, "command", ["a"])

    asyncio.run(asyncio.wait_for(main(), 30))
