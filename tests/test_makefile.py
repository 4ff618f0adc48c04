"""The Makefile: what its targets install, by a dry run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def dry_run(target: str, folder: Path) -> str:
    """Return the commands of a target where nothing is installed, without running them."""
    done = subprocess.run(
        ["make", "--dry-run", target, f"VENV={folder / 'none'}"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "MAKEFLAGS"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(("target", "wanted"), [("run", False), ("torch", True), ("lint", True)])
def test_only_what_needs_pytorch_installs_it(tmp_path: Path, target: str, wanted: bool) -> None:
    commands = dry_run(target, tmp_path)
    assert "-m venv" in commands
    assert ("torch==" in commands) == wanted
    assert (".2 GB to fetch" in commands) == wanted  # the size, before anything is fetched
