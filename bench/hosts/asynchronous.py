"""asynchronous.py MODULE CLASS SANDBOX: an asyncio client, ours or the peer's, driven
by lines of JSON (see bench/process.go).
"""

import asyncio
import importlib
import json
import resource
import sys
import time
import traceback

name, cls, id = sys.argv[1:]
ones = b""
# The clock of a whole transfer: ours have none.
PATIENCE = {} if name == "agent_sandbox" else {"request_timeout": 600}


def same(want, got):
    assert want == got, f"{got} instead of {want}"


def data(size):
    global ones
    if len(ones) != size:
        ones = b"\1" * size
    return ones


async def run(sandbox, job):
    await sandbox.commands.run("true")


async def stdout(sandbox, job):
    command = f"dd if=/dev/zero bs=64k count={job['bytes'] // 65536} status=none"
    same(job["bytes"], len((await sandbox.commands.run(command, timeout=0, **PATIENCE)).stdout))


async def upload(sandbox, job):
    await sandbox.files.write(job["path"], data(job["bytes"]), **PATIENCE)


async def download(sandbox, job):
    same(job["bytes"], len(await sandbox.files.read(job["path"], format="bytes", **PATIENCE)))


async def pass_(sandbox, job):
    seen = 0
    async for chunk in await sandbox.files.read(job["path"], format="stream", **PATIENCE):
        seen += len(chunk)
    same(job["bytes"], seen)


async def code(sandbox, job):
    execution = await sandbox.run_code(job["code"], timeout=0, **PATIENCE)
    same(None, execution.error)
    same(job["count"], len(execution.results[0].png if job["form"] == "png" else "".join(execution.logs.stdout)))


async def parallel(sandbox, job):
    async def one(i):
        same(str(i), (await sandbox.commands.run(f"echo {i}")).stdout.strip())

    await asyncio.gather(*(one(i) for i in range(job["count"])))


jobs = {
    "run": run,
    "stdout": stdout,
    "upload": upload,
    "download": download,
    "pass": pass_,
    "code": code,
    "parallel": parallel,
}


async def perform(sandbox, job):
    took = []
    before = time.process_time()
    for _ in range(job.get("n", 1)):
        began = time.perf_counter()
        await jobs[job["op"]](sandbox, job)
        took.append((time.perf_counter() - began) * 1000)
    cpu = (time.process_time() - before) * 1000
    return {"ms": took, "cpu": cpu, "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


async def main():
    sandbox = await getattr(importlib.import_module(name), cls).connect(id)
    # The loop waits for a line while nothing is measured.
    for line in sys.stdin:
        try:
            answer = await perform(sandbox, json.loads(line))
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), flush=True)


asyncio.run(main())
