"""The licences of what a bundle carries: a folder with the texts, and a page that lists them.

Whatever is carried belongs to a distribution of Python, to the interpreter, or to a package of the
system that built the bundle. What belongs to nothing that says its licence is an error.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

TEXT = re.compile(r"(licen[cs]e|copying|notice|authors|copyright)", re.IGNORECASE)
# Wheels without the texts of their licences, and where these are in the source.
GIVEN = {
    "pyside6-essentials": ("LGPL-3.0.txt", "GPL-3.0.txt"),
    "shiboken6": ("LGPL-3.0.txt", "GPL-3.0.txt"),
}
PYTHON = "Python"
COMMON = re.compile(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])")
HEAD = """# Licences

Marginscope is under the MIT licence ([marginscope/LICENSE.txt](marginscope/LICENSE.txt)). This
folder holds the licences of what its bundle carries, one folder each. Texts that Debian's files
name by their path, /usr/share/common-licenses, are in `common-licenses`.

Qt (PySide6, shiboken6) is under the LGPL, version 3. Its libraries are separate files, in
`_internal/PySide6`, `_internal/PySide6/Qt` and `_internal/shiboken6`: put others of the same
version there, made from Qt's and PySide's published sources, and the program uses those. Nothing
here may keep you from doing so, or from examining how the program works with them.

| what | version | licence |
|---|---|---|
"""


@dataclass
class Part:
    """What one licence is about, and the files with its text."""

    name: str
    version: str
    licence: str
    texts: list[Path] = field(default_factory=list)


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _said(found: Distribution) -> str:
    """Return the distribution's licence in a few words."""
    about = found.metadata
    if words := about.get("License-Expression"):
        return str(words)
    classes = [one for one in about.get_all("Classifier") or [] if one.startswith("License ::")]
    if classes:
        return ", ".join(one.rpartition(" :: ")[2] for one in classes)
    return str(about.get("License") or "").strip().splitlines()[0][:80]


@cache
def _owners() -> dict[Path, str]:
    """Return the distribution of every installed file."""
    return {
        Path(found.locate_file(file)).resolve(): name
        for found, name in ((found, found.metadata["Name"]) for found in distributions())
        for file in found.files or ()
    }


def _of_distribution(name: str, given: Path) -> Part:
    found = next(one for one in distributions() if _key(one.metadata["Name"]) == _key(name))
    texts = [
        Path(found.locate_file(file)).resolve()
        for file in found.files or ()
        if TEXT.search(file.name) and not file.name.endswith((".py", ".pyc", ".h"))
    ]
    texts = [text for text in texts if text.is_file()]
    texts += [given / text for text in GIVEN.get(_key(name), ())]
    return Part(name, found.version, _said(found), texts)


def _of_python() -> Part:
    places = [
        Path(sysconfig.get_path("stdlib")) / "LICENSE.txt",
        Path(sys.base_prefix) / "LICENSE.txt",
    ]
    texts = [place for place in places if place.is_file()][:1]
    return Part(PYTHON, sys.version.split()[0], "PSF-2.0", texts)


def _of_system(path: Path) -> Part:
    """Return the Debian package of a library, or an empty part without one."""
    for tried in (path, Path("/usr") / path.relative_to("/"), Path("/", *path.parts[2:])):
        done = subprocess.run(["dpkg", "-S", str(tried)], capture_output=True, text=True)
        if done.returncode == 0:
            package = done.stdout.split(":")[0]
            asked = ["dpkg-query", "-W", "-f", "${Version}", package]
            version = subprocess.run(asked, capture_output=True, text=True).stdout
            text = Path("/usr/share/doc") / package / "copyright"
            return Part(f"{package} (Debian)", version, "see its file", [text])
    raise SystemExit(f"{path} is carried, and belongs to no package that says its licence.")


def _places(sources: Iterable[str]) -> Iterator[Path]:
    yield from {Path(source).resolve() for source in sources if source and Path(source).is_file()}


def _is_python(path: Path, base: Path) -> bool:
    """Whether a file is the interpreter's own: where that is the system's, much else is beside."""
    if "site-packages" in path.parts:
        return False
    stdlib = Path(sysconfig.get_path("stdlib")).resolve()
    return stdlib in path.parents or (base != Path("/usr") and base in path.parents)


def parts(sources: Iterable[str], root: Path) -> list[Part]:
    """Whose files the bundle carries, by the places on this machine that they come from."""
    own = (root / "app", root / "core", root / "marginscope", root / "resources", root / "docs")
    base, site = Path(sys.base_prefix).resolve(), Path(sysconfig.get_path("purelib")).resolve()
    found: dict[str, Part] = {}
    given = root / "resources" / "licences"
    # Its loader is part of the programs.
    found["pyinstaller"] = _of_distribution("pyinstaller", given)
    for path in _places(sources):
        # First: where the project is installed in place, its files belong to a distribution too.
        if path.parent == root or any(folder in path.parents for folder in own):
            continue
        if path in _owners():
            name = _owners()[path]
            if _key(name) not in found:
                found[_key(name)] = _of_distribution(name, given)
        elif site in path.parents:
            raise SystemExit(f"{path} is carried, and belongs to no installed distribution.")
        elif _is_python(path, base):
            found.setdefault(PYTHON, _of_python())
        elif root not in path.parents:
            part = _of_system(path)
            found.setdefault(part.name, part)
    return sorted(found.values(), key=lambda part: part.name.lower())


def _copy_common(folder: Path) -> None:
    """Copy the licences that Debian's copyright files refer to by path."""
    for page in list(folder.rglob("copyright")):
        for name in set(COMMON.findall(page.read_text("utf-8", "replace"))):
            text = Path("/usr/share/common-licenses") / name
            if text.is_file():
                place = folder / "common-licenses"
                place.mkdir(exist_ok=True)
                shutil.copy(text, place / name)


def write(sources: Iterable[str], root: Path, folder: Path) -> list[Part]:
    """Fill a folder with the licences of all that comes from some places; whose they are."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "marginscope").mkdir(parents=True)
    shutil.copy(root / "LICENSE", folder / "marginscope" / "LICENSE.txt")
    lines, found = [], parts(sources, root)
    for part in found:
        if not part.texts:
            raise SystemExit(f"{part.name} {part.version} says no licence in a file.")
        place = folder / re.sub(r"[^\w.+-]+", "_", part.name).strip("_")
        place.mkdir(exist_ok=True)
        for number, text in enumerate(part.texts):
            name = text.name if not (place / text.name).exists() else f"{number}-{text.name}"
            shutil.copy(text, place / name)
        lines.append(f"| [{part.name}]({place.name}) | {part.version} | {part.licence} |")
    _copy_common(folder)
    (folder / "README.md").write_text(HEAD + "\n".join(lines) + "\n", "utf-8")
    return found
