"""Event loops that come and go, and threads that do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

_TOOLS = """
def descriptors():
    return len(os.listdir("/proc/self/fd"))
async def one(n=0):
    assert (await aio.commands.run(f"echo {n}")).stdout == f"{n}\\n"
"""


def test_a_hundred_loops_one_after_the_other(program: Run) -> None:
    code = """
def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) >> 8
asyncio.run(one()); before = descriptors()
for n in range(30):
    asyncio.run(one(n))
warm = resident()
for n in range(100):
    asyncio.run(one(n))
assert descriptors() <= before + 1, (before, descriptors())
assert resident() <= warm + 10, (warm, resident())
"""
    program(_TOOLS + code)


def test_loops_in_many_threads(program: Run) -> None:
    code = """
failures = []
async def several():
    await asyncio.gather(*(one(n) for n in range(4)))
def work():
    try:
        for _ in range(8):
            asyncio.run(several())
            assert sandbox.commands.run("echo b").stdout == "b\\n"
    except BaseException as error:
        failures.append(repr(error))
threads = [threading.Thread(target=work) for _ in range(6)]
for t in threads: t.start()
for t in threads: t.join()
assert not failures, failures
"""
    program(_TOOLS + code)


def test_loops_that_are_closed_without_a_word(program: Run) -> None:
    """Neither tasks nor generators of it were ended."""
    code = """
import gc
for n in range(20):
    loop = asyncio.new_event_loop()
    loop.run_until_complete(one(n))
    loop.close()
async def main():
    await one()
asyncio.run(main())
del loop
gc.collect()
assert descriptors() < 20
"""
    program(_TOOLS + code)


MIDDLE = {
    "a command runs": "aio.commands.run('exec sleep 1240')",
    "a command has said something": "aio.commands.run('echo a; exec sleep 1240', on_stdout=lambda _: None)",
    "a callback is awaited": "aio.commands.run('echo a; exec sleep 1240', on_stdout=lambda _: asyncio.sleep(100))",
    "a handle is waited for": "wait('exec sleep 1241')",
    "a file is sent": "aio.files.write('f', pieces())",
    "input is sent": "aio.commands.stream_stdin(pid, pieces())",
    "a stream is read": "stream()",
    "a directory is watched": "watch()",
    "connections are made": "asyncio.gather(*(aio.commands.run('exec sleep 1240') for _ in range(30)))",
}


@pytest.mark.parametrize("delay", [0, 0.001, 0.3])
@pytest.mark.parametrize("name", MIDDLE)
def test_a_loop_that_is_closed_while(program: Run, name: str, delay: float) -> None:
    """Nothing complains, no socket stays open, and the remote side is told."""
    code = f"""
import gc
async def pieces():
    while True:
        yield b"a" * 1000
        await asyncio.sleep(0.01)
async def wait(command):
    await (await aio.commands.run(command, background=True, on_stdout=print)).wait()
async def stream():
    async for piece in await aio.files.read("/tmp/big", "stream"):
        await asyncio.sleep(0.01)
async def watch():
    async for event in await aio.files.watch_dir("/tmp"):
        pass
sandbox.commands.run("truncate -s 1G /tmp/big")
cat = sandbox.commands.run("exec cat", background=True, stdin=True)
pid = cat.pid
gc.collect()
before = descriptors()
async def middle():
    await {MIDDLE[name]}
loop = asyncio.new_event_loop()
task = loop.create_task(middle())
loop.run_until_complete(asyncio.sleep({delay}))
mine = None
for mine in asyncio.all_tasks(loop):
    mine._log_destroy_pending = "middle" not in repr(mine) and "run" not in repr(mine)
loop.close()
del loop, task, mine
gc.collect()
for _ in range(200):
    if not any("sleep 1240" in str(p) for p in sandbox.commands.list()):
        break
    time.sleep(0.05)
else:
    raise AssertionError(sandbox.commands.list())
for p in sandbox.commands.list():
    sandbox.commands.kill(p.pid)  # what ran in the background was only left
from agent_sandbox._engine.engine import engine
for _ in range(200):
    if not engine()._targets:
        break
    time.sleep(0.05)
else:
    raise AssertionError(engine()._targets)
assert descriptors() <= before + 40, (before, descriptors())
"""
    program(_TOOLS + code)


def test_a_loop_that_stops_while_a_command_runs(program: Run) -> None:
    code = """
for n in range(5):
    loop = asyncio.new_event_loop()
    task = loop.create_task(aio.commands.run("sleep 0.2; echo a"))
    loop.call_later(0.05, loop.stop)
    loop.run_forever()
    assert not task.done()
    assert loop.run_until_complete(task).stdout == "a\\n"
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
"""
    program(_TOOLS + code)


def test_a_runner_that_is_used_again(program: Run) -> None:
    code = """
if sys.version_info >= (3, 11):
    with asyncio.Runner() as runner:
        for n in range(5):
            runner.run(one(n))
"""
    program(_TOOLS + code)


def test_the_blocking_twin_inside_a_loop(program: Run) -> None:
    code = """
async def main():
    for _ in range(3):
        assert sandbox.commands.run("echo a").stdout == "a\\n"
        await one()
        assert (await asyncio.to_thread(sandbox.commands.run, "echo b")).stdout == "b\\n"
asyncio.run(main())
"""
    program(_TOOLS + code)


@pytest.mark.parametrize("way", ["await asyncio.wait_for(run, 0.2)", "async with asyncio.timeout(0.2): await run"])
def test_a_clock_of_asyncio_ends_the_command(program: Run, way: str) -> None:
    code = f"""
if sys.version_info < (3, 11) and "timeout(" in {way!r}:
    sys.exit(0)
async def main():
    run = aio.commands.run("exec sleep 1234")
    try:
        {way}
    except (TimeoutError, asyncio.TimeoutError):
        pass
    else:
        raise AssertionError
    for _ in range(100):
        if not any("sleep 1234" in str(p) for p in await aio.commands.list()):
            return
        await asyncio.sleep(0.05)
    raise AssertionError
asyncio.run(main())
"""
    program(_TOOLS + code)


def test_a_group_of_tasks_of_which_one_fails(program: Run) -> None:
    code = """
async def fail():
    await asyncio.sleep(0.3)
    raise ValueError
async def main():
    async with asyncio.TaskGroup() as group:
        for _ in range(10):
            group.create_task(aio.commands.run("exec sleep 1235"))
        group.create_task(fail())
if sys.version_info >= (3, 11):
    try:
        asyncio.run(main())
    except ExceptionGroup as group:
        assert [type(e) for e in group.exceptions] == [ValueError]
    assert not any("sleep 1235" in str(p) for p in sandbox.commands.list())
"""
    program(_TOOLS + code)


def test_hundreds_of_commands_leave_no_descriptor(program: Run) -> None:
    code = """
async def main():
    await asyncio.gather(*(one(n) for n in range(50)))
    before = descriptors()
    for _ in range(6):
        await asyncio.gather(*(one(n) for n in range(50)))
    assert descriptors() <= before + 50, (before, descriptors())
asyncio.run(main())
left = descriptors()
asyncio.run(main())
assert descriptors() <= left, (left, descriptors())
"""
    program(_TOOLS + code)
