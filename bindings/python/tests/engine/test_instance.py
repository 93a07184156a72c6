from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_sandbox._engine import call, frame
from agent_sandbox._engine.instance import Instance
from agent_sandbox._engine.json import decode, encode
from agent_sandbox._engine.machine import MachineDied, quick, slow


@pytest.fixture
def instance(core: Path) -> Iterator[Instance]:
    machine = (quick() or slow())()
    assert isinstance(machine, Instance)
    yield machine
    machine.close()


def ask(instance: Instance, op: int, method: str, params: dict[str, Any] | None = None) -> list[tuple[int, Any]]:
    payload = frame.mixed(encode({"method": method, "client": {"arguments": {}}, "params": params or {}}))
    parts = [frame.header(op, 0, frame.CALL, len(payload)), payload, frame.padding(len(payload))]
    return [(kind, decode(p)) for o, _, kind, p in instance.run(parts, sum(map(len, parts))) if o == op]


def test_a_call_is_answered(instance: Instance) -> None:
    (kind, found), (done, _) = ask(instance, 1, "settings.resolve")
    assert (kind, done) == (frame.RESULT, frame.DONE)
    assert found["provider"] == "local"


def test_the_quick_way_into_wasmtime_is_the_public_one(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    """When this fails, wasmtime has changed inside: call.py falls back to its public API by itself."""
    assert instance._run.__name__ == "hot"
    monkeypatch.setattr(call, "_hot_call", lambda *a: (_ for _ in ()).throw(AttributeError))
    monkeypatch.setattr(call, "_hot_size", lambda *a: (_ for _ in ()).throw(AttributeError))
    monkeypatch.setattr(call, "_hot_import", lambda *a: (_ for _ in ()).throw(AttributeError))
    other = (quick() or slow())()
    assert isinstance(other, Instance)
    assert other._run.__name__ != "hot"
    assert ask(other, 1, "settings.resolve") == ask(instance, 1, "settings.resolve")
    assert other.memory_size() > 0
    other.close()


def test_memory_that_has_grown_is_read_where_it_is_now(instance: Instance) -> None:
    before = instance.memory_size()
    big = "x" * (8 << 20)
    (kind, found), _ = ask(instance, 1, big)
    assert kind == frame.ERROR and "no method" in found["message"]
    assert instance.memory_size() > before
    assert ask(instance, 2, "settings.resolve")[0][0] == frame.RESULT


def test_a_contained_panic_leaves_the_instance_alone(instance: Instance) -> None:
    (kind, error), _ = ask(instance, 1, "test.panic")
    assert (kind, error["code"]) == (frame.ERROR, "E9000")
    assert ask(instance, 2, "settings.resolve")[0][0] == frame.RESULT


def test_a_trap_says_what_the_core_said_last(instance: Instance) -> None:
    with pytest.raises(MachineDied, match="test"):
        ask(instance, 1, "test.trap")


def test_the_core_starts_no_threads(instance: Instance) -> None:
    ask(instance, 1, "settings.resolve")
    assert threading.active_count() == len(threading.enumerate())
    assert not [t for t in Path("/proc/self/task").iterdir() if (t / "comm").read_text().startswith("tokio")]
