"""One of several files to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._engine.content import AsyncContent


class WriteEntry:
    """A path, and what is to be written there: as ``files.write`` takes them."""

    __slots__ = ("data", "path")

    def __init__(self, path: str, data: AsyncContent) -> None:
        self.path = path
        self.data = data

    def __repr__(self) -> str:
        return f"WriteEntry({self.path!r})"

    @staticmethod
    def of(given: WriteEntry | Mapping[str, Any]) -> tuple[str, Any]:
        """Path and data of a file, or of a mapping with the same names."""
        if isinstance(given, WriteEntry):
            return given.path, given.data
        from ._generated.errors import InvalidArgumentError

        if not isinstance(given, Mapping) or set(given) != {"path", "data"}:
            raise InvalidArgumentError("files: each needs a path and data", option="files")
        return given["path"], given["data"]
