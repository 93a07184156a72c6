"""The same frames over the pipes of ``sandboxc host --stdio``, where wasmtime cannot be had."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .frame import NOBODY, Frame, number, parse
from .machine import MachineDied, NoMachine

if TYPE_CHECKING:
    from .gathered import Gathered


class Stdio:
    """A machine (see machine.py) in a process of its own, which ends with this one."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        assert process.stdin is not None and process.stdout is not None
        self._stdin, self._stdout = process.stdin.fileno(), process.stdout.fileno()

    @classmethod
    def start(cls) -> Stdio:
        """Starts the program. Raises MachineDied when there is none."""
        binary = _find()
        if binary is None:
            words = "wasmtime cannot be imported here, and no sandboxc program was found to take its place"
            raise NoMachine(words, "pip install wasmtime or agent-sandbox-local, or set SANDBOXC to the program")
        try:
            process = subprocess.Popen(
                [binary, "host", "--stdio"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            words = f"wasmtime cannot be imported here, and {binary} cannot be started in its place: {error.strerror}"
            raise NoMachine(words, "set SANDBOXC to the path of the program, or pip install wasmtime") from None
        return cls(process)

    def run(self, parts: list[bytes], size: int, gathering: Mapping[int, Gathered] = NOBODY) -> list[Frame]:
        """Takes ``size`` bytes of input frames in pieces and gives the output frames."""
        try:
            self._write(size.to_bytes(4, "little") + b"".join(parts))
            total = number(self._read(4))
            return parse(memoryview(self._read(total)), gathering)
        except OSError:
            raise MachineDied(f"sandboxc host ended (status {self._process.poll()})") from None

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._stdin, view) :]

    def _read(self, size: int) -> bytes:
        pieces = []
        while size:
            piece = os.read(self._stdout, min(size, 1 << 20))
            if not piece:
                raise BrokenPipeError
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        """Ends the program."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
            return
        self._process.kill()
        self._process.wait()


def _find() -> str | None:
    """The program, in the order in which the local server is looked for."""
    given = os.environ.get("SANDBOXC")
    if given:
        return given
    try:
        from agent_sandbox_local import binary
    except ImportError:
        return shutil.which("sandboxc")
    try:
        return str(binary())
    except FileNotFoundError:
        return shutil.which("sandboxc")
