"""What the core resolves settings from: variables, .env and config.toml."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from .._generated.errors import InvalidArgumentError
from .._generated.variables import VARIABLES

_LONGEST = (1 << 20) + 1  # of a settings file; the core says so when it is longer


def read_settings(environ: Mapping[str, str], directory: str | None) -> tuple[dict[str, str], str, str]:
    """The variables that the core reads and that are set, the text of ``.env`` in a
    directory (None: the working directory), and the text of config.toml. A file that
    is not there, or may not be read, is empty. Raises InvalidArgumentError.
    """
    env = {name: environ[name] for name in VARIABLES if environ.get(name)}
    dotenv = _read(os.path.join(directory, ".env") if directory else ".env")
    config = _read(os.path.join(config_directory(environ), "config.toml"))
    return env, dotenv, config


def config_directory(environ: Mapping[str, str]) -> str:
    """Where config.toml is: agent-sandbox in $XDG_CONFIG_HOME, else in ~/.config."""
    base = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".config")
    return os.path.join(base, "agent-sandbox")


def _read(path: str) -> str:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait
            return ""
        with open(path, "rb") as file:
            return file.read(_LONGEST).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ""
    except OSError as error:
        raise InvalidArgumentError(f"{path} cannot be read", cause=error.strerror) from None
