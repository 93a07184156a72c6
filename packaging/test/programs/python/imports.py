"""Importing the package loads nothing heavy, opens nothing and starts no thread."""

import os
import sys
import threading

descriptors = len(os.listdir("/proc/self/fd"))
import agent_sandbox  # noqa: E402
import agent_sandbox.sync  # noqa: E402

heavy = {"wasmtime", "httptools", "websockets", "http.client", "urllib.request"} & sys.modules.keys()
assert not heavy, heavy
assert threading.active_count() == 1
assert len(os.listdir("/proc/self/fd")) == descriptors
assert agent_sandbox.Sandbox
print("nothing heavy")
