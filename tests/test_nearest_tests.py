"""`make quick`: its choice of changed files and of tests, and its time limit."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import grimp
import pytest

from tests.tools import nearest_tests


def make_graph(*imports: tuple[str, str]) -> grimp.ImportGraph:
    """Return a graph of (importer, imported) pairs."""
    graph = grimp.ImportGraph()
    for importer, imported in imports:
        graph.add_import(importer=importer, imported=imported)
    return graph


GRAPH = make_graph(
    ("tests.test_wide", "core.a"),
    ("tests.test_wide", "core.other"),
    ("tests.test_narrow", "core.a"),
    ("core.b", "core.a"),
    ("core.a", "core.b"),  # a circle must not repeat for ever
    ("tests.helper", "core.b"),
    ("tests.test_far", "tests.helper"),
    ("tests.test_unrelated", "core.other"),
    ("tests.alone", "core.other"),
)


def test_nearer_and_narrower_tests_come_first() -> None:
    ranked = nearest_tests.rank_tests(GRAPH, ["core/a.py"])
    assert list(ranked.items()) == [
        ("tests/test_narrow.py", 1),
        ("tests/test_wide.py", 1),
        ("tests/test_far.py", 3),
    ]


def test_the_nearest_of_several_changes_counts() -> None:
    ranked = nearest_tests.rank_tests(GRAPH, ["core/a.py", "tests/helper.py", "tests/test_wide.py"])
    assert list(ranked.values()) == [0, 1, 1]
    assert next(iter(ranked)) == "tests/test_wide.py"


def test_files_without_imports_have_tests_or_are_named() -> None:
    paths = [
        "Makefile",
        "README.md",
        "tests/alone.py",
        "resources/studies/x.toml",
        "tests/test_far.py",
    ]
    tests, uncovered = nearest_tests.select_tests(GRAPH, paths)
    assert tests == {
        "tests/test_far.py": 0,
        "tests/test_documents.py": 1,
        "tests/core/test_study.py": 1,
    }
    assert uncovered == ["Makefile", "tests/alone.py"]


def test_tests_of_a_module_of_the_program_are_found() -> None:
    ranked = nearest_tests.rank_tests(nearest_tests.build_graph(), ["core/losses.py"])
    assert ranked["tests/core/test_losses.py"] == 1
    assert ranked["tests/core/test_problem.py"] > 1  # through core.problem
    assert "tests/test_nearest_tests.py" not in ranked
    assert all((nearest_tests.ROOT / path).is_file() for path in ranked)
    assert all((nearest_tests.ROOT / test).is_file() for _, _, test in nearest_tests.FILE_TESTS)


def run_git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    # A hook of git may run the tests, with the paths of its own repository in the environment.
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, env=environment
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_changes_are_those_of_the_tree_or_of_the_last_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest_tests, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    run_git(tmp_path, "init")
    for name in ("first.py", "second.py"):
        (tmp_path / name).touch()
        run_git(tmp_path, "add", name)
        run_git(tmp_path, "commit", "-m", name)
    assert nearest_tests.find_changed([]) == ["second.py"]
    (tmp_path / "new.py").touch()
    (tmp_path / "first.py").write_text("1\n", encoding="utf-8")
    assert nearest_tests.find_changed([]) == ["first.py", "new.py"]
    assert nearest_tests.find_changed(["HEAD~1"]) == ["first.py", "new.py", "second.py"]
    assert nearest_tests.find_changed(["./second.py"]) == ["second.py"]
    with pytest.raises(SystemExit, match="Name existing files, or one revision"):
        nearest_tests.find_changed(["nowhere"])


@pytest.mark.parametrize(("stop_at", "passed_over"), [(0.0, True), (math.inf, None)])
def test_no_test_starts_when_the_time_is_up(stop_at: float, passed_over: bool | None) -> None:
    item = SimpleNamespace(config=SimpleNamespace(getoption={"--stop-at": stop_at}.get))
    assert nearest_tests.pytest_runtest_protocol(item) is passed_over
