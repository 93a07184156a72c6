"""Files of a sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, overload

from .._engine.async_caller import AsyncCaller
from .._engine.async_process import AsyncStream
from .._engine.content import SMALL, AsyncContent, async_source, memory
from .._engine.source import Source
from .._generated.methods import FilesMethods
from .._generated.params import files_read_params, files_watch_dir_params, files_write_params
from .._generated.types import FilesystemEvent, WriteInfo, read_write_info
from ..entry import WriteEntry
from .watch import WatchHandle


class Files(AsyncCaller, FilesMethods):
    """Reads, writes and watches the files of one sandbox.

    A path is data: it is sent as it is. Relative paths and ``~`` are under the user's home.
    """

    @overload
    async def read(
        self,
        path: str,
        format: Literal["text"] = "text",
        *,
        user: str | None = None,
        gzip: bool | None = None,
        offset: int | None = None,
        length: int | None = None,
        idle_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> str: ...

    @overload
    async def read(
        self,
        path: str,
        format: Literal["bytes"],
        *,
        user: str | None = None,
        gzip: bool | None = None,
        offset: int | None = None,
        length: int | None = None,
        idle_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> bytes: ...

    @overload
    async def read(
        self,
        path: str,
        format: Literal["stream"],
        *,
        user: str | None = None,
        gzip: bool | None = None,
        offset: int | None = None,
        length: int | None = None,
        idle_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> AsyncStream: ...

    async def read(
        self,
        path: str,
        format: Literal["text", "bytes", "stream"] = "text",
        *,
        user: str | None = None,
        gzip: bool | None = None,
        offset: int | None = None,
        length: int | None = None,
        idle_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> str | bytes | AsyncStream:
        """Reads a file.

        Args:
            path: Relative ones are under the user's home.
            format: ``text`` is lossy for what is no UTF-8 (U+FFFD); ``bytes`` is exact; ``stream`` gives
                pieces of bytes to iterate over, in bounded memory, whatever the file's size.
            user: Whose rights and home; default: the sandbox's user.
            gzip: Let the sandbox compress on the way.
            offset: First byte to read.
            length: Bytes to read; default: to the end.
            idle_timeout: Seconds between pieces; 0 = no limit.
            request_timeout: Seconds until the answer begins; 0 = no limit.

        Raises:
            SandboxFileNotFoundError: E4001, when it is missing.
        """
        wire = files_read_params(path, user=user, gzip=gzip, offset=offset, length=length, idle_timeout=idle_timeout)
        if format == "stream":
            return await self._open("files.read", wire, request_timeout)
        if format not in ("text", "bytes"):
            raise _unknown_format(format)
        data = await self._read("files.read", wire, request_timeout)
        return data if format == "bytes" else data.decode("utf-8", "replace")

    async def write(
        self,
        path: str,
        data: AsyncContent,
        *,
        user: str | None = None,
        metadata: Mapping[str, str] | None = None,
        multipart: bool | None = None,
        gzip: bool | None = None,
        request_timeout: float | None = None,
    ) -> WriteInfo:
        """Writes a file, making its parents; an existing file is replaced.

        Args:
            path: Relative ones are under the user's home.
            data: Text (as UTF-8), bytes, a ``Path`` of a file here, an open file, or an iterable of pieces.
                Files and iterables are sent in bounded memory.
            user: Whose rights and home; default: the sandbox's user.
            metadata: Kept with the file, replaced as a whole by each write.
            multipart: Send as a form.
            gzip: Compress on the way.
            request_timeout: Seconds until the answer begins; 0 = no limit.

        Raises:
            FilePermissionError: E4002, when the user may not.
            NoSpaceError: E4004, when the disk is full.
        """
        given = async_source(data)
        wire = files_write_params(path, user=user, metadata=metadata, multipart=multipart, gzip=gzip)
        if isinstance(given, bytes) and len(given) <= SMALL:
            return read_write_info(await self._write("files.write", wire, given, {}, request_timeout))
        if isinstance(given, bytes):
            given = memory(given)
        wire["source"] = given.describe(1)
        return read_write_info(await self._write("files.write", wire, b"", {1: given}, request_timeout))

    async def write_files(
        self,
        files: Iterable[WriteEntry | Mapping[str, Any]],
        *,
        user: str | None = None,
        metadata: Mapping[str, str] | None = None,
        multipart: bool | None = None,
        gzip: bool | None = None,
        request_timeout: float | None = None,
    ) -> list[WriteInfo]:
        """Writes several files, some at a time; the answers are in their order. The first error ends the
        rest.

        Args:
            files: Each with ``path`` and ``data``, as ``write`` takes them.
            user: Whose rights and home; default: the sandbox's user.
            metadata: Kept with each file.
            multipart: Send as forms.
            gzip: Compress on the way.
            request_timeout: Seconds until the answer begins; 0 = no limit.
        """
        wire = files_write_params("", user=user, metadata=metadata, multipart=multipart, gzip=gzip)
        del wire["path"]
        named: list[dict[str, Any]] = []
        attached: list[bytes] = []
        sources: dict[int, Source] = {}
        for file in files:
            path, data = WriteEntry.of(file)
            given = async_source(data)
            if isinstance(given, bytes) and len(given) > SMALL:
                given = memory(given)
            if isinstance(given, bytes):
                named.append({"path": path, "size": len(given)})
                attached.append(given)
            else:
                id = len(sources) + 1
                sources[id] = given
                named.append({"path": path, "source": given.describe(id)})
        wire["files"] = named
        answer = await self._write("files.write_files", wire, b"".join(attached), sources, request_timeout)
        return [read_write_info(info) for info in answer]

    async def watch_dir(
        self,
        path: str,
        on_event: Callable[[FilesystemEvent], Any] | None = None,
        *,
        user: str | None = None,
        recursive: bool | None = None,
        include_entry: bool | None = None,
        allow_network_mounts: bool | None = None,
        idle_timeout: float | None = None,
        request_timeout: float | None = None,
    ) -> WatchHandle:
        """Watches a directory; returns once the watch stands.

        Args:
            path: Relative ones are under the user's home.
            on_event: Gets each change, in order.
            user: Whose rights and home; default: the sandbox's user.
            recursive: What lies below, too.
            include_entry: Describe the file in create, write and chmod events.
            allow_network_mounts: Watch them, though they may miss events.
            idle_timeout: Seconds without a sign of life from the sandbox; 0 = no limit.
            request_timeout: Seconds until the watch stands; 0 = no limit.

        Raises:
            SandboxFileNotFoundError: E4001, when it is missing.
        """
        wire = files_watch_dir_params(
            path,
            user=user,
            recursive=recursive,
            include_entry=include_entry,
            allow_network_mounts=allow_network_mounts,
            idle_timeout=idle_timeout,
        )
        return WatchHandle(await self._watch("files.watch_dir", wire, request_timeout), on_event)


def _unknown_format(format: str) -> Exception:
    from .._generated.errors import InvalidArgumentError

    return InvalidArgumentError(f"format must be text, bytes or stream, not {format!r}", option="format")
