"""Small named blobs, kept as files, shared with every other host on this machine."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, unquote

NOT_STORED = "not_stored"
_SUFFIX = ".json"
_LOCK_SUFFIX = ".lock"
_LONGEST = 200  # bytes of a file's name: below the 255 of common file systems
_POLL = 0.02  # seconds between two tries to take a lock

Answer = Callable[[dict[str, Any], bytes], None]
Release = Callable[[], None]


def state_directory(environ: Mapping[str, str]) -> str:
    """Where this program keeps state: agent-sandbox in $XDG_STATE_HOME, else in
    ~/.local/state. A relative XDG_STATE_HOME is ignored, as its specification says.
    """
    base = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "agent-sandbox")


class Store:
    """Answers the core's questions on one event loop.

    Blobs are files of one directory (0700), each 0600 and replaced as a whole.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, environ: Mapping[str, str]) -> None:
        self._loop = loop
        self._files = Files(os.path.join(state_directory(environ), "sessions"))

    def call(self, verb: str, name: str, blob: bytes, answer: Answer) -> Release:
        """Asks ``get``, ``put``, ``delete``, ``list`` or ``lock``. The answer comes from
        the loop. What is returned forgets the question, or gives the lock back.
        """
        question = _Question(self._loop, self._files, answer)
        work = question.lock if verb == "lock" else question.ask
        question.task = self._loop.create_task(work(verb, name, blob))
        return question.release


class _Question:
    def __init__(self, loop: asyncio.AbstractEventLoop, files: Files, answer: Answer) -> None:
        self.task: asyncio.Task[None] | None = None
        self._loop = loop
        self._files = files
        self._answer: Answer | None = answer
        self._unlock: Release | None = None

    async def ask(self, verb: str, name: str, blob: bytes) -> None:
        """Asks once."""
        result, found = await self._loop.run_in_executor(None, self._files.answer, verb, name, blob)
        self._say(result, found)

    async def lock(self, verb: str, name: str, blob: bytes) -> None:
        """Tries until the lock is free."""
        try:
            while not (unlock := self._files.try_lock(name)):
                await asyncio.sleep(_POLL)
        except (OSError, ValueError) as error:
            self._say({"error": _words(error)}, b"")
            return
        self._unlock = unlock
        self._say({}, b"")

    def release(self) -> None:
        """Forgets the question, or gives the lock back. It is idempotent."""
        self._answer = None
        if self.task:
            self.task.cancel()
        unlock, self._unlock = self._unlock, None
        if unlock:
            unlock()

    def _say(self, result: dict[str, Any], blob: bytes) -> None:
        answer, self._answer = self._answer, None
        if answer:
            answer(result, blob)


class Files:
    """The directory of blobs. Several processes may use it at once."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def answer(self, verb: str, name: str, blob: bytes) -> tuple[dict[str, Any], bytes]:
        """Answers one question; what goes wrong is in the answer."""
        try:
            match verb:
                case "get":
                    return {}, self.get(name)
                case "put":
                    self.put(name, blob)
                case "delete":
                    os.remove(self._path(name, _SUFFIX))
                case "list":
                    return {"names": self.names()}, b""
                case _:
                    return {"error": "the store has no such verb"}, b""
        except FileNotFoundError:
            return {"error": NOT_STORED}, b""
        except (OSError, ValueError) as error:
            return {"error": _words(error)}, b""
        return {}, b""

    def get(self, name: str) -> bytes:
        """Reads a blob."""
        with open(self._path(name, _SUFFIX), "rb") as file:
            return file.read()

    def put(self, name: str, blob: bytes) -> None:
        """Writes or replaces a blob."""
        path = self._path(name, _SUFFIX)
        os.makedirs(self._directory, 0o700, exist_ok=True)
        write_atomically(path, blob)

    def names(self) -> list[str]:
        """All names, sorted."""
        try:
            entries = os.listdir(self._directory)
        except FileNotFoundError:
            return []
        files = [e.removesuffix(_SUFFIX) for e in entries if e.endswith(_SUFFIX) and not e.startswith(".")]
        return sorted(unquote(f) for f in files)

    def try_lock(self, name: str) -> Release | None:
        """Takes the lock of a name among all processes; None when somebody holds it.
        The system drops it when the process dies.
        """
        path = self._path(name, _LOCK_SUFFIX)
        os.makedirs(self._directory, 0o700, exist_ok=True)
        return try_lock(path)

    def _path(self, name: str, suffix: str) -> str:
        """Escaping keeps separators out of a file's name, and a leading dot, by which
        temporary files are known.
        """
        file = quote(name, safe="$&+=:@")
        if file.startswith("."):
            file = "%2E" + file[1:]
        if not name or len(file) > _LONGEST:
            raise ValueError(f"a session name needs 1 to {_LONGEST} characters")
        return os.path.join(self._directory, file + suffix)


def write_atomically(path: str, blob: bytes) -> None:
    """Replaces a file so that a reader sees the old or the new one, also after a
    crash. Nobody else can read it.
    """
    descriptor, made = tempfile.mkstemp(prefix=".new-", dir=os.path.dirname(path))  # 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(blob)
            file.flush()
            os.fsync(file.fileno())
        os.replace(made, path)
    except BaseException:
        os.remove(made)
        raise


def try_lock(path: str) -> Release | None:
    """Takes an exclusive lock on a file, which is made when needed."""
    import fcntl

    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _current(descriptor, path):
            return lambda: _give_up(descriptor, path)
    except BlockingIOError:
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _give_up(descriptor: int, path: str) -> None:
    try:
        os.remove(path)  # before the lock is given up: see _current
    except FileNotFoundError:
        pass
    finally:
        os.close(descriptor)


def _current(descriptor: int, path: str) -> bool:
    """Whether it is still the file at path: a holder removes it when he unlocks, and a
    lock on a removed file excludes nobody.
    """
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _words(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"the store cannot be used: {error.strerror or type(error).__name__}"
    return str(error)
