"""A cache of its own for every test."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the tests' margins are kept."""
    monkeypatch.setenv("MARGINSCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "margins"
