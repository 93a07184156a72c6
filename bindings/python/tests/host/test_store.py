"""Named blobs in files."""

from __future__ import annotations

import asyncio
import os
import pathlib
import stat
from typing import Any

import pytest

from agent_sandbox._host.store import Store, state_directory

from .peer import timeout


class Asker:
    def __init__(self, home: pathlib.Path) -> None:
        self.store = Store(asyncio.get_running_loop(), {"XDG_STATE_HOME": str(home)})
        self.directory = home / "agent-sandbox" / "sessions"

    def begin(
        self, verb: str, name: str = "", blob: bytes = b""
    ) -> tuple[Any, asyncio.Future[tuple[dict[str, Any], bytes]]]:
        answer = asyncio.get_running_loop().create_future()
        return self.store.call(verb, name, blob, lambda result, found: answer.set_result((result, found))), answer

    async def ask(self, verb: str, name: str = "", blob: bytes = b"") -> tuple[dict[str, Any], bytes]:
        async with timeout(5):
            return await self.begin(verb, name, blob)[1]


NAMES = ["a", "a b", "../x", ".hidden", "\u6587", "a/b;c,d?e", "$&+=:@~-_.", "x.json"]


async def test_blobs_come_back(tmp_path: pathlib.Path) -> None:
    ask = Asker(tmp_path)
    assert await ask.ask("list") == ({"names": []}, b"")
    for name in NAMES:
        assert await ask.ask("get", name) == ({"error": "not_stored"}, b"")
        assert await ask.ask("put", name, b"old") == ({}, b"")
        assert await ask.ask("put", name, name.encode()) == ({}, b"")
        assert await ask.ask("get", name) == ({}, name.encode())
    assert await ask.ask("list") == ({"names": sorted(NAMES)}, b"")
    assert len(os.listdir(ask.directory)) == len(NAMES)
    for name in NAMES:
        assert await ask.ask("delete", name) == ({}, b"")
        assert await ask.ask("delete", name) == ({"error": "not_stored"}, b"")


async def test_nobody_else_can_read(tmp_path: pathlib.Path) -> None:
    ask = Asker(tmp_path)
    await ask.ask("put", "a", b"x")
    assert stat.S_IMODE(ask.directory.stat().st_mode) == 0o700
    assert stat.S_IMODE((ask.directory / "a.json").stat().st_mode) == 0o600


async def test_file_names_are_those_of_every_host(tmp_path: pathlib.Path) -> None:
    ask = Asker(tmp_path)
    await ask.ask("put", ".a b/c;$:@\u00e9", b"x")
    assert os.listdir(ask.directory) == ["%2Ea%20b%2Fc%3B$:@%C3%A9.json"]


@pytest.mark.parametrize("name", ["", "x" * 201, "\u6587" * 30])
async def test_names_that_make_no_file(tmp_path: pathlib.Path, name: str) -> None:
    for verb in ("get", "put", "delete", "lock"):
        result, _ = await Asker(tmp_path).ask(verb, name)
        assert "1 to 200" in result["error"]


async def test_a_directory_that_cannot_be_used(tmp_path: pathlib.Path) -> None:
    (tmp_path / "agent-sandbox").write_text("a file")
    for verb in ("put", "lock"):
        assert "cannot be used" in (await Asker(tmp_path).ask(verb, "a"))[0]["error"]


async def test_a_lock_has_one_holder(tmp_path: pathlib.Path) -> None:
    ask = Asker(tmp_path)
    held = 0

    async def hold() -> None:
        nonlocal held
        release, answer = ask.begin("lock", "a")
        assert await answer == ({}, b"")
        held += 1
        assert held == 1
        await asyncio.sleep(0.001)
        held -= 1
        release()
        release()

    async with timeout(20):
        await asyncio.gather(*(hold() for _ in range(8)))
    assert os.listdir(ask.directory) == []


async def test_a_lock_is_waited_for_and_the_wait_can_be_given_up(tmp_path: pathlib.Path) -> None:
    ask = Asker(tmp_path)
    release, answer = ask.begin("lock", "a")
    await answer
    give_up, never = ask.begin("lock", "a")
    _, next_one = ask.begin("lock", "a")
    await asyncio.sleep(0.05)
    assert not never.done() and not next_one.done()
    give_up()
    release()
    async with timeout(5):
        assert await next_one == ({}, b"")
    assert not never.done()


def test_a_relative_state_home_is_ignored() -> None:
    assert state_directory({"XDG_STATE_HOME": "x", "HOME": "/h"}) == "/h/.local/state/agent-sandbox"
    assert state_directory({"XDG_STATE_HOME": "/s"}) == "/s/agent-sandbox"
