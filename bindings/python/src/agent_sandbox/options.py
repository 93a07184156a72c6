"""Options that several calls share."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import os

    from ._engine.client import HostSettings


class ClientOptions(TypedDict, total=False):
    """Whose account, where, and how. Unset ones come from the environment, ``.env`` and
    ``config.toml``, in this order."""

    provider: str | None
    """``local``, ``e2b``, ..."""
    profile: str | None
    """A profile of ``config.toml``."""
    api_key: str | None
    """The account's key."""
    api_url: str | None
    """The control plane."""
    sandbox_url: str | None
    """One base for all traffic to sandboxes."""
    domain: str | None
    """Of the service."""
    region: str | None
    """Where the provider has some."""
    min_isolation: str | None
    """``namespaces``, ``gvisor`` or ``vm``: what is weaker is refused."""
    debug: bool | None
    """As E2B_DEBUG."""
    request_timeout: float | None
    """Seconds until the head of an answer; 0 = no limit."""
    idle_timeout: float | None
    """Seconds between chunks of a stream; 0 = no limit."""
    retries: int | None
    """Of calls that may be repeated; 0 = none."""
    proxy: str | None
    """URL of a proxy; ``direct`` for none. Default: as the environment says."""
    ca_file: str | os.PathLike[str] | None
    """A PEM file of authorities to trust besides the system's."""
    sandboxc: str | os.PathLike[str] | None
    """The program of the local provider. Default: the installed one."""
    settings: HostSettings | None
    """Instead of what would be read from the environment and from files."""
