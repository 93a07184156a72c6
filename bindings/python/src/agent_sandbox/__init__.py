"""Isolated sandboxes, on this machine or in a cloud.

    from agent_sandbox import Sandbox

    async with await Sandbox.create(template="python-base") as sandbox:
        result = await sandbox.commands.run("echo hello")
        print(result.stdout)

``Sandbox`` is for asyncio; ``agent_sandbox.sync.Sandbox`` is its blocking twin. Importing this package
loads nothing: the classes come when they are first named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._async.commands import Commands as Commands
    from ._async.files import Files as Files
    from ._async.handle import CommandHandle as CommandHandle
    from ._async.paginator import SandboxPaginator as SandboxPaginator
    from ._async.pty import Pty as Pty
    from ._async.sandbox import Sandbox as Sandbox
    from ._async.watch import WatchHandle as WatchHandle
    from ._engine.client import HostSettings as HostSettings
    from ._generated.errors import *
    from ._generated.types import *
    from .chart import *
    from .entry import WriteEntry as WriteEntry
    from .execution import Execution as Execution
    from .execution import Logs as Logs
    from .execution import OutputMessage as OutputMessage
    from .execution import Result as Result
    from .options import ClientOptions as ClientOptions
    from .result import CommandResult as CommandResult
    from .result import Output as Output

#: Where the names come from that are not those of _generated.
_HOMES = {
    "Sandbox": "_async.sandbox",
    "Commands": "_async.commands",
    "CommandHandle": "_async.handle",
    "Pty": "_async.pty",
    "Files": "_async.files",
    "WatchHandle": "_async.watch",
    "SandboxPaginator": "_async.paginator",
    "HostSettings": "_engine.client",
    "ClientOptions": "options",
    "CommandResult": "result",
    "Execution": "execution",
    "Logs": "execution",
    "OutputMessage": "execution",
    "Result": "execution",
    "BarChart": "chart",
    "BarData": "chart",
    "BoxAndWhiskerChart": "chart",
    "BoxAndWhiskerData": "chart",
    "Chart": "chart",
    "Chart2D": "chart",
    "ChartData": "chart",
    "LineChart": "chart",
    "PieChart": "chart",
    "PieData": "chart",
    "PointChart": "chart",
    "PointData": "chart",
    "ScatterChart": "chart",
    "SuperChart": "chart",
    "Output": "result",
    "WriteEntry": "entry",
    "sync": "sync",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("agent-sandbox")
    elif name == "__all__":
        value = _names()
    elif name == "sync":
        value = import_module(".sync", __name__)
    elif name in _HOMES:
        value = getattr(import_module("." + _HOMES[name], __name__), name)
    elif name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        value = _exported(name)
    globals()[name] = value
    return value


def _exported(name: str) -> Any:
    from importlib import import_module

    for module in ("errors", "types"):
        home = import_module(f"._generated.{module}", __name__)
        value = getattr(home, name, None)
        if isinstance(value, type) and value.__module__ == home.__name__:
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _names() -> list[str]:
    from ._generated import errors, types

    return sorted({*_HOMES, *errors.__all__, *types.__all__})


def __dir__() -> list[str]:
    return sorted({*globals(), *_names(), "__version__"})
