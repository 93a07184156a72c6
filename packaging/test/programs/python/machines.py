"""machines.py DIST ROOT: every package has the static program of the machine that it names.

Nothing in it tells where it was built.
"""

import pathlib
import stat
import sys
import tarfile
import zipfile

dist, root = pathlib.Path(sys.argv[1]), sys.argv[2].encode()
MACHINE_OF = {"x86_64": 62, "x64": 62, "aarch64": 183, "arm64": 183}  # e_machine of ELF


def check(name: str, program: bytes, executable: bool) -> None:
    machine = next(number for word, number in MACHINE_OF.items() if word in name)
    assert program[:6] == b"\x7fELF\2\1", name
    assert int.from_bytes(program[18:20], "little") == machine, name
    assert b"ld-linux" not in program[:4096], f"{name}: not static"
    assert root not in program, f"{name}: names the folder that it was built in"
    assert executable, f"{name}: not executable"


wheels = sorted(dist.glob("agent_sandbox_local-*.whl"))
archives = sorted(dist.glob("agent-sandbox-local-linux-*.tgz"))
assert len(wheels) == len(archives) == 2, (wheels, archives)
for wheel in wheels:
    with zipfile.ZipFile(wheel) as contents:
        entry = contents.getinfo("agent_sandbox_local/sandboxc")
        check(wheel.name, contents.read(entry), bool(entry.external_attr >> 16 & stat.S_IXUSR))
for archive in archives:
    with tarfile.open(archive) as contents:
        member = contents.getmember("package/bin/sandboxc")
        program = contents.extractfile(member)
        assert program
        check(archive.name, program.read(), bool(member.mode & stat.S_IXUSR))
