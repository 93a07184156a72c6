"""E2B's Python SDK, by its names: programs written for it change the import.

    from agent_sandbox.e2b import Sandbox           # from e2b import Sandbox
    from agent_sandbox.e2b import AsyncSandbox

Where a sandbox runs is decided as everywhere in this package. ``agent_sandbox.e2b.code_interpreter`` stands for
``e2b_code_interpreter``. docs/e2b.md says what differs. Importing this loads nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._generated.types import FilesystemEventType as FilesystemEventType
    from ._async.handle import AsyncCommandHandle as AsyncCommandHandle
    from ._async.paginator import AsyncSandboxPaginator as AsyncSandboxPaginator
    from ._async.sandbox import AsyncSandbox as AsyncSandbox
    from ._async.watch import AsyncWatchHandle as AsyncWatchHandle
    from ._sync.handle import CommandHandle as CommandHandle
    from ._sync.paginator import SandboxPaginator as SandboxPaginator
    from ._sync.sandbox import Sandbox as Sandbox
    from ._sync.watch import WatchHandle as WatchHandle
    from .client import E2B as E2B
    from .exceptions import *
    from .info import *
    from .input import AsyncCommandInputHandle as AsyncCommandInputHandle
    from .options import ALL_TRAFFIC as ALL_TRAFFIC
    from .options import ApiParams as ApiParams
    from .options import AsyncWriteData as AsyncWriteData
    from .options import E2BClientParams as E2BClientParams
    from .options import HttpVersion as HttpVersion
    from .options import OutputHandler as OutputHandler
    from .options import ProxyTypes as ProxyTypes
    from .options import PtyOutput as PtyOutput
    from .options import SandboxEgressProxyOpts as SandboxEgressProxyOpts
    from .options import SandboxLifecycle as SandboxLifecycle
    from .options import SandboxListOrder as SandboxListOrder
    from .options import SandboxNetworkOpts as SandboxNetworkOpts
    from .options import SandboxNetworkRule as SandboxNetworkRule
    from .options import SandboxNetworkRules as SandboxNetworkRules
    from .options import SandboxNetworkSelector as SandboxNetworkSelector
    from .options import SandboxNetworkSelectorContext as SandboxNetworkSelectorContext
    from .options import SandboxNetworkTransform as SandboxNetworkTransform
    from .options import SandboxNetworkUpdate as SandboxNetworkUpdate
    from .options import SandboxOnResume as SandboxOnResume
    from .options import SandboxOnTimeout as SandboxOnTimeout
    from .options import SnapshotMode as SnapshotMode
    from .options import Stderr as Stderr
    from .options import Stdout as Stdout
    from .options import Username as Username
    from .options import WriteData as WriteData
    from .options import WriteEntry as WriteEntry
    from .result import CommandResult as CommandResult

#: Where the names come from.
_HOMES = {
    "_async.handle": "AsyncCommandHandle",
    "_async.paginator": "AsyncSandboxPaginator",
    "_async.sandbox": "AsyncSandbox",
    "_async.watch": "AsyncWatchHandle",
    "_sync.handle": "CommandHandle",
    "_sync.paginator": "SandboxPaginator",
    "_sync.sandbox": "Sandbox",
    "_sync.watch": "WatchHandle",
    "client": "E2B",
    "exceptions": "AuthenticationException BuildException CommandExitException FileNotFoundException "
    "FileUploadException GitAuthException GitUpstreamException GuestUnresponsiveException "
    "InvalidArgumentException NotEnoughSpaceException NotFoundException RateLimitException "
    "SandboxException SandboxNotFoundException SandboxNotRunningException SandboxUnreachableException "
    "SecretException SecretNotFoundException ServiceBusyException TemplateException TimeoutException "
    "VolumeException VolumeNotFoundException VolumePathNotFoundException",
    "info": "EntryInfo FileType FilesystemEvent FilesystemEventType ProcessInfo PtySize SandboxInfo "
    "SandboxInfoLifecycle SandboxMetrics SandboxQuery SandboxState WriteInfo",
    "input": "AsyncCommandInputHandle",
    "options": "ALL_TRAFFIC ApiParams AsyncWriteData E2BClientParams HttpVersion OutputHandler ProxyTypes PtyOutput "
    "SandboxEgressProxyOpts SandboxLifecycle SandboxListOrder SandboxNetworkOpts SandboxNetworkRule "
    "SandboxNetworkRules SandboxNetworkSelector SandboxNetworkSelectorContext SandboxNetworkTransform "
    "SandboxNetworkUpdate SandboxOnResume SandboxOnTimeout SnapshotMode Stderr Stdout Username WriteData "
    "WriteEntry",
    "result": "CommandResult",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}
#: What E2B has and this package has not, and what to do instead.
_MISSING = {
    "Template AsyncTemplate TemplateBase wait_for_port wait_for_url wait_for_file wait_for_process wait_for_timeout": (
        "templates are built with `sandboxc template build`"
    ),
    "Volume AsyncVolume": "there are no volumes; a directory of this machine is shown with mounts=",
    "Secret AsyncSecret": "there are no stored secrets",
    "Git GitStatus GitBranches GitFileStatus": "run git with sandbox.commands.run()",
    "ConnectionConfig ApiClient": "options are given to each call",
    "get_signature": "sandbox.download_url() and upload_url() sign",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOME:
        value = getattr(import_module("." + _HOME[name], __name__), name)
        globals()[name] = value
        return value
    for names, instead in _MISSING.items():
        if name in names.split():
            raise ImportError(f"agent_sandbox.e2b has no {name}: {instead} (docs/e2b.md)")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
