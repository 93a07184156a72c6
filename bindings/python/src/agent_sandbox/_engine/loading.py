"""Modules that calls need, imported together at the first one.

A child of a fork waits for ever for a module that another thread of its parent was
importing just then. So everything that an ordinary call needs is imported in one
place, and a fork waits until that is done.
"""

from __future__ import annotations

import os
import threading
from importlib import import_module

#: What is imported only inside functions, elsewhere.
_LATE = (
    "._engine.artifact",
    "._engine.async_wait",
    "._engine.content",
    "._engine.creation",
    "._engine.undertaker",
    "._generated.convert",
    "._generated.errors",
    "._host.http",
    "._host.server",
    "._host.settings",
    "._host.upload",
    ".result",
)

_importing = threading.RLock()
_loaded = False


def load() -> None:
    """Imports what calls need. It is quick when that is done already."""
    global _loaded
    if not _loaded:
        with _importing:  # a second thread finds that there is nothing left to do
            _import()
            _loaded = True


def _import() -> None:
    package = __package__.rpartition(".")[0]
    for name in _LATE:
        import_module(name, package)
    from .._host.dial import response_parser
    from .engine import engine
    from .machine import has_wasmtime

    if has_wasmtime():
        import_module("._engine.instance", package)
    response_parser()
    engine().loaded()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_importing.acquire,
        after_in_parent=_importing.release,
        after_in_child=_importing.release,
    )
