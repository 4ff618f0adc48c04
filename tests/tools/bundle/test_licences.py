"""Licences of what a bundle carries, found from its files; `make test-bundle` tries all of it."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.metadata import distribution
from pathlib import Path
from types import ModuleType

import numpy
import PySide6
import pytest

from tests.tools.bundle.weights import USELESS, weighed

ROOT = Path(__file__).resolve().parents[3]


# Reading the list of files of every installed package takes most of a minute.
FEW = ("numpy", "PySide6-Essentials", "pyinstaller")
INSTALLED = ("few", pytest.param("all", marks=pytest.mark.slow))


@pytest.fixture(scope="module", params=INSTALLED)
def licences(request: pytest.FixtureRequest) -> ModuleType:
    """Return the module of the bundle's build, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("licences", ROOT / ".ci" / "bundle_licences.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:  # dataclasses look for their module
        patch.setitem(sys.modules, "licences", module)
        spec.loader.exec_module(module)
    if request.param == "few":
        module.__dict__["distributions"] = lambda: map(distribution, FEW)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("licences", ["all"], indirect=True)
def test_each_part_has_its_text_and_qt_says_how_to_replace_it(
    licences: ModuleType, tmp_path: Path
) -> None:
    sources = [numpy.__file__, PySide6.__file__, os.__file__, str(ROOT / "core" / "errors.py")]
    found = licences.write(sources, ROOT, tmp_path / "LICENSES")
    names = {part.name.lower().replace("_", "-") for part in found}
    assert names == {"numpy", "pyside6-essentials", "python", "pyinstaller"}
    page = (tmp_path / "LICENSES" / "README.md").read_text()
    for part in found:
        assert f"[{part.name}]" in page and part.version in page
        assert part.licence
    texts = {path.name for path in (tmp_path / "LICENSES").rglob("*") if path.is_file()}
    assert {"LGPL-3.0.txt", "GPL-3.0.txt", "LICENSE.txt"} <= texts
    assert "put others of the same\nversion there" in page


def test_what_belongs_to_nothing_that_says_its_licence_is_refused(
    licences: ModuleType, tmp_path: Path
) -> None:
    stray = tmp_path / "libstray.so"
    stray.write_bytes(b"")
    with pytest.raises(SystemExit, match="belongs to no package that says its licence"):
        licences.write([str(stray)], ROOT, tmp_path / "LICENSES")


@pytest.mark.parametrize(
    ("name", "useless"),
    [
        ("numba/tests/test_array.py", True),
        ("PySide6/Qt/lib/libQt6Quick.so.6", True),
        ("libgtk-3.so.0", True),
        ("sklearn/metrics", True),
        ("sklearn/datasets/data/digits.csv.gz", False),
        ("PySide6/Qt/lib/libQt6Core.so.6", False),
        ("scipy/optimize/_highspy/_core.so", False),
    ],
)
def test_what_is_of_no_use_is_known_by_its_name(name: str, useless: bool) -> None:
    assert bool(USELESS.search(name)) == useless


def test_a_bundle_is_weighed_by_its_parts(tmp_path: Path) -> None:
    for name, size in (("marginscope", 3), ("_internal/scipy/a.so", 2), ("_internal/x.so", 1)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(bytes(size * 10**6))
    (tmp_path / "_internal" / "link.so").symlink_to("x.so")
    assert sorted(weighed(tmp_path).values()) == [1.0, 2.0, 3.0]
