"""The core and a local server, made once for all tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="agent-sandbox-test-", ignore_cleanup_errors=True) as directory:
        yield Path(directory)


@pytest.fixture(scope="session")
def core(scratch: Path) -> Path:
    """The core's wasm; what is compiled of it is kept for all tests."""
    given = os.environ.get("AGENT_SANDBOX_WASM")
    path = Path(given) if given else scratch / "core.wasm"
    if not given:
        subprocess.run([str(ROOT / "scripts/build-wasm"), str(path)], check=True, cwd=ROOT)
    os.environ["AGENT_SANDBOX_WASM"] = str(path)
    os.environ.setdefault("XDG_CACHE_HOME", str(scratch / "cache"))
    return path


@pytest.fixture(scope="session")
def sandboxc(scratch: Path) -> Path:
    """The program of the local provider."""
    given = os.environ.get("SANDBOXC")
    if given:
        return Path(given)
    path = scratch / "sandboxc"
    environ = {**os.environ, "CGO_ENABLED": "0"}
    subprocess.run(["go", "build", "-o", str(path), "./cmd/sandboxc"], check=True, cwd=ROOT, env=environ)
    return path


@pytest.fixture(scope="session")
def server(scratch: Path, sandboxc: Path) -> Iterator[dict[str, Any]]:
    """A local server of our own."""
    home = scratch / "home"
    home.mkdir(exist_ok=True)
    environ = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(scratch / "state")}
    said = subprocess.run(
        [str(sandboxc), "serve", "--detach", "--json"], env=environ, check=True, capture_output=True, cwd=home
    )
    state: dict[str, Any] = json.loads(said.stdout)
    yield state
    os.kill(state["pid"], signal.SIGTERM)
    for _ in range(200):
        try:
            os.kill(state["pid"], 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)


@pytest.fixture
def options(core: Path, server: dict[str, Any]) -> dict[str, Any]:
    """Options that name the server, whatever this machine's environment says."""
    from agent_sandbox import HostSettings

    return {
        "provider": "local",
        "api_key": server["api_key"],
        "api_url": server["url"],
        "sandbox_url": server["sandbox_url"],
        "proxy": "direct",
        "settings": HostSettings({}),
    }


@pytest.fixture
def found(core: Path, scratch: Path, server: dict[str, Any], sandboxc: Path) -> dict[str, Any]:
    """Options that name no server: it is found as on any machine where nothing is configured."""
    from agent_sandbox import HostSettings

    environ = {"HOME": str(scratch / "home"), "XDG_STATE_HOME": str(scratch / "state"), "SANDBOXC": str(sandboxc)}
    return {"settings": HostSettings(environ)}
