"""`python -m tests.tools.bundle [--dist FOLDER] [--only NAME ...]`: test a bundle.

Prints a table of what it weighs and of what was tried, and ends with 1 where anything fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.tools.bundle import screen, weights
from tests.tools.bundle.bundle_starts import GRID, BareRoot, TriedError, require, said, self_test

ROOT = Path(__file__).resolve().parents[3]
WORK = ROOT / "build" / "bundle-test"
NEXT = "999.0"
SOURCES = ("app", "core", "marginscope", "resources", "docs", ".ci")
BESIDE = ("README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "constraints.txt", "build.spec")
SOMEBODY = WORK / "somebody"  # whose cache of kernels is filled by the first start
# A name that shells, command lines and addresses have trouble with.
ELSEWHERE = 'an other\'s "place" 100% $HOME ü'


def kernels(told: dict[str, Any]) -> tuple[str, int]:
    """Return the folder of kernels, and the number of them at the start."""
    return told["kernels"]["place"], int(told["kernels"]["found"])


def check_first(bundle: Path) -> str:
    """Run the self-test as a user who never had the program."""
    shutil.rmtree(SOMEBODY, ignore_errors=True)
    told, seconds = self_test([bundle / "marginscope"], SOMEBODY, WORK)
    require(kernels(told)[1] == 0, "the first start found kernels")
    said([bundle / "marginscope-core", "warm"], SOMEBODY, WORK)
    return f"{seconds:.0f} s; {told['steps'][3]['detail']}"


def check_elsewhere(bundle: Path) -> str:
    """Check that the bundle in a folder of another name finds the kernels."""
    place = WORK / ELSEWHERE
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(bundle, place, symlinks=True)
    before = _known(bundle)
    told, seconds = self_test([place / "marginscope"], SOMEBODY, place)
    name, found = kernels(told)
    require(name == before and found > 0, f"{found} kernels were found in {name}, not in {before}")
    require(told["kernels"]["now"] == found, "kernels were compiled again")
    shutil.rmtree(place)
    return f"{found} kernels found, {seconds:.0f} s"


def _known(bundle: Path) -> str:
    told, _ = self_test([bundle / "marginscope"], SOMEBODY, WORK)
    return kernels(told)[0]


def check_next(bundle: Path) -> str:
    """Check that a bundle of a new version with equal kernels finds them."""
    source = WORK / "next"
    shutil.rmtree(source, ignore_errors=True)
    for name in SOURCES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    for name in BESIDE:
        shutil.copy(ROOT / name, source)
    version = source / "core" / "program" / "version.py"
    text = version.read_text("utf-8")
    current = text.partition('__version__ = "')[2].partition('"')[0]
    version.write_text(text.replace(f'"{current}"', f'"{NEXT}"', 1), "utf-8")
    (source / "build").mkdir()
    (source / "build" / "bundle-venv").symlink_to(ROOT / "build" / "bundle-venv")
    begun = time.monotonic()
    subprocess.run([".ci/bundle"], cwd=source, check=True, env={**os.environ, "LOG": "ERROR"})
    built = time.monotonic() - begun
    before = _known(bundle)
    newer = source / "dist" / "marginscope" / "marginscope"
    told, _ = self_test([newer], SOMEBODY, WORK)
    name, found = kernels(told)
    require(told["version"] == NEXT, f"the version is {told['version']}")
    require(name == before and found > 0, f"{found} kernels were found in {name}, not in {before}")
    require(told["kernels"]["now"] == found, "kernels were compiled again")
    shutil.rmtree(source)
    return f"{found} kernels found; built in {built:.0f} s"


def check_bare(bundle: Path) -> str:
    """Run all tests in a Debian without Python, a screen, or Qt's libraries."""
    if why := BareRoot.possible():
        return f"left out: {why}"
    root = BareRoot(ROOT / "build" / "bare-root")
    root.make(bundle)
    (root.place / "tmp" / "grid.toml").write_text(GRID)
    window, command = (f"/opt/marginscope/marginscope{end}" for end in ("", "-core"))
    told, seconds = self_test(root.words(window), SOMEBODY, WORK)
    do = partial(said, home=SOMEBODY, folder=WORK)
    do(root.words(command, "run", "telgarsky22-figure-1", "--out", "/tmp/figure-1"))
    do(root.words(command, "figure", "/tmp/figure-1", "--out", "/tmp/figure.pdf"))
    do(root.words(command, "run", "/tmp/grid.toml", "--out", "/tmp/grid", "--jobs", "2"))
    require((root.place / "tmp" / "figure.pdf").read_bytes().startswith(b"%PDF-"), "no figure")
    runs = len(list((root.place / "tmp" / "grid").rglob("*.msrun")))
    require(runs == 4, f"{runs} of 4 runs of the grid")
    shutil.rmtree(root.place / "opt" / "marginscope")
    return f"{seconds:.0f} s; {told['steps'][3]['detail']}; run, figure, --jobs 2"


def main() -> int:
    """Run all checks, or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bundle")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist" / "marginscope")
    parser.add_argument("--only", nargs="+", default=[])
    arguments = parser.parse_args()
    bundle = arguments.dist.resolve()
    checks: dict[str, Callable[[], str]] = {
        "weight": partial(weights.check_weight, bundle),
        "needed": partial(weights.check_needed, bundle),
        "licences": partial(weights.check_licences, bundle),
        "start": partial(screen.check_start, bundle, WORK),
        "picture": partial(screen.check_picture, bundle, WORK),
        "first": partial(check_first, bundle),
        "elsewhere": partial(check_elsewhere, bundle),
        "bare": partial(check_bare, bundle),
        "next": partial(check_next, bundle),
    }
    WORK.mkdir(parents=True, exist_ok=True)
    for part, megabytes in weights.weighed(bundle).items():
        print(f"{part:40} {megabytes:6.0f} MB")
    failed = 0
    for name, check in checks.items():
        if arguments.only and name not in arguments.only:
            continue
        begun = time.monotonic()
        try:
            told = check()
        except (TriedError, OSError, subprocess.SubprocessError, ValueError) as error:
            failed += 1
            told = f"FAILED: {error}"
        print(f"{name:10} {time.monotonic() - begun:6.1f} s  {told}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
