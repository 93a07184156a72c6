"""A sandbox that runs code."""

from __future__ import annotations

import builtins
from typing import Any, ClassVar

from ..code import Context, Execution, OutputHandler, execution_of, on_message
from ..code import on_error as _on_error
from ..exceptions import of_sandbox
from .sandbox import AsyncSandbox as Plain


class AsyncSandbox(Plain):
    """A running sandbox that runs code too, with E2B's names."""

    default_template: ClassVar[str] = "code-interpreter-v1"

    async def run_code(
        self,
        code: str,
        language: str | None = None,
        context: Context | None = None,
        on_stdout: OutputHandler | None = None,
        on_stderr: OutputHandler | None = None,
        on_result: OutputHandler | None = None,
        on_error: OutputHandler | None = None,
        envs: dict[str, str] | None = None,
        timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> Execution:
        """Runs code, where what it defines stays for the next run. Code that raises an error is a result.

        Args:
            code: What to run.
            language: Default: python.
            context: Default: that of the language, which this excludes.
            on_stdout: Gets what the code prints, as OutputMessage.
            on_stderr: The same of stderr.
            on_result: Gets what it shows.
            on_error: Gets what it raises.
            envs: For this run.
            timeout: Seconds it may run; 0 = no limit. Default: 300.
            request_timeout: Seconds the service may take to accept the code; 0 = no limit.

        Raises:
            TimeoutException: It ran out of time.
        """
        given: dict[str, Any] = {
            "language": language,
            "context": context,
            "on_stdout": on_message(on_stdout),
            "on_stderr": on_message(on_stderr),
            "on_result": on_result,
            "on_error": _on_error(on_error),
            "envs": envs,
            "timeout": timeout,
            "request_timeout": request_timeout,
        }
        with of_sandbox():
            return execution_of(await self._own.run_code(code, **given))

    async def create_code_context(
        self, cwd: str | None = None, language: str | None = None, request_timeout: float | None = None
    ) -> Context:
        """Makes a context of its own, apart from the default one of its language."""
        with of_sandbox():
            return await self._own.create_code_context(cwd=cwd, language=language, request_timeout=request_timeout)

    async def list_code_contexts(self) -> builtins.list[Context]:
        """The contexts, default ones included."""
        with of_sandbox():
            return await self._own.list_code_contexts()

    async def restart_code_context(self, context: Context | str) -> None:
        """Starts a context afresh: what its code defined is gone."""
        with of_sandbox():
            await self._own.restart_code_context(context)

    async def remove_code_context(self, context: Context | str) -> None:
        """Ends a context."""
        with of_sandbox():
            await self._own.remove_code_context(context)
