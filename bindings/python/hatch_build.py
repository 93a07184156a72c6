"""What differs from one wheel of the package to the other.

The wheel for any machine holds the portable core; the one for Linux on x86_64 holds
the core compiled ahead as well, and asks for the major version of wasmtime that loads it.
"""

import os
from importlib.metadata import version as installed
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

WASM = "AGENT_SANDBOX_WASM"  # path of core.wasm
ARTIFACT = "AGENT_SANDBOX_ARTIFACT"  # path of core.cwasm, for the wheel that has it
LOWEST_WASMTIME = 50


class Dependencies(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        local = f"agent-sandbox-local=={metadata['version']}"
        metadata["dependencies"] = [
            _wasmtime(),
            "httptools>=0.6",
            "websockets>=13",
            f"{local}; sys_platform == 'linux' and (platform_machine == 'x86_64' or platform_machine == 'aarch64')",
        ]


class Core(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        include = build_data["force_include"]
        include[os.environ[WASM]] = "agent_sandbox/core.wasm"
        if artifact := os.environ.get(ARTIFACT):
            include[artifact] = "agent_sandbox/core.cwasm"
            libraries = ("manylinux_2_17", "manylinux2014")
            build_data["pure_python"] = False
            build_data["tag"] = "py3-none-" + ".".join(f"{library}_x86_64" for library in libraries)


def _wasmtime() -> str:
    if not os.environ.get(ARTIFACT):
        return f"wasmtime>={LOWEST_WASMTIME}"
    major = int(installed("wasmtime").split(".")[0])
    return f"wasmtime>={major},<{major + 1}"
