"""A table goes in; a picture, its data and a table come back."""

import pathlib

from agent_sandbox import BarChart
from agent_sandbox.sync import Sandbox

here = pathlib.Path(__file__).parent
with Sandbox.create("code-interpreter-v1") as sandbox:
    sandbox.files.write("sales.csv", (here / "sales.csv").read_text())
    execution = sandbox.run_code((here / "report.py").read_text())
    figure, table = execution.results
    pathlib.Path("sales.png").write_bytes(figure.bytes_of("png"))
    assert isinstance(figure.chart, BarChart)
    print(figure.chart.title)
    for bar in figure.chart.elements:
        print(f"{bar.label} {bar.value:g}")
    print(table.text)
