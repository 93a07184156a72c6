"""The program `sandboxc`, which runs sandboxes on this machine."""

import os
import sys

__all__ = ["binary"]


def binary() -> str:
    """Gives the absolute path of the program.

    Raises FileNotFoundError where the package holds none.
    """
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sandboxc")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"agent-sandbox-local holds no program for this machine: {path}")
    return path


def main() -> None:
    """Becomes the program: the command `sandboxc`."""
    path = binary()
    os.execv(path, [path, *sys.argv[1:]])
