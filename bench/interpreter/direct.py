"""direct.py: ipykernel driven by jupyter_client, inside a sandbox. It takes the
jobs of bench/process.go: boot, and run.
"""

import json
import sys
import time

from jupyter_client.manager import KernelManager


def boot():
    """A kernel, from its start to its first answer."""
    manager = KernelManager(kernel_name="python3", transport="ipc")
    began = time.perf_counter()
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.kernel_info()
    client.get_shell_msg(timeout=60)
    return (time.perf_counter() - began) * 1000, manager, client


def run(client):
    """1+1, until the kernel has answered and is idle."""
    began = time.perf_counter()
    id = client.execute("1+1")
    while client.get_shell_msg(timeout=60)["parent_header"].get("msg_id") != id:
        pass
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") == id and message["content"].get("execution_state") == "idle":
            return (time.perf_counter() - began) * 1000


def main():
    _, manager, client = boot()
    run(client)
    for line in sys.stdin:
        job = json.loads(line)
        if job["op"] == "run":
            took = [run(client) for _ in range(job["n"])]
        else:
            ms, other, channels = boot()
            channels.stop_channels()
            other.shutdown_kernel(now=True)
            took = [ms]
        print(json.dumps({"ms": took}), flush=True)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


main()
