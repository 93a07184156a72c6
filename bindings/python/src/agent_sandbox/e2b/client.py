"""Options of an account that several calls share."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from .._engine.secret import Secret, taken

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._async.interpreter import AsyncSandbox as AsyncInterpreter
    from ._async.sandbox import AsyncSandbox
    from ._sync.interpreter import Sandbox as Interpreter
    from ._sync.sandbox import Sandbox
    from .options import E2BClientParams

S = TypeVar("S")


class _Client:
    def __init__(self, **options: Unpack[E2BClientParams]) -> None:
        self._options = Secret(taken(options))

    def _binding(self, kind: type[S]) -> type[S]:
        return type(kind.__name__, (kind,), {"__module__": kind.__module__, "_bound": self._options})


class E2B(_Client):
    """Classes whose calls on the account take the client's options where they are given none."""

    @property
    def Sandbox(self) -> type[Sandbox]:
        """The blocking class."""
        from ._sync.sandbox import Sandbox

        return self._binding(Sandbox)

    @property
    def AsyncSandbox(self) -> type[AsyncSandbox]:
        """The class for asyncio."""
        from ._async.sandbox import AsyncSandbox

        return self._binding(AsyncSandbox)


class InterpreterClient(_Client):
    """The same with sandboxes that run code."""

    @property
    def Sandbox(self) -> type[Interpreter]:
        """The blocking class."""
        from ._sync.interpreter import Sandbox

        return self._binding(Sandbox)

    @property
    def AsyncSandbox(self) -> type[AsyncInterpreter]:
        """The class for asyncio."""
        from ._async.interpreter import AsyncSandbox

        return self._binding(AsyncSandbox)
