"""Ends of the interpreter, at a bad moment."""

from __future__ import annotations

import pytest

from . import exits
from .test_loops import Run

CLEAN = {
    "while a background command runs": "h = sandbox.commands.run('sleep 5', background=True); h.kill()",
    "while one nobody waits for runs": "sandbox.commands.run('sleep 0.5', background=True)",
    "with handles of both twins": (
        "h = sandbox.commands.run('sleep 0.5', background=True)\n"
        "async def main():\n    global g\n    g = await aio.commands.run('sleep 0.5', background=True)\n"
        "asyncio.run(main())"
    ),
    "from a thread that is no daemon": (
        "threading.Thread(target=lambda: asyncio.run(aio.commands.run('sleep 0.2'))).start()"
    ),
    "while daemons run commands": (
        "def busy():\n    while True: sandbox.commands.run('true')\n"
        "for _ in range(3): threading.Thread(target=busy, daemon=True).start()\n"
        "time.sleep(0.5)"
    ),
    "in a cycle of references": (
        "class A: pass\na = A(); a.a = a; a.s = sandbox; sandbox.commands.run('true'); a.h = sandbox.commands"
    ),
    "with a stream that was not read": (
        "h = sandbox.commands.run('for i in 1 2 3; do echo $i; done', background=True)\nnext(iter(h))"
    ),
    "with a core that outlives wasmtime's modules": (
        "from agent_sandbox._engine.artifact import load\nfrom agent_sandbox._engine.instance import Instance\n"
        "sys._kept = load(compile=True)\nsys._machine = Instance(*sys._kept)"
    ),
    "after a fork": (
        "import warnings\nwarnings.simplefilter('ignore')\n"  # Python warns of forks beside threads
        "sandbox.commands.run('true')\nif os.fork(): os.wait()\n"
    ),
}


@pytest.mark.parametrize("name", CLEAN)
def test_the_interpreter_ends_cleanly(program: Run, name: str) -> None:
    program(CLEAN[name])


@pytest.mark.parametrize("end", ["sys.exit(7)", "raise SystemExit(7)", "os._exit(7)"])
def test_a_program_that_leaves_from_inside_a_callback(program: Run, end: str) -> None:
    code = f"""
def leave(text):
    sandbox.commands.kill(pid) if "_exit" in {end!r} else None
    {end}
h = sandbox.commands.run("exec sleep 1236", background=True)
pid = h.pid
h.kill()
sandbox.commands.run("echo a; exec sleep 1", on_stdout=leave)
"""
    program(code, status=7)


@pytest.mark.parametrize(
    "work",
    [
        'sandbox.commands.run("exec sleep 1237")',
        'asyncio.run(aio.commands.run("exec sleep 1237"))',
        'asyncio.run(asyncio.wait_for(aio.commands.run("exec sleep 1237"), 50))',
    ],
    ids=["blocking", "asyncio", "asyncio under a clock"],
)
def test_an_interrupt_ends_the_program_and_the_command(program: Run, work: str) -> None:
    code = f"""
import threading
async def wrap(awaitable): return await awaitable
_run = asyncio.run
asyncio.run = lambda awaitable: _run(wrap(awaitable))
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
began = time.monotonic()
try:
    {work}
except KeyboardInterrupt:
    assert time.monotonic() - began < 20
else:
    raise AssertionError
for _ in range(100):
    if not any("sleep 1237" in str(p) for p in sandbox.commands.list()):
        break
    time.sleep(0.05)
else:
    raise AssertionError
"""
    program(code)


def test_an_error_that_nobody_catches(program: Run) -> None:
    code = """
async def main():
    await aio.commands.run("true")
    task = asyncio.create_task(aio.commands.run("exec sleep 1238"))
    await asyncio.sleep(0.2)
    raise ValueError("mine")
try:
    asyncio.run(main())
except ValueError:
    pass
assert not any("sleep 1238" in str(p) for p in sandbox.commands.list())
"""
    program(code)


def test_fresh_processes(core: object, server: dict[str, object]) -> None:
    """Here fewer of them; scripts/python-exits does a thousand."""
    assert exits.run(server, count=100, at_once=2) == []
