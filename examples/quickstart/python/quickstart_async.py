"""A sandbox, a command, files, and a server inside, with asyncio."""

import asyncio

from agent_sandbox import Sandbox


async def main() -> None:
    async with await Sandbox.create(template="python-base") as sandbox:
        result = await sandbox.commands.run("echo hello")
        print(result.stdout, end="")

        await sandbox.files.write("notes/today.txt", "from inside\n")
        print((await sandbox.commands.run(["cat", "notes/today.txt"])).stdout, end="")

        # Output while it comes, and many commands at once.
        await sandbox.commands.run("for i in 1 2 3; do echo step $i; done", on_stdout=lambda text: print(text, end=""))
        squares = await asyncio.gather(*[sandbox.commands.run(f"echo $(({n} * {n}))") for n in range(4)])
        print([int(square.stdout) for square in squares])

        # Something that goes on running.
        server = await sandbox.commands.run("python3 -m http.server 8000 --directory notes", background=True)
        print(sandbox.get_url(8000).startswith("http"))
        await server.kill()


asyncio.run(main())
