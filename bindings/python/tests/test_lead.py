"""Blocking calls are served by the thread that waits for them, as long as nothing speaks against it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agent_sandbox._engine.background import background
from agent_sandbox._engine.driver import Driver
from agent_sandbox.sync import Sandbox


@pytest.fixture
def sandbox(options: dict[str, Any]) -> Iterator[Sandbox]:
    with Sandbox.create("base", **options) as made:
        yield made


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The threads that hand out what the core gives to the background loop."""
    threads: set[int] = set()
    deliver = Driver.deliver

    def noted(driver: Driver) -> None:
        if driver is background().driver:
            threads.add(threading.get_ident())
        deliver(driver)

    monkeypatch.setattr(Driver, "deliver", noted)
    return threads


def at_rest() -> None:
    """Waits until nobody runs the loop."""
    for _ in range(1000):
        if not background().loop.is_running():
            return
        time.sleep(0.01)
    raise AssertionError("the loop is never left alone")


CALLS: dict[str, Callable[[Sandbox], object]] = {
    "a command": lambda s: s.commands.run("echo a"),
    "a call": lambda s: s.files.exists("/"),
    "bytes of a file": lambda s: (s.files.write("f", b"x" * 300_000), s.files.read("f", "bytes")),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_waiting_thread_serves(sandbox: Sandbox, served: set[int], name: str) -> None:
    at_rest()
    CALLS[name](sandbox)
    assert served == {threading.get_ident()}


@pytest.mark.parametrize("name", CALLS)
def test_any_thread_may_serve(sandbox: Sandbox, served: set[int], name: str) -> None:
    at_rest()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(CALLS[name], sandbox).result()
        (thread,) = pool._threads
        assert served == {thread.ident}


def test_others_are_served_while_it_does_and_after_it_has_left(sandbox: Sandbox) -> None:
    at_rest()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(sandbox.commands.run, "sleep 0.6; echo a")
        time.sleep(0.2)
        during = pool.submit(sandbox.commands.run, "echo b")
        assert during.result(30).stdout == "b\n"
        assert not first.done()
        after = pool.submit(sandbox.commands.run, "sleep 1; echo c")
        assert first.result(30).stdout == "a\n"
        assert after.result(30).stdout == "c\n"


def test_what_is_followed_lives_on_without_a_caller(sandbox: Sandbox) -> None:
    handle = sandbox.commands.run("cat", background=True, stdin=True)
    for _ in range(3):
        assert sandbox.commands.run("echo a").stdout == "a\n"
    handle.send_stdin("b")
    handle.close_stdin()
    assert handle.wait().stdout == "b"


def test_a_handler_of_the_programs_own_may_call(sandbox: Sandbox) -> None:
    inner: list[str] = []

    def handler(number: int, frame: object) -> None:
        inner.append(sandbox.commands.run("echo inner").stdout)

    at_rest()
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        assert sandbox.commands.run("sleep 0.8; echo outer").stdout == "outer\n"
    finally:
        signal.signal(signal.SIGALRM, before)
    assert inner == ["inner\n"]


@pytest.mark.parametrize("number", [signal.SIGALRM, signal.SIGINT])
def test_a_handler_of_the_programs_own_may_raise(sandbox: Sandbox, number: signal.Signals) -> None:
    def handler(number: int, frame: object) -> None:
        raise ValueError("mine")

    before = signal.signal(number, handler)
    timer = threading.Timer(0.3, signal.pthread_kill, (threading.get_ident(), number))
    try:
        timer.start()
        with pytest.raises(ValueError, match="mine"):
            sandbox.commands.run("sleep 100")
    finally:
        timer.join()
        signal.signal(number, before)
    assert sandbox.commands.run("echo b").stdout == "b\n"


def test_an_interrupt_leaves_the_handler_as_it_was(sandbox: Sandbox) -> None:
    at_rest()
    timer = threading.Timer(0.3, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sandbox.commands.run("sleep 100")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert sandbox.commands.run("echo b").stdout == "b\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
