"""Fresh processes that import, run one command and end: every one of them cleanly."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_SYNC = """
import json, sys
given = json.load(sys.stdin)
from agent_sandbox import HostSettings
from agent_sandbox.sync import Sandbox
sandbox = Sandbox.from_json(given["handle"], settings=HostSettings({}), **given["options"])
print(sandbox.commands.run("echo done").stdout, end="")
"""

_ASYNC = """
import asyncio, json, sys
given = json.load(sys.stdin)
from agent_sandbox import HostSettings, Sandbox
async def main():
    sandbox = Sandbox.from_json(given["handle"], settings=HostSettings({}), **given["options"])
    print((await sandbox.commands.run("echo done")).stdout, end="")
asyncio.run(main())
"""


def run(server: dict[str, Any], *, count: int, at_once: int) -> list[str]:
    """Runs so many processes, half of them blocking; gives what went wrong."""
    from agent_sandbox import HostSettings
    from agent_sandbox.sync import Sandbox

    options = {
        "provider": "local",
        "api_key": server["api_key"],
        "api_url": server["url"],
        "sandbox_url": server["sandbox_url"],
        "proxy": "direct",
    }
    with Sandbox.create("base", timeout=3600, **options, settings=HostSettings({})) as sandbox:
        given = json.dumps({"options": options, "handle": sandbox.to_json()})
        with ThreadPoolExecutor(at_once) as pool:
            ended = list(pool.map(lambda n: _one(_ASYNC if n % 2 else _SYNC, given), range(count)))
    return [what for what in ended if what]


def _one(code: str, given: str) -> str:
    kind = "async" if code is _ASYNC else "sync"
    try:
        ended = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return f"{kind}: no end"
    if (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", ""):
        return ""
    return f"{kind}: status {ended.returncode}, {ended.stdout!r}, {ended.stderr[-300:]!r}"


def main() -> int:
    """Reads the state of a server on stdin; the arguments are count and how many at once."""
    server = json.load(sys.stdin)
    count, at_once = int(sys.argv[1]), int(sys.argv[2])
    failures = run(server, count=count, at_once=at_once)
    for failure in failures[:20]:
        print(failure)
    print(f"{count - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
