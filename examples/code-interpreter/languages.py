"""Several languages in one sandbox, each with a state of its own, and one directory of files."""

from agent_sandbox.sync import Sandbox

with Sandbox.create("code-interpreter-v1") as sandbox:
    sandbox.run_code("name=world; echo hello > greeting.txt", language="bash")
    print(sandbox.run_code('echo "$(cat greeting.txt), $name"', language="bash").stdout, end="")
    print(sandbox.run_code("console.log([1, 2, 3].map((n) => n * n).join(' '))", language="javascript").stdout, end="")
    context = sandbox.create_code_context(language="python", cwd="/tmp")
    print(sandbox.run_code("import os; os.getcwd()", context=context).text)
    sandbox.remove_code_context(context)
