"""A bundle on a screen: the wait of a user with an empty home, and the resulting picture."""

from __future__ import annotations

import os
import shutil
import statistics
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tests.tools.bundle.bundle_starts import PATIENCE_S, require, surroundings

WINDOW_S, MOVING_S = 3.0, 5.0
ROUNDS = 3
COLOURS = 100
CHANGES, LOOK_S = 5, 0.1  # times in a row that the picture of a run that plays has changed

Pixels = NDArray[np.uint8]
Program = subprocess.Popen[bytes]


def check_start(bundle: Path, work: Path) -> str:
    """Measure from start to window and to a moving picture, each with an empty home.

    What the window's thread waited for a processor that other programs had is taken off.
    """
    if shutil.which("Xvfb") is None:
        return "left out: Xvfb is not installed"
    painted, moved, slow = [], [], []
    for turn in range(ROUNDS):
        with shown(bundle, work / f"home-{turn}") as (program, read):
            begun = time.monotonic()
            while not is_drawn(read()):
                require(time.monotonic() - begun < PATIENCE_S, "the window was not seen")
            painted.append(time.monotonic() - begun - waited(program))
            changes, before = 0, read()
            while changes < CHANGES:  # without a pause: a window that is being filled has some
                time.sleep(LOOK_S)
                require(time.monotonic() - begun < PATIENCE_S, "the picture did not move")
                after = read()
                changes, before = (
                    (0, after) if np.array_equal(before, after) else (changes + 1, after)
                )
            slow.append(time.monotonic() - begun - CHANGES * LOOK_S)
            moved.append(slow[-1] - waited(program))
    window, picture = statistics.median(painted), statistics.median(moved)
    told = f"window {window:.1f} s (asked {WINDOW_S}), moving {picture:.1f} s (asked {MOVING_S})"
    told += f"; by the clock {statistics.median(slow):.1f} s, load {os.getloadavg()[0]:.1f}"
    require(window <= WINDOW_S and picture <= MOVING_S, told)
    return told


def waited(program: Program) -> float:
    """Return the seconds for which the main thread was ready while other programs ran."""
    return int(Path(f"/proc/{program.pid}/schedstat").read_text("ascii").split()[1]) / 1e9


def is_drawn(pixels: Pixels) -> bool:
    """Return True if a picture has more colours than an empty screen or window."""
    return len(np.unique(pixels[::4, ::4].reshape(-1, 3), axis=0)) > COLOURS


@contextmanager
def shown(
    bundle: Path, home: Path
) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[], Pixels]]]:
    """Start a bundle on its own screen, and yield a reader of that screen."""
    with tempfile.TemporaryDirectory() as name:
        words = ["Xvfb", ":73", "-screen", "0", "1280x800x24", "-fbdir", name, "-nolisten", "tcp"]
        server = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        try:
            time.sleep(1.0)
            program = subprocess.Popen(
                [str(bundle / "marginscope")],
                env=surroundings(home, DISPLAY=":73"),
                cwd=home,
                stderr=subprocess.DEVNULL,
            )
            yield program, partial(read_screen, Path(name) / "Xvfb_screen0")
            program.terminate()
            program.wait(30)
        finally:
            server.terminate()
            server.wait(10)


def check_picture(bundle: Path, work: Path) -> str:
    """Save the screen after some seconds; check that it has several colours."""
    if shutil.which("Xvfb") is None:
        return "left out: Xvfb is not installed"
    target = work / "screen.png"
    with shown(bundle, work / "home-0") as (_, read):
        time.sleep(12.0)
        pixels = read()
    Image.fromarray(pixels).save(target)
    require(is_drawn(pixels), f"the screen shows {COLOURS} colours or fewer")
    return f"in {target}"


def read_screen(path: Path) -> Pixels:
    """Return the X window dump in which Xvfb stores its screen."""
    content = path.read_bytes()
    words = struct.unpack(">25I", content[:100])
    head, width, height, line, colours = words[0], words[4], words[5], words[12], words[19]
    start = head + 12 * colours
    rows = np.frombuffer(content, np.uint8, line * height, start).reshape(height, line)
    pixels = rows[:, : 4 * width].reshape(height, width, 4)
    return np.ascontiguousarray(pixels[:, :, 2::-1])
