"""What is read for the core."""

from __future__ import annotations

import os
import pathlib

import pytest

from agent_sandbox._host.settings import read_settings


def test_only_listed_variables_that_are_set(tmp_path: pathlib.Path) -> None:
    environ = {"E2B_API_KEY": "k", "E2B_DOMAIN": "", "HOME": str(tmp_path), "SECRET": "x"}
    assert read_settings(environ, str(tmp_path)) == ({"E2B_API_KEY": "k"}, "", "")


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "HOME"])
def test_the_files(tmp_path: pathlib.Path, variable: str) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff")
    config = tmp_path / ("agent-sandbox" if variable == "XDG_CONFIG_HOME" else ".config/agent-sandbox")
    config.mkdir(parents=True)
    (config / "config.toml").write_text("x = 1")
    assert read_settings({variable: str(tmp_path)}, str(tmp_path)) == ({}, "A=\ufffd", "x = 1")


def test_the_working_directory_is_the_default(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("A=b")
    monkeypatch.chdir(tmp_path)
    assert read_settings({"HOME": str(tmp_path)}, None)[1] == "A=b"


def test_what_is_no_file_is_empty(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / ".env")
    (tmp_path / "agent-sandbox" / "config.toml").mkdir(parents=True)
    assert read_settings({"XDG_CONFIG_HOME": str(tmp_path)}, str(tmp_path)) == ({}, "", "")


def test_a_huge_file_is_not_read_whole(tmp_path: pathlib.Path) -> None:
    (tmp_path / ".env").write_text("x" * (3 << 20))
    assert len(read_settings({"HOME": str(tmp_path)}, str(tmp_path))[1]) == (1 << 20) + 1
