"""What is known of sandboxes, by E2B's names."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, TypedDict

from .._generated.convert import Record
from .._generated.types import (
    EntryInfo,
    FilesystemEvent,
    FilesystemEventType,
    FileType,
    ProcessInfo,
    SandboxMetrics,
    WriteInfo,
)
from .._generated.types import SandboxInfo as Own

__all__ = [
    "EntryInfo",
    "FileType",
    "FilesystemEvent",
    "FilesystemEventType",
    "ProcessInfo",
    "PtySize",
    "SandboxInfo",
    "SandboxInfoLifecycle",
    "SandboxMetrics",
    "SandboxQuery",
    "SandboxState",
    "WriteInfo",
]


class SandboxState(str, Enum):
    """Whether it runs."""

    PAUSED = "paused"
    RUNNING = "running"

    def __str__(self) -> str:
        return str(self.value)


class SandboxInfoLifecycle(TypedDict):
    """What happens at the end of a sandbox's life, and after."""

    on_timeout: str
    auto_resume: bool


class SandboxInfo:
    """A sandbox as the account knows it: all that this package's own SandboxInfo has, and what E2B's has besides.

    Attributes:
        sandbox_id: Its id.
        sandbox_domain: Under which its ports are reached.
        template_id: What it was made from.
        name: The template's alias.
        metadata: As given at its creation.
        started_at: UTC.
        end_at: UTC; None = endless.
        state: Whether it runs.
        cpu_count: Cores.
        memory_mb: MiB.
        disk_size_mb: MiB.
        envd_version: Of the daemon inside.
        allow_internet_access: None = the default (on).
        network: Its rules, as a dict.
        lifecycle: What happens at the end of its life.
        volume_mounts: Always empty.
        isolation: What separates it from its host.
    """

    def __init__(self, own: Own) -> None:
        self.sandbox_id = own.sandbox_id
        self.sandbox_domain = own.domain
        self.template_id = own.template_id
        self.name = own.name
        self.metadata = own.metadata
        self.started_at = own.started_at
        self.end_at = own.end_at
        self.state = _state(own.state)
        self.cpu_count = own.cpu_count
        self.memory_mb = own.memory_mb
        self.disk_size_mb = own.disk_size_mb
        self.envd_version = own.envd_version
        self.allow_internet_access = own.allow_internet_access
        self.network = None if own.network is None else _plain(own.network)
        self.lifecycle = SandboxInfoLifecycle(on_timeout=own.on_timeout or "kill", auto_resume=own.auto_resume)
        self.volume_mounts: list[dict[str, str]] = []
        self.isolation = own.isolation

    def __repr__(self) -> str:
        return f"SandboxInfo({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if isinstance(other, SandboxInfo) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


def _plain(value: Any) -> Any:
    """A record as a dict of what it has."""
    if isinstance(value, Record):
        given = ((name, getattr(value, name)) for name in value._fields)
        return {name: _plain(one) for name, one in given if one is not None}
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _state(state: str) -> Any:
    return SandboxState(state) if state in ("running", "paused") else state


class SandboxQuery:
    """Which sandboxes are listed.

    Attributes:
        metadata: Those that have all of these.
        state: Those in one of these states; default: all.
        started_after: Those that began later.
        template: Those made from it.
    """

    def __init__(
        self,
        metadata: Mapping[str, str] | None = None,
        state: list[SandboxState] | None = None,
        started_after: datetime | None = None,
        template: str | None = None,
    ) -> None:
        self.metadata = metadata
        self.state = state
        self.started_after = started_after
        self.template = template

    def options(self) -> dict[str, Any]:
        """As options of this package's ``list``."""
        state = None if self.state is None else [str(SandboxState(one).value) for one in self.state]
        return {
            "metadata": self.metadata,
            "state": state,
            "started_after": self.started_after,
            "template": self.template,
        }


class PtySize:
    """The size of a terminal.

    Attributes:
        rows: Its height in characters.
        cols: Its width in characters.
    """

    def __init__(self, rows: int, cols: int) -> None:
        self.rows = rows
        self.cols = cols

    def __repr__(self) -> str:
        return f"PtySize(rows={self.rows}, cols={self.cols})"

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if isinstance(other, PtySize) else NotImplemented

    __hash__ = None  # type: ignore[assignment]
