"""Coroutine tests run on a loop of their own."""

from __future__ import annotations

import asyncio
import gc
import inspect
import sys
import warnings
from collections.abc import Coroutine
from typing import Any

import pytest

LIMIT = 60.0


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    given = {name: pyfuncitem.funcargs[name] for name in names}
    with warnings.catch_warnings():
        # Before 3.11 asyncio itself left TLS transports behind that it had closed.
        warnings.simplefilter("error" if sys.version_info >= (3, 11) else "ignore", ResourceWarning)
        asyncio.run(_limited(pyfuncitem.obj(**given)))
        gc.collect()
    return True


async def _limited(test: Coroutine[Any, Any, None]) -> None:
    """A test that hangs fails, at the place where it hangs."""
    task = asyncio.current_task()
    clock = asyncio.get_running_loop().call_later(LIMIT, task.cancel)
    try:
        await test
    finally:
        clock.cancel()
