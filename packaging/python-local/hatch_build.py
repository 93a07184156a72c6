"""Puts the program into the wheel, and says for which machines it is."""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Program(BuildHookInterface[Any]):
    """Takes SANDBOXC_PROGRAM, a static Linux program, and SANDBOXC_MACHINE, its architecture."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        machine = os.environ["SANDBOXC_MACHINE"]
        # Linked with no C library, the program runs beside any of them.
        libraries = ("manylinux_2_17", "manylinux2014", "musllinux_1_1")
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + ".".join(f"{library}_{machine}" for library in libraries)
        build_data["force_include"][os.environ["SANDBOXC_PROGRAM"]] = "agent_sandbox_local/sandboxc"
