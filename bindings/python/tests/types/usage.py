"""What a strict type checker must accept, and what it must see."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import assert_type

from agent_sandbox import (
    CommandHandle,
    CommandResult,
    EntryInfo,
    Execution,
    Output,
    Sandbox,
    SandboxError,
    SandboxInfo,
    WriteInfo,
)
from agent_sandbox.sync import CommandHandle as BlockingHandle
from agent_sandbox.sync import Sandbox as Blocking


async def asynchronous() -> None:
    async with Sandbox.create("base", timeout=60, api_key="k") as one, await Sandbox.connect("id") as two:
        assert_type(one, Sandbox)
        assert_type(two, Sandbox)
        assert_type(await one.commands.run("true"), CommandResult)
        assert_type(await one.commands.run(["true"], background=True), CommandHandle)
        async for output in await one.commands.run("true", background=True):
            assert_type(output, Output)
        assert_type(await one.files.read("f"), str)
        assert_type(await one.files.read("f", format="bytes"), bytes)
        async for piece in await one.files.read("f", format="stream"):
            assert_type(piece, bytes)
        assert_type(await one.files.write("f", Path("f")), WriteInfo)
        assert_type(await one.files.list("."), list[EntryInfo])
        assert_type(await one.run_code("1", on_stdout=lambda m: m.line), Execution)
        assert_type(one.get_url(80), str)
        assert_type(await one.kill(), bool)
        assert_type(await Sandbox.kill("id", api_key="k"), bool)
        assert_type(await one.get_info(), SandboxInfo)
        async for info in Sandbox.list(limit=3):
            assert_type(info, SandboxInfo)


def blocking() -> None:
    with Blocking.create("base", timeout=60, api_key="k") as one:
        assert_type(one, Blocking)
        assert_type(one.commands.run("true"), CommandResult)
        assert_type(one.commands.run(["true"], background=True), BlockingHandle)
        for output in one.commands.run("true", background=True):
            assert_type(output, Output)
        assert_type(one.files.read("f"), str)
        for piece in one.files.read("f", format="stream"):
            assert_type(piece, bytes)
        assert_type(one.run_code("1").text, str | None)
        assert_type(Blocking.kill("id"), bool)
    try:
        one.files.read("f")
    except SandboxError as error:
        assert_type(error.code, str)
