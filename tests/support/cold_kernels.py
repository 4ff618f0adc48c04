"""A simulated cold cache: groups of kernels become ready when a test releases them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import final

import pytest

from core.compiled import headless_process, kernel_groups

# Prints the line of each requested group once there is a file of that name.
COMPILER = """
import json, pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
groups = sys.argv[sys.argv.index("--only") + 1:]
(folder / "requests").open("a").write(" ".join(groups) + "\\n")
for i, group in enumerate(groups, 1):
    while not (folder / group).exists():
        time.sleep(0.01)
    print(json.dumps(dict(done=i, of=len(groups), group=group, seconds=0.1)), flush=True)
"""


@final
class Cold:
    """Compiler whose groups are ready once a test has released them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        folder.mkdir()
        command = [sys.executable, "-S", "-c", COMPILER, str(folder)]
        monkeypatch.setattr(headless_process, "warm_command", lambda: command)
        monkeypatch.setattr(kernel_groups, "missing_groups", self._missing)

    def _missing(self, wanted: Iterable[str] = kernel_groups.GROUPS) -> tuple[str, ...]:
        return tuple(g for g in wanted if not (self.folder / g).exists())

    def release(self, *groups: str) -> None:
        for group in groups:
            (self.folder / group).touch()

    @property
    def requests(self) -> list[list[str]]:
        path = self.folder / "requests"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cold:
    return Cold(tmp_path / "cold", monkeypatch)
