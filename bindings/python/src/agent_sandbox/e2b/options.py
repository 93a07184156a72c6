"""Options by E2B's names, turned into those of this package."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .._engine.secret import taken
from ..options import ClientOptions
from .exceptions import InvalidArgumentException

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Username = str
Stdout = str
Stderr = str
PtyOutput = bytes
ProxyTypes = str
OutputHandler = Callable[[Any], Any]

#: All traffic, for ``deny_out`` and ``allow_out``.
ALL_TRAFFIC = "0.0.0.0/0"


class ApiParams(ClientOptions, total=False):
    """Whose account, where, and how: E2B's options, and this package's own besides."""

    headers: Mapping[str, str] | None
    """Refused, unless empty: requests cannot be given headers."""
    api_headers: Mapping[str, str] | None
    """Refused, unless empty: requests cannot be given headers."""
    validate_api_key: bool | None
    """Changes nothing, as at E2B."""
    http_version: str | None
    """Changes nothing: connections are HTTP/1.1."""


E2BClientParams = ApiParams


class WriteEntry(TypedDict):
    """One of several files to write."""

    path: str
    data: Any


class SandboxOnTimeoutPause(TypedDict):
    """Pausing at the end of a sandbox's life."""

    action: Literal["pause"]
    mode: NotRequired[Literal["full", "filesystem"]]
    keep_memory: NotRequired[bool]


class SandboxOnTimeoutKill(TypedDict):
    """Killing at the end of a sandbox's life."""

    action: Literal["kill"]


SandboxOnTimeout = Literal["pause", "kill"] | SandboxOnTimeoutPause | SandboxOnTimeoutKill
SandboxOnResume = Literal["restore", "reboot"]
SandboxListOrder = Literal["asc", "desc"]
SnapshotMode = Literal["full", "filesystem"]


class SandboxLifecycle(TypedDict, total=False):
    """What happens at the end of a sandbox's life, and after."""

    on_timeout: SandboxOnTimeout
    auto_resume: bool


class SandboxNetworkTransform(TypedDict, total=False):
    """Sets headers."""

    headers: Mapping[str, str]


class SandboxNetworkRule(TypedDict, total=False):
    """Changes requests to one host."""

    transform: SandboxNetworkTransform


class SandboxEgressProxyOpts(TypedDict, total=False):
    """What goes out goes through it."""

    address: str
    username: str
    password: str


SandboxNetworkRules = Mapping[str, Sequence[SandboxNetworkRule]]
SandboxNetworkSelector = Sequence[str] | Callable[["SandboxNetworkSelectorContext"], Sequence[str]]
HttpVersion = Literal["1.1", "2"]
WriteData = Any
AsyncWriteData = Any


class SandboxNetworkOpts(TypedDict, total=False):
    """What may be reached, and how. Lists may be functions, which get an object with ``all_traffic`` and ``rules``."""

    allow_out: SandboxNetworkSelector
    deny_out: SandboxNetworkSelector
    rules: SandboxNetworkRules
    egress_proxy: SandboxEgressProxyOpts
    allow_public_traffic: bool
    mask_request_host: str
    https_ports: Sequence[int]


class SandboxNetworkUpdate(SandboxNetworkOpts, total=False):
    """The same, of a running sandbox."""

    allow_internet_access: bool


class SandboxNetworkSelectorContext:
    """What a function in place of ``allow_out`` or ``deny_out`` gets.

    Attributes:
        all_traffic: ``0.0.0.0/0``.
        rules: Those of the same options.
    """

    all_traffic = ALL_TRAFFIC

    def __init__(self, rules: Mapping[str, Any]) -> None:
        self.rules = rules


#: Taken because programs for E2B pass them; they change nothing.
_IDLE = ("validate_api_key", "http_version")


def client_options(options: Any) -> Any:
    """Options of an account as this package takes them, out of the dict."""
    for name in ("headers", "api_headers"):
        if options.pop(name, None):
            options.clear()  # no traceback shows them
            raise InvalidArgumentException(f"{name}: requests cannot be given headers here; leave it out")
    for name in _IDLE:
        options.pop(name, None)
    return taken(options)


def refuse(**options: Any) -> None:
    """Refuses options of E2B's that nothing here stands for."""
    for name, value in options.items():
        if value:
            raise InvalidArgumentException(
                f"{name} is not supported here; leave it out (docs/e2b.md lists what differs)"
            )


def lifecycle_options(lifecycle: Mapping[str, Any] | None) -> dict[str, Any]:
    """A lifecycle as options of ``create``."""
    given = lifecycle or {}
    on_timeout = given.get("on_timeout")
    more = on_timeout if isinstance(on_timeout, Mapping) else {}
    action = more.get("action") if more else on_timeout
    if action not in (None, "pause", "kill"):
        raise InvalidArgumentException(f"on_timeout must be pause or kill, not {action!r}")
    keep_memory = memory(more.get("mode"), more.get("keep_memory"))
    return {"on_timeout": action, "keep_memory": keep_memory, "auto_resume": given.get("auto_resume")}


def memory(mode: str | None, keep_memory: bool | None) -> bool | None:
    """Whether a pause keeps memory."""
    if mode is None:
        return keep_memory
    if mode not in ("full", "filesystem"):
        raise InvalidArgumentException(f"mode must be full or filesystem, not {mode!r}")
    return mode == "full"


def reboots(on_resume: str) -> bool | None:
    """Whether a paused sandbox boots anew."""
    if on_resume not in ("restore", "reboot"):
        raise InvalidArgumentException(f"on_resume must be restore or reboot, not {on_resume!r}")
    return True if on_resume == "reboot" else None


def network_options(network: Mapping[str, Any] | None) -> Any:
    """Network rules, with the answers of functions in place of the functions."""
    if network is None:
        return None
    context = SandboxNetworkSelectorContext(dict(network.get("rules") or {}))
    given = dict(network)
    for name in ("allow_out", "deny_out"):
        if callable(given.get(name)):
            given[name] = given[name](context)
        if isinstance(given.get(name), str):
            given[name] = [given[name]]
    return given


def endless(timeout: float | None) -> float:
    """A command's timeout: None is no limit."""
    return 0 if timeout is None else timeout
