"""Temporary files: in memory only where it has room and nothing else was asked for."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.temporary import ROOM, use_memory


@pytest.mark.parametrize(
    ("free", "chosen", "is_used"),
    [(ROOM + 1, None, True), (ROOM - 1, None, False), (ROOM + 1, "elsewhere", False)],
)
def test_memory_is_used_where_it_has_room(
    free: int, chosen: str | None, is_used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", None)
    if chosen is not None:
        (tmp_path / chosen).mkdir()
        monkeypatch.setenv("TMPDIR", str(tmp_path / chosen))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    (tmp_path / "memory").mkdir()
    use_memory(tmp_path / "memory")
    assert (tempfile.gettempdir() == str(tmp_path / "memory")) == is_used


def test_a_system_without_such_a_folder_uses_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    before = tempfile.gettempdir()
    use_memory(tmp_path / "nothing")
    assert tempfile.gettempdir() == before
