"""The conformance driver of the Python binding: `driver.py async|sync`.

Lines of JSON in and out, as conformance/runner/program.go describes. It translates names, parameters
and results, and decides nothing.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import pickle
import sys
import threading
import traceback
from datetime import datetime
from enum import Enum
from typing import Any

from agent_sandbox import CommandResult, Execution, HostSettings, SandboxError
from agent_sandbox._engine.client import Client
from agent_sandbox._engine.link import Link
from agent_sandbox._engine.sync_wait import interrupt
from agent_sandbox._generated.convert import Record

BLOCKING = sys.argv[1] == "sync"
if BLOCKING:
    from agent_sandbox._engine.sync_caller import SyncCaller as Caller
    from agent_sandbox.sync import Sandbox
else:
    from agent_sandbox import Sandbox
    from agent_sandbox._engine.async_caller import AsyncCaller as Caller

LONG_TEXT = 1 << 16
CALLBACKS = {
    "start": "on_start",
    "stdout": "on_stdout_bytes",
    "stderr": "on_stderr_bytes",
    "pty": "on_data",
    "stdout_text": "on_stdout",
    "stderr_text": "on_stderr",
}
CODE_CALLBACKS = {
    "stdout_text": ("on_stdout", lambda message: message.line),
    "stderr_text": ("on_stderr", lambda message: message.line),
    "result": ("on_result", lambda result: result.raw),
    "error": ("on_error", lambda error: error),
}
writing = threading.Lock()


def say(**line: Any) -> None:
    text = json.dumps(line) + "\n"
    with writing:
        sys.stdout.write(text)
        sys.stdout.flush()


async def do(call: Any, *args: Any, **named: Any) -> Any:
    """Calls the SDK. The blocking one runs in a thread; a cancel interrupts it there as Ctrl-C would."""
    if not BLOCKING:
        return await call(*args, **named)
    loop, outcome, thread = asyncio.get_running_loop(), asyncio.get_running_loop().create_future(), threading.Thread()

    def run() -> None:
        try:
            value, error = call(*args, **named), None
        except BaseException as raised:
            value, error = None, raised
        loop.call_soon_threadsafe(lambda: outcome.done() or outcome.set_result((value, error)))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while True:
        try:
            value, error = await asyncio.shield(outcome)
        except asyncio.CancelledError:
            while not outcome.done() and not interrupt(thread.ident or 0, KeyboardInterrupt()):
                await asyncio.sleep(0.001)
            continue
        if error is not None:
            raise Failed(error)
        return value


class Failed(Exception):
    """Carries any error out of a thread."""


async def whole(pieces: Any) -> list[Any]:
    return list(pieces) if BLOCKING else [piece async for piece in pieces]


def content(given: Any) -> bytes:
    if isinstance(given, str):
        return given.encode()
    if "base64" in given:
        return base64.b64decode(given["base64"])
    if "hex" in given:
        return bytes.fromhex(given["hex"])
    if "repeat" in given:
        piece, times = given["repeat"]
        return content(piece) * times
    return b"".join(content(piece) for piece in given["join"])


def named(params: dict[str, Any]) -> dict[str, Any]:
    """Durations are seconds here."""
    seconds = {k[:-3]: v / 1000 for k, v in params.items() if k.endswith("_ms") and isinstance(v, (int, float))}
    times = {k: datetime.fromisoformat(v.replace("Z", "+00:00")) for k, v in params.items() if k in TIMES}
    return {**{k: v for k, v in params.items() if not k.endswith("_ms")}, **seconds, **times}


TIMES = ("started_after", "start", "end")


def plain(value: Any) -> Any:
    """A result as JSON."""
    if isinstance(value, CommandResult):
        shown = {"exit_code": value.exit_code, "ok": value.ok, "signal": value.signal, "error": value.error}
        shown |= {"stdout_bytes": plain(value.stdout_bytes), "stderr_bytes": plain(value.stderr_bytes)}
        if len(value.stdout_bytes) + len(value.stderr_bytes) <= LONG_TEXT:
            shown |= {"stdout": value.stdout, "stderr": value.stderr}
        return {k: v for k, v in shown.items() if v is not None}
    if isinstance(value, Execution):
        results = [
            {"formats": r.formats(), "is_main_result": r.is_main_result, "raw": r.raw, "extra": r.extra}
            for r in value.results
        ]
        shown = {"results": results, "text": value.text or "", "error": plain(value.error)}
        shown |= {"execution_count": value.execution_count}
        shown |= {"stdout_bytes": plain(value.stdout.encode()), "stderr_bytes": plain(value.stderr.encode())}
        if len(value.stdout) + len(value.stderr) <= LONG_TEXT:
            shown["logs"] = {"stdout": value.logs.stdout, "stderr": value.logs.stderr}
        return {k: v for k, v in shown.items() if v is not None}
    if isinstance(value, Record):
        return {k: plain(getattr(value, k)) for k in value._fields if getattr(value, k) is not None}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, list):
        return [plain(one) for one in value]
    return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value


def failure(error: BaseException) -> dict[str, Any]:
    """An error in every form in which Python prints one."""
    cancelled = isinstance(error, (asyncio.CancelledError, KeyboardInterrupt))
    shown = getattr(error, "sandbox_error", error) if cancelled else error
    texts, cause = [], shown
    while cause is not None:
        texts += [str(cause), repr(cause), repr(vars(cause)), "".join(traceback.format_exception(cause))]
        cause = cause.__cause__ or cause.__context__
    if not isinstance(shown, SandboxError):
        return {"cancelled": cancelled, "texts": texts, "code": "E5006" if cancelled else "", "message": str(shown)}
    texts.append(repr(pickle.loads(pickle.dumps(shown))))
    fields = ("code", "message", "suggestion", "option", "status", "request_id", "kind", "clock", "sandbox_id", "pid")
    told = {k: getattr(shown, k) for k in fields if getattr(shown, k) is not None}
    told |= {"retryable": shown.retryable, "killed": shown.killed, "cancelled": cancelled, "texts": texts}
    for name, seconds in (("retry_after_ms", shown.retry_after), ("limit_ms", shown.limit)):
        if seconds is not None:
            told[name] = round(seconds * 1000)
    if shown.partial is not None:
        told["partial"] = plain(shown.partial)
    return told


class Session:
    """One case: a client, and what it has made."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self.options = named(setup.get("arguments") or {})
        self.options["settings"] = HostSettings(
            setup.get("env") or {}, setup.get("dotenv") or "", setup.get("config") or ""
        )
        self.options["proxy"] = "direct"
        self.sandbox: Any = None
        self.made: dict[str, Any] = {}

    async def call(self, number: int, name: str, params: dict[str, Any], emit: Any) -> Any:
        group, method = name.split(".")
        special = getattr(self, name.replace(".", "_"), None)
        if special is not None:
            return await special(params, emit)
        on = self.sandbox if group == "sandbox" else getattr(self.sandbox, group)
        asked = named(params)
        if "sandbox_id" in asked and group == "sandbox":
            return await do(getattr(Sandbox, method), **asked, **self.options)
        found = getattr(on, method)
        if method in ("get_host", "get_url", "download_url", "upload_url", "describe"):
            return repr(on) if method == "describe" else found(**asked)
        if "signal" in asked:
            asked.setdefault("pid", None)
        return await do(found, **asked)

    async def settings_resolve(self, params: Any, emit: Any) -> Any:
        return Client(dict(self.options)).resolved()

    async def sandbox_capabilities(self, params: Any, emit: Any) -> Any:
        return Caller(Link(Client(dict(self.options))))._call_now("sandbox.capabilities", {})

    async def taken(self, made: Any) -> Any:
        self.sandbox = made
        fields = ("sandbox_id", "template", "isolation", "envd_version", "domain", "provider")
        secured = bool(json.loads(made.to_json()).get("tokens", {}).get("envd"))
        return {"secured": secured, **{k: getattr(made, k) for k in fields}}

    async def sandbox_create(self, params: Any, emit: Any) -> Any:
        async def create() -> Any:
            return await Sandbox.create(**named(params), **self.options)

        if BLOCKING:
            return await self.taken(await do(Sandbox.create, **named(params), **self.options))
        return await self.taken(await create())

    async def sandbox_connect(self, params: Any, emit: Any) -> Any:
        return await self.taken(await do(Sandbox.connect, **named(params), **self.options))

    async def sandbox_resume(self, params: Any, emit: Any) -> Any:
        return await self.taken(await do(Sandbox.resume, **named(params), **self.options))

    async def sandbox_open(self, params: Any, emit: Any) -> Any:
        return await self.taken(Sandbox.from_json(params["handle"], **self.options))

    async def sandbox_to_json(self, params: Any, emit: Any) -> Any:
        return json.loads(self.sandbox.to_json())

    async def sandbox_list(self, params: Any, emit: Any) -> Any:
        count = params.pop("pages", 0)
        pages = Sandbox.list(**named(params), **self.options)
        items = await do(pages.next_items)
        fetched = 1
        while fetched < count or (count == 0 and pages.has_next):
            items += await do(pages.next_items)
            fetched += 1
        return {"items": items, "has_next": pages.has_next, "next_token": pages.next_token}

    def asked(self, params: dict[str, Any], emit: Any, ready: Any = None) -> dict[str, Any]:
        """Parameters of a command, with callbacks."""
        asked = {k: v for k, v in named(params).items() if k not in ("on", "as", "disconnect_on", "argv")}
        if "argv" in params and "command" not in params and "cols" not in params:
            asked["command"] = params["argv"]
        elif "argv" in params:
            asked["argv"] = params["argv"]
        leave = params.get("disconnect_on")

        def callback(kind: str) -> Any:
            def called(value: Any) -> None:
                emit(kind, plain(value))
                if kind == leave:
                    ready().disconnect()

            return called

        for kind in {*params.get("on", ()), *([leave] if leave else ())}:
            asked[CALLBACKS[kind]] = callback(kind)
        return asked

    async def sandbox_run_code(self, params: Any, emit: Any) -> Any:
        asked = {k: v for k, v in named(params).items() if k not in ("on", "context_id")}
        for kind in params.get("on", ()):
            name, show = CODE_CALLBACKS[kind]
            asked[name] = lambda value, kind=kind, show=show: emit(kind, plain(show(value)))
        return await do(self.sandbox.run_code, context=params.get("context_id"), **asked)

    async def commands_run(self, params: Any, emit: Any) -> Any:
        return await do(self.sandbox.commands.run, **self.asked(params, emit))

    async def follow(self, start: Any, params: Any, emit: Any, **more: Any) -> Any:
        name, waiting = params.get("as", ""), threading.Event()

        def ready() -> Any:
            waiting.wait(5 if BLOCKING else 0)
            return self.made[name]

        handle = self.made[name] = await do(start, **self.asked(params, emit, ready), **more)
        waiting.set()
        if BLOCKING and params.get("on"):
            # Callbacks of the blocking classes are called by whoever waits.
            self.made[name + " waits"] = asyncio.ensure_future(do(handle.wait))
        return {"pid": handle.pid}

    async def commands_start(self, params: Any, emit: Any) -> Any:
        return await self.follow(self.sandbox.commands.run, params, emit, background=True)

    async def commands_connect(self, params: Any, emit: Any) -> Any:
        return await self.follow(self.sandbox.commands.connect, params, emit)

    async def pty_create(self, params: Any, emit: Any) -> Any:
        return await self.follow(self.sandbox.pty.create, params, emit)

    async def pty_connect(self, params: Any, emit: Any) -> Any:
        return await self.follow(self.sandbox.pty.connect, params, emit)

    async def commands_wait(self, params: Any, emit: Any) -> Any:
        name = params.get("as", "")
        waits = self.made.get(name + " waits")
        return await (asyncio.shield(waits) if waits else do(self.made[name].wait))

    async def commands_disconnect(self, params: Any, emit: Any) -> Any:
        self.made[params.get("as", "")].disconnect()

    async def commands_send_stdin(self, params: Any, emit: Any) -> Any:
        await do(self.sandbox.commands.send_stdin, **{**named(params), "data": content(params["data"])})

    async def pty_send_input(self, params: Any, emit: Any) -> Any:
        await do(self.sandbox.pty.send_input, **{**named(params), "data": content(params["data"])})

    async def stream(self, call: Any, params: Any) -> Any:
        pieces = [content(piece) for piece in params.pop("pieces")]
        params.setdefault("pid", None)
        await do(call, pieces=pieces if BLOCKING else each(pieces), **params)

    async def commands_stream_stdin(self, params: Any, emit: Any) -> Any:
        await self.stream(self.sandbox.commands.stream_stdin, params)

    async def pty_stream_input(self, params: Any, emit: Any) -> Any:
        await self.stream(self.sandbox.pty.stream_input, params)

    async def files_read(self, params: Any, emit: Any) -> Any:
        format = params.pop("format", "bytes")
        got = await do(self.sandbox.files.read, format=format, **named(params))
        if format == "text":
            return got
        if format == "stream":
            got = b"".join(await do(whole_of, got))
        return {"bytes": got}

    async def files_write(self, params: Any, emit: Any) -> Any:
        data: Any = content(params.pop("data"))
        if params.pop("stream", False):
            data = iter([data]) if BLOCKING else each([data])
        return await do(self.sandbox.files.write, data=data, **named(params))

    async def files_write_files(self, params: Any, emit: Any) -> Any:
        files = [{"path": file["path"], "data": content(file["data"])} for file in params.pop("files")]
        return await do(self.sandbox.files.write_files, files, **named(params))

    async def files_watch_dir(self, params: Any, emit: Any) -> Any:
        count = params.pop("events", 0)
        handle = await do(self.sandbox.files.watch_dir, **named(params))
        emit("watching", None)
        await do(watched, handle, count, emit)

    async def files_poll_dir(self, params: Any, emit: Any) -> Any:
        name = params.pop("as", "")
        watcher = await do(self.sandbox.files.poll_dir, **named(params))
        user = {"user": params["user"]} if "user" in params else {}
        self.made["watch " + name] = {"watcher_id": watcher.watcher_id, **user}

    async def files_poll_events(self, params: Any, emit: Any) -> Any:
        return await do(self.sandbox.files.poll_events, **self.made["watch " + params.get("as", "")])

    async def files_poll_stop(self, params: Any, emit: Any) -> Any:
        return await do(self.sandbox.files.poll_stop, **self.made["watch " + params.get("as", "")])

    def close(self) -> None:
        for made in self.made.values():
            if hasattr(made, "disconnect"):
                made.disconnect()


async def each(pieces: list[bytes]) -> Any:
    for piece in pieces:
        yield piece


if BLOCKING:

    def whole_of(stream: Any) -> list[bytes]:
        return list(stream)

    def watched(handle: Any, count: int, emit: Any) -> None:
        try:
            for seen, event in enumerate(handle, 1):
                emit("change", plain(event))
                if seen == count:
                    return handle.stop()
        except KeyboardInterrupt:
            handle.stop()
else:

    async def whole_of(stream: Any) -> list[bytes]:
        return [piece async for piece in stream]

    async def watched(handle: Any, count: int, emit: Any) -> None:
        seen = 0
        try:
            async for event in handle:
                emit("change", plain(event))
                seen += 1
                if seen == count:
                    await handle.stop()
        except asyncio.CancelledError:
            await handle.stop()


async def serve(session: Session, line: dict[str, Any]) -> None:
    number, id = line["call"], line["session"]
    try:
        value = await session.call(
            number,
            line["name"],
            line.get("params") or {},
            lambda kind, value: say(session=id, event=number, kind=kind, value=value),
        )
        say(session=id, result=number, value=plain(value))
    except BaseException as error:
        say(session=id, result=number, failure=failure(error.args[0] if isinstance(error, Failed) else error))


async def main() -> None:
    sessions: dict[int, Session] = {}
    calls: dict[tuple[int, int], asyncio.Task[None]] = {}
    reader = asyncio.StreamReader(limit=1 << 30)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while text := await reader.readline():
        line = json.loads(text)
        id = line["session"]
        if "open" in line:
            sessions[id] = Session(line["open"])
            say(session=id, opened=True)
        elif "call" in line:
            calls[id, line["call"]] = asyncio.ensure_future(serve(sessions[id], line))
        elif "cancel" in line:
            call = calls.get((id, line["cancel"]))
            if call is not None:  # else its session could not be opened
                call.cancel()
        elif line.get("close"):
            sessions.pop(id).close()
            say(session=id, closed=True)


os.environ.setdefault("PYTHONASYNCIODEBUG", "")
asyncio.run(main())
