"""Answers that end too early, at any byte: an error of ours or the right result, and always at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agent_sandbox import CommandResult, Sandbox, SandboxError
from agent_sandbox._engine.engine import engine
from agent_sandbox.sync import Sandbox as Blocking

from .replay import Player, Recorder, listening

Call = Callable[[Sandbox], Awaitable[Any]]

SCRIPT = "echo hello; echo oops >&2; printf '\\360\\237\\230\\200'; exit 3"
CALLS: dict[str, tuple[bytes, Call]] = {
    "commands.run": (b"POST /process.Process/Start", lambda s: s.commands.run(SCRIPT)),
    "files.read": (b"GET /files", lambda s: s.files.read("f", "bytes")),
    "files.read as a stream": (b"GET /files", lambda s: streamed(s)),
    "files.list": (b"POST /filesystem.Filesystem/ListDir", lambda s: s.files.list(".")),
    "files.write": (b"POST /files", lambda s: s.files.write("f", "hello")),
    "create": (b"POST /v2/sandboxes", lambda s: created(s)),
}


async def streamed(sandbox: Sandbox) -> bytes:
    return b"".join([piece async for piece in await sandbox.files.read("f", "stream")])


async def created(sandbox: Sandbox) -> str:
    return (await Sandbox.create("base", **OPTIONS)).sandbox_id


OPTIONS: dict[str, Any] = {}


def through(url: str, sandbox: Sandbox, options: dict[str, Any]) -> Sandbox:
    """The same sandbox, reached by another way."""
    OPTIONS.clear()
    OPTIONS.update({**options, "api_url": url, "sandbox_url": url, "retries": 0})
    handle = json.loads(sandbox.to_json())
    handle["urls"] = {"api": url, "sandbox": url}
    return Sandbox.from_json(handle, **OPTIONS)


async def recorded(options: dict[str, Any], name: str) -> tuple[bytes, Any]:
    """A real answer to a call, and what the call gave."""
    start, call = CALLS[name]
    async with Sandbox.create("base", **options) as sandbox:
        await sandbox.files.write("f", b"0123456789" * 10)
        async with listening(recorder := Recorder(options["api_url"])) as url:
            result = await call(through(url, sandbox, options))
        if name == "create":
            await Sandbox.kill(result, **options)
    [answer] = [answer for asked, answer in recorder.answers if asked.startswith(start)]
    return answer, result


def same(result: Any, right: Any) -> bool:
    if isinstance(result, CommandResult):
        result.execution_time = right.execution_time
    return bool(result == right)


@pytest.mark.parametrize("name", CALLS)
def test_an_answer_that_is_cut_at_any_byte(options: dict[str, Any], name: str) -> None:
    async def main() -> None:
        answer, right = await recorded(options, name)
        async with Sandbox.create("base", **options) as sandbox, listening(player := Player()) as url:
            there = through(url, sandbox, options)
            whole = 0
            for end in range(len(answer) + 1):
                player.cut(answer[:end], reset=end % 2 == 0 and end < len(answer))
                try:
                    result = await asyncio.wait_for(CALLS[name][1](there), 20)
                    assert same(result, right), (end, answer[:end], result)
                    whole += 1
                except SandboxError as error:
                    assert end < len(answer), error
                    assert error.code not in ("E8000", "E9000"), error
            assert whole, "not even the whole answer was right"
            player.cut(answer, slowly=True)
            assert same(await asyncio.wait_for(CALLS[name][1](there), 20), right)

    asyncio.run(main())
    assert not engine()._targets


BLOCKING: dict[str, Callable[[Any], Any]] = {
    "commands.run": lambda s: s.commands.run(SCRIPT),
    "files.read": lambda s: s.files.read("f", "bytes"),
    "files.read as a stream": lambda s: b"".join(s.files.read("f", "stream")),
    "files.list": lambda s: s.files.list("."),
}


@pytest.mark.parametrize("name", BLOCKING)
def test_an_answer_to_a_blocking_call_that_is_cut(options: dict[str, Any], name: str) -> None:
    async def main() -> None:
        answer, right = await recorded(options, name)
        async with Sandbox.create("base", **options) as sandbox, listening(player := Player()) as url:
            there = Blocking.from_json(through(url, sandbox, options).to_json(), **OPTIONS)
            for end in [*range(0, len(answer), 7), len(answer)]:
                player.cut(answer[:end], reset=end % 2 == 0 and end < len(answer))
                try:
                    assert same(await asyncio.wait_for(asyncio.to_thread(BLOCKING[name], there), 20), right)
                except SandboxError as error:
                    assert end < len(answer) and error.code not in ("E8000", "E9000"), error

    asyncio.run(main())


def test_hostile_output_is_taken_as_it_is(options: dict[str, Any]) -> None:
    async def main() -> None:
        async with Sandbox.create("base", **options) as sandbox:
            for script, expected in (
                ("head -c 5000000 /dev/zero | tr '\\0' a", b"a" * 5_000_000),
                ("printf 'a\\0b\\0'", b"a\0b\0"),
                ("printf '\\377\\376\\303('", b"\xff\xfe\xc3("),
                ("printf '\\355\\240\\200'", b"\xed\xa0\x80"),
                ("printf '\\033]0;x\\007\\r\\b'", b"\x1b]0;x\x07\r\b"),
            ):
                texts: list[str] = []
                pieces: list[bytes] = []
                for _ in range(2):
                    result = await sandbox.commands.run(script, on_stdout=texts.append, on_stdout_bytes=pieces.append)
                    assert result.stdout_bytes == expected
                    assert result.stdout == expected.decode("utf-8", "replace") == "".join(texts)
                    assert b"".join(pieces) == expected
                    texts.clear()
                    pieces.clear()
            assert len((await sandbox.commands.run(["head", "-c", "70000", "/dev/urandom"])).stdout_bytes) == 70000

    asyncio.run(main())
