"""A sandbox, and how to get one."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from json import loads
from typing import TYPE_CHECKING, Any

from .._engine.async_caller import AsyncCaller
from .._engine.client import Client
from .._engine.either import Either
from .._engine.json import encode
from .._engine.link import Link
from .._engine.secret import Secret, taken
from .._generated.methods import SandboxMethods
from .._generated.params import (
    sandbox_connect_params,
    sandbox_create_params,
    sandbox_list_params,
    sandbox_run_code_params,
)
from .._generated.types import Mount, MountDict, Network, NetworkDict, SandboxInfo, SandboxMetrics
from .commands import Commands
from .files import Files
from .paginator import SandboxPaginator
from .pty import Pty

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .._engine.creation import Creation
    from .._generated.types import CodeContext, CodeError
    from ..execution import Execution, OutputMessage, Result
    from ..options import ClientOptions


class Sandbox(AsyncCaller, SandboxMethods):
    """A running sandbox. Make one with :meth:`create`; used as a context manager, it is killed at the
    end.

    Attributes:
        commands: Runs commands.
        files: Reads and writes files.
        pty: Runs terminals.
    """

    def __init__(
        self, client: Client | None = None, handle: Secret[Mapping[str, Any]] | None = None, **options: Any
    ) -> None:
        """Use :meth:`create`, :meth:`connect` or :meth:`from_json`: this is for them."""
        options.clear()  # no traceback shows them
        if not isinstance(client, Client) or handle is None:
            # async only
            raise TypeError('a sandbox is not made by calling Sandbox: use await Sandbox.create("base")')
            # sync: raise TypeError('a sandbox is not made by calling Sandbox: use Sandbox.create("base")')
            # end
        link = Link(client, encode(handle))
        super().__init__(link)
        self._fields = dict(handle.reveal())
        self.commands = Commands(link)
        self.files = Files(link)
        self.pty = Pty(link)

    @property
    def sandbox_id(self) -> str:
        """Names it to its provider."""
        return str(self._fields["sandbox_id"])

    @property
    def template(self) -> str:
        """What it was made from."""
        return str(self._fields.get("template") or "")

    @property
    def provider(self) -> str:
        """Where it runs: ``local``, ``e2b``, ..."""
        return str(self._fields.get("provider") or "")

    @property
    def isolation(self) -> str:
        """What is known to keep it apart: ``vm``, ``gvisor``, ``namespaces`` or ``unknown``."""
        return str(self._fields.get("isolation") or "unknown")

    @property
    def domain(self) -> str:
        """The domain of its host names."""
        return str(self._fields.get("domain") or "")

    @property
    def envd_version(self) -> str:
        """The version of the daemon inside."""
        return str(self._fields.get("envd_version") or "")

    def __repr__(self) -> str:
        return (
            f"Sandbox(id={self.sandbox_id}, provider={self.provider}, "
            f"template={self.template}, isolation={self.isolation})"
        )

    @classmethod
    def create(
        cls,
        template: str | None = None,
        *,
        timeout: float | None = None,
        metadata: Mapping[str, str] | None = None,
        envs: Mapping[str, str] | None = None,
        allow_internet_access: bool | None = None,
        network: Network | NetworkDict | None = None,
        on_timeout: str | None = None,
        keep_memory: bool | None = None,
        auto_resume: bool | None = None,
        idempotency_key: str | None = None,
        cpu_count: float | None = None,
        memory_mb: int | None = None,
        disk_mb: int | None = None,
        mounts: Sequence[Mount | MountDict] | None = None,
        **options: Unpack[ClientOptions],
        # async only
    ) -> Creation[Self]:
        # sync: ) -> Self:
        # end
        """Makes a sandbox. Used as a context manager, it is killed at the end.

        Args:
            template: Default: the provider's.
            timeout: Its life in seconds; 0 = no end, local only.
            metadata: Kept with it, to list by.
            envs: For everything that runs in it.
            allow_internet_access: Default: true.
            network: What may be reached, and how.
            on_timeout: ``kill`` or ``pause``, when its life ends.
            keep_memory: When it pauses by itself; false keeps files only.
            auto_resume: A paused one goes on by itself when it is used.
            idempotency_key: The same key gives the same sandbox.
            cpu_count: Processors.
            memory_mb: Memory.
            disk_mb: Disk.
            mounts: Directories of this machine; local only.
            **options: Whose account, where, and how; see ClientOptions.

        Raises:
            InvalidAPIKeyError: E1001, no key, or refused.
            TemplateNotFoundError: E2001.
            QuotaExceededError: E2002.
            SandboxCreationError: E2000, anything else; it carries the id if a sandbox exists.
        """
        client = Client(options)
        wire = sandbox_create_params(
            template,
            timeout=timeout,
            metadata=metadata,
            envs=envs,
            allow_internet_access=allow_internet_access,
            network=network,
            on_timeout=on_timeout,
            keep_memory=keep_memory,
            auto_resume=auto_resume,
            idempotency_key=idempotency_key,
            cpu_count=cpu_count,
            memory_mb=memory_mb,
            disk_mb=disk_mb,
            mounts=mounts,
        )
        # async only
        from .._engine.creation import Creation

        return Creation(lambda: cls._made("sandbox.create", wire, client))
        # sync: return cls._made("sandbox.create", wire, client)
        # end

    # async only
    @classmethod
    def create_sync(cls, template: str | None = None, **options: Any) -> Any:
        """Makes a blocking sandbox: short for ``agent_sandbox.sync.Sandbox.create``."""
        from .._sync.sandbox import Sandbox as Blocking

        return Blocking.create(template, **taken(options))

    # end
    @classmethod
    async def _made(cls, method: str, wire: dict[str, Any], client: Client) -> Self:
        return cls(client, Secret(await AsyncCaller(Link(client))._call_anew(method, wire)))

    @classmethod
    async def connect(
        cls,
        sandbox_id: str,
        *,
        timeout: float | None = None,
        reboot: bool | None = None,
        **options: Unpack[ClientOptions],
    ) -> Self:
        """Takes a sandbox that exists; a paused one is resumed. Its life is never shortened.

        Args:
            sandbox_id: Of it.
            timeout: Its life from now in seconds; default: it is left alone.
            reboot: Do not restore memory.
            **options: Whose account, where, and how; see ClientOptions.

        Raises:
            SandboxNotFoundError: E2005, no such sandbox, killed, or its lifetime ended.
        """
        client = Client(options)
        wire = sandbox_connect_params(sandbox_id, timeout=timeout, reboot=reboot)
        return await cls._made("sandbox.connect", wire, client)

    @classmethod
    async def resume(
        cls,
        sandbox_id: str,
        *,
        timeout: float | None = None,
        reboot: bool | None = None,
        **options: Unpack[ClientOptions],
    ) -> Self:
        """The same as :meth:`connect`, by the name of what it does to a paused one."""
        client = Client(options)
        wire = sandbox_connect_params(sandbox_id, timeout=timeout, reboot=reboot)
        return await cls._made("sandbox.resume", wire, client)

    @staticmethod
    def list(
        *,
        metadata: Mapping[str, str] | None = None,
        state: Sequence[str] | None = None,
        template: str | None = None,
        started_after: datetime | None = None,
        ascending: bool | None = None,
        limit: int | None = None,
        next_token: str | None = None,
        **options: Unpack[ClientOptions],
    ) -> SandboxPaginator:
        """Lists the account's sandboxes, page by page.

        Args:
            metadata: Those that have all of these.
            state: ``running``, ``paused``; default: both.
            template: Those made from it.
            started_after: Those that began later.
            ascending: The oldest first.
            limit: How many a page.
            next_token: Of an earlier paginator, to go on from there.
            **options: Whose account, where, and how; see ClientOptions.
        """
        link = Link(Client(options))
        wire = sandbox_list_params(
            metadata=metadata,
            state=state,
            template=template,
            started_after=started_after,
            ascending=ascending,
            limit=limit,
            next_token=next_token,
        )
        return SandboxPaginator(link, wire)

    def to_json(self) -> str:
        """What names the sandbox, with its tokens, for another process or language: keep it secret."""
        return self._link.handle.decode()

    @classmethod
    def from_json(cls, handle: str | bytes | Mapping[str, Any], **options: Unpack[ClientOptions]) -> Self:
        """The sandbox that ``to_json`` named, in whatever language. It makes no request.

        Args:
            handle: The text, or the object that it stands for.
            **options: Whose account, where, and how; see ClientOptions.

        Raises:
            InvalidArgumentError: E8000, when it is no handle.
        """
        named = Secret(handle)
        del handle
        client = Client(options)
        return cls(client, Secret(AsyncCaller(Link(client))._call_now("sandbox.open", {"handle": _parsed(named)})))

    @classmethod
    async def _of(cls, sandbox_id: str, method: str, wire: dict[str, Any], client: Client) -> Any:
        return await AsyncCaller(Link(client))._call_anew(method, {**wire, "sandbox_id": sandbox_id})

    @classmethod
    async def _kill_by_id(cls, sandbox_id: str, **options: Unpack[ClientOptions]) -> bool:
        """Ends a sandbox for good; false when there is none of that id."""
        return bool(await cls._of(sandbox_id, "sandbox.kill", {}, Client(options)))

    @classmethod
    async def _info_by_id(cls, sandbox_id: str, **options: Unpack[ClientOptions]) -> SandboxInfo:
        """Describes a sandbox, running or paused."""
        from .._generated.types import read_sandbox_info

        return read_sandbox_info(await cls._of(sandbox_id, "sandbox.get_info", {}, Client(options)))

    @classmethod
    async def _set_timeout_by_id(cls, sandbox_id: str, timeout: float, **options: Unpack[ClientOptions]) -> None:
        """Makes a sandbox end (or pause) after a time from now, in seconds; it may shorten."""
        from .._generated.params import sandbox_set_timeout_params

        client = Client(options)
        await cls._of(sandbox_id, "sandbox.set_timeout", sandbox_set_timeout_params(timeout), client)

    @classmethod
    async def _pause_by_id(
        cls, sandbox_id: str, keep_memory: bool | None = None, **options: Unpack[ClientOptions]
    ) -> bool:
        """Freezes a sandbox; false when it was paused already."""
        from .._generated.params import sandbox_pause_params

        client = Client(options)
        return bool(await cls._of(sandbox_id, "sandbox.pause", sandbox_pause_params(keep_memory=keep_memory), client))

    @classmethod
    async def _keep_alive_by_id(cls, sandbox_id: str, timeout: float, **options: Unpack[ClientOptions]) -> None:
        """Sees to it that a sandbox lives at least for a time from now, in seconds; it never shortens."""
        from .._generated.params import sandbox_keep_alive_params

        client = Client(options)
        await cls._of(sandbox_id, "sandbox.keep_alive", sandbox_keep_alive_params(timeout), client)

    @classmethod
    async def _metrics_by_id(
        cls,
        sandbox_id: str,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        **options: Unpack[ClientOptions],
    ) -> builtins.list[SandboxMetrics]:
        """Gives samples of a sandbox's use."""
        from .._generated.convert import read_list
        from .._generated.params import sandbox_get_metrics_params
        from .._generated.types import read_sandbox_metrics

        client = Client(options)
        wire = sandbox_get_metrics_params(start=start, end=end)
        return read_list(await cls._of(sandbox_id, "sandbox.get_metrics", wire, client), read_sandbox_metrics)

    @classmethod
    async def _update_network_by_id(
        cls, sandbox_id: str, network: Network | NetworkDict, **options: Unpack[ClientOptions]
    ) -> None:
        """Replaces the network rules of a running sandbox; what is left out is cleared."""
        from .._generated.params import sandbox_update_network_params

        client = Client(options)
        given = network if isinstance(network, Mapping) else {name: getattr(network, name) for name in network._fields}
        await cls._of(sandbox_id, "sandbox.update_network", sandbox_update_network_params(**given), client)

    async def run_code(
        self,
        code: str,
        *,
        language: str | None = None,
        context: CodeContext | str | None = None,
        envs: Mapping[str, str] | None = None,
        timeout: float | None = None,
        idle_timeout: float | None = None,
        request_timeout: float | None = None,
        on_stdout: Callable[[OutputMessage], Any] | None = None,
        on_stderr: Callable[[OutputMessage], Any] | None = None,
        on_result: Callable[[Result], Any] | None = None,
        on_error: Callable[[CodeError], Any] | None = None,
    ) -> Execution:
        """Runs code in an interpreter inside the sandbox, where what it defines stays for the next run.

        Code that raises an error is a result. Leaving (a cancelled task, an exception of a callback, Ctrl-C)
        interrupts it. Callbacks run one at a time, in order, and the code's output waits while one runs.

        Args:
            code: What to run.
            language: ``python``, ``javascript``, ``typescript``, ``bash``, ``r``, ``java`` or the name of a kernel.
                Default: python.
            context: A context, or its id; default: that of the language, which this excludes.
            envs: For this run, over those of the context.
            timeout: Seconds the code may run, waiting for its turn included; 0 = no limit. Default: 300.
            idle_timeout: Seconds without a sign of life from the sandbox; 0 = no limit.
            request_timeout: Seconds the service may take to accept the code; 0 = no limit.
            on_stdout: Gets what the code prints.
            on_stderr: The same of stderr.
            on_result: Gets what it shows.
            on_error: Gets what it raises.

        Raises:
            CommandTimeoutError: E3001, it ran too long and was interrupted; ``partial`` has what came so far.
            CodeExecutionError: E3003, the interpreter could not run it.
            ConnectionLostError: E3005, what became of it is not known.
        """
        from .._engine.code import Gathering, checked, context_id

        gathering = Gathering(stdout=on_stdout, stderr=on_stderr, result=on_result, error=on_error)
        wire = sandbox_run_code_params(
            checked(code),
            language=language,
            context_id=context_id(context),
            envs=envs,
            timeout=timeout,
            idle_timeout=idle_timeout,
            request_timeout=request_timeout,
        )
        return await self._code(wire, gathering)

    async def restart_code_context(
        self, context_id: CodeContext | str, *, request_timeout: float | None = None
    ) -> None:
        """Starts a context afresh: what its code defined is gone.

        Args:
            context_id: The context, or its id.
            request_timeout: Until the head of an answer, in seconds; 0 = no limit.

        Raises:
            CodeExecutionError: E3003, when there is no such context.
        """
        await super().restart_code_context(_context(context_id), request_timeout=request_timeout)

    async def remove_code_context(self, context_id: CodeContext | str, *, request_timeout: float | None = None) -> bool:
        """Ends a context; False when there is none of that id.

        Args:
            context_id: The context, or its id.
            request_timeout: Until the head of an answer, in seconds; 0 = no limit.
        """
        return await super().remove_code_context(_context(context_id), request_timeout=request_timeout)

    async def interrupt_code_context(
        self, context_id: CodeContext | str, *, request_timeout: float | None = None
    ) -> bool:
        """Stops what runs in a context, which keeps its variables; False when nothing ran.

        Args:
            context_id: The context, or its id.
            request_timeout: Until the head of an answer, in seconds; 0 = no limit.

        Raises:
            CodeExecutionError: E3003, when there is no such context or it is still busy.
            CapabilityNotSupportedError: E3004, where the service cannot.
        """
        return await super().interrupt_code_context(_context(context_id), request_timeout=request_timeout)

    #: Each also works on the class, with the id of a sandbox: ``Sandbox.kill("id")``.
    kill = Either(SandboxMethods.kill, _kill_by_id)
    get_info = Either(SandboxMethods.get_info, _info_by_id)
    set_timeout = Either(SandboxMethods.set_timeout, _set_timeout_by_id)
    keep_alive = Either(SandboxMethods.keep_alive, _keep_alive_by_id)
    pause = Either(SandboxMethods.pause, _pause_by_id)
    get_metrics = Either(SandboxMethods.get_metrics, _metrics_by_id)
    update_network = Either(SandboxMethods.update_network, _update_network_by_id)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        from .._generated.errors import SandboxError

        try:
            await self.kill()
        except SandboxError:
            if error is None:
                raise


def _context(context: CodeContext | str) -> str:
    from .._engine.code import context_id

    return context_id(context) or ""


def _parsed(handle: Secret[str | bytes | Mapping[str, Any]]) -> Secret[Any]:
    from .._generated.errors import InvalidArgumentError

    if not isinstance(handle.reveal(), (str, bytes)):
        return handle
    with suppress(ValueError):
        return Secret(loads(handle.reveal()))  # type: ignore[arg-type]
    raise InvalidArgumentError("the handle is no JSON", option="handle")
