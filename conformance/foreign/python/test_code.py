import base64
import os
import time

import e2b
import e2b_code_interpreter
import e2b_code_interpreter.charts
import pytest
import pytest_asyncio

pytestmark = pytest.mark.skipif(
    not os.environ.get("INTERPRETER"), reason="this server has no template code-interpreter-v1"
)


@pytest_asyncio.fixture(scope="module")
async def box(client):
    kind = e2b_code_interpreter.AsyncSandbox if client.is_async else e2b_code_interpreter.Sandbox
    made = await client(kind.create, timeout=120, envs={"FROM_SANDBOX": "sandbox"})
    yield made
    await client(made.kill)


async def test_a_value_and_variables_that_stay(client, box):
    first = await client(box.run_code, 'x = 41\nprint("out")\nx + 1')
    assert (first.text, first.logs.stdout, first.logs.stderr) == ("42", ["out\n"], [])
    assert (first.error, first.execution_count) == (None, 1)
    assert (await client(box.run_code, "x")).text == "41"


async def test_callbacks_and_errors(client, box):
    seen = []
    execution = await client(
        box.run_code,
        'import sys\nprint("a", flush=True)\nfrom IPython.display import display\ndisplay("b")\n1/0',
        on_stdout=lambda o: seen.append(o.line),
        on_result=lambda r: seen.append(r.text),
        on_error=lambda e: seen.append(e.name),
    )
    assert seen == ["a\n", "b", "ZeroDivisionError"]
    assert "division by zero" in execution.error.traceback


async def test_a_chart_is_a_picture_and_data(client, box):
    code = 'import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4], label="l")\nplt.title("T")\nplt.show()'
    (result,) = (await client(box.run_code, code)).results
    assert base64.b64decode(result.png).startswith(b"\x89PNG")
    assert isinstance(result.chart, e2b_code_interpreter.charts.LineChart)
    assert result.chart.title == "T"
    assert result.chart.elements[0].points == [[1.0, 3.0], [2.0, 4.0]] or result.chart.elements[0].points == [
        (1.0, 3.0),
        (2.0, 4.0),
    ]


async def test_a_table_is_html_text_and_data(client, box):
    code = 'import pandas as pd\npd.DataFrame({"n": [1, 2], "f": [1.5, float("inf")]})'
    execution = await client(box.run_code, code)
    (result,) = execution.results
    assert "<table" in result.html
    assert result.data == {"n": [1, 2], "f": [1.5, None]}
    assert execution.logs.stderr == []


@pytest.mark.parametrize("language, code, out", [("js", "console.log('hi')", "hi\n"), ("bash", "echo $FROM_SANDBOX", "sandbox\n")])
async def test_languages(client, box, language, code, out):
    assert (await client(box.run_code, code, language=language)).logs.stdout == [out]


async def test_contexts(client, box):
    context = await client(box.create_code_context, cwd="/tmp", language="python")
    assert (context.cwd, context.language) == ("/tmp", "python")
    await client(box.run_code, "y = 1", context=context)
    assert (await client(box.run_code, "import os; os.getcwd()", context=context)).text == "/tmp"
    assert (await client(box.run_code, "y")).error.name == "NameError"
    languages = {c.language for c in await client(box.list_code_contexts)}
    assert {"python", "javascript"} <= languages
    await client(box.restart_code_context, context)
    assert (await client(box.run_code, "y", context=context)).error.name == "NameError"
    await client(box.remove_code_context, context)
    with pytest.raises(e2b.NotFoundException):
        await client(box.run_code, "1", context=context)


async def test_variables_of_a_call(client, box):
    get = 'import os; [os.environ.get("CALL"), os.environ.get("FROM_SANDBOX")]'
    assert (await client(box.run_code, get, envs={"CALL": "call"})).text == "['call', 'sandbox']"
    assert (await client(box.run_code, get)).text == "[None, 'sandbox']"


async def test_a_timeout_interrupts_and_the_context_goes_on(client, box):
    await client(box.run_code, "kept = 7")
    with pytest.raises(e2b.TimeoutException):
        await client(box.run_code, "while True: pass", timeout=0.5)
    began = time.monotonic()
    assert (await client(box.run_code, "kept")).text == "7"
    assert time.monotonic() - began < 10


async def test_text_beyond_ascii_and_long_lines(client, box):
    execution = await client(box.run_code, 'print("漢🌍\\u2028\\x85\\x0c" * 100_000)')
    assert "".join(execution.logs.stdout) == "漢🌍\u2028\x85\x0c" * 100_000 + "\n"


async def test_a_kernel_that_dies_says_so(client, box):
    assert (await client(box.run_code, "import os; os._exit(3)")).error.name == "KernelDied"
    execution = await client(box.run_code, "1+1")
    assert execution.text == "2"
    assert "new python kernel" in "".join(execution.logs.stderr)
