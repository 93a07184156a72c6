"""blocking.py MODULE SANDBOX: a blocking Python client, ours or the peer's, driven by
lines of JSON (see bench/process.go). MODULE `none` has the bare HTTP jobs alone.
"""

import http.client
import importlib
import json
import resource
import sys
import time
import traceback
from urllib.parse import urlsplit

name, id = sys.argv[1:]
sandbox = None if name == "none" else importlib.import_module(name).Sandbox.connect(id)
ones = b""
# The clock of a whole transfer: ours have none.
PATIENCE = {} if name.startswith("agent_sandbox") else {"request_timeout": 600}


def same(want, got):
    assert want == got, f"{got} instead of {want}"


def data(size):
    global ones
    if len(ones) != size:
        ones = b"\1" * size
    return ones


def exchange(url, method, body=None):
    parts = urlsplit(url)
    # Names below localhost are this machine, which few resolvers know.
    connection = http.client.HTTPConnection("127.0.0.1", parts.port)
    headers = {"host": parts.netloc} | ({"content-type": "application/octet-stream"} if body else {})
    connection.request(method, f"{parts.path}?{parts.query}", body, headers)
    answer = connection.getresponse()
    got = answer.read()
    connection.close()
    assert answer.status < 300, answer.status
    return got


def run(job):
    sandbox.commands.run("true")


def stdout(job):
    command = f"dd if=/dev/zero bs=64k count={job['bytes'] // 65536} status=none"
    same(job["bytes"], len(sandbox.commands.run(command, timeout=0, **PATIENCE).stdout))


def upload(job):
    sandbox.files.write(job["path"], data(job["bytes"]), **PATIENCE)


def download(job):
    same(job["bytes"], len(sandbox.files.read(job["path"], format="bytes", **PATIENCE)))


def pass_(job):
    same(job["bytes"], sum(len(chunk) for chunk in sandbox.files.read(job["path"], format="stream", **PATIENCE)))


def code(job):
    execution = sandbox.run_code(job["code"], timeout=0, **PATIENCE)
    same(None, execution.error)
    same(job["count"], len(execution.results[0].png if job["form"] == "png" else "".join(execution.logs.stdout)))


def bare_upload(job):
    exchange(job["url"], "POST", data(job["bytes"]))


def bare_download(job):
    same(job["bytes"], len(exchange(job["url"], "GET")))


jobs = {
    "run": run,
    "stdout": stdout,
    "upload": upload,
    "download": download,
    "pass": pass_,
    "code": code,
    "bare_upload": bare_upload,
    "bare_download": bare_download,
}

for line in sys.stdin:
    job = json.loads(line)
    try:
        took = []
        before = time.process_time()
        for _ in range(job.get("n", 1)):
            began = time.perf_counter()
            jobs[job["op"]](job)
            took.append((time.perf_counter() - began) * 1000)
        cpu = (time.process_time() - before) * 1000
        print(
            json.dumps({"ms": took, "cpu": cpu, "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}), flush=True
        )
    except Exception:
        print(json.dumps({"error": traceback.format_exc()}), flush=True)
