"""E2B's code interpreter SDK, by its names: what ``agent_sandbox.e2b`` has, with a ``Sandbox`` that runs code.

from agent_sandbox.e2b.code_interpreter import Sandbox      # from e2b_code_interpreter import Sandbox
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import __all__ as _plain

if TYPE_CHECKING:
    from . import *
    from ._async.interpreter import AsyncSandbox as AsyncSandbox
    from ._sync.interpreter import Sandbox as Sandbox
    from .charts import *
    from .code import *

#: Where the names come from that ``agent_sandbox.e2b`` has not, or has otherwise.
_HOMES = {
    "_async.interpreter": "AsyncSandbox",
    "_sync.interpreter": "Sandbox",
    "code": "Context Execution ExecutionError Logs MIMEType OutputHandler OutputMessage Result RunCodeLanguage",
    "charts": "BarChart BarData BoxAndWhiskerChart BoxAndWhiskerData Chart Chart2D ChartData ChartType LineChart "
    "PieChart PieData PointChart PointData ScaleType ScatterChart SuperChart",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted({*_HOME, *_plain})


def __getattr__(name: str) -> Any:
    from importlib import import_module

    package = __name__.rpartition(".")[0]
    if name == "E2B":
        from .client import InterpreterClient

        return InterpreterClient
    home = import_module("." + _HOME[name], package) if name in _HOME else import_module(package)
    value = getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
