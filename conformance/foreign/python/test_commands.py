import asyncio
import hashlib
import time

import e2b
import pytest


async def test_output_and_success(client, box):
    result = await client(box.commands.run, "echo out; echo err >&2")
    assert (result.exit_code, result.stdout, result.stderr, result.error) == (0, "out\n", "err\n", None)


@pytest.mark.parametrize("code", [1, 7, 127, 255])
async def test_exit_codes(client, box, code):
    with pytest.raises(e2b.CommandExitException) as caught:
        await client(box.commands.run, f"echo o; echo e >&2; exit {code}")
    e = caught.value
    assert (e.exit_code, e.stdout, e.stderr, e.error) == (code, "o\n", "e\n", f"exit status {code}")


@pytest.mark.parametrize("signal, name", [("KILL", "killed"), ("TERM", "terminated")])
async def test_signals(client, box, signal, name):
    with pytest.raises(e2b.CommandExitException) as caught:
        await client(box.commands.run, f"kill -{signal} $$")
    assert (caught.value.exit_code, caught.value.error) == (-1, f"signal: {name}")


async def test_text_split_over_chunks(client, box):
    result = await client(
        box.commands.run, r"printf 'grüße 世界 '; printf '\360\237'; sleep 0.05; printf '\230\200'; sleep 0.05; printf '\360'"
    )
    assert result.stdout == "grüße 世界 😀\ufffd"


async def test_ten_megabytes(client, box):
    result = await client(box.commands.run, "yes 0123456789abcde | head -c 10485760")
    assert hashlib.sha256(result.stdout.encode()).digest() == hashlib.sha256(b"0123456789abcde\n" * 655360).digest()


async def test_callbacks_while_it_runs_and_nothing_retained(client, box):
    seen = {"out": "", "err": ""}

    def on_stderr(text):
        seen["err"] += text

    # The command goes on only when this has run.
    async def on_stdout_async(text):
        seen["out"] += text
        await box.files.write(f"callbacks/saw{text.strip()}", "")

    def on_stdout_sync(text):
        seen["out"] += text
        box.files.write(f"callbacks/saw{text.strip()}", "")

    script = "for i in 1 2 3; do echo e$i >&2; echo $i; until [ -e saw$i ]; do sleep 0.02; done; done"
    result = await client(
        box.commands.run,
        f"mkdir callbacks && cd callbacks && {script}",
        on_stdout=on_stdout_async if client.is_async else on_stdout_sync,
        on_stderr=on_stderr,
        retain_output=False,
        timeout=20,
    )
    assert (result.exit_code, result.stdout, result.stderr) == (0, None, None)
    assert seen == {"out": "1\n2\n3\n", "err": "e1\ne2\ne3\n"}


async def test_environment_directory_user(client, box):
    result = await client(
        box.commands.run,
        'echo "$FROM_SANDBOX $BOTH $OWN $HOME $USER $(pwd) $(id -u)"',
        envs={"BOTH": "command", "OWN": "own value"},
        cwd="/tmp",
    )
    assert result.stdout == "sandbox command own value /home/user user /tmp 1000\n"
    assert (await client(box.commands.run, "pwd")).stdout == "/home/user\n"
    assert (await client(box.commands.run, "id -u; echo $HOME", user="root")).stdout == "0\n/root\n"
    with pytest.raises(e2b.InvalidArgumentException, match="/no/such/dir"):
        await client(box.commands.run, "pwd", cwd="/no/such/dir")
    with pytest.raises(e2b.AuthenticationException, match="nobody-here"):
        await client(box.commands.run, "pwd", user="nobody-here")


async def test_stdin_is_closed_unless_asked_for(client, box):
    assert (await client(box.commands.run, "cat; echo done")).stdout == "done\n"


async def test_timeout(client, box, until):
    began = time.monotonic()
    with pytest.raises(e2b.TimeoutException):
        await client(box.commands.run, "echo $$ > timed; sleep 30", timeout=0.5)
    assert time.monotonic() - began < 5
    pid = (await client(box.files.read, "timed")).strip()

    async def dead():
        return (await client(box.commands.run, f"kill -0 {pid} 2>/dev/null || echo dead")).stdout == "dead\n"

    await until("the command is dead", dead)


async def test_a_child_that_holds_the_pipe(client, box):
    began = time.monotonic()
    assert (await client(box.commands.run, "sleep 20 & echo started")).stdout == "started\n"
    assert time.monotonic() - began < 5


async def test_many_at_once_do_not_mix(client, box):
    async def one(i):
        result = await client(box.commands.run, f"for j in $(seq 200); do echo {i}; done")
        assert result.stdout == f"{i}\n" * 200

    await asyncio.gather(*(one(i) for i in range(20)))


async def test_background(client, box):
    handle = await client(
        box.commands.run, "echo one; until [ -e on ]; do sleep 0.02; done; echo two; exit 3", background=True
    )
    assert handle.pid > 0
    await client(box.files.write, "on", "")
    with pytest.raises(e2b.CommandExitException) as caught:
        await client.wait(handle)
    assert (caught.value.exit_code, caught.value.stdout) == (3, "one\ntwo\n")


async def test_reading_a_handle_as_it_runs(client, box):
    seen = []
    if client.is_async:
        handle = await box.commands.run("echo a; echo b >&2", background=True, on_stdout=lambda s: seen.append(s))
        assert (await handle.wait()).stdout == "a\n"
        assert (handle.stdout, handle.stderr, handle.exit_code, handle.error) == ("a\n", "b\n", 0, None)
    else:

        def read():
            handle = box.commands.run("echo a; echo b >&2", background=True)
            for out, _, _ in handle:
                seen.extend([out] if out else [])

        await asyncio.to_thread(read)
    assert seen == ["a\n"]


async def test_kill(client, box):
    handle = await client(box.commands.run, "sleep 30", background=True)
    assert await client(handle.kill) is True
    with pytest.raises(e2b.CommandExitException) as caught:
        await client.wait(handle)
    assert (caught.value.exit_code, caught.value.error) == (-1, "signal: killed")
    assert await client(handle.kill) is False
    assert await client(box.commands.kill, 4_000_000) is False


async def test_list(client, box, until):
    handle = await client(box.commands.run, "sleep 30 # listed", background=True, cwd="/tmp", envs={"L": "1"})
    (found,) = [p for p in await client(box.commands.list) if p.pid == handle.pid]
    assert (found.cmd, found.args, found.cwd) == ("/bin/bash", ["-l", "-c", "sleep 30 # listed"], "/tmp")
    assert found.envs["L"] == "1" and found.tag is None
    await client(handle.kill)

    async def unlisted():
        return handle.pid not in [p.pid for p in await client(box.commands.list)]

    await until("it is off the list", unlisted)


async def test_disconnect_and_connect(client, box):
    handle = await client(
        box.commands.run,
        "while [ ! -e go ]; do sleep 0.02; done; rm go; echo later; exit 5",
        background=True,
        timeout=0,
    )
    await client(handle.disconnect)
    again = await client(box.commands.connect, handle.pid)
    assert again.pid == handle.pid
    await client(box.files.write, "go", "")
    with pytest.raises(e2b.CommandExitException) as caught:
        await client.wait(again)
    assert (caught.value.exit_code, caught.value.stdout) == (5, "later\n")
    with pytest.raises(e2b.NotFoundException):
        await client(box.commands.connect, 4_000_000)


async def test_reconnect_without_retaining(client, box):
    handle = await client(box.commands.run, "read x; echo got $x", background=True, stdin=True, timeout=0)
    other = await client(box.commands.connect, handle.pid, retain_output=False)
    await client(handle.send_stdin, "it\n")
    assert (await client.wait(handle)).stdout == "got it\n"
    assert (await client.wait(other)).stdout is None


async def test_stdin(client, box):
    handle = await client(box.commands.run, "cat", background=True, stdin=True)
    await client(handle.send_stdin, "text é\n")
    await client(handle.send_stdin, "bytes 🚀\n".encode())
    await client(box.commands.send_stdin, handle.pid, "by pid\n")
    await client(handle.close_stdin)
    assert (await client.wait(handle)).stdout == "text é\nbytes 🚀\nby pid\n"


async def test_stdin_of_raw_bytes(client, box):
    data = bytes(range(256)) * 1000
    handle = await client(box.commands.run, "sha256sum", background=True, stdin=True)
    await client(handle.send_stdin, data)
    await client(box.commands.close_stdin, handle.pid)
    assert (await client.wait(handle)).stdout.split()[0] == hashlib.sha256(data).hexdigest()


async def test_stdin_refused(client, box):
    handle = await client(box.commands.run, "sleep 30", background=True)
    with pytest.raises(e2b.SandboxException, match="stdin not enabled or closed"):
        await client(handle.send_stdin, "x")
    await client(handle.kill)
    with pytest.raises(e2b.NotFoundException):
        await client(box.commands.send_stdin, 4_000_000, "x")


async def test_stream_input(client, box):
    data = [b"%07d\n" % i for i in range(50_000)]
    handle = await client(box.commands.run, "sha256sum", background=True, stdin=True)
    if client.is_async:
        async with box.commands.stream_input(handle.pid) as stream:
            await stream.send("text é\n")
            for chunk in data[::1000]:
                await stream.send(chunk)
        with pytest.raises(e2b.SandboxException):
            await stream.send("late")
        sent = "text é\n".encode() + b"".join(data[::1000])
    else:
        await asyncio.to_thread(box.commands.stream_input, handle.pid, ["text é\n", *data[::100]])
        sent = "text é\n".encode() + b"".join(data[::100])
        with pytest.raises(e2b.InvalidArgumentException):
            box.commands.stream_input(handle.pid, "bare")
    await client(box.commands.close_stdin, handle.pid)
    assert (await client.wait(handle)).stdout.split()[0] == hashlib.sha256(sent).hexdigest()


async def test_stream_input_arrives_while_the_stream_is_open(client, box, until):
    handle = await client(box.commands.run, "while read x; do echo $x > last; done", background=True, stdin=True)

    async def last(text):
        return await client(box.files.exists, "last") and await client(box.files.read, "last") == text

    if client.is_async:
        stream = box.commands.stream_input(handle.pid)
        await stream.send("one\n")
        await until("the first line", lambda: last("one\n"))
        await stream.send("two\n")
        await until("the second line", lambda: last("two\n"))
        await stream.close()
    else:
        seen = asyncio.Event()
        loop = asyncio.get_running_loop()

        def lines():
            yield "one\n"
            asyncio.run_coroutine_threadsafe(seen.wait(), loop).result(10)
            yield "two\n"

        sending = asyncio.create_task(asyncio.to_thread(box.commands.stream_input, handle.pid, lines()))
        await until("the first line", lambda: last("one\n"))
        seen.set()
        await sending
        await until("the second line", lambda: last("two\n"))
    await client(handle.kill)


async def test_stream_input_to_nobody(client, box):
    with pytest.raises(e2b.NotFoundException):
        if client.is_async:
            async with box.commands.stream_input(4_000_000) as stream:
                await stream.send("x")
        else:
            await asyncio.to_thread(box.commands.stream_input, 4_000_000, ["x"])
