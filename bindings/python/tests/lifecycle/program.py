"""A fresh Python process that uses a sandbox which exists."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

_BEGIN = """
import asyncio, json, logging, os, signal, sys, threading, time
logging.getLogger("asyncio").setLevel("ERROR")  # a busy machine is slow
given = json.load(sys.stdin)
from agent_sandbox import HostSettings, Sandbox as _Async
from agent_sandbox.sync import Sandbox as _Sync
_options = given["options"] | {"settings": HostSettings({})}
sandbox = _Sync.from_json(given["handle"], **_options)
aio = _Async.from_json(given["handle"], **_options)
"""


class Program:
    """Runs code in a new interpreter."""

    def __init__(self, options: dict[str, Any], handle: str) -> None:
        self._input = json.dumps({"options": options, "handle": handle})

    def run(self, code: str, *, seconds: float = 60, status: int = 0, quiet: bool = True) -> str:
        """Gives what it printed. With ``quiet`` it may say nothing on stderr."""
        command = [sys.executable, "-W", "default", "-X", "dev", "-c", _BEGIN + code]
        ended = subprocess.run(command, input=self._input, capture_output=True, text=True, timeout=seconds)
        assert ended.returncode == status, (ended.returncode, ended.stderr[-3000:])
        assert not quiet or ended.stderr == "", ended.stderr[-3000:]
        return ended.stdout
