"""The exceptions, by E2B's names.

What is raised is of two classes: E2B's, and this package's own, so that ``except TimeoutException`` and
``except agent_sandbox.CommandTimeoutError`` both see it, and ``code``, ``suggestion`` and the like are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from .._generated.errors import SandboxError
from .result import CommandResult

__all__ = [
    "AuthenticationException",
    "BuildException",
    "CommandExitException",
    "FileNotFoundException",
    "FileUploadException",
    "GitAuthException",
    "GitUpstreamException",
    "GuestUnresponsiveException",
    "InvalidArgumentException",
    "NotEnoughSpaceException",
    "NotFoundException",
    "RateLimitException",
    "SandboxException",
    "SandboxNotFoundException",
    "SandboxNotRunningException",
    "SandboxUnreachableException",
    "SecretException",
    "SecretNotFoundException",
    "ServiceBusyException",
    "TemplateException",
    "TimeoutException",
    "VolumeException",
    "VolumeNotFoundException",
    "VolumePathNotFoundException",
]


class _Exception(SandboxError):
    def __init__(self, *args: Any, status_code: int | None = None) -> None:
        super().__init__(str(args[0]) if args else "", status=status_code)
        self.args = args

    @property
    def status_code(self) -> int | None:
        """HTTP status of the answer, if there was one."""
        return self.status

    def __str__(self) -> str:
        return super().__str__() if "code" in self.__dict__ else self.message


class SandboxException(_Exception):
    """The class of most of them."""


class TimeoutException(SandboxException):
    """A command, a request or the sandbox itself ran out of time."""


class InvalidArgumentException(SandboxException):
    """A bad argument."""


class NotEnoughSpaceException(SandboxException):
    """The disk is full."""


class NotFoundException(SandboxException):
    """Something does not exist."""


class FileNotFoundException(NotFoundException):
    """A path does not exist."""


class SandboxNotFoundException(NotFoundException):
    """There is no such sandbox."""


class SandboxNotRunningException(TimeoutException):
    """The sandbox that was used is gone: killed, paused, or at the end of its life."""


class SandboxUnreachableException(TimeoutException):
    """The connection to the sandbox was lost, and nobody knows what became of it."""


class TemplateException(SandboxException):
    """The template cannot be used."""


class RateLimitException(SandboxException):
    """Too many requests."""


class AuthenticationException(_Exception):
    """The key is missing or refused. Like E2B's it is no SandboxException."""


class ServiceBusyException(_Exception):
    """The service cannot answer now. Like E2B's it is no SandboxException."""


class BuildException(_Exception):
    """A template could not be built. Like E2B's it is no SandboxException."""


class FileUploadException(BuildException):
    """Nothing raises it: it may be named."""


class GitAuthException(AuthenticationException):
    """Nothing raises it: it may be named."""


class GitUpstreamException(SandboxException):
    """Nothing raises it: it may be named."""


class GuestUnresponsiveException(SandboxException):
    """Nothing raises it: it may be named."""


class SecretException(_Exception):
    """Nothing raises it: it may be named."""


class SecretNotFoundException(SecretException):
    """Nothing raises it: it may be named."""


class VolumeException(_Exception):
    """Nothing raises it: it may be named."""


class VolumeNotFoundException(NotFoundException):
    """Nothing raises it: it may be named."""


class VolumePathNotFoundException(NotFoundException):
    """Nothing raises it: it may be named."""


class CommandExitException(SandboxException, CommandResult):
    """A command that did not exit with 0."""

    def __init__(self, stderr: str | None, stdout: str | None, exit_code: int, error: str | None = None) -> None:
        CommandResult.__init__(self, stderr, stdout, exit_code, error)
        words = f"Command exited with code {exit_code}"
        SandboxException.__init__(self, words if stderr is None else f"{words} and error:\n{stderr}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.stderr, self.stdout, self.exit_code, self.error)


#: By code. What is not here is SandboxException.
_BY_CODE: dict[str, type[_Exception]] = {
    "E1000": AuthenticationException,
    "E1001": AuthenticationException,
    "E1002": AuthenticationException,
    "E1003": AuthenticationException,
    "E1004": AuthenticationException,
    "E2001": TemplateException,
    "E2005": SandboxNotFoundException,
    "E2006": SandboxNotRunningException,
    "E3001": TimeoutException,
    "E3005": SandboxUnreachableException,
    "E4001": FileNotFoundException,
    "E4003": InvalidArgumentException,
    "E4004": NotEnoughSpaceException,
    "E5002": TimeoutException,
    "E5003": RateLimitException,
    "E7010": BuildException,
    "E7011": BuildException,
    "E8000": InvalidArgumentException,
}
#: Inside a sandbox a request that finds it gone says something else than the account does.
_INSIDE: dict[str, type[_Exception]] = {"E2005": SandboxNotRunningException}
#: Of what was named by a pid.
_PROCESS: dict[str, type[_Exception]] = {**_INSIDE, "E3000": NotFoundException}


@contextmanager
def of_account() -> Iterator[None]:
    """Gives errors of the account E2B's classes."""
    with _renamed({}):
        yield


@contextmanager
def of_sandbox() -> Iterator[None]:
    """Gives errors of what is done in a sandbox E2B's classes."""
    with _renamed(_INSIDE):
        yield


@contextmanager
def of_process() -> Iterator[None]:
    """The same, where a missing process is an error."""
    with _renamed(_PROCESS):
        yield


@contextmanager
def _renamed(special: dict[str, type[_Exception]]) -> Iterator[None]:
    try:
        yield
    except SandboxError as error:
        rename(error, special)
        raise


def rename(error: SandboxError, special: dict[str, type[_Exception]] | None = None) -> SandboxError:
    """Makes an error one of E2B's classes too. The object and its traceback stay."""
    if not isinstance(error, _Exception):
        named = _named(error, special or {})
        error.code = error.code  # the class that held it is no longer the first
        error.__class__ = _both(named, type(error))  # type: ignore[arg-type]
    return error


def _named(error: SandboxError, special: dict[str, type[_Exception]]) -> type[_Exception]:
    if error.status == 503:
        return ServiceBusyException
    if error.clock:
        return TimeoutException
    if error.code == "E3003" and error.status == 404:
        return NotFoundException  # a context that is gone
    if error.code == "E3000" and error.status not in (None, 200, 404):
        return SandboxException  # the process is there, and will not
    return special.get(error.code) or _BY_CODE.get(error.code, SandboxException)


@cache
def _both(named: type[_Exception], own: type[SandboxError]) -> type[SandboxError]:
    """A class of its own for each pair: both are its bases."""
    return type(named.__name__, (named, own), {"__module__": named.__module__, "__reduce__": _reduce})


def _reduce(error: SandboxError) -> tuple[Any, ...]:
    named, own = type(error).__bases__
    return _again, (named, own, error.__dict__)


def _again(named: type[_Exception], own: type[SandboxError], values: dict[str, Any]) -> SandboxError:
    both = _both(named, own)  # type: ignore[arg-type]
    error = both.__new__(both, values["message"])
    error.__dict__.update(values)
    return error


def unsupported(what: str) -> SandboxError:
    """The error of what E2B has and this package has not."""
    from .._generated.errors import CapabilityNotSupportedError

    error = CapabilityNotSupportedError(f"not supported here: {what}", docs="e2b.md")
    return rename(error)
