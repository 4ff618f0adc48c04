"""A system without the libraries that Qt needs: sentences, and no traceback."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.system_libraries import PACKAGES, platforms_for, screen_problem, sentences_about

ROOT = Path(__file__).resolve().parents[2]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the libraries are those of Linux")
GLIB = "libglib-2.0.so.0: cannot open shared object file: No such file or directory"


def error_about(library: str) -> OSError:
    """Return what the loader says of a library that is not there."""
    return OSError(f"{library}: cannot open shared object file: No such file or directory")


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the libraries that the system does not have; plugins need the cursors of X11."""
    lacks: set[str] = set()

    def load(name: str) -> None:
        if name in lacks:
            raise error_about(name)
        if name.endswith("libqxcb.so") and "libxcb-cursor.so.0" in lacks:
            raise error_about("libxcb-cursor.so.0")

    monkeypatch.setattr(ctypes, "CDLL", load)
    return lacks


def test_all_missing_libraries_are_named_with_their_packages(without: set[str]) -> None:
    without |= {"libglib-2.0.so.0", "libgthread-2.0.so.0", "libEGL.so.1", "libxcb-cursor.so.0"}
    words = sentences_about(ImportError(GLIB))
    assert "sudo apt-get install libegl1 libglib2.0-0 libxcb-cursor0`" in words
    assert "sudo dnf install libglvnd-egl glib2 xcb-util-cursor`" in words
    assert "libEGL.so.1, libglib-2.0.so.0" in words


def test_a_library_of_no_known_package_is_to_be_searched_for(without: set[str]) -> None:
    words = sentences_about(error_about("libodd.so.7"))
    assert "apt-file search libodd.so.7" in words
    assert "sudo apt-get install" not in words


@pytest.mark.parametrize("words", ["No module named 'app.nothing'", "cannot import name 'x'", ""])
def test_other_errors_are_faults_of_the_program(words: str) -> None:
    assert sentences_about(ImportError(words)) == ""


@LINUX
def test_a_screen_that_qt_cannot_show_a_window_on_is_told(
    without: set[str], tmp_path: Path
) -> None:
    plugin = tmp_path / "platforms" / "libqxcb.so"
    plugin.parent.mkdir()
    plugin.touch()
    x11 = {"DISPLAY": ":0"}
    assert screen_problem(x11, tmp_path) == ""
    without.add("libxcb-cursor.so.0")
    assert "libxcb-cursor0" in screen_problem(x11, tmp_path)
    assert "libxcb-cursor0" in screen_problem({"QT_QPA_PLATFORM": "xcb"}, tmp_path)
    # Where another plugin may do, Qt decides.
    assert screen_problem({**x11, "WAYLAND_DISPLAY": "wayland-0"}, tmp_path) == ""
    assert screen_problem({"QT_QPA_PLATFORM": "offscreen"}, tmp_path) == ""
    assert screen_problem({}, tmp_path).startswith("No display is available")
    assert platforms_for({"QT_QPA_PLATFORM": "xcb;wayland"}) == ["xcb", "wayland"]


def test_the_script_that_installs_them_knows_the_same_libraries() -> None:
    text = (ROOT / ".ci" / "qt-libraries").read_text()
    rows = re.findall(r"^(lib\S+\.so\.\d+) +(lib\S+)$", text, re.MULTILINE)
    assert rows == [(library, apt) for library, apt, _ in PACKAGES]


CASES = {
    "a library is missing": (f'raise ImportError("{GLIB}")', "libglib2.0-0"),
    "PySide6 is missing": ('raise ModuleNotFoundError("gone", name="PySide6")', "pip install"),
}


@LINUX
@pytest.mark.parametrize("case", CASES)
def test_a_window_that_cannot_be_loaded_is_a_sentence(case: str, tmp_path: Path) -> None:
    stub, expected = CASES[case]
    (tmp_path / "PySide6").mkdir()
    (tmp_path / "PySide6" / "__init__.py").write_text(stub)
    done = subprocess.run(
        [sys.executable, "-m", "app"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@LINUX
def test_a_window_without_a_screen_is_a_sentence() -> None:
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    kept = {name: text for name, text in os.environ.items() if name not in screens}
    done = subprocess.run(
        [sys.executable, "-m", "app"], cwd=ROOT, env=kept, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("No display is available")
