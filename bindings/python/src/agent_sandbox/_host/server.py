"""Finding the local server, or starting it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from typing import IO, Any

from .._generated.errors import ConnectFailedError, SandboxError, error_from_json
from .store import state_directory

START_LIMIT = 20.0
"""How long a server may take to start, in seconds."""

_STATE_LIMIT = 1 << 16
_FIELDS = ("url", "sandbox_url", "api_key")
_COMMAND = ("serve", "--detach", "--json")

Check = Callable[[str], Awaitable[dict[str, Any]]]


async def find_server(check: Check, environ: Mapping[str, str], sandboxc: str | None) -> dict[str, str]:
    """The live local server's ``url``, ``sandbox_url`` and ``api_key``, or those of one
    that is started: two callers at once make one server.

    ``check`` asks the core whether the server of a state file lives (server.check).
    ``sandboxc`` is the program to start; None: $SANDBOXC, the one of the package
    agent-sandbox-local, PATH. Raises ConnectFailedError, which names the one command
    to type.
    """
    state = read_state(environ)
    if state:
        found = (await check(state)).get("server")
        if found:
            return _picked(found)
    if sys.platform != "linux":
        raise ConnectFailedError(
            "the local provider needs Linux",
            suggestion="set E2B_API_KEY for a cloud, or E2B_API_URL to a Linux machine's server",
        )
    binary = find_binary(environ, sandboxc)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, start, binary, environ)


def read_state(environ: Mapping[str, str]) -> str:
    """The text of the state file, empty without one."""
    try:
        with open(os.path.join(state_directory(environ), "server.json"), "rb") as file:
            return file.read(_STATE_LIMIT).decode("utf-8", "replace")
    except OSError:
        return ""


def find_binary(environ: Mapping[str, str], sandboxc: str | None) -> str:
    """The program to start, in the order that all hosts share."""
    if sandboxc:
        return sandboxc
    if named := environ.get("SANDBOXC"):
        return named
    if packaged := _packaged():
        return packaged
    if found := shutil.which("sandboxc", path=environ.get("PATH", os.defpath)):
        return found
    raise ConnectFailedError(
        "no local server is running and no sandboxc program was found to start one",
        suggestion="pip install agent-sandbox-local, or set SANDBOXC to the program's path",
    )


def _packaged() -> str:
    try:
        import agent_sandbox_local

        return str(agent_sandbox_local.binary())
    except (ImportError, FileNotFoundError):
        return ""


def start(binary: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Runs ``sandboxc serve --detach --json``, which holds the lock while it looks again
    and starts, and prints the state of the server that then lives.
    """
    # Files, not pipes: the server that goes on may keep what it was given open.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            code = subprocess.run(
                [binary, *_COMMAND],
                env=_child_environ(environ),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                timeout=START_LIMIT,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            raise _failure(binary, f"it did not answer within {START_LIMIT:g} s") from None
        except OSError as error:
            raise _failure(binary, f"{binary}: {error.strerror}") from None
        said, words = _content(out), _content(err)
    if code:
        raise _said(said) or _failure(binary, _first_line(words) or f"exit status {code}")
    try:
        return _picked(json.loads(said))
    except (ValueError, KeyError, TypeError):
        raise ConnectFailedError(f"{binary} serve --detach --json did not print a server's state") from None


def _child_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """This process's environment, with the caller's view of where state is kept."""
    places = {n: environ[n] for n in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME") if environ.get(n)}
    return {**os.environ, **places}


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read(_STATE_LIMIT)


def _picked(server: dict[str, Any]) -> dict[str, str]:
    return {name: str(server[name]) for name in _FIELDS}


def _said(out: bytes) -> SandboxError | None:
    """The error that sandboxc itself printed."""
    try:
        error = json.loads(out)["error"]
        return error_from_json(error) if error.get("code") else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _first_line(text: bytes) -> str:
    return text.decode("utf-8", "replace").strip().partition("\n")[0][:300]


def _failure(binary: str, why: str) -> ConnectFailedError:
    return ConnectFailedError(
        f"the local server could not be started: {why}", suggestion=f"try it in a terminal: {binary} serve"
    )
