"""Code that keeps what it defines: output as it is printed, values, errors."""

import asyncio

from agent_sandbox import Sandbox


async def main() -> None:
    async with await Sandbox.create("code-interpreter-v1") as sandbox:
        await sandbox.run_code("x = 20")
        execution = await sandbox.run_code("print('working'); x + 22", on_stdout=lambda message: print(message, end=""))
        print(execution.text)
        execution = await sandbox.run_code("x / 0")
        if execution.error:
            print(execution.error.name)


asyncio.run(main())
