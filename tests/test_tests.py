"""What tests do without: a clock to be beaten, and ways of not looking."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import pytest

from tests.test_architecture import ROOT, dotted, nodes

CLOCKS = {"time", "perf_counter", "monotonic", "process_time", "thread_time"}
WORDS = re.compile(rf"skip|xfail|\btime\s*\.\s*(?:{'|'.join(sorted(CLOCKS))})\b")
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))


def times_the_clock(node: ast.AST) -> bool:
    """Return True if an assert reads a clock, so that it fails on a busy machine."""
    if not isinstance(node, ast.Assert):
        return False
    calls = [one for one in ast.walk(node.test) if isinstance(one, ast.Call)]
    clocks = [one.func for one in calls if isinstance(one.func, ast.Attribute)]
    return any(
        func.attr in CLOCKS and isinstance(func.value, ast.Name) and func.value.id == "time"
        for func in clocks
    )


def gives_up(node: ast.AST) -> bool:
    """Return True if a call leaves a test out while it runs, or takes its failure for granted."""
    return isinstance(node, ast.Call) and dotted(node.func) in {
        "pytest.skip",
        "pytest.xfail",
        "pytest.importorskip",
        "pytest.mark.skip",
        "pytest.mark.xfail",
    }


def test_tests_neither_time_the_clock_nor_give_up(subtests: pytest.Subtests) -> None:
    """`make bench` measures durations, and tests of missing features are not written yet."""
    # Parsed are the files in which such words stand.
    named = [path for path in TESTS if WORDS.search(path.read_text("utf-8"))]
    found = list(nodes(named, ast.Assert, ast.Call))
    assert len(TESTS) > 200 and found
    for rule in (times_the_clock, gives_up):
        with subtests.test(rule=rule.__name__):
            wrong = [place for place, node in found if rule(node)]
            assert not wrong, f"{rule.__name__}: {wrong}"


@pytest.mark.parametrize(
    ("source", "rule", "wrong"),
    [
        ("assert time.perf_counter() - before < 1.0", times_the_clock, True),
        ("assert clock.perf_counter() < 1.0", times_the_clock, False),
        ("while time.monotonic() < end: pass", times_the_clock, False),
        ("pytest.skip('later')", gives_up, True),
        ("pytest.mark.skipif(windows, reason='signals')", gives_up, False),
    ],
)
def test_such_tests_are_told_from_others(
    source: str, rule: Callable[[ast.AST], bool], wrong: bool
) -> None:
    assert any(map(rule, ast.walk(ast.parse(source)))) is wrong
