"""Files of a sandbox."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, overload

from ..._async.files import Files as Own
from ..._engine.async_process import AsyncStream
from ..._engine.content import AsyncContent
from ..exceptions import InvalidArgumentException, of_sandbox
from ..info import EntryInfo, FilesystemEvent, WriteInfo
from .watch import AsyncWatchHandle


class Filesystem:
    """Reads, writes and watches the files of one sandbox."""

    def __init__(self, own: Own) -> None:
        self._own = own

    @overload
    async def read(
        self,
        path: str,
        format: Literal["text"] = "text",
        user: str | None = None,
        request_timeout: float | None = None,
        gzip: bool = False,
        stream_idle_timeout: float | None = None,
    ) -> str: ...

    @overload
    async def read(
        self,
        path: str,
        format: Literal["bytes"],
        user: str | None = None,
        request_timeout: float | None = None,
        gzip: bool = False,
        stream_idle_timeout: float | None = None,
    ) -> bytearray: ...

    @overload
    async def read(
        self,
        path: str,
        format: Literal["stream"],
        user: str | None = None,
        request_timeout: float | None = None,
        gzip: bool = False,
        stream_idle_timeout: float | None = None,
    ) -> AsyncStream: ...

    async def read(
        self,
        path: str,
        format: Literal["text", "bytes", "stream"] = "text",
        user: str | None = None,
        request_timeout: float | None = None,
        gzip: bool = False,
        stream_idle_timeout: float | None = None,
    ) -> str | bytearray | AsyncStream:
        """Reads a file.

        Args:
            path: Relative ones are under the user's home.
            format: ``text``; ``bytes``, which is a bytearray; ``stream``, pieces of bytes to iterate over.
            user: Whose rights and home; default: the sandbox's user.
            request_timeout: Seconds until the answer begins; 0 = no limit.
            gzip: Let the sandbox compress on the way.
            stream_idle_timeout: Seconds between pieces; 0 = no limit.

        Raises:
            FileNotFoundException: It is missing.
        """
        given: dict[str, Any] = {
            "user": user,
            "request_timeout": request_timeout,
            "gzip": gzip or None,
            "idle_timeout": stream_idle_timeout,
        }
        with of_sandbox():
            if format == "bytes":
                return bytearray(await self._own.read(path, "bytes", **given))
            if format == "stream":
                return await self._own.read(path, "stream", **given)
            return await self._own.read(path, format, **given)

    async def write(
        self,
        path: str,
        data: AsyncContent,
        user: str | None = None,
        request_timeout: float | None = None,
        gzip: bool = False,
        use_octet_stream: bool | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> WriteInfo:
        """Writes a file, making its parents; an existing file is replaced.

        Args:
            path: Relative ones are under the user's home.
            data: Text, bytes, an open file, or an iterable of pieces.
            user: Whose rights and home; default: the sandbox's user.
            request_timeout: Seconds until the answer begins; 0 = no limit.
            gzip: Compress on the way.
            use_octet_stream: False sends it as a form.
            metadata: Kept with the file.
        """
        with of_sandbox():
            return await self._own.write(
                path,
                data,
                user=user,
                request_timeout=request_timeout,
                gzip=gzip or None,
                multipart=None if use_octet_stream is None else not use_octet_stream,
                metadata=metadata,
            )

    async def write_files(
        self,
        files: Sequence[Mapping[str, Any]],
        user: str | None = None,
        request_timeout: float | None = None,
        gzip: bool = False,
        use_octet_stream: bool | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> builtins.list[WriteInfo]:
        """Writes several files.

        Args:
            files: Each with ``path`` and ``data``, as ``write`` takes them.
            user: Whose rights and home; default: the sandbox's user.
            request_timeout: Seconds until the answer begins; 0 = no limit.
            gzip: Compress on the way.
            use_octet_stream: False sends them as forms.
            metadata: Kept with each file.
        """
        if not files:
            return []
        with of_sandbox():
            return await self._own.write_files(
                files,
                user=user,
                request_timeout=request_timeout,
                gzip=gzip or None,
                multipart=None if use_octet_stream is None else not use_octet_stream,
                metadata=metadata,
            )

    async def list(
        self, path: str, depth: int | None = 1, user: str | None = None, request_timeout: float | None = None
    ) -> builtins.list[EntryInfo]:
        """What is in a directory, ``depth`` levels of it."""
        if depth is not None and depth < 1:
            raise InvalidArgumentException("depth must be at least 1")
        with of_sandbox():
            return await self._own.list(path, depth=depth, user=user, request_timeout=request_timeout)

    async def exists(self, path: str, user: str | None = None, request_timeout: float | None = None) -> bool:
        """Whether there is something at a path."""
        with of_sandbox():
            return await self._own.exists(path, user=user, request_timeout=request_timeout)

    async def get_info(self, path: str, user: str | None = None, request_timeout: float | None = None) -> EntryInfo:
        """Describes a file or directory."""
        with of_sandbox():
            return await self._own.get_info(path, user=user, request_timeout=request_timeout)

    async def remove(self, path: str, user: str | None = None, request_timeout: float | None = None) -> None:
        """Removes a file, or a directory with all that is in it."""
        with of_sandbox():
            await self._own.remove(path, user=user, request_timeout=request_timeout)

    async def rename(
        self, old_path: str, new_path: str, user: str | None = None, request_timeout: float | None = None
    ) -> EntryInfo:
        """Renames a file or directory."""
        with of_sandbox():
            return await self._own.rename(old_path, new_path, user=user, request_timeout=request_timeout)

    async def make_dir(self, path: str, user: str | None = None, request_timeout: float | None = None) -> bool:
        """Makes a directory and its parents; False when it is there."""
        with of_sandbox():
            return await self._own.make_dir(path, user=user, request_timeout=request_timeout)

    # async only
    async def watch_dir(
        self,
        path: str,
        on_event: Callable[[FilesystemEvent], Any],
        on_exit: Callable[[Exception | None], Any] | None = None,
        user: str | None = None,
        request_timeout: float | None = None,
        timeout: float | None = 60,
        recursive: bool = False,
        include_entry: bool = False,
        allow_network_mounts: bool = False,
    ) -> AsyncWatchHandle:
        """Watches a directory.

        Args:
            path: Relative ones are under the user's home.
            on_event: Gets each change, in order.
            on_exit: Called once, when the watch has ended: with what ended it, or with None after ``stop``.
            user: Whose rights and home; default: the sandbox's user.
            request_timeout: Seconds until the watch stands; 0 = no limit.
            timeout: Seconds it may last; 0 or None = no limit.
            recursive: What lies below, too.
            include_entry: Describe the file in the events.
            allow_network_mounts: Watch them, though they may miss events.

        Raises:
            FileNotFoundException: It is missing.
        """
        with of_sandbox():
            own = await self._own.watch_dir(
                path,
                on_event,
                user=user,
                request_timeout=request_timeout,
                recursive=recursive or None,
                include_entry=include_entry or None,
                allow_network_mounts=allow_network_mounts or None,
            )
        return AsyncWatchHandle(own, on_exit, timeout)

    # sync: def watch_dir(
    # sync:     self,
    # sync:     path: str,
    # sync:     user: str | None = None,
    # sync:     request_timeout: float | None = None,
    # sync:     recursive: bool = False,
    # sync:     include_entry: bool = False,
    # sync:     allow_network_mounts: bool = False,
    # sync: ) -> WatchHandle:
    # sync:     """Watches a directory.
    # sync:
    # sync:     Args:
    # sync:         path: Relative ones are under the user's home.
    # sync:         user: Whose rights and home; default: the sandbox's user.
    # sync:         request_timeout: Seconds until the watch stands; 0 = no limit.
    # sync:         recursive: What lies below, too.
    # sync:         include_entry: Describe the file in the events.
    # sync:         allow_network_mounts: Watch them, though they may miss events.
    # sync:
    # sync:     Raises:
    # sync:         FileNotFoundException: It is missing.
    # sync:     """
    # sync:     with of_sandbox():
    # sync:         return WatchHandle(
    # sync:             self._own.watch_dir(
    # sync:                 path,
    # sync:                 user=user,
    # sync:                 request_timeout=request_timeout,
    # sync:                 recursive=recursive or None,
    # sync:                 include_entry=include_entry or None,
    # sync:                 allow_network_mounts=allow_network_mounts or None,
    # sync:             )
    # sync:         )
    # end
