"""The start: nothing heavy is loaded before the window can be seen; `make bench` measures it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from app.__main__ import load_torch_first
from tests.window_observer import STARTED

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("torch", "scipy", "matplotlib", "numba", "sklearn", "pyqtgraph")

WATCH = f"""
import json, os, sys, time

def painted(window):
    loaded = [name for name in {HEAVY!r} if name in sys.modules]
    print(json.dumps(dict(time=time.time(), loaded=loaded)), flush=True)

def look(self):
    runs = list(self.session)
    if not runs or any(run.data is None or run.live for run in runs):
        return
    if self.display.view.cursor <= self.display.view.span.low:
        return
    self.watch.stop()
    self.window.grab().save(os.environ["SHOT"])
    shown = [[run.heading, run.data.m] for run in runs]
    print(json.dumps(dict(runs=shown, playing=self.display.intent.playing)), flush=True)
    self.window.close()
"""


def started(tmp_path: Path, **environment: str) -> tuple[float, list[dict[str, Any]]]:
    """Return when a window was started, and what it printed until it closed itself."""
    home = {name: str(tmp_path / name) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    home["XDG_STATE_HOME"] = str(tmp_path / "state")
    shot = str(tmp_path / "shot.png")
    before = time.time()
    done = subprocess.run(
        [sys.executable, "-c", WATCH + STARTED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **home, "SHOT": shot, **environment},
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return before, [json.loads(line) for line in done.stdout.splitlines()]


def _check(tmp_path: Path, seen: list[dict[str, Any]]) -> None:
    first, last = seen
    assert first["loaded"] == []
    assert last["runs"] == [["m = 16", 16], ["m = 256", 256]]
    assert last["playing"] is True
    assert len(list((tmp_path / "XDG_DATA_HOME").rglob("*.msrun"))) == 2
    assert (tmp_path / "XDG_CONFIG_HOME" / "marginscope" / "settings.json").exists()
    assert (tmp_path / "shot.png").stat().st_size > 20_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the folders are those of Linux")
def test_the_window_is_seen_first_and_plays_figure_1(tmp_path: Path) -> None:
    _, seen = started(tmp_path)
    _check(tmp_path, seen)


@contextmanager
def screen() -> Iterator[str]:
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        with os.fdopen(read) as pipe:
            yield f":{pipe.readline().strip()}"
    finally:
        server.terminate()
        server.wait(10)


@pytest.mark.slow
@pytest.mark.xvfb
def test_it_opens_as_a_real_window(tmp_path: Path) -> None:
    with screen() as display:
        _, seen = started(tmp_path, DISPLAY=display, QT_QPA_PLATFORM="xcb")
    _check(tmp_path, seen)


def test_torch_is_left_alone_where_it_is_not_needed_first() -> None:
    if sys.platform != "win32":
        code = (
            "from app.__main__ import load_torch_first as f; f(); import sys; print(*sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert "torch" not in done.stdout.split()
    load_torch_first()


def test_the_command_line_explains_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app", "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "msrun" in done.stdout
