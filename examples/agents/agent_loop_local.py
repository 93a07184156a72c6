"""The loop of a coding agent on this machine: no account, no model.

A model answers with actions; `scripted_model` plays its part here. Put a real one in its place: it gets
the task and what has happened so far, and gives the next action.
"""

import json
from collections.abc import Iterator
from typing import Any

from agent_sandbox import SandboxError
from agent_sandbox.sync import Sandbox

PROGRAM = "print(sum(n for n in range(1, 101) if n % 3 == 0))\n"


def scripted_model(task: str) -> Iterator[dict[str, Any]]:
    """What a model would answer, step by step."""
    yield {"tool": "run", "command": "python3 --version"}
    yield {"tool": "write", "path": "work/solve.py", "data": PROGRAM}
    yield {"tool": "run", "command": "python3 work/missing.py"}
    yield {"tool": "run", "command": "python3 work/solve.py | tee work/answer.txt"}
    yield {"tool": "read", "path": "work/answer.txt"}
    yield {"tool": "finish"}


def act(sandbox: Sandbox, action: dict[str, Any]) -> dict[str, Any]:
    """Does what the model asks. Whatever goes wrong is something for it to read, too."""
    try:
        if action["tool"] == "run":
            result = sandbox.commands.run(action["command"], cwd="/home/user", timeout=20)
            return {"exit_code": result.exit_code, "stdout": result.stdout[-2000:], "stderr": result.stderr[-2000:]}
        if action["tool"] == "write":
            return {"written": sandbox.files.write(action["path"], action["data"]).path}
        return {"content": sandbox.files.read(action["path"])}
    except SandboxError as error:
        return {"error": str(error)}


def main() -> None:
    task = "What is the sum of the multiples of three up to 100?"
    seen: dict[str, Any] = {}
    with Sandbox.create(template="python-base", allow_internet_access=False, timeout=300) as sandbox:
        for step, action in enumerate(scripted_model(task), 1):
            if action["tool"] == "finish":
                break
            seen = act(sandbox, action)
            print(step, action["tool"], json.dumps(seen)[:120])
    print("answer:", seen["content"].strip())


main()
