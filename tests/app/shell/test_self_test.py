"""`--self-test` as whoever doubts an installation types it; the bundle's test types it too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app import self_test
from app.desktop import SIZES
from app.self_test import SelfTest, require
from app.start import icon
from core.program.version import __version__

ROOT = Path(__file__).resolve().parents[3]
STEPS = "window training recording scrubbing figure film margin processes documents closing"


@pytest.mark.slow
def test_all_is_well_here_and_nothing_is_left(tmp_path: Path) -> None:
    homes = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("DATA", "CONFIG", "STATE")}
    environment = {**os.environ, **homes, "TMPDIR": str(tmp_path)}
    environment.pop("QT_QPA_PLATFORM", None)  # it needs no screen, and nobody to say so
    environment.pop("DISPLAY", None)
    done = subprocess.run(
        [sys.executable, "-m", "app", "--self-test"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    told = json.loads(done.stdout)
    assert [step["name"] for step in told["steps"]] == STEPS.split()
    assert not [step for step in told["steps"] if not step["ok"]]
    assert done.returncode == 0 and told["ok"]
    assert told["version"] == __version__ and told["frozen"] is False
    assert "50 moments" in told["steps"][3]["detail"]
    assert not list(tmp_path.rglob("*marginscope*"))


def test_the_window_has_an_icon_in_every_size(qtbot: object) -> None:
    assert {size.width() for size in icon().availableSizes()} == set(SIZES)
    assert not icon().pixmap(32, 32).isNull()


def test_a_step_that_fails_is_told_and_the_others_are_tried(
    qtbot: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: SelfTest) -> str:
        require(False, "the window is empty")
        return ""

    monkeypatch.setattr(SelfTest, "window", broken)
    monkeypatch.setattr(self_test, "PATIENCE_S", 0.1)
    test = SelfTest(tmp_path)
    assert not test.run()
    assert [step["name"] for step in test.steps][1:] == STEPS.split()[1:]
    assert [step["ok"] for step in test.steps].count(True) == 2  # processes and documents
    assert test.steps[0]["detail"] == "FailedError: the window is empty"
