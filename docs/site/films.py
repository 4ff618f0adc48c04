"""Figure 1 as a film, and as a page that plays: made by the program from runs of this build."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from core.files import temporary_folder
from docs.site.places import RESULTS, ROOT
from docs.site.results import StudyError, code_digest

STUDY = "telgarsky22-figure-1"
PLAYED = "figure-1.html"
EXTRA = "extra"  # the folder of what Sphinx copies as it is
FILMS = {"light": "film-light.gif", "dark": "film-dark.gif"}
# Half a megabyte each: two views of both widths, and what theory promises the margin.
LOOK = ("--panel", "neurons,margins", "--margins", "gamma_gl", "--since", "10^-1")
LENGTH = ("--seconds", "6", "--fps", "6")
FRAMES = ("--frames", "150")  # of the page, which is smooth all the same


@final
@dataclass(frozen=True, slots=True)
class Films:
    """The files: the page, and a film for each palette."""

    page: Path
    films: Mapping[str, Path]


def figure_1(kept: Path = RESULTS) -> Films:
    """Return the films of Figure 1, from an earlier build if the code is the same."""
    words = " ".join((*LOOK, *LENGTH, *FRAMES, *FILMS.values()))
    key = hashlib.sha256(words.encode() + code_digest()).hexdigest()[:16]
    place = kept / "figure-1-films" / key
    if not place.is_dir():
        shutil.rmtree(place.parent, ignore_errors=True)
        making = place.parent / "making"
        making.mkdir(parents=True)
        _make(making)
        making.rename(place)
    return Films(place / PLAYED, {shade: place / name for shade, name in FILMS.items()})


def _make(place: Path) -> None:
    with temporary_folder("site") as folder:
        _core("run", STUDY, "--out", folder)
        _core("page", folder, "--out", place / PLAYED, *FRAMES)
        runs = sorted(Path(folder).glob("*.msrun"))  # m = 16 first
        for shade, name in FILMS.items():
            dark = ["--dark"] if shade == "dark" else []
            _core("movie", *runs, "--out", place / name, *LOOK, *LENGTH, *dark)


def _core(command: str, *words: str | Path) -> None:
    line = [sys.executable, "-m", "core", command, *map(str, words), "--quiet"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise StudyError(f"core {command}: {done.stderr.strip()[-500:]}")
