"""The run file that these tests change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.run_files import record


@pytest.fixture
def run_path(tmp_path: Path) -> Path:
    return record(tmp_path / "a.msrun")
