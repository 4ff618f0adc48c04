"""Starting the programs of a bundle: with an empty home, elsewhere, and in a bare Debian."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PATIENCE_S = 900
SUITE = "bookworm"
# What a user's session has and a check must not take along.
LEFT_BEHIND = ("PYTHON", "QT_", "NUMBA_", "OMP_", "XDG_", "DISPLAY", "WAYLAND", "MARGINSCOPE_")

# What the processes of a bundle train.
GRID = """
title = "Four small runs"
[data]
d = 4
n = 16
[network]
m = 4
[dynamics]
kind = "gd"
step = 0.1
until_log10_time = 1.0
[recording]
frames = 5
[axes]
"run.seed" = [0, 1, 2, 3]
"""


class TriedError(Exception):
    """A promise that does not hold; the text describes it."""


def require(condition: object, sentence: str) -> None:
    """Raise TriedError unless a condition holds."""
    if not condition:
        raise TriedError(sentence)


def surroundings(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a user with a certain home, and nothing of this one."""
    home.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(LEFT_BEHIND)}
    return {**kept, "HOME": str(home), **more}


def said(words: Sequence[object], home: Path, folder: Path, **more: str) -> str:
    """Return a program's output. Raises TriedError if it fails."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=surroundings(home, **more),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    name = Path(str(words[0])).name
    told = (done.stdout + done.stderr)[-3000:]
    require(done.returncode == 0, f"{name} ended with {done.returncode}:\n{told}")
    require("Traceback" not in done.stderr, f"{name} shows a traceback:\n{told}")
    return done.stdout


def self_test(words: Sequence[object], home: Path, folder: Path) -> tuple[dict[str, Any], float]:
    """Return the output of a successful self-test, and its seconds with the start."""
    begun = time.monotonic()
    told = json.loads(said([*words, "--self-test"], home, folder))
    require(told["ok"] and told["frozen"], f"the self-test says {told}")
    return told, time.monotonic() - begun


class BareRoot:
    """A minimal Debian with the bundle in it."""

    def __init__(self, place: Path) -> None:
        self.place = place

    @staticmethod
    def possible() -> str:
        """Return why no such system can be made here, or ""."""
        missing = [tool for tool in ("debootstrap", "unshare", "chroot") if not shutil.which(tool)]
        if missing:
            return f"{', '.join(missing)} not found"
        return "" if os.geteuid() == 0 else "needs root"

    def make(self, bundle: Path) -> None:
        """Unpack Debian if needed, and put a bundle and an empty home into it."""
        if not (self.place / "etc" / "debian_version").is_file():
            shutil.rmtree(self.place, ignore_errors=True)
            words = ["debootstrap", "--variant=minbase", SUITE, str(self.place)]
            subprocess.run(words, check=True, capture_output=True, timeout=PATIENCE_S)
        for name in ("opt/marginscope", "srv/somebody", "tmp"):
            shutil.rmtree(self.place / name, ignore_errors=True)
            (self.place / name).mkdir(parents=True)
        shutil.copytree(
            bundle, self.place / "opt" / "marginscope", symlinks=True, dirs_exist_ok=True
        )
        there = [path for path in (self.place / "usr" / "bin").iterdir() if "python" in path.name]
        require(not there, f"the bare root has Python: {there}")

    def words(self, *command: object) -> list[object]:
        """Return the command that runs another one in it, with devices and processes."""
        root = str(self.place)
        script = (
            'mount --bind /dev "$0/dev" && mount -t proc proc "$0/proc" && '
            'exec chroot "$0" /usr/bin/env -i HOME=/srv/somebody PATH=/usr/bin:/bin "$@"'
        )
        return ["unshare", "--mount", "sh", "-c", script, root, *command]
