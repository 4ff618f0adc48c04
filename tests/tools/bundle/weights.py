"""Content of a bundle: sizes by part, licences, and no unneeded files."""

from __future__ import annotations

import re
from collections import defaultdict
from operator import itemgetter
from pathlib import Path

from tests.tools.bundle.bundle_starts import require

MOST_MB = 800
# What came along once, or comes along by default, and is of no use to who gets the bundle.
USELESS = re.compile(
    r"(^|/)(numba/tests|numba/cuda|torch/test|torch/include|sklearn/(?!datasets)\w+"
    r"|tkinter|tcl|PyQt\d|QtWebEngine\w*|libQt6(Quick|Qml|Designer|Test|Sql)\w*|libgtk\S*|libreadline\S*"
    r"|qml|translations|sample_data|pytest|hypothesis|IPython|setuptools|pip|examples)(/|\.|$)"
)
PARTS = {
    "LLVM, which compiles the kernels": ("llvmlite", "numba"),
    "Qt": ("PySide6", "shiboken6", "pyqtgraph", "libxcb", "libxkb", "libglib", "fallback"),
    "SciPy and NumPy": ("scipy", "numpy"),
    "figures and pictures": ("matplotlib", "PIL", "pillow", "fontTools", "kiwisolver", "contourpy"),
    "PyTorch": ("torch", "sympy", "mpmath", "networkx", "libtorch", "libc10", "libgomp"),
    "documents, studies, recordings": ("docs", "resources", "README", "CHANGELOG", "sklearn"),
}
PYTHON = "Python and libraries of the system"
PROGRAMS = "the programs, all Python code in them"


def weighed(bundle: Path) -> dict[str, float]:
    """Return megabytes by part, the heaviest first."""
    megabytes: dict[str, float] = defaultdict(float)
    for path in bundle.rglob("*"):
        if path.is_file() and not path.is_symlink():
            megabytes[_part(path.relative_to(bundle))] += path.stat().st_size / 1e6
    return dict(sorted(megabytes.items(), key=itemgetter(1), reverse=True))


def _part(path: Path) -> str:
    if path.parts[0] == "LICENSES":
        return "licences"
    if path.parts[0] != "_internal":
        return PROGRAMS
    first = path.parts[1]
    return next((name for name, heads in PARTS.items() if first.startswith(heads)), PYTHON)


def check_weight(bundle: Path) -> str:
    """Check the size limit in megabytes."""
    total = sum(weighed(bundle).values())
    require(total <= MOST_MB, f"the bundle has {total:.0f} MB, more than {MOST_MB}")
    count = sum(1 for path in bundle.rglob("*") if path.is_file())
    return f"{total:.0f} MB in {count} files"


def check_needed(bundle: Path) -> str:
    """Check that the bundle contains nothing useless."""
    names = [
        path.relative_to(bundle / "_internal").as_posix()
        for path in (bundle / "_internal").rglob("*")
    ]
    useless = [name for name in names if USELESS.search(name) and not name.startswith("docs/")]
    require(not useless, f"the bundle carries what nobody needs: {useless[:10]}")
    return f"{len(names)} entries"


def check_licences(bundle: Path) -> str:
    """Check the licence text of every part, and Qt's words about replacing it."""
    folder = bundle / "LICENSES"
    page = (folder / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| \[(.+?)\]\((.+?)\) \| (\S+) \| (.+) \|$", page, flags=re.MULTILINE)
    require(len(rows) > 30, f"only {len(rows)} licences")
    for name, place, _, licence in rows:
        texts = [path for path in (folder / place).iterdir() if path.stat().st_size > 100]
        require(texts and licence.strip(), f"{name} has no text of its licence")
    named = {name.lower().replace("_", "-") for name, *_ in rows}
    wanted = {
        "pyside6-essentials",
        "shiboken6",
        "numpy",
        "scipy",
        "numba",
        "llvmlite",
        "matplotlib",
    }
    require(wanted <= named, f"no licence of {wanted - named}")
    qt = next(place for name, place, *_ in rows if name.lower().startswith("pyside6"))
    require((folder / qt / "LGPL-3.0.txt").is_file(), "Qt has no text of the LGPL")
    require("put others of the same" in page, "nobody is told how to put in another Qt")
    return f"{len(rows)} parts"
