"""`make quick`: lint and types of the changed files, and the tests nearest to them by imports.

Changed files are those that differ from HEAD; in a clean tree, those of the last commit. No test
starts later than `TIME_LIMIT` after the command (docs/decisions/0035-quick-checks.md): pytest
loads this module as a plugin, which passes over the remaining tests and lists them.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import grimp
import pytest
from grimp.exceptions import SourceSyntaxError

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("marginscope", "core", "app", "docs", "tests")
TIME_LIMIT = 42.0  # s from the start of the command to the start of the last test
MAX_FILES = 24  # test files; importing more takes time in which none of them runs
FILE_TESTS = (  # tests of files that no module imports, by how a path starts and ends
    ("resources/studies/", ".toml", "tests/core/test_study.py"),
    ("resources/page/", "", "tests/figures/test_page.py"),
    ("docs/images/", ".svg", "tests/test_documents.py"),
    ("", ".md", "tests/test_documents.py"),
)
DOCTESTS = ("marginscope/", "core/", "app/", "docs/site/")
CONTRACTS = "from importlinter.cli import lint_imports_command as main; main()"
REST = "`make test` runs the rest."

# ------------------------------------------------------------------------------ changed files


def run_git(*words: str) -> list[str]:
    """Return the paths that a git command prints; exit with git's message if git fails."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    except OSError as error:
        sys.exit(f"git did not start: {error}. Name the changed files instead.")
    if done.returncode:
        sys.exit(f"{done.stderr.strip()}\nName existing files, or one revision of git.")
    return [path.strip("\n") for path in done.stdout.split("\0") if path.strip("\n")]


def find_changed(words: list[str]) -> list[str]:
    """Return the named files, or those that differ from a revision, or those last committed."""
    files = [Path(word).resolve() for word in words]
    if words and all(path.is_file() and path.is_relative_to(ROOT) for path in files):
        return [path.relative_to(ROOT).as_posix() for path in files]
    names = ("-z", "--name-only", "--diff-filter=d")
    changed = run_git("diff", *names, *(words or ["HEAD"]), "--")
    changed += run_git("ls-files", "-z", "--others", "--exclude-standard")
    if not (words or changed):
        changed = run_git("show", *names, "-m", "--first-parent", "--format=", "HEAD")
    return sorted(set(changed))


# ---------------------------------------------------------------------------------- selection


def build_graph() -> grimp.ImportGraph:
    """Return all imports of the sources but those for types; exit if a source does not parse."""
    try:
        return grimp.build_graph(*PACKAGES, cache_dir=None, exclude_type_checking_imports=True)
    except SourceSyntaxError as error:
        sys.exit(str(error))


def path_to_module(path: str) -> str:
    """Convert the path of a source file to the name of its module."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_test(module: str) -> bool:
    """Return True if pytest collects tests from a module."""
    return module.startswith("tests.") and module.rsplit(".", 1)[1].startswith("test_")


def rank_tests(graph: grimp.ImportGraph, paths: Iterable[str]) -> dict[str, int]:
    """Return test files, nearest first, with their distance in imports from the changed paths.

    At equal distance, files with fewer imports come first: they test little besides the change.
    """
    ranked: dict[str, int] = {}
    seen: set[str] = set()
    ring = {path_to_module(path) for path in paths} & graph.modules
    distance = 0
    while ring:
        sizes = {one: len(graph.find_modules_directly_imported_by(one)) for one in ring}
        for module in sorted(filter(is_test, ring), key=lambda one: (sizes[one], one)):
            ranked[f"{module.replace('.', '/')}.py"] = distance
        seen |= ring
        users = (graph.find_modules_that_directly_import(one) for one in ring)
        ring = set().union(*users) - seen
        distance += 1
    return ranked


def find_readers(path: str) -> Iterator[str]:
    """Yield the test files that read a file, and the file itself if it has doctests."""
    for start, end, test in FILE_TESTS:
        if path.startswith(start) and path.endswith(end):
            yield test
    if path.startswith(DOCTESTS) and ">>> " in (ROOT / path).read_text("utf-8"):
        yield path


def select_tests(graph: grimp.ImportGraph, paths: list[str]) -> tuple[dict[str, int], list[str]]:
    """Return test files with their distance, nearest first, and the paths that none covers."""
    chosen = rank_tests(graph, paths)
    for path in paths:
        for test in find_readers(path):
            chosen[test] = min(int(test != path), chosen.get(test, 1))
    uncovered = [
        path for path in paths if not rank_tests(graph, [path]) and not list(find_readers(path))
    ]
    return dict(sorted(chosen.items(), key=lambda item: item[1])), uncovered


# ---------------------------------------------------------------------------- plugin of pytest

COLLECTED: set[str] = set()
REPORTED: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the time after which no test starts, in seconds since the epoch."""
    parser.addoption("--stop-at", type=float, default=math.inf)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Skip a test when the time is up, without setting it up or reporting it."""
    return True if time.time() > item.config.getoption("--stop-at") else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(ids: list[str]) -> None:
    """Record the tests that a worker collected."""
    COLLECTED.update(ids)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Record a test that was run."""
    REPORTED.add(report.nodeid)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the files whose tests the time limit left out."""
    totals = Counter(test.split("::")[0] for test in COLLECTED)
    left = Counter(test.split("::")[0] for test in COLLECTED - REPORTED)
    if left:
        terminalreporter.write_line(f"{left.total()} tests did not run in time. {REST}")
    for path in sorted(left):
        terminalreporter.write_line(f"  {path}: {left[path]} of {totals[path]}")


# ------------------------------------------------------------------------------------ command


def describe(tests: dict[str, int], n_left: int, uncovered: list[str]) -> Iterator[str]:
    """Yield lines that name the selected tests by distance, and what they leave out."""
    if tests:
        yield "Selected tests, by the number of imports from a test file to a changed one:"
    for distance in sorted(set(tests.values())):
        names = " ".join(path for path, other in tests.items() if other == distance)
        yield textwrap.fill(names, 99, initial_indent=f"{distance}  ", subsequent_indent="   ")
    yield f"Left out: tests marked slow, and {n_left} test files farther away. {REST}"
    if uncovered:
        yield f"Only `make test` covers {' '.join(uncovered)}."


def list_checks(paths: list[str], tests: list[str], stop_at: float) -> dict[str, list[str]]:
    """Return the command of each check: of the changed sources, and of the tests in their order."""
    python, checks = [sys.executable, "-m"], {}
    if sources := [path for path in paths if path.endswith(".py")]:
        # mypy is given no names, so that it also checks the modules that a change can break.
        checks["mypy"] = [*python, "mypy"]
        checks["ruff check"] = [*python, "ruff", "check", *sources]
        checks["ruff format"] = [*python, "ruff", "format", "--check", *sources]
        checks["import contracts"] = [sys.executable, "-c", CONTRACTS, "--no-logo"]
    if tests:
        order = ["--dist", "loadfile", "--no-loadscope-reorder"]  # a worker takes the next file
        plugin = ["-p", "tests.tools.nearest_tests", "--stop-at", str(stop_at)]
        checks["tests"] = [*python, "pytest", "-q", "-m", "not slow", *order, *plugin, *tests]
    return checks


def main() -> int:
    """Run all checks at once, name what is left out, and return 1 if one failed."""
    start = time.time()
    parser = argparse.ArgumentParser(prog="python -m tests.tools.nearest_tests")
    parser.add_argument("changed", nargs="*", help="files, or one revision to compare with")
    paths = find_changed(parser.parse_args().changed)
    print(f"Changed: {' '.join(paths) or 'nothing'}")
    tests, uncovered = select_tests(build_graph(), paths)
    chosen = dict(list(tests.items())[:MAX_FILES])
    print(*describe(chosen, len(tests) - len(chosen), uncovered), sep="\n", flush=True)
    checks = list_checks(paths, list(chosen), start + TIME_LIMIT)
    running = {name: subprocess.Popen(words, cwd=ROOT) for name, words in checks.items()}
    codes = {name: process.wait() for name, process in running.items()}
    failed = [
        name
        for name, code in codes.items()
        if code and (name, code) != ("tests", pytest.ExitCode.NO_TESTS_COLLECTED)
    ]
    print(f"Failed: {', '.join(failed) or 'nothing'}. {time.time() - start:.0f} s.")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
