"""Boundary of the public module: what it loads, its names, its types, who hides it."""

from __future__ import annotations

import ast
import inspect
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import ClassVar

import pytest

import marginscope as ms
from core.errors import RunFileError
from marginscope._engine import boundary
from marginscope._engine.boundary import (
    in_notebook,
    interruptible,
    progress,
    public,
    public_error,
)

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "marginscope" / "_engine").glob("*.py"))


def python(code: str, folder: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    """Return a clean interpreter in a folder, with this program on its path."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_importing_it_loads_nothing() -> None:
    """How long it takes is measured by `make bench`."""
    done = python(
        """
        import sys
        before = set(sys.modules)
        import marginscope as ms
        dir(ms), ms.__version__
        new = {name.partition(".")[0] for name in set(sys.modules) - before}
        print(sorted(new - set(sys.stdlib_module_names)))
        """
    )
    assert (done.stdout, done.stderr) == ("['core', 'marginscope']\n", "")


def test_studies_and_margins_load_no_window() -> None:
    done = python(
        """
        import sys
        import marginscope as ms
        for name in ms.__all__:
            getattr(ms, name)
        print([name for name in ("PySide6", "pyqtgraph", "app", "IPython") if name in sys.modules])
        """
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_every_name_is_there_and_explained() -> None:
    assert set(ms.__all__) == {*ms._PLACES, "__version__"}
    assert ms.__all__ == sorted(ms.__all__) == dir(ms)
    for name in ms._PLACES:
        assert getattr(ms, name).__doc__, name
    with pytest.raises(AttributeError, match="has no attribute 'trian'"):
        _ = ms.trian


def test_functions_say_their_errors_and_show_an_example() -> None:
    for name in ("train", "sweep", "study", "margins", "theorems", "check", "figure", "player"):
        text = inspect.getdoc(getattr(ms, name)) or ""
        assert "\nRaises\n------\nInputError\n" in text and "\n>>> " in text, name


# ---------------------------------------------------------------------------- who hides it


def test_another_module_called_core_is_named(tmp_path: Path) -> None:
    """A script's own folder comes first on the path; a wheel has one name (tests/test_wheel.py)."""
    file = tmp_path / "core.py"
    file.write_text("mine = 1\n")
    for code in ("import marginscope", "import core, marginscope"):
        done = python(code, tmp_path)
        last = done.stderr.splitlines()[-1]
        assert last.startswith(f"ImportError: {file.resolve()} hides Marginscope's own package")
        assert last.endswith("or rename your module.")


def test_a_package_called_resources_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "resources.py").write_text("raise RuntimeError('never run')\n")
    done = python("import marginscope as ms; print(len(ms.studies()) > 40)", tmp_path)
    assert (done.stdout, done.stderr) == ("True\n", "")


# ------------------------------------------------------------------------------------- types

TYPED = """
import marginscope as ms

run = ms.train("telgarsky22-figure-1", path="a.msrun")
reveal_type(run)
reveal_type(ms.train("telgarsky22-figure-1"))
reveal_type(run.V)
reveal_type(run.frame(0).weights)
reveal_type(run.theorems()[0].hypotheses[0].met)
reveal_type(ms.margins(run.x, run.y)["gamma_gl"].certified)
reveal_type(ms.margins(run))
reveal_type(ms.sweep("telgarsky22-figure-1").runs[0])
reveal_type(ms.sweep("telgarsky22-figure-1").table())
reveal_type(ms.figure(run))
reveal_type(ms.figure(run, "a.pdf"))
reveal_type(ms.player([run], frames=100))
reveal_type(run.player(views="norms", title="a").save("a.html"))
reveal_type(ms.check("telgarsky22-figure-1")[0].verdict)
reveal_type(ms.study("telgarsky22-figure-1").axes)
reveal_type(ms.open("a.msrun"))
reveal_type(ms.studies())
ms.margins(run.x)
ms.train("telgarsky22-figure-1", pth=3, path=4)
run.player(frame=100)
ms.player(run, frames="a")
"""
CONFIGURATION = """
[mypy]
strict = true
[mypy-core.*]
follow_imports = silent
"""
REVEALED = [
    "marginscope._engine.run.Run",
    "marginscope._engine.run.Run | list[marginscope._engine.run.Run]",
    "float64",
    "Mapping[str, ",
    "bool | None",
    "bool",
    "marginscope._engine.margins.Margins",
    "marginscope._engine.run.Run",
    "list[dict[str, Any]]",
    "bytes",
    "pathlib.Path",
    "marginscope._engine.player.Player",
    "pathlib.Path",
    "Literal['confirmed']",
    "dict[str, tuple[Any, ...]]",
    "marginscope._engine.run.Run",
    "dict[str, str]",
]


@pytest.mark.slow
def test_types_are_those_that_are_told(tmp_path: Path) -> None:
    (tmp_path / "uses.py").write_text(TYPED)
    (tmp_path / "mypy.ini").write_text(CONFIGURATION)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "uses.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("uses.py")]
    notes = [line for line in lines if "Revealed type is" in line]
    for line, wanted in zip(notes, REVEALED, strict=True):
        assert wanted in line.replace("builtins.", "").replace("typing.", ""), line
    errors = [line for line in lines if ": error:" in line]
    wrong = ["No overload variant"] * 2 + ["Unexpected keyword argument", "incompatible type"]
    for line, wanted in zip(errors, wrong, strict=True):
        assert wanted in line, done.stdout


# ------------------------------------------------------------------------------------- errors


def test_errors_are_told_without_options() -> None:
    full = ms.InputError("is wrong", where="a.msrun", option="--out", remedy="move it", typed="--x")
    assert str(full) == "--out a.msrun: is wrong; --x."
    disk = ms.DiskError("is full", remedy="free some", typed="--y")
    for error, text in ((full, "a.msrun: is wrong; move it."), (disk, "is full; free some.")):
        found = public_error(error)
        assert (str(found), type(found)) == (text, type(error))
    plain = RunFileError("a.msrun is damaged.")
    assert public_error(plain) is plain
    other = ms.MarginscopeError("is odd", typed="--z", remedy="do")
    assert type(public_error(other)) is ms.MarginscopeError


def test_what_the_system_refuses_is_a_sentence() -> None:
    @public
    def refused() -> None:
        Path("no such folder/a").write_text("x")

    @public
    def nameless() -> None:
        raise OSError(5, "odd")

    with pytest.raises(ms.InputError, match=r"no such folder/a: No such file.*; check the path"):
        refused()
    with pytest.raises(OSError, match="odd"):
        nameless()


def decorated(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(mark) == "public" for mark in node.decorator_list)


def test_every_public_function_is_at_the_boundary() -> None:
    """Those that only hand on to another one, and those that cannot fail, are named."""
    trees = {path.stem: ast.parse(path.read_text("utf-8")) for path in SOURCES}
    for name, place in ms._PLACES.items():
        module, _, called = place.removeprefix("_engine.").partition(":")
        if module not in trees or name == "studies":
            continue
        for node in trees[module].body:
            if isinstance(node, ast.FunctionDef) and node.name == (called or name):
                overload = any(ast.unparse(one) == "overload" for one in node.decorator_list)
                assert overload or decorated(node), name


# --------------------------------------------------------------------------------- who watches


def test_a_bar_is_drawn_where_somebody_watches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress("quiet", 3, "frame", requested=True) as bar:
        bar.set_done(2)
    assert capsys.readouterr().err == ""  # no terminal
    monkeypatch.setattr(boundary, "in_notebook", lambda: True)
    with progress("seen", 3, "frame", requested=True) as bar:
        bar.set_done(2)
    assert "seen" in capsys.readouterr().err
    with progress("unwanted", 3, "frame", requested=False) as bar:
        bar.set_done(2)
    assert capsys.readouterr().err == ""


def test_a_notebook_is_known_by_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shell:
        config: ClassVar[dict[str, object]] = {}

    class IPython:
        @staticmethod
        def get_ipython() -> Shell:
            return Shell()

    assert not in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert not in_notebook()
    monkeypatch.setattr(Shell, "config", {"IPKernelApp": {}})
    assert in_notebook()


def test_ctrl_c_of_somebody_else_stays_theirs() -> None:
    """Another handler, as a server or an editor sets one, is left in its place."""
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with interruptible(lambda: seen.append(-1)):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]


def test_a_second_ctrl_c_interrupts_at_once() -> None:
    stopped: list[bool] = []
    with pytest.raises(KeyboardInterrupt), interruptible(lambda: stopped.append(True)):
        signal.raise_signal(signal.SIGINT)
        assert stopped == [True]
        signal.raise_signal(signal.SIGINT)
        raise AssertionError
    assert stopped == [True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
