"""A bundle on a screen: how long a user waits with an empty home, and what is seen then."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from tests.app.shell.test_start import screen
from tests.tools.bundle.trying import PATIENCE_S, require, surroundings

WINDOW_S, MOVING_S = 3.0, 5.0
ROUNDS = 3
SIZE = (1280, 800)


def check_start(bundle: Path, work: Path) -> str:
    """From nothing to the window, and to a picture that moves, each time with an empty home.

    What the window's thread waited for a processor that other programs had is taken off.
    """
    if shutil.which("Xvfb") is None:
        return "left out: Xvfb is not installed"
    painted, moved, slow = [], [], []
    for turn in range(ROUNDS):
        home = work / f"home-{turn}"
        with screen() as display:
            begun = time.time()
            seen = _timed(bundle, home, display)
        painted.append(seen["painted"] - begun - seen["painted_waited"])
        moved.append(seen["moved"] - begun - seen["moved_waited"])
        slow.append(seen["moved"] - begun)
    window, picture = statistics.median(painted), statistics.median(moved)
    told = f"window {window:.1f} s (asked {WINDOW_S}), moving {picture:.1f} s (asked {MOVING_S})"
    told += f"; by the clock {statistics.median(slow):.1f} s, load {os.getloadavg()[0]:.1f}"
    require(window <= WINDOW_S and picture <= MOVING_S, told)
    return told


def _timed(bundle: Path, home: Path, display: str) -> dict[str, float]:
    done = subprocess.run(
        [str(bundle / "marginscope"), "--time-start"],
        env=surroundings(home, DISPLAY=display),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    seen: dict[str, float] = {}
    for line in done.stdout.splitlines():
        seen |= json.loads(line)
    require({"painted", "moved"} <= set(seen), f"the window was not seen: {done.stderr[-2000:]}")
    return seen


def check_picture(bundle: Path, work: Path) -> str:
    """What is on the screen after some seconds, as a file, and that it is more than a colour."""
    if shutil.which("Xvfb") is None:
        return "left out: Xvfb is not installed"
    target = work / "screen.png"
    with tempfile.TemporaryDirectory() as name:
        words = ["Xvfb", ":73", "-screen", "0", "1280x800x24", "-fbdir", name, "-nolisten", "tcp"]
        server = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        try:
            time.sleep(1.0)
            home = work / "home-0"
            program = subprocess.Popen(
                [str(bundle / "marginscope")],
                env=surroundings(home, DISPLAY=":73"),
                stderr=subprocess.DEVNULL,
            )
            time.sleep(12.0)
            picture = _read_screen(Path(name) / "Xvfb_screen0")
            program.terminate()
            program.wait(30)
        finally:
            server.terminate()
            server.wait(10)
    picture.save(target)
    colours = len(picture.getcolors(1 << 24) or ())
    require(colours > 100, f"the screen shows {colours} colours")
    return f"{colours} colours, in {target}"


def _read_screen(path: Path) -> Image.Image:
    """The X window dump in which Xvfb keeps its screen."""
    content = path.read_bytes()
    words = struct.unpack(">25I", content[:100])
    head, width, height, line, colours = words[0], words[4], words[5], words[12], words[19]
    start = head + 12 * colours
    rows = np.frombuffer(content, np.uint8, line * height, start).reshape(height, line)
    pixels = rows[:, : 4 * width].reshape(height, width, 4)
    return Image.fromarray(np.ascontiguousarray(pixels[:, :, 2::-1]))
