"""Results of a study at its quick size: run at build time, judged, drawn, and cached by content.

The cache's key is the digest of the study file and of the code behind its numbers, so a second
build trains nothing. Run files are deleted once the figure is drawn.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, final

from core.figures.export import figure_bytes
from core.figures.palette import DARK, LIGHT
from core.figures.study_figure import figure_of_runs, has_figure
from core.files import temporary_folder
from core.studies.cell_table import known_values
from core.studies.cells import runs_of
from core.studies.study import Study, load_study
from core.sweep.folder import sweeps_in
from core.sweep.plan import Ledger, run_file
from docs.site.places import RESULTS, ROOT

SIZE = "quick"
DPI = 144.0  # a third more than the pixels of the page
COLOURS = 64
SMALLEST: dict[str, Any] = {"lossless": True, "quality": 100, "method": 6}
PALETTES = {"light": LIGHT, "dark": DARK}
TOLD = "result.json"
# Code on which no number of a study and no line of its figure depends.
ASIDE = ("cli", "library")


class StudyError(Exception):
    """A study that could not be run."""


@final
@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of a study.

    `claims` are the fields of `check --json`, and `pictures` the files of its figure by palette;
    none if the runs are too many for one. `core_seconds` is the time of all cells together.
    """

    claims: tuple[Mapping[str, Any], ...]
    cells: int
    core_seconds: float
    pictures: Mapping[str, Path]


@cache
def code_digest() -> bytes:
    """Return the digest of all code that affects a run, a verdict or a figure."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "core").rglob("*.py")):
        if path.relative_to(ROOT).parts[1] not in ASIDE:
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.digest()


def key_of(name: str) -> str:
    """Under what a study's result is kept: its file and the code."""
    own = f"{name} {DPI:g} {COLOURS}\n{load_study(name).to_toml()}".encode()
    return hashlib.sha256(own + code_digest()).hexdigest()[:16]


def result_of(name: str, jobs: int = 2, kept: Path = RESULTS) -> Result:
    """Return the result of a shipped study, from an earlier build if nothing has changed.

    Raises StudyError where it cannot be run.
    """
    place = kept / name / key_of(name)
    if not (place / TOLD).is_file():
        shutil.rmtree(kept / name, ignore_errors=True)
        making = kept / name / "making"
        making.mkdir(parents=True)
        _make(name, jobs, making)
        making.rename(place)
    return _read(place)


def _read(place: Path) -> Result:
    told = json.loads((place / TOLD).read_text("utf-8"))
    pictures = {shade: place / f"{shade}.webp" for shade in PALETTES}
    there = {shade: path for shade, path in pictures.items() if path.is_file()}
    return Result(tuple(told["claims"]), told["cells"], told["core_seconds"], there)


def _make(name: str, jobs: int, place: Path) -> None:
    with temporary_folder("site") as folder:
        claims = _checked(name, jobs, Path(folder))
        (ledger,) = sweeps_in(Path(folder), values=False)
        rows = [entry.row for entry in ledger.entries.values()]
        failed = [row.reason for row in rows if row.state == "failed"]
        if failed:
            raise StudyError(f"{name}: {len(failed)} of {len(rows)} runs failed: {failed[0]}")
        told = {
            "claims": claims,
            "cells": len(rows),
            "core_seconds": round(sum(row.seconds for row in rows), 1),
        }
        for shade, picture in _drawn(ledger, Path(folder)).items():
            (place / f"{shade}.webp").write_bytes(picture)
    (place / TOLD).write_text(json.dumps(told, indent=1), "utf-8")


def _checked(name: str, jobs: int, folder: Path) -> Sequence[Mapping[str, Any]]:
    """Run a study into a folder; its claims as `python -m core check` has judged them."""
    words = ["-m", "core", "check", name, f"--{SIZE}", "--json", "--quiet", "--jobs", str(jobs)]
    environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | os.environ
    command = [sys.executable, *words, "--out", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 1):  # 1: a claim is refuted, which its page says
        raise StudyError(f"{name}: {done.stderr.strip()[-500:]}")
    claims: list[dict[str, Any]] = json.loads(done.stdout)
    return claims


def _drawn(ledger: Ledger, folder: Path) -> dict[str, bytes]:
    """Render the figure as WebP in both palettes, without the verdicts, which the page has."""
    study: Study = ledger.study
    if not has_figure(study):
        return {}
    rows = {name: entry.row for name, entry in ledger.entries.items()}
    files = {cell.name: run_file(study, cell, folder) for cell in study.cells()}
    known, pictures = known_values(rows, files), {}
    for shade, palette in PALETTES.items():
        with ExitStack() as stack:
            paths = runs_of(study.id, folder)
            scene = figure_of_runs(study, paths, stack.enter_context, palette, (), known)
            pictures[shade] = as_webp(figure_bytes(scene, ".png", DPI))
    return pictures


def as_webp(png: bytes) -> bytes:
    """Reduce a picture to COLOURS, which takes a quarter of the bytes, and is not seen."""
    from PIL import Image

    target = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        rgb = image.convert("RGB")
        few = rgb.quantize(COLOURS, kmeans=2, dither=Image.Dither.NONE).convert("RGB")
        few.save(target, "WEBP", **SMALLEST)
    return target.getvalue()
