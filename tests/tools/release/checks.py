"""Checks before the build, and of each built file."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from core.program import RESOURCES
from marginscope._wheel import OUTER

LINK = re.compile(r'(?:href|src)="([^"#][^"]*)"')


class NotReadyError(Exception):
    """Obstacle to a release; its text is a sentence."""


def require(holds: bool, sentence: str) -> None:
    """Raise NotReadyError with the sentence unless a condition holds."""
    if not holds:
        raise NotReadyError(sentence)


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def check_tree(root: Path, version: str, released: str) -> None:
    """Check that the tree is committed, with changelog and citation of this version."""
    left = git(root, "status", "--porcelain")
    require(not left, f"There are changes that are not committed:\n{left}")
    log = (root / "CHANGELOG.md").read_text("utf-8")
    heading = f"## {version} - {released}\n"
    require(heading in log, f"CHANGELOG.md has no section {heading.strip()!r}.")
    citation = (root / "CITATION.cff").read_text("utf-8")
    require(
        f"\nversion: {version}\n" in citation and f'\ndate-released: "{released}"\n' in citation,
        f"CITATION.cff is not of version {version}, {released}.",
    )


def run(command: Iterable[object], folder: Path, **environment: str) -> str:
    """Return a command's output. Raises NotReadyError with its last lines if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-25:])
        raise NotReadyError(f"`{' '.join(words)}` ended with {done.returncode}:\n{last}")
    return done.stdout


def build_wheel(source: Path, place: Path, moment: str) -> None:
    """Build the wheel of a folder with source. `moment`: seconds since 1970, for its files."""
    words = ["-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", place]
    run([sys.executable, *words, "."], source, SOURCE_DATE_EPOCH=moment)


def list_parts(folder: Path, project: Path, place: Path) -> str:
    """Write the bill of materials (CycloneDX) of the environment that check_wheel made."""
    words = ["environment", "--output-reproducible", "--pyproject", project, "--of", "JSON"]
    python = bin_folder(folder / "bare") / "python"
    run([bin_folder(Path(sys.prefix)) / "cyclonedx-py", *words, "-o", place, python], folder)
    made = json.loads(place.read_text("utf-8"))
    made["components"].append(sqlite_part())
    place.write_text(json.dumps(made, indent=2), encoding="utf-8")
    return f"{len(made['components'])} parts listed"


def sqlite_part() -> dict[str, Any]:
    """Return the entry of the package that the viewer carries, as its note states it."""
    note = RESOURCES.joinpath("sqlite", "LICENCES.txt").read_text(encoding="utf-8")
    version = re.search(r"version ([\w.-]+),", note)
    (digest,) = re.findall(r"sha256 of sqlite3\.wasm: +(\w{64})", note)
    assert version is not None
    return {
        "type": "library",
        "group": "@sqlite" + ".org",
        "name": "sqlite-wasm",
        "version": version[1],
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "licenses": [{"license": {"id": one}} for one in ("Apache-2.0", "MIT", "blessing")],
    }


def bin_folder(environment: Path) -> Path:
    """Return the folder of an environment's programs."""
    return environment / ("Scripts" if os.name == "nt" else "bin")


def bare_environment(folder: Path) -> Path:
    """Make a fresh environment with nothing but pip; return its folder of programs."""
    venv.create(folder, with_pip=True, clear=True)
    return bin_folder(folder)


def megabytes(folder: Path) -> float:
    """Return the size of all that is in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*")) / 1e6


def check_wheel(wheel: Path, constraints: Path, folder: Path, version: str) -> str:
    """Install the wheel and run its commands away from the source; return what that takes."""
    programs = bare_environment(folder / "bare")
    before = megabytes(folder / "bare")  # pip and its like, 23 MB
    run([programs / "python", "-m", "pip", "install", "-q", "-c", constraints, wheel], folder)
    elsewhere = folder / "else where"
    elsewhere.mkdir(exist_ok=True)
    printed = run([programs / "marginscope-core", "--version"], elsewhere)
    require(printed == f"marginscope {version}\n", f"The wheel calls itself {printed!r}.")
    run([programs / "marginscope", "--self-test"], elsewhere, QT_QPA_PLATFORM="offscreen")
    size = megabytes(folder / "bare") - before
    require(size < 900, f"Installed it takes {size:.0f} MB; 900 are promised.")
    return f"{size:.0f} MB installed; its self-test passes"


def members(archive: Path) -> set[str]:
    """Return the files in a wheel or a compressed tar."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name for name in wheel.namelist() if not name.endswith("/")}
    with tarfile.open(archive) as tar:
        return {one.name for one in tar.getmembers() if one.isfile()}


def beyond_site(names: set[str], site: Path) -> set[str]:
    """Return the names of a wheel's files that do not lie in the site's folder.

    >>> beyond_site({"marginscope/resources/site/a.html"}, Path("resources", "site"))
    set()
    """
    folder = f"{OUTER}/{site.as_posix()}/"
    return {name for name in names if not name.startswith(folder)}


def check_source(archive: Path, wheel: Path, site: Path, folder: Path) -> str:
    """Check that a wheel from the source archive has the same files, except the site's."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    source = folder / archive.name.removesuffix(".tar.gz")
    words = ["-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, source]
    run([sys.executable, *words], folder)
    (made,) = folder.glob("*.whl")
    ours, theirs = members(wheel), members(made)
    extra = beyond_site(ours - theirs, site)
    require(not extra, f"The source archive lacks what the wheel has: {sorted(extra)[:5]}.")
    require(theirs <= ours, f"The wheel lacks what the source has: {sorted(theirs - ours)[:5]}.")
    return f"{len(theirs)} files of a wheel built from it are the wheel's"


def dangling(site: Path) -> dict[str, str]:
    """Return links of pages to missing files of the site, by page."""
    found: dict[str, str] = {}
    for page in site.rglob("*.html"):
        for link in LINK.findall(page.read_text("utf-8")):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            if not (page.parent / unquote(parts.path)).exists():
                found[page.relative_to(site).as_posix()] = link
    return found


def check_site(site: Path, studies: Iterable[str]) -> str:
    """Check for a page for each study, and for links that lead nowhere."""
    pages = {page.stem for page in site.rglob("*.html")}
    absent = [study for study in studies if study not in pages]
    require(not absent, f"The site has no page of {', '.join(absent)}.")
    wrong = dangling(site)
    require(not wrong, f"Links of the site lead to nothing: {wrong}.")
    return f"{len(pages)} pages, no link that leads to nothing"


def checksums(files: Iterable[Path]) -> str:
    """Return lines as `sha256sum -c` reads them."""
    lines: Mapping[str, str] = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)
    }
    return "".join(f"{digest}  {name}\n" for name, digest in lines.items())
