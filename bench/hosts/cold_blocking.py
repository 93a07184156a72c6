"""cold_blocking.py MODULE [SANDBOX]: as cold.mjs, with a blocking client."""

import importlib
import sys
import time

began = time.perf_counter()
Sandbox = importlib.import_module(sys.argv[1]).Sandbox
sandbox = Sandbox.connect(sys.argv[2]) if len(sys.argv) > 2 else Sandbox.create()
sandbox.commands.run("true")
print((time.perf_counter() - began) * 1000)
if len(sys.argv) == 2:
    sandbox.kill()
