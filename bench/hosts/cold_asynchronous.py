"""cold_asynchronous.py MODULE CLASS [SANDBOX]: as cold.mjs, with an asyncio client."""

import asyncio
import importlib
import sys
import time

began = time.perf_counter()
Sandbox = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])


async def main():
    sandbox = await (Sandbox.connect(sys.argv[3]) if len(sys.argv) > 3 else Sandbox.create())
    await sandbox.commands.run("true")
    print((time.perf_counter() - began) * 1000)
    if len(sys.argv) == 3:
        await sandbox.kill()


asyncio.run(main())
