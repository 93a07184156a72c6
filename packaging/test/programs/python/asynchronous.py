import asyncio

from agent_sandbox import Sandbox


async def main() -> None:
    # As the first page of the guide has it.
    async with await Sandbox.create(template="python-base") as sandbox:
        result = await sandbox.commands.run("echo hello")
        print(result.stdout, end="")
        data = bytes([0, 1, 2, 255, 254, 0xE2, 0x82])
        await sandbox.files.write("/home/user/a/b.bin", data)
        assert await sandbox.files.read("/home/user/a/b.bin", format="bytes") == data
        try:
            await sandbox.files.read("/nowhere")
        except FileNotFoundError as error:
            print(type(error).__name__, error.code)


asyncio.run(main())
