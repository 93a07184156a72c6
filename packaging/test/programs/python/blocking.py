from agent_sandbox.sync import Sandbox

with Sandbox.create(template="python-base") as sandbox:
    result = sandbox.commands.run("echo hello")
    print(result.stdout, end="")
    data = bytes([0, 1, 2, 255, 254, 0xE2, 0x82])
    sandbox.files.write("/home/user/a/b.bin", data)
    assert sandbox.files.read("/home/user/a/b.bin", format="bytes") == data
    try:
        sandbox.files.read("/nowhere")
    except FileNotFoundError as error:
        print(type(error).__name__, error.code)
