"""A bundled program, played by a script: what libraries start it for, and what it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.cli.bundle import AFRESH, HEADLESS, LOADER, QT, restore_environment
from core.compiled import headless_process
from core.runs import open_run
from tests.tools.bundle.bundle_starts import GRID

ROOT = Path(__file__).resolve().parents[2]
# As PyInstaller's loader begins: one program, which says of itself that it is the interpreter.
PROGRAM = """
import os, sys
sys.frozen, sys._MEIPASS, sys.executable = True, {root!r}, {program!r}
sys.argv[0] = {program!r}
from core.__main__ import main
if __name__ == "__main__":
    sys.exit(main())
"""
pytestmark = pytest.mark.skipif(os.name != "posix", reason="a script that is a program")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a program that does not take the options of an interpreter by itself."""
    path = tmp_path / "marginscope-core"
    script = tmp_path / "loader.py"
    script.write_text(PROGRAM.format(root=str(ROOT), program=str(path)))
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
    path.chmod(0o755)
    return path


def said(program: Path, *words: object, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *map(str, words)],
        cwd=program.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT), **more},
        capture_output=True,
        text=True,
        timeout=200,
    )


@pytest.mark.slow
def test_the_cells_of_a_sweep_run_in_processes_of_the_bundle(program: Path, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(GRID)
    done = said(program, "run", "small.toml", "--out", "out", "--jobs", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    runs = sorted((tmp_path / "out").rglob("*.msrun"))
    assert len(runs) == 4
    for path in runs:
        with open_run(path) as run:
            assert run.frames > 1


@pytest.mark.slow
@pytest.mark.parametrize("module", ["core.__main__", "app.__main__"])
def test_both_programs_do_commands_for_whoever_started_them(program: Path, module: str) -> None:
    """So are kernels compiled and films drawn beside: by the program that asks for it."""
    loader = program.parent / "loader.py"
    loader.write_text(loader.read_text().replace("core.__main__", module))
    assert HEADLESS == headless_process.HEADLESS
    done = said(program, HEADLESS, "list")
    assert done.returncode == 0, done.stderr
    assert "telgarsky22-figure-1" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["-c", "import os; os.mkdir('made')"],
        ["-c", "from multiprocessing.resource_tracker import main;main(3);import os"],
        ["-m", "timeit"],
    ],
)
def test_it_is_no_interpreter_for_others(program: Path, words: list[str]) -> None:
    done = said(program, *words)
    assert done.returncode == 2
    assert "see marginscope-core --help" in done.stderr
    assert not (program.parent / "made").exists()


def test_what_others_start_gets_its_libraries_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_MEIPASS", "/opt/bundle", raising=False)
    found = {"LD_LIBRARY_PATH": "/opt/bundle", "QT_PLUGIN_PATH": "/opt/bundle/Qt", "HOME": "/h"}
    restore_environment(found, (*LOADER, *QT))
    assert found == {"HOME": "/h", AFRESH: "1"}
    mine = {"LD_LIBRARY_PATH": "/usr/local/lib"}  # the user's own, which no loader has changed
    restore_environment(mine, (*LOADER, *QT))
    assert mine == {"LD_LIBRARY_PATH": "/usr/local/lib", AFRESH: "1"}
