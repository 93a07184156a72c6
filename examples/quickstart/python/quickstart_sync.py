"""The same without asyncio."""

from agent_sandbox.sync import Sandbox

with Sandbox.create(template="python-base") as sandbox:
    print(sandbox.commands.run("echo hello").stdout, end="")

    sandbox.files.write("notes/today.txt", "from inside\n")
    print(sandbox.commands.run(["cat", "notes/today.txt"]).stdout, end="")

    # Output while it comes: iterate over a command that runs in the background.
    for output in sandbox.commands.run("for i in 1 2 3; do echo step $i; done", background=True):
        print(output.text, end="")

    for chunk in sandbox.files.read("notes/today.txt", format="stream"):
        print(len(chunk), "bytes")
