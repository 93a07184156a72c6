import asyncio
import datetime
import os
import re
import time
import uuid

import e2b
import pytest

UNKNOWN = "i" + "0" * 20


def near(moment, seconds, slack=15):
    now = datetime.datetime.now(datetime.timezone.utc)
    assert abs((moment - now).total_seconds() - seconds) < slack, moment


async def rows(client, **kwargs):
    paginator = client.Sandbox.list(**kwargs)
    found = []
    while paginator.has_next:
        found += await client(paginator.next_items)
    return found


async def test_create_with_nothing(client):
    box = await client(client.Sandbox.create)
    try:
        assert re.fullmatch(r"i[a-z0-9]{20}", box.sandbox_id)
        info = await client(box.get_info)
        assert (info.name, info.state, info.metadata) == ("base", e2b.SandboxState.RUNNING, {})
        assert info.lifecycle == {"on_timeout": "kill", "auto_resume": False}
        near(info.started_at, 0)
        near(info.end_at, 300)
        assert info.cpu_count > 0 and info.memory_mb > 0
    finally:
        assert await client(box.kill) is True


async def test_create_with_every_option(client, create):
    box = await create(
        "base",
        timeout=90,
        metadata={"purpose": "a b&c=d/é", "empty": ""},
        envs={"ONE": "1", "TWO": 'zwei "quoted" $x\nline'},
        secure=True,
        allow_internet_access=False,
        network={"allow_public_traffic": True, "mask_request_host": "example.test:${PORT}"},
        lifecycle={"on_timeout": {"action": "pause", "mode": "full"}, "auto_resume": True},
    )
    info = await client(box.get_info)
    assert info.metadata == {"purpose": "a b&c=d/é", "empty": ""}
    assert info.lifecycle == {"on_timeout": "pause", "auto_resume": True}
    assert info.allow_internet_access is False
    assert info.network["mask_request_host"] == "example.test:${PORT}"
    near(info.end_at, 90)
    out = await client(box.commands.run, 'printf "%s|%s" "$ONE" "$TWO"')
    assert out.stdout == '1|zwei "quoted" $x\nline'


async def test_unknown_template(client):
    with pytest.raises(e2b.SandboxException, match="no-such-template"):
        await client.create("no-such-template")


async def test_through_a_bound_client(client):
    bound = e2b.E2B(api_key=os.environ["E2B_API_KEY"])
    Sandbox = bound.AsyncSandbox if client.is_async else bound.Sandbox
    box = await client(Sandbox.create, timeout=60)
    assert (await client(box.commands.run, "echo bound")).stdout == "bound\n"
    assert await client(Sandbox.kill, box.sandbox_id) is True


async def test_templates_that_exist_and_do_not(client):
    Template = e2b.AsyncTemplate if client.is_async else e2b.Template
    assert await client(Template.exists, "base") is True
    assert await client(Template.exists, "no-such-template") is False


async def test_the_same_idempotency_key_makes_one_sandbox(client):
    key, metadata = str(uuid.uuid4()), {"key": str(uuid.uuid4())}
    first = await client.create(idempotency_key=key, metadata=metadata)
    again = await client.create(idempotency_key=key, metadata=metadata)
    assert first.sandbox_id == again.sandbox_id
    assert len(await rows(client, query=e2b.SandboxQuery(metadata=metadata))) == 1
    with pytest.raises(e2b.SandboxException):
        await client.create(idempotency_key=key, metadata={"other": "body"})
    await client(first.kill)


async def test_connect_only_lengthens_the_life(client, create):
    box = await create(timeout=600)
    await client(box.files.write, "from-first.txt", "x")
    other = await client(client.Sandbox.connect, box.sandbox_id)
    assert await client(other.files.read, "from-first.txt") == "x"
    near((await client(other.get_info)).end_at, 600)
    await client(client.Sandbox.connect, box.sandbox_id, timeout=900)
    near((await client(box.get_info)).end_at, 900)
    await client(box.connect, timeout=5)
    near((await client(box.get_info)).end_at, 900)


async def test_an_unknown_sandbox(client):
    for call in ("connect", "get_info", "pause", "get_metrics"):
        with pytest.raises(e2b.SandboxNotFoundException):
            await client(getattr(client.Sandbox, call), UNKNOWN)
    with pytest.raises(e2b.SandboxNotFoundException):
        await client(client.Sandbox.set_timeout, UNKNOWN, 10)
    assert await client(client.Sandbox.kill, UNKNOWN) is False


async def test_kill_and_is_running(client):
    box = await client.create()
    assert await client(box.is_running) is True
    assert await client(box.kill) is True
    assert await client(box.kill) is False
    assert await client(client.Sandbox.kill, box.sandbox_id) is False
    assert await client(box.is_running) is False
    with pytest.raises(e2b.SandboxNotFoundException):
        await client(box.get_info)


async def test_leaving_the_context_kills(client):
    if client.is_async:
        async with await e2b.AsyncSandbox.create(timeout=60) as box:
            assert (await box.commands.run("echo in")).stdout == "in\n"
    else:

        def inside():
            with e2b.Sandbox.create(timeout=60) as box:
                assert box.commands.run("echo in").stdout == "in\n"
            return box

        box = await asyncio.to_thread(inside)
    assert await client(box.is_running) is False


async def test_set_timeout(client, until):
    box = await client.create(timeout=60)
    await client(box.set_timeout, 200)
    near((await client(box.get_info)).end_at, 200)
    await client(box.set_timeout, 1)

    async def gone():
        return not await client(box.is_running)

    await until("the sandbox is gone", gone)
    with pytest.raises(e2b.SandboxNotFoundException):
        await client(box.get_info)


async def test_metrics(client, create):
    box = await create()
    metric = (await client(box.get_metrics))[-1]
    near(metric.timestamp, 0)
    assert metric.cpu_count > 0 and metric.cpu_used_pct >= 0
    assert 0 < metric.mem_used < metric.mem_total
    assert metric.disk_total > 0
    past = datetime.datetime.now() - datetime.timedelta(hours=2)
    assert await client(box.get_metrics, start=past, end=past + datetime.timedelta(hours=1)) == []


async def test_list(client, create):
    suite = str(uuid.uuid4())
    boxes = []
    for i in range(4):
        metadata = {"suite": suite, "n": str(i), "k &=%": "v &=%+/é"}
        boxes.append(await create("python-base" if i == 3 else "base", metadata=metadata))
    ids = [box.sandbox_id for box in boxes]

    async def listed(order=None, limit=None, **query):
        metadata = {"suite": suite, **query.pop("metadata", {})}
        found = await rows(client, query=e2b.SandboxQuery(metadata=metadata, **query), order=order, limit=limit)
        return [row.sandbox_id for row in found]

    assert await listed() == ids[::-1]
    assert await listed(order="asc") == ids
    assert await listed(metadata={"n": "2", "k &=%": "v &=%+/é"}) == [ids[2]]
    assert await listed(metadata={"n": "9"}) == []
    assert await listed(template="python-base") == [ids[3]]
    assert await listed(limit=1) == ids[::-1]
    assert await listed(limit=3, order="asc") == ids
    started = (await client(boxes[2].get_info)).started_at
    later = await listed(started_after=started - datetime.timedelta(milliseconds=1))
    assert ids[2] in later and ids[3] in later and ids[0] not in later
    await client(boxes[1].pause)
    assert await listed(state=[e2b.SandboxState.PAUSED]) == [ids[1]]
    assert await listed(state=[e2b.SandboxState.RUNNING]) == [ids[3], ids[2], ids[0]]

    first = client.Sandbox.list(query=e2b.SandboxQuery(metadata={"suite": suite}), limit=3)
    assert len(await client(first.next_items)) == 3 and first.has_next
    rest = client.Sandbox.list(
        query=e2b.SandboxQuery(metadata={"suite": suite}), limit=3, next_token=first.next_token
    )
    assert [row.sandbox_id for row in await client(rest.next_items)] == [ids[0]]
    assert rest.has_next is False
    with pytest.raises(Exception):
        await client(rest.next_items)


async def test_pause_keeps_processes(client, create, until):
    box = await create()
    command = await client(
        box.commands.run, "i=0; while true; do i=$((i+1)); echo $i > n; sleep 0.05; done", background=True, timeout=0
    )

    async def count():
        if not await client(box.files.exists, "n"):
            return 0
        return int(await client(box.files.read, "n") or 0)

    async def beyond(n):
        return await count() > n

    await until("the counter runs", lambda: beyond(2))
    assert await client(box.pause) is True
    assert await client(box.pause) is False
    assert (await client(client.Sandbox.get_info, box.sandbox_id)).state == e2b.SandboxState.PAUSED
    await client(box.connect, on_resume="restore")
    resumed = await count()
    await until("the counter goes on", lambda: beyond(resumed))
    assert command.pid in [p.pid for p in await client(box.commands.list)]
    assert await client(box.commands.kill, command.pid) is True


async def test_pause_at_the_end_of_the_life(client, create, until):
    box = await create(lifecycle={"on_timeout": "pause"})
    await client(box.files.write, "kept", "yes")
    await client(box.set_timeout, 1)

    async def paused():
        return (await client(box.get_info)).state == e2b.SandboxState.PAUSED

    await until("paused by its timeout", paused)
    await client(box.connect, timeout=60)
    assert await client(box.files.read, "kept") == "yes"


async def test_traffic_wakes_when_asked_to(client, create):
    box = await create(lifecycle={"on_timeout": "pause", "auto_resume": True})
    await client(box.pause)
    assert (await client(box.commands.run, "echo awake")).stdout == "awake\n"


async def test_what_the_server_does_not_have(client, create):
    box = await create()
    for call, kwargs in ((box.create_snapshot, {}), (box.fork, {}), (box.pause, {"mode": "filesystem"})):
        began = time.monotonic()
        with pytest.raises(e2b.SandboxException):
            await client(call, **kwargs)
        assert time.monotonic() - began < 3, "a refusal was tried again"
    assert await client(box.is_running) is True


async def test_ports(client, create, get, until):
    box = await create(network={"allow_public_traffic": False})
    await client(box.files.write, "site/index.html", "hello from inside")
    await client(box.commands.run, "python3 -m http.server 8000", background=True, cwd="site", timeout=0)
    host = box.get_host(8000)
    assert host.startswith(f"8000-{box.sandbox_id}.localhost:")
    token = {"e2b-traffic-access-token": box.traffic_access_token}

    async def served():
        answer = await get(host, headers=token)
        return answer.status_code == 200 and answer

    assert (await until("the port answers", served)).text == "hello from inside"
    assert (await get(host)).status_code == 403
    closed = await get(box.get_host(8123), headers={**token, "Accept": "application/json"})
    assert closed.status_code == 502
    assert closed.json()["message"] == "The sandbox is running but port is not open"


async def test_without_a_sandbox_url_the_client_insists_on_https(client, create, monkeypatch):
    monkeypatch.delenv("E2B_SANDBOX_URL")
    box = await create()
    port = os.environ["E2B_API_URL"].rsplit(":", 1)[1]
    assert box.envd_api_url == f"https://49983-{box.sandbox_id}.localhost:{port}"
    pytest.skip("the server has no TLS, so the client cannot work without E2B_SANDBOX_URL")


async def test_egress_rules(client, create):
    box = await create(network={"deny_out": ["203.0.113.0/24"]})
    assert (await client(box.get_info)).network["deny_out"] == ["203.0.113.0/24"]
    await client(box.update_network, {"deny_out": [e2b.ALL_TRAFFIC], "allow_out": ["example.com"]})
    network = (await client(box.get_info)).network
    assert (network["deny_out"], network["allow_out"]) == (["0.0.0.0/0"], ["example.com"])
    with pytest.raises(e2b.SandboxException):
        await client(box.update_network, {"allow_out": ["example.com"]})
