"""What calls are made with: the caller's settings, as the host reads and the core resolves them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from . import frame
from .instant import instant
from .json import encode, encode_given
from .secret import Secret, taken

if TYPE_CHECKING:
    from ..options import ClientOptions
    from .driver import Driver

#: Options that are the host's own; the others are arguments of the core.
_OWN = frozenset(("proxy", "ca_file", "sandboxc", "settings"))
_SECONDS = {"request_timeout": "request_timeout_ms", "idle_timeout": "idle_timeout_ms"}


class HostSettings:
    """What would be read from the system, given instead: the environment, and the texts of ``.env``
    and ``config.toml``. For tests and for programs that keep their settings elsewhere."""

    __slots__ = ("config", "dotenv", "environ")

    def __init__(self, environ: Mapping[str, str], dotenv: str = "", config: str = "") -> None:
        self.environ = dict(environ)
        self.dotenv = dotenv
        self.config = config

    def __repr__(self) -> str:
        return "HostSettings(...)"


#: Files of this machine: any kind of path will do.
_PATHS = frozenset(("ca_file", "sandboxc"))
#: What values are; texts where nothing is said.
_KINDS: dict[str, type] = {"settings": HostSettings, "debug": bool, "retries": int}


class Client:
    """Settings of one caller. Immutable but for what ``prepare`` finds out."""

    def __init__(self, options: ClientOptions) -> None:
        """Takes the options out of the dict. Raises TypeError for a name that is none, as a function
        does, and InvalidArgumentError for a value of another type; neither shows a value."""
        given = Secret(taken(options))
        wrong = _wrong(given)
        if wrong is not None:
            raise wrong
        known = Secret(_known(given.reveal()))
        del given
        self._given: HostSettings | None = known.reveal().get("settings")
        self._environ: Mapping[str, str] = os.environ if self._given is None else self._given.environ
        self.transport: tuple[str | None, str | None] = (known.reveal().get("proxy"), known.reveal().get("ca_file"))
        self._sandboxc: str | None = known.reveal().get("sandboxc")
        arguments = Secret(_arguments(known))
        encode_given(arguments)  # names the one that cannot be said
        self._document = self._read(arguments.reveal())
        self._base = encode_given(Secret(self._document))
        self.text = self._base
        self.ready = False
        self.local = False
        self.reused = False  #: the local server was found earlier, and may have ended since

    def __repr__(self) -> str:
        return "Client(...)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a sandbox is not pickled, it holds keys: hand on its to_json(), and take it with from_json()")

    def __deepcopy__(self, memo: dict[int, Any]) -> Client:
        return self

    def _read(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if self._given is None:
            from .._host.settings import read_settings

            env, dotenv, config = read_settings(self._environ, None)
        else:
            env, dotenv, config = self._given.environ, self._given.dotenv, self._given.config
        document = {"arguments": arguments, "env": env, "dotenv": dotenv, "config": config}
        return {name: value for name, value in document.items() if value or name == "arguments"}

    def resolved(self) -> Any:
        """The settings as the core resolves them, without secrets. Raises SandboxError."""
        return instant(Secret(frame.mixed(b'{"method":"settings.resolve","client":%b,"params":{}}' % self._base)))

    async def prepare(self, driver: Driver, anew: bool = False) -> None:
        """Resolves the settings; for the local provider, finds the server or starts it."""
        found = self.resolved()
        self.local = bool(found.get("needs_server"))
        _notice(found.get("notice"))
        if self.local:
            async with driver.preparing:
                if anew:
                    _servers.pop(self._base, None)
                known = _servers.get(self._base)
                self.reused = known is not None
                self.text = known or await self._find(driver)
        self.ready = True

    async def _find(self, driver: Driver) -> bytes:
        from .._host.server import find_server

        async def check(state: str) -> dict[str, Any]:
            return await self._check(driver, state)

        try:
            server = Secret(await find_server(check, self._environ, self._sandboxc))
        except BaseException as error:
            # Below, the environment and the server's key are local variables.
            raise error.with_traceback(None) from error.__cause__
        text = encode({**self._document, "server": server})
        if len(_servers) >= _MANY:
            _servers.clear()
        _servers[self._base] = text
        return text

    async def _check(self, driver: Driver, state: str) -> dict[str, Any]:
        from .async_wait import value
        from .operation import Operation

        operation = Operation(driver, self.transport)
        call = b'{"method":"server.check","client":%b,"params":%b}'
        driver.call(operation, frame.mixed(call % (self._base, encode({"state": state}))))
        answer: dict[str, Any] = await value(operation)
        return answer


def _wrong(options: Secret[dict[str, Any]]) -> Exception | None:
    """What is wrong with options, by name."""
    from .._generated.errors import InvalidArgumentError
    from ..options import ClientOptions

    for name, value in options.reveal().items():
        if name not in ClientOptions.__annotations__:
            return TypeError(f"unexpected keyword argument {name!r}")
        if value is None or name in _SECONDS or (name in _PATHS and isinstance(value, os.PathLike)):
            continue
        kind = _KINDS.get(name, str)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            return InvalidArgumentError(f"{name} must be a {kind.__name__}, not {type(value).__name__}", option=name)
    return None


def _known(options: dict[str, Any]) -> dict[str, Any]:
    """Those that are set; paths are text."""
    known = {name: value for name, value in options.items() if value is not None}
    known.update({name: os.fspath(known[name]) for name in _PATHS if name in known})
    return known


def _arguments(options: Secret[dict[str, Any]]) -> dict[str, Any]:
    from .._generated.convert import write_seconds

    arguments = {name: Secret(value) for name, value in options.reveal().items() if name not in _OWN}
    for name, wire in _SECONDS.items():
        if name in arguments:
            arguments[wire] = Secret(write_seconds(name, arguments.pop(name).reveal()))
    return {name: value.reveal() for name, value in arguments.items()}


#: Local servers found by this process, by the settings that asked. Losing one costs a look.
_servers: dict[bytes, bytes] = {}
_MANY = 64

_told: set[str] = set()
_telling = threading.Lock()


def _notice(line: str | None) -> None:
    """Says once which provider was taken when nobody chose one."""
    if not line:
        return
    with _telling:
        if line in _told:
            return
        _told.add(line)
    print(line, file=sys.stderr)
