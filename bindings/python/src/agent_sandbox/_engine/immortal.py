"""Objects of wasmtime that the interpreter never frees."""

from __future__ import annotations

import ctypes
from typing import TypeVar

T = TypeVar("T")


def immortal(thing: T) -> T:
    """Keeps it for as long as the process lives. Such objects free themselves through wasmtime's modules, of
    which nothing may be left when the interpreter ends: then they would tell so on stderr. What is big
    is freed by close().
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    return thing
