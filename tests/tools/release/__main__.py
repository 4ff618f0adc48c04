"""Build a release in dist/ from a clean clone (`make release`)."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import final

from core.program.version import RELEASED, __version__
from core.studies.study import shipped_ids
from marginscope._wheel import ADDRESS
from tests.tools.release import checks
from tests.tools.release.source import source_archive

ROOT = Path(__file__).resolve().parents[3]
SITE = Path("resources", "site")
PARTS = ("docs", "wheel", "source", "bundle")


@final
class Release:
    """One release: a clone, and the files made from it in `dist`."""

    def __init__(self, root: Path, work: Path, dist: Path) -> None:
        self.root, self.work, self.dist = root, work, dist
        self.clone = work / "clone"
        self.wheel = dist / f"marginscope-{__version__}-py3-none-any.whl"
        self.archive = dist / f"marginscope-{__version__}.tar.gz"

    def begin(self) -> None:
        """Check the tree, and clone it."""
        checks.check_tree(self.root, __version__, RELEASED)
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.rmtree(self.dist, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.dist.mkdir()
        checks.git(self.work, "clone", "--quiet", str(self.root), str(self.clone))

    def docs(self) -> str:
        """Make the site, for the wheel, the bundle and by itself."""
        checks.run(["make", "docs"], self.clone)
        site = self.clone / SITE
        summary = checks.check_site(site, shipped_ids())
        self._pack(site, f"marginscope-{__version__}-site")
        return summary

    def build_wheel(self) -> str:
        """Build the wheel twice; install and test it in a bare environment, and list its parts."""
        moment = checks.git(self.clone, "log", "-1", "--format=%ct")
        folder = self.work / "wheel"
        second = folder / "second"
        checks.git(self.work, "clone", "--quiet", str(self.root), str(second))
        if (self.clone / SITE).is_dir():
            shutil.copytree(self.clone / SITE, second / SITE)
        checks.build_wheel(self.clone, self.dist, moment)
        checks.build_wheel(second, folder, moment)
        checks.require(self.wheel.is_file(), f"{self.wheel.name} was not built.")
        equal = self.wheel.read_bytes() == (folder / self.wheel.name).read_bytes()
        checks.require(equal, "Two wheels of the same commit differ.")
        summary = checks.check_wheel(self.wheel, self.root / "constraints.txt", folder, __version__)
        parts = self.dist / f"marginscope-{__version__}.cdx.json"
        return f"{summary}; {checks.list_parts(folder, self.root / 'pyproject.toml', parts)}"

    def source(self) -> str:
        """Make the source archive, and a wheel from it."""
        source_archive(self.clone, self.wheel, self.archive)
        folder = self.work / "source"
        folder.mkdir()
        return checks.check_source(self.archive, self.wheel, SITE, folder)

    def bundle(self) -> str:
        """Make the bundle, and run its own test."""
        checks.run(["make", "bundle"], self.clone)
        made = self.clone / "dist" / "marginscope"
        checks.run([made / "marginscope", "--self-test"], self.work, QT_QPA_PLATFORM="offscreen")
        size = sum(path.lstat().st_size for path in made.rglob("*")) / 1e6
        system = f"{platform.system()}-{platform.machine()}".lower()
        self._pack(made, f"marginscope-{__version__}-{system}")
        return f"{size:.0f} MB; its self-test passes"

    def end(self) -> None:
        """Write checksums of all files."""
        files = [path for path in self.dist.iterdir() if path.is_file()]
        (self.dist / "SHA256SUMS").write_text(checks.checksums(files), encoding="utf-8")

    def _pack(self, folder: Path, name: str) -> None:
        with tarfile.open(self.dist / f"{name}.tar.gz", "w:gz", compresslevel=6) as archive:
            archive.add(folder, arcname=name)


def main() -> int:
    """Make the release, with a line for each part; return 1 if one fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.release", description=__doc__)
    parser.add_argument("--without", action="append", default=[], choices=PARTS)
    without = parser.parse_args().without
    release = Release(ROOT, ROOT / "build" / "release", ROOT / "dist")
    steps: dict[str, Callable[[], str]] = {
        "docs": release.docs,
        "wheel": release.build_wheel,
        "source": release.source,
        "bundle": release.bundle,
    }
    try:
        release.begin()
        for name, step in steps.items():
            if name in without:
                continue
            begun = time.perf_counter()
            summary = step()
            print(f"{name:<8} {time.perf_counter() - begun:>6.0f} s  {summary}", flush=True)
        release.end()
    except checks.NotReadyError as error:
        print(f"There is no release: {error}", file=sys.stderr)
        return 1
    if not os.environ.get(ADDRESS):
        print("The package names no address: `make release URL=ADDRESS` gives it one.")
    for path in sorted(release.dist.iterdir()):
        print(f"{path.stat().st_size / 1e6:>8.1f} MB  {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
