"""A sandbox, and how to get one."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from ..._async.sandbox import Sandbox as Own
from ..._engine.either import Either
from ..._engine.secret import Secret
from ..._generated.params import sandbox_connect_params
from ..._generated.types import SandboxMetrics
from ..exceptions import InvalidArgumentException, of_account, of_sandbox, unsupported
from ..info import SandboxInfo, SandboxQuery
from ..options import client_options, lifecycle_options, memory, network_options, reboots, refuse
from .commands import Commands
from .filesystem import Filesystem
from .paginator import AsyncSandboxPaginator
from .pty import Pty

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ..options import ApiParams, SandboxLifecycle, SandboxNetworkOpts, SandboxNetworkUpdate


class AsyncSandbox:
    """A running sandbox, with E2B's names. Used as a context manager, it is killed at the end.

    Attributes:
        files: Reads and writes files.
        commands: Runs commands.
        pty: Runs terminals.
    """

    default_template: ClassVar[str] = "base"
    default_sandbox_timeout: ClassVar[int] = 300

    #: Options that a client has bound.
    _bound: ClassVar[Secret[Mapping[str, Any]] | None] = None

    @classmethod
    def _account(cls, opts: Any) -> Any:
        for name, value in (cls._bound.reveal() if cls._bound else {}).items():
            if opts.get(name) is None:
                opts[name] = value
        return client_options(opts)

    def __init__(self, own: Own | None = None, **options: Any) -> None:
        """Use :meth:`create` or :meth:`connect`: this is for them."""
        options.clear()  # no traceback shows them
        if not isinstance(own, Own):
            # async only
            raise TypeError("a sandbox is not made by calling AsyncSandbox: use await AsyncSandbox.create()")
            # sync: raise TypeError("a sandbox is not made by calling Sandbox: use Sandbox.create()")
            # end
        self._bind(own)

    def _bind(self, own: Own) -> None:
        self._own = own
        self.commands = Commands(own.commands)
        self.files = Filesystem(own.files)
        self.pty = Pty(own.pty)

    def __repr__(self) -> str:
        return repr(self._own)

    @property
    def sandbox_id(self) -> str:
        """Its id."""
        return self._own.sandbox_id

    @property
    def sandbox_domain(self) -> str:
        """The domain of its host names."""
        return self._own.domain

    @property
    def traffic_access_token(self) -> str | None:
        """What requests to its ports must carry, when they are not public."""
        token: str | None = self._own._fields.get("tokens", {}).get("traffic")
        return token

    @property
    def own(self) -> Own:
        """The same sandbox with this package's own names."""
        return self._own

    @classmethod
    async def create(
        cls,
        template: str | None = None,
        timeout: int | None = None,
        metadata: dict[str, str] | None = None,
        envs: dict[str, str] | None = None,
        secure: bool | None = None,
        allow_internet_access: bool | None = None,
        mcp: Mapping[str, Any] | None = None,
        network: SandboxNetworkOpts | None = None,
        iam: Mapping[str, Any] | None = None,
        lifecycle: SandboxLifecycle | None = None,
        volume_mounts: Mapping[str, Any] | None = None,
        logger: Any = None,
        idempotency_key: str | None = None,
        **opts: Unpack[ApiParams],
    ) -> Self:
        """Makes a sandbox.

        Args:
            template: Default: ``default_template``.
            timeout: Its life in seconds; default: 300.
            metadata: Kept with it, to list by.
            envs: For everything that runs in it.
            secure: Changes nothing: requests to a sandbox always carry its token.
            allow_internet_access: Default: true.
            mcp: Refused.
            network: What may be reached, and how.
            iam: Refused.
            lifecycle: What happens at the end of its life.
            volume_mounts: Refused.
            logger: Changes nothing.
            idempotency_key: The same key gives the same sandbox.
            **opts: Whose account, where, and how.

        Raises:
            AuthenticationException: No key, or refused.
            TemplateException: The template does not exist.
        """
        refuse(mcp=mcp, iam=iam, volume_mounts=volume_mounts)
        with of_account():
            own = await Own.create(
                template or cls.default_template,
                timeout=cls.default_sandbox_timeout if timeout is None else timeout,
                metadata=metadata,
                envs=envs,
                allow_internet_access=allow_internet_access,
                network=network_options(network),
                idempotency_key=idempotency_key,
                **lifecycle_options(lifecycle),
                **cls._account(opts),
            )
        return cls(own)

    @classmethod
    async def _connect_by_id(
        cls, sandbox_id: str, timeout: int | None = None, *, on_resume: str = "restore", **opts: Unpack[ApiParams]
    ) -> Self:
        """Takes a sandbox that exists; a paused one is resumed. Its life is never shortened."""
        with of_account():
            return cls(await Own.connect(sandbox_id, timeout=timeout, reboot=reboots(on_resume), **cls._account(opts)))

    async def _connect(
        self, timeout: int | None = None, *, on_resume: str = "restore", request_timeout: float | None = None
    ) -> Self:
        """Takes it again; when it is paused, it is resumed. Its life is never shortened."""
        wire = sandbox_connect_params(self.sandbox_id, timeout=timeout, reboot=reboots(on_resume))
        with of_account():
            self._bind(await Own._made("sandbox.connect", wire, self._own._link.client))
        return self

    @classmethod
    def list(
        cls,
        query: SandboxQuery | None = None,
        limit: int | None = None,
        next_token: str | None = None,
        order: str | None = None,
        **opts: Unpack[ApiParams],
    ) -> AsyncSandboxPaginator:
        """Lists the account's sandboxes, page by page.

        Args:
            query: Which; default: all.
            limit: How many a page.
            next_token: Of an earlier paginator, to go on from there.
            order: ``asc`` or ``desc`` by the time of their start; default: the newest first.
            **opts: Whose account, where, and how.
        """
        if order not in (None, "asc", "desc"):
            raise InvalidArgumentException(f"order must be asc or desc, not {order!r}")
        asked = (query or SandboxQuery()).options()
        with of_account():
            own = Own.list(
                **asked,
                limit=limit,
                next_token=next_token,
                ascending=None if order is None else order == "asc",
                **cls._account(opts),
            )
        return AsyncSandboxPaginator(own)

    async def is_running(self, request_timeout: float | None = None) -> bool:
        """Asks the sandbox itself."""
        with of_sandbox():
            return await self._own.is_running(request_timeout=request_timeout)

    async def _kill(self, *, request_timeout: float | None = None) -> bool:
        """Ends it for good; False when it was gone."""
        with of_account():
            return await self._own.kill(request_timeout=request_timeout)

    @classmethod
    async def _kill_by_id(cls, sandbox_id: str, **opts: Unpack[ApiParams]) -> bool:
        with of_account():
            return await Own.kill(sandbox_id, **cls._account(opts))

    async def _set_timeout(self, timeout: float, *, request_timeout: float | None = None) -> None:
        """Makes it end (or pause) after a time from now, in seconds; it may shorten."""
        with of_account():
            await self._own.set_timeout(timeout, request_timeout=request_timeout)

    @classmethod
    async def _set_timeout_by_id(cls, sandbox_id: str, timeout: float, **opts: Unpack[ApiParams]) -> None:
        with of_account():
            await Own.set_timeout(sandbox_id, timeout, **cls._account(opts))

    async def _get_info(self, *, request_timeout: float | None = None) -> SandboxInfo:
        """Describes it, running or paused."""
        with of_account():
            return SandboxInfo(await self._own.get_info(request_timeout=request_timeout))

    @classmethod
    async def _info_by_id(cls, sandbox_id: str, **opts: Unpack[ApiParams]) -> SandboxInfo:
        with of_account():
            return SandboxInfo(await Own.get_info(sandbox_id, **cls._account(opts)))

    async def _get_metrics(
        self, start: datetime | None = None, end: datetime | None = None, *, request_timeout: float | None = None
    ) -> builtins.list[SandboxMetrics]:
        """Samples of its use."""
        with of_account():
            return await self._own.get_metrics(start=start, end=end, request_timeout=request_timeout)

    @classmethod
    async def _metrics_by_id(
        cls,
        sandbox_id: str,
        start: datetime | None = None,
        end: datetime | None = None,
        **opts: Unpack[ApiParams],
    ) -> builtins.list[SandboxMetrics]:
        with of_account():
            return await Own.get_metrics(sandbox_id, start=start, end=end, **cls._account(opts))

    async def _pause(
        self,
        keep_memory: bool | None = None,
        *,
        mode: str | None = None,
        strict: bool = False,
        request_timeout: float | None = None,
    ) -> bool:
        """Freezes it; False when it was paused already."""
        refuse(strict=strict)
        with of_account():
            return await self._own.pause(keep_memory=memory(mode, keep_memory), request_timeout=request_timeout)

    @classmethod
    async def _pause_by_id(
        cls,
        sandbox_id: str,
        keep_memory: bool | None = None,
        *,
        mode: str | None = None,
        strict: bool = False,
        **opts: Unpack[ApiParams],
    ) -> bool:
        refuse(strict=strict)
        with of_account():
            return await Own.pause(sandbox_id, memory(mode, keep_memory), **cls._account(opts))

    async def _update_network(self, network: SandboxNetworkUpdate, *, request_timeout: float | None = None) -> None:
        """Replaces its network rules; what is left out is cleared."""
        with of_account():
            await self._own.update_network(**network_options(network), request_timeout=request_timeout)

    @classmethod
    async def _update_network_by_id(
        cls, sandbox_id: str, network: SandboxNetworkUpdate, **opts: Unpack[ApiParams]
    ) -> None:
        with of_account():
            await Own.update_network(sandbox_id, network_options(network), **cls._account(opts))

    #: Each also works on the class, with the id of a sandbox: ``Sandbox.kill("id")``.
    connect = Either(_connect, _connect_by_id)
    kill = Either(_kill, _kill_by_id)
    set_timeout = Either(_set_timeout, _set_timeout_by_id)
    get_info = Either(_get_info, _info_by_id)
    get_metrics = Either(_get_metrics, _metrics_by_id)
    pause = Either(_pause, _pause_by_id)
    beta_pause = Either(_pause, _pause_by_id)
    update_network = Either(_update_network, _update_network_by_id)

    def get_host(self, port: int) -> str:
        """The host name under which a port of it is reached, with the port where it is not that of https."""
        with of_sandbox():
            return self._own.get_host(port)

    def download_url(self, path: str, user: str | None = None, use_signature_expiration: int | None = None) -> str:
        """A URL with which anyone may read a file; seconds until it expires, default: never."""
        with of_sandbox():
            return self._own.download_url(path, user=user, expires=use_signature_expiration)

    def upload_url(
        self, path: str | None = None, user: str | None = None, use_signature_expiration: int | None = None
    ) -> str:
        """A URL to which anyone may POST a file; seconds until it expires, default: never."""
        with of_sandbox():
            return self._own.upload_url(path, user=user, expires=use_signature_expiration)

    @property
    def git(self) -> NoReturn:
        """Not here."""
        raise unsupported("git: run git with sandbox.commands.run()")

    @classmethod
    def create_snapshot(cls, *arguments: Any, **options: Any) -> NoReturn:
        """Not here."""
        options.clear()
        raise unsupported("snapshots")

    @classmethod
    def list_snapshots(cls, *arguments: Any, **options: Any) -> NoReturn:
        """Not here."""
        options.clear()
        raise unsupported("snapshots")

    @classmethod
    def delete_snapshot(cls, *arguments: Any, **options: Any) -> NoReturn:
        """Not here."""
        options.clear()
        raise unsupported("snapshots")

    @classmethod
    def fork(cls, *arguments: Any, **options: Any) -> NoReturn:
        """Not here."""
        options.clear()
        raise unsupported("fork")

    def get_mcp_url(self) -> NoReturn:
        """Not here."""
        raise unsupported("mcp")

    def get_mcp_token(self) -> NoReturn:
        """Not here."""
        raise unsupported("mcp")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        with of_account():
            await self._own.__aexit__(kind, error, trace)
