"""The window as it was approved by eye, compared coarsely with the pictures of the documents."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "images"
SIZE = (1280, 752)  # without the bar at the bottom, whose status names a file that is new each time
COARSE = (80, 47)  # each cell is 16 x 16 pixels: text becomes its grey, curves stay where they are


def coarse(path: Path) -> np.ndarray:
    """Return the mean colour of each cell of a picture."""
    with Image.open(path) as image:
        top = image.convert("RGB").crop((0, 0, *SIZE))
    return np.asarray(top.resize(COARSE, Image.Resampling.BOX), dtype=np.float64)


@pytest.mark.slow
def test_the_window_looks_as_approved(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "tests.tools.pictures", "light", "dark")
    subprocess.run([*command, "--out", str(tmp_path)], cwd=ROOT, check=True, timeout=600)
    for name in ("window-light.png", "window-dark.png"):
        apart = np.abs(coarse(tmp_path / name) - coarse(FOLDER / name)).max(axis=2)
        assert apart.mean() < 4.0, name
        assert np.mean(apart > 60.0) < 0.02, name
