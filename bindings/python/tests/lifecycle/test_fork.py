"""Forks, while anything else is going on."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable

import pytest

Run = Callable[..., str]

# Forking beside threads is what is tried here: Python warns of it since 3.12.
_CHILD = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)

def child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(1)
        os._exit(0)
    return pid

def wait(*pids):
    for pid in pids:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

def blocking():
    assert sandbox.commands.run("echo a").stdout == "a\\n"

async def one():
    assert (await aio.commands.run("echo a")).stdout == "a\\n"

def asynchronous():
    asyncio.run(one())
"""


@pytest.mark.parametrize("first", ["blocking", "asynchronous", "len"])
def test_children_of_a_parent_that(program: Run, first: str) -> None:
    """Has used one twin, the other, or none of them."""
    code = """
first = {first}
first() if first is not len else None
wait(child(blocking), child(asynchronous), child(lambda: (blocking(), asynchronous(), blocking())))
blocking(); asynchronous()
wait(child(blocking), child(asynchronous))
"""
    program(_CHILD + code.replace("{first}", first))


def test_generations(program: Run) -> None:
    code = """
def generation(n):
    blocking()
    asynchronous()
    if n:
        wait(child(lambda: generation(n - 1)))
    blocking()
generation(4)
"""
    program(_CHILD + code)


def test_forks_while_threads_are_inside_the_core(program: Run) -> None:
    code = """
stop = False
def busy(work):
    while not stop:
        work()
threads = [threading.Thread(target=busy, args=(w,)) for w in (blocking, asynchronous, blocking)]
for t in threads: t.start()
for _ in range(10):
    wait(child(blocking), child(asynchronous))
stop = True
for t in threads: t.join()
"""
    program(_CHILD + code)


def test_a_fork_inside_a_running_loop(program: Run) -> None:
    code = """
async def main():
    task = asyncio.create_task(aio.commands.run("sleep 0.5; echo b"))
    await asyncio.sleep(0.1)
    pids = [child(blocking) for _ in range(3)]
    await one()
    assert (await task).stdout == "b\\n"
    for pid in pids:
        await asyncio.to_thread(wait, pid)
asyncio.run(main())
"""
    program(_CHILD + code)


def test_a_child_that_ends_by_itself_leaves_the_parent_alone(program: Run) -> None:
    """It runs the exit handlers that it has inherited."""
    code = """
import io
handle = sandbox.commands.run("cat", background=True, stdin=True)
pid = os.fork()
if pid == 0:
    blocking()
    sys.exit(0)
wait(pid)
handle.send_stdin("alive")
handle.close_stdin()
assert handle.wait().stdout == "alive"
"""
    program(_CHILD + code)


@pytest.mark.parametrize("method", sorted(set(multiprocessing.get_all_start_methods())))
def test_a_pool_of_processes(program: Run, method: str, tmp_path: object) -> None:
    if method != "fork":
        pytest.skip("starts fresh interpreters, which the other tests do")
    code = """
import multiprocessing
def work(n):
    return sandbox.commands.run(f"echo {n}").stdout + asyncio.run(aio.commands.run(f"echo {n}")).stdout
blocking()
with multiprocessing.get_context("fork").Pool(3) as pool:
    assert pool.map(work, range(20)) == [f"{n}\\n{n}\\n" for n in range(20)]
"""
    program(_CHILD + code)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="fork is no default there")
def test_an_executor_of_processes(program: Run) -> None:
    code = """
from concurrent.futures import ProcessPoolExecutor
import multiprocessing
def work(n):
    return sandbox.commands.run(f"echo {n}").stdout
async def main():
    await one()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        loop = asyncio.get_running_loop()
        got = await asyncio.gather(*(loop.run_in_executor(pool, work, n) for n in range(10)))
    assert got == [f"{n}\\n" for n in range(10)]
asyncio.run(main())
"""
    program(_CHILD + code)


def test_nothing_is_imported_late(program: Run) -> None:
    """A child waits for ever for what another thread was importing as it was made, so
    ordinary calls import everything at their beginning, where forks wait.
    """
    code = """
from agent_sandbox._engine.loading import load
load()
before = set(sys.modules)
async def main():
    await aio.commands.run("true")
    await aio.files.write("/tmp/late", b"x")
    await aio.files.read("/tmp/late", format="bytes")
    await (await aio.commands.run("true", background=True)).wait()
asyncio.run(main())
sandbox.commands.run("true")
sandbox.files.write("/tmp/late", "x")
sandbox.files.read("/tmp/late")
sandbox.commands.run("true", background=True).wait()
late = {m for m in set(sys.modules) - before if m.startswith(("agent_sandbox", "wasmtime", "httptools"))}
assert not late, late
"""
    program(code)
