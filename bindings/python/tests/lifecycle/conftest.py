"""Programs of their own against one local server and one sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent_sandbox.sync import Sandbox

from .program import Program


@pytest.fixture(scope="session")
def program(core: Any, server: dict[str, Any]) -> Iterator[Callable[[str], str]]:
    """Runs a program that finds ``sandbox`` (blocking) and ``aio`` (asyncio) made, and
    gives what it printed. It must end well, in time, and without a word on stderr.
    """
    from agent_sandbox import HostSettings

    given = {
        "provider": "local",
        "api_key": server["api_key"],
        "api_url": server["url"],
        "sandbox_url": server["sandbox_url"],
        "proxy": "direct",
    }
    with Sandbox.create("base", timeout=3600, **given, settings=HostSettings({})) as sandbox:
        yield Program(given, sandbox.to_json()).run
        assert sandbox.commands.list() == [], "every program ended what it had begun"
