# E2B's own package, unchanged; the environment points it at the local server.
from e2b import Sandbox

with Sandbox.create() as sandbox:
    result = sandbox.commands.run("echo hello from $(id -un)")
    print(result.stdout, end="")
    sandbox.files.write("data/a.txt", "42")
    print(sandbox.files.read("data/a.txt"))
