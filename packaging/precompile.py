"""precompile.py WASM OUT: compiles the core ahead for every CPU of x86_64 Linux.

The result loads under any wasmtime of the same major version. The target is named
here, where it is made, and never where it is loaded.
"""

import sys

import wasmtime


def main(wasm: str, out: str) -> None:
    config = wasmtime.Config()
    config.target = "x86_64-unknown-linux-gnu"
    with open(wasm, "rb") as source:
        module = wasmtime.Module(wasmtime.Engine(config), source.read())
    with open(out, "wb") as artifact:
        artifact.write(module.serialize())


main(*sys.argv[1:])
