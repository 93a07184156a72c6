"""Calls what was generated for the table of the tests."""

import asyncio
import datetime
import inspect
import pickle

from made import methods, methods_sync, types
from made.errors import InvalidArgumentError
from made.types import Box, Colour, Label

ANSWER = {
    "madeAt": "2026-01-02T03:04:05.123456789Z",
    "colour": "pink",
    "label": {"text": "t", "print_at": "2026-01-02T03:04:05Z", "password": "s3cr3t"},
    "labels": None,
    "by_name": {"A_b": [{"text": "u", "glue_ms": 1500}]},
    "lasting_ms": 250,
}
sent = []


class Async(methods.BoxesMethods):
    async def _call(self, method, params, request_timeout=None):
        sent.append((method, params, request_timeout))
        return [ANSWER] if method == "boxes.count" else ANSWER

    def _call_now(self, method, params):
        return f"{method} {params}"


class Sync(methods_sync.BoxesMethods):
    def _call(self, method, params, request_timeout=None):
        sent.append((method, params, request_timeout))
        return [ANSWER] if method == "boxes.count" else ANSWER


zone = datetime.timezone(datetime.timedelta(hours=2))
given = {
    "wait": 0.0001,
    "max_weight": 2.5,
    "labels": [Label(text="x", glue=1.1), {"text": "y", "print_at": datetime.datetime(2026, 1, 1, tzinfo=zone)}],
    "colour": Colour.RED,
    "since": datetime.datetime(2026, 1, 1, 2, tzinfo=zone),
    "words": ("a", "b"),
    "any": {"x": 1},
}
want = {
    "name": "n",
    "from": "me",
    "wait_ms": 1,
    "max_weight": 2.5,
    "labels": [{"text": "x", "glue_ms": 1100}, {"text": "y", "print_at": "2025-12-31T22:00:00+00:00"}],
    "colour": "red",
    "since": "2026-01-01T00:00:00+00:00",
    "words": ["a", "b"],
    "any": {"x": 1},
}

box = asyncio.run(Async().pack("n", "me", request_timeout=3, **given))
assert sent.pop() == ("boxes.pack", want, 3), sent
again = Sync().pack("n", "me", **given)
assert sent.pop() == ("boxes.pack", want, None)
assert box == again and isinstance(box, Box)
assert Sync().count() == [box] and sent.pop()[1] == {}
assert Async().address(3) == "boxes.address {'shelf': 3}"
assert not inspect.iscoroutinefunction(Async.address) and inspect.iscoroutinefunction(Async.pack)
assert not hasattr(Async, "open") and "sandbox_id" not in inspect.signature(Async.pack).parameters

assert types.__all__ == ["Box", "Colour", "Label", "LabelDict"]

utc = datetime.timezone.utc
assert box.made_at == datetime.datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=utc), box.made_at
assert box.colour == "pink" and isinstance(box.colour, Colour) and f"{box.colour}" == "pink"
assert Colour("red") is Colour.RED and hash(Colour("pink")) == hash("pink") and Colour.DARK_BLUE == "dark-blue"
assert pickle.loads(pickle.dumps(box)) == box and pickle.loads(pickle.dumps(box.colour)) == "pink"
assert (box.labels, box.tags, box.full, box.weight, box.nick, box.sealed, box.extra) == ([], {}, False, 0, None, None, None)
assert box.lasting == 0.25 and box.by_name["A_b"][0].glue == 1.5 and box.label.glue is None
assert "s3cr3t" not in repr(box) and "password=***" in repr(box)

for bad in (
    {"wait": float("nan")},
    {"wait": True},
    {"words": "ab"},
    {"since": "now"},
    {"labels": [{"txt": "x"}]},
    {"labels": [3]},
):
    try:
        Sync().pack("n", **bad)
    except InvalidArgumentError as e:
        assert e.code == "E8000", e
    else:
        raise AssertionError(bad)
assert not sent

for wait, ms in {0: 0, 1.1: 1100, 0.3: 300, 1e-12: 1, 2.007: 2007, 4.1: 4100, 60: 60000, -1: -1000, 2.0005: 2001, 1e20: 2**53 - 1}.items():
    Sync().pack("n", wait=wait)
    assert sent.pop()[1]["wait_ms"] == ms, (wait, ms)

doc = Sync.pack.__doc__
for words in (
    "Packs a box until wait has passed; see max_weight.",
    "wait: How long; 0 = no limit. In seconds.",
    "SandboxFileNotFoundError: E4001, when there is none.",
    "PathKindError: E4003, wrong kind of path",
):
    assert words in doc, doc
