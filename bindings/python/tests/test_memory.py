"""Memory is given back when what took it has ended."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agent_sandbox import HostSettings
from agent_sandbox import Sandbox as Async
from agent_sandbox._engine.engine import engine
from agent_sandbox._engine.sync_wait import interrupt
from agent_sandbox.sync import Sandbox

from .endless import endless

MUCH = 200 << 20
OPTIONS: dict[str, Any] = {"provider": "e2b", "api_key": "k", "proxy": "direct", "settings": HostSettings({})}

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")


def resident() -> int:
    """Bytes of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def reading() -> int:
    """Bytes that the one operation has read."""
    return sum(getattr(target, "produced", 0) for target in list(engine()._targets.values()))


def test_a_cancelled_read_without_end_keeps_nothing(core: Path) -> None:
    async def main(url: str) -> None:
        sandbox = Async.from_json({"provider": "e2b", "sandbox_id": "i1", "urls": {"sandbox": url}}, **OPTIONS)
        grown = []
        for _ in range(3):
            before = resident()
            task = asyncio.create_task(sandbox.files.read("zero", format="bytes"))
            while reading() < MUCH:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError) as held:
                await task
            grown.append(resident() - before)
            assert held
            while engine()._targets:
                await asyncio.sleep(0.01)
        assert min(grown) < MUCH / 4, grown

    with endless() as url:
        asyncio.run(main(url))


def test_an_interrupted_read_without_end_keeps_nothing(core: Path) -> None:
    def stop(thread: int) -> None:
        while reading() < MUCH:
            time.sleep(0.01)
        while not interrupt(thread, KeyboardInterrupt()):
            time.sleep(0.01)

    with endless() as url:
        sandbox = Sandbox.from_json({"provider": "e2b", "sandbox_id": "i1", "urls": {"sandbox": url}}, **OPTIONS)
        grown = []
        for _ in range(3):
            before = resident()
            threading.Thread(target=stop, args=(threading.get_ident(),)).start()
            with pytest.raises(KeyboardInterrupt):
                sandbox.files.read("zero", format="bytes")
            while engine()._targets:
                time.sleep(0.01)
            gc.collect()
            grown.append(resident() - before)
        assert min(grown) < MUCH / 4, grown
