"""A program for E2B's SDK with another import."""

from agent_sandbox.e2b import CommandExitException, Sandbox

with Sandbox.create(timeout=60) as sandbox:
    print(sandbox.commands.run("echo hello").stdout, end="")
    try:
        sandbox.commands.run("exit 3")
    except CommandExitException as error:
        print(error.exit_code)
