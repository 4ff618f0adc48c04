"""Verdicts, contexts with missing margins, and what every statement of the registry must have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.mathtext import MathTextParser

from core.reference.cancel_token import CancelledError, CancelToken
from core.reference.margin import Bracket, absent_bracket, unresolved_bracket, zero_bracket
from core.runs import Run
from core.theorems import common, comparisons
from core.theorems.registry import STATEMENTS, applicable_statements, assess_all
from core.theorems.report import report
from core.theorems.statement import Comparison, Context, Hypothesis, Statement, Verdict, assess
from tests.support.judged_runs import (
    condition,
    exactly,
    judge,
    margin,
    margins_of,
    problem_of,
    recorded_run,
)

PAPERS = ("telgarsky22", "homogeneity", "frei23", "wei19", "batchnorm")

# Groups of statements that must all be there, as prefixes of names.
ASKED = {
    "telgarsky22": (
        "Theorem 2.1 (error)",
        "Theorem 2.1 (distance)",
        "Lemma 2.3",
        "Lemma 2.4 (distance)",
        "Lemma 2.4 (margin)",
        "Lemma 2.4 (rebalanced)",
        "Theorem 2.2",
        "Lemma 2.5",
        "Proposition 1.5",
        "Proposition 1.6",
        "Proposition 2.6",
        "Theorem 3.2",
        "Theorem 3.3",
        "Lemma A.4",
        "Lemma A.5",
    ),
    "homogeneity": (
        "Theorem 3.1",
        "Theorem 3.6",
        "Theorem 4.1",
        "Lemma 3.2",
        "Lemma 3.3",
        "Lemma 3.4",
        "Lemma 3.5",
        "Example 4.1",
    ),
    "frei23": (
        *(f"Theorem 3.2, item {item}" for item in range(1, 8)),
        "Theorem 3.4",
        *(f"Theorem 4.2, item {item}" for item in range(1, 4)),
        "Lemma 3.3",
    ),
    "wei19": ("Theorem 2.1", "Theorem 3.3", "Theorem 4.1", "Theorem 4.3", "Corollary 4.2"),
    "batchnorm": (
        "Assumption 1.1",
        "Assumption 1.2",
        "Proposition 1.1",
        "Theorem 2.1",
        "Theorem 2.2",
    ),
}


@pytest.fixture(scope="module")
def descent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    at = problem_of({"m": 8}, {"kind": "gd", "step": 0.2, "until_log10_time": 1.0})
    with recorded_run(tmp_path_factory.mktemp("runs") / "descent", at) as run:
        yield run


def made_up(holds: bool | None, met: bool | None, **fields: Any) -> Statement:
    return Statement(
        "telgarsky22",
        "Theorem 0",
        "Made up.",
        r"1 \leq 2",
        lambda run: True,
        "everywhere",
        lambda context: (
            Hypothesis("always", "", "", True),
            Hypothesis("perhaps", "", "", met),
        ),
        lambda context: Comparison("<=", 2.0, 1.0, holds),
        **fields,
    )


@pytest.mark.parametrize(
    ("holds", "met", "fields", "verdict"),
    [
        (True, True, {}, Verdict.HOLDS),
        (True, False, {}, Verdict.HOLDS_ANYWAY),
        (True, None, {}, Verdict.HOLDS_ANYWAY),
        (False, True, {}, Verdict.VIOLATED),
        (False, False, {}, Verdict.VIOLATED_NOT_MET),
        (False, None, {}, Verdict.VIOLATED_NOT_MET),
        (None, True, {}, Verdict.UNDECIDED),
        (None, False, {}, Verdict.UNDECIDED),
        (True, True, {"constants": False}, Verdict.NO_CONSTANT),
        (False, True, {"constants": False}, Verdict.NO_CONSTANT),
        (None, None, {"constants": False}, Verdict.NO_CONSTANT),
        (False, True, {"printed": True}, Verdict.TEXT_SLIP),
        (False, False, {"printed": True}, Verdict.VIOLATED_NOT_MET),
        (True, True, {"printed": True}, Verdict.HOLDS),
    ],
)
def test_verdicts(
    descent: Run, holds: bool | None, met: bool | None, fields: dict[str, Any], verdict: Verdict
) -> None:
    found = assess(made_up(holds, met, **fields), Context(descent, {}))
    assert found.verdict is verdict
    wanted = {
        "name": "Theorem 0",
        "source": "telgarsky22",
        "text": "Made up.",
        "bound": 2.0,
        "measured": 1.0,
        "slack": 1.0,
        "ratio": 2.0,
        "times": {"told": None, "first_violated": None, "holds_from": None},
        "verdict": verdict.value,
        "hypotheses": [
            {"text": "always", "needed": "", "present": "", "met": True},
            {"text": "perhaps", "needed": "", "present": "", "met": met},
        ],
    }
    told = report(found).as_dict()
    assert {name: told[name] for name in wanted} == wanted


def test_there_are_seven_verdicts_in_the_words_of_the_issue() -> None:
    words = {verdict.value for verdict in Verdict}
    assert len(words) == 7
    assert words >= {
        "holds",
        "holds although the hypotheses are not met",
        "violated with hypotheses not met",
        "violated",
    }


# ------------------------------------------------------------------------------- the registry


def test_every_statement_can_be_shown(subtests: pytest.Subtests) -> None:
    parser: MathTextParser[Any] = MathTextParser("path")
    assert STATEMENTS
    for statement in STATEMENTS.values():
        with subtests.test(source=statement.source, name=statement.name):
            parsed = parser.parse(f"${statement.formula}$")
            assert parsed.width > 0
            assert "$" not in statement.formula
            assert statement.text.endswith(".")
            assert len(statement.text) <= 90
            assert statement.source in PAPERS
            assert not statement.slip or statement.slip.endswith(".")
            assert statement.where


def test_names_are_unique_in_a_paper() -> None:
    names = [(one.source, one.name) for one in STATEMENTS.values()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("paper", PAPERS)
def test_all_that_was_asked_for_is_there(paper: str) -> None:
    names = [one.name for one in STATEMENTS.values() if one.source == paper]
    missing = [asked for asked in ASKED[paper] if not any(map(str(asked).__eq__, names))]
    missing = [
        asked
        for asked in missing
        if not any(name.startswith((f"{asked} ", f"{asked},")) for name in names)
    ]
    assert not missing


def test_only_shapes_have_no_constant_and_only_example_4_1_is_a_known_slip() -> None:
    """Conclusions with O(.), approximate ones, and one that the text contradicts: no verdict."""
    shapes = {(one.source, one.name) for one in STATEMENTS.values() if not one.constants}
    assert shapes == {
        ("telgarsky22", "Theorem 2.2 (error)"),
        ("telgarsky22", "Theorem 2.2 (error at W_t)"),
        ("telgarsky22", "Lemma 2.5"),
        ("telgarsky22", "Theorem 3.2 (error)"),
        ("frei23", "Lemma 3.3"),
        ("frei23", "Initial stable rank"),
        ("wei19", "Theorem 2.1 (i)"),
        ("wei19", "Theorem 2.1 (ii)"),
        ("wei19", "Theorem 3.3"),
        ("wei19", "Corollary 4.2, Proposition D.1"),
        ("batchnorm", "Theorem 2.2 (error)"),
    }
    assert [one.name for one in STATEMENTS.values() if one.printed] == ["Example 4.1"]


# -------------------------------------------------------------------------------- contexts


def test_missing_margins_leave_statements_undecided(descent: Run) -> None:
    found = judge(descent, {})
    for name in (
        "Proposition 1.5 (1)",
        "Proposition 1.5 (3)",
        "Proposition 1.6 (1)",
        "Lemma 2.4 (margin)",
        "Theorem 2.2 (margin)",
    ):
        assert found["telgarsky22", name].verdict is Verdict.UNDECIDED
        assert found["telgarsky22", name].comparison.why
    assert found["wei19", "Theorem 4.3, Proposition B.10"].verdict is Verdict.UNDECIDED
    assert not any(one.verdict is Verdict.VIOLATED for one in found.values())
    context = Context(descent, {})
    assert math.isnan(context.lower("gamma_gl"))
    assert math.isnan(context.upper("gamma_gl"))


def test_a_margin_that_does_not_exist_is_a_hypothesis_that_is_not_met(descent: Run) -> None:
    sentence = "the data are not separable."
    margins = {"gamma_linear": replace(margin("gamma_linear", 1.0), bracket=zero_bracket(sentence))}
    one = judge(descent, margins)["telgarsky22", "Proposition 1.5 (1)"]
    assert one.verdict is Verdict.UNDECIDED
    assert (one.hypotheses[0].met, one.hypotheses[0].present) == (False, sentence)
    assert one.comparison.why == "no linear margin exists"


@pytest.mark.parametrize(
    "bracket", [absent_bracket("Not computed."), unresolved_bracket(1e-9, 1.0, True, "near")]
)
def test_a_margin_that_is_not_known_decides_nothing(descent: Run, bracket: Bracket) -> None:
    """Neither that there is one, nor that there is none, nor a bound of it."""
    names = ("gamma_linear", "gamma_ntk", "gamma_gl")
    margins = {name: replace(margin(name, 1.0), bracket=bracket) for name in names}
    found = judge(descent, margins)
    for name in (
        "Proposition 1.5 (1)",
        "Proposition 1.5 (3)",
        "Proposition 1.6 (2)",
        "Lemma 2.4 (margin)",
        "Theorem 2.2 (margin)",
    ):
        assert found["telgarsky22", name].verdict is Verdict.UNDECIDED
    assert found["telgarsky22", "Proposition 1.5 (1)"].hypotheses[0].met is None
    assert condition(found["telgarsky22", "Lemma 2.4 (margin)"], "Assumption 1.3").met is None


def test_a_margin_that_holds_by_chance_is_not_taken_as_proved(descent: Run) -> None:
    """gamma_ntk by sampling: no hypothesis is met by it, and it violates nothing."""
    sampled = Bracket(0.001, 0.002, 0.0015, False, "by sampling")
    margins = exactly(gamma_linear=0.9, gamma_gl=0.5)
    margins["gamma_ntk"] = replace(margin("gamma_ntk", 1.0), bracket=sampled)
    found = judge(descent, margins)
    one = found["telgarsky22", "Proposition 1.5 (1)"]
    assert one.comparison.measured < one.comparison.bound
    assert one.verdict is Verdict.UNDECIDED
    assert "not proved" in one.comparison.why
    for name in ("Lemma 2.4 (margin)", "Theorem 2.2 (margin)"):
        hypothesis = condition(found["telgarsky22", name], "Assumption 1.3")
        assert hypothesis.met is None
        assert hypothesis.present.endswith("except with probability 10^-6")
    proved = replace(sampled, certified=True)
    margins["gamma_ntk"] = replace(margin("gamma_ntk", 1.0), bracket=proved)
    assert judge(descent, margins)["telgarsky22", one.statement.name].verdict is Verdict.VIOLATED


def test_doctored_margins_are_found_out(descent: Run) -> None:
    """Margins that contradict each other refute the propositions that relate them."""
    truth = margins_of(descent.problem)
    assert not [
        key for key, one in judge(descent, truth).items() if one.verdict is Verdict.VIOLATED
    ]
    lies = exactly(gamma_linear=0.9, gamma_ntk=0.001, gamma_gl=0.01, parity_population=0.01)
    found = judge(descent, truth | lies)
    for name in (
        "Proposition 1.5 (1)",
        "Proposition 1.5 (2)",
        "Proposition 1.5 (3)",
        "Proposition 1.6 (1)",
        "Proposition 1.6 (2)",
    ):
        assert found["telgarsky22", name].verdict is Verdict.VIOLATED


def test_the_certain_end_of_a_bracket_is_used(descent: Run) -> None:
    """gamma_linear/32 > gamma_ntk must hold for every value within both brackets."""
    wide = {
        "gamma_linear": margin("gamma_linear", 0.1, 0.9),
        "gamma_ntk": margin("gamma_ntk", 0.001, 0.01),
    }
    one = judge(descent, wide)["telgarsky22", "Proposition 1.5 (1)"]
    assert (one.comparison.bound, one.comparison.measured) == (0.1 / 32.0, 0.01)
    assert one.verdict is Verdict.HOLDS


def test_delta_is_the_one_that_is_given(descent: Run) -> None:
    bounds = [
        judge(descent, {}, delta)["telgarsky22", "Lemma A.2 (outputs)"].comparison.bound
        for delta in (0.05, 0.001)
    ]
    assert bounds == pytest.approx([4 * math.log(16 / 0.05), 4 * math.log(16 / 0.001)])


def test_a_watch_is_looked_at_between_the_frames_of_a_trace(descent: Run) -> None:
    """A judge gives way, or ends, within a frame of what takes seconds for all of them."""
    looks = []

    def share() -> float:
        looks.append(1)
        return 1.0

    context = Context(descent, {}, watch=CancelToken(share=share))
    assert context.trace("risk").tolist() == Context(descent, {}).trace("risk").tolist()
    assert len(looks) == descent.frames
    context.watch.cancel()
    with pytest.raises(CancelledError):
        context.trace("risk")


def test_a_cancelled_watch_ends_it(descent: Run) -> None:
    watch = CancelToken()
    watch.cancel()
    with pytest.raises(CancelledError):
        assess_all(descent, {}, watch=watch)


def test_a_run_without_frames_has_no_statements(tmp_path: Path, descent: Run) -> None:
    from core.runs import Recorder

    recorder = Recorder(
        tmp_path / "empty", descent.problem, engine="none", planned=3, temperature_cap=None
    )
    recorder.finish("cancelled")
    from core.runs import open_run

    with open_run(tmp_path / "empty") as run:
        assert run.frames == 0
        assert applicable_statements(run) == ()
        assert assess_all(run, {}) == []


# ------------------------------------------------------------------------- core.theorems.common


def test_throughout_is_told_by_the_worst_frame() -> None:
    found = common.compare_all_frames("<=", [10.0, 10.0, 10.0], [1.0, 11.0, 10.5])
    assert (found.holds, found.bound, found.measured) == (False, 10.0, 11.0)
    found = common.compare_all_frames("<=", 10.0, [1.0, 11.0, 10.5], frames=[True, False, False])
    assert (found.holds, found.measured) == (True, 1.0)
    assert found.bound_trace is not None
    assert [math.isnan(value) for value in found.bound_trace] == [False, True, True]
    found = common.compare_all_frames(">=", 1.0, [2.0, float("nan"), 1.0 - 1e-12])
    assert (found.holds, found.measured) == (True, 1.0 - 1e-12)
    for found in (
        common.compare_all_frames(">=", -math.inf, [-1e300, 0.0]),
        common.compare_all_frames("<=", 1.0, [0.5, math.inf]),
        common.compare_once("<=", math.inf, 1.0),
        common.compare_final("<=", 1.0, np.array([0.5, -math.inf])),
    ):
        assert (found.holds, found.why) == (None, comparisons.INFINITE)
    assert found.states.tolist() == [1, 2]
    found = common.compare_all_frames("<=", 1.0, [0.5, 1.5, math.inf])
    assert (found.holds, found.measured) == (False, 1.5)
    found = common.compare_all_frames("<=", [1.0, math.inf], [0.5, math.inf])
    assert (found.holds, found.measured) == (True, 0.5)
    found = common.compare_all_frames("<=", 1.0, [float("nan")], reason="nothing yet")
    assert (found.holds, found.why) == (None, "nothing yet")


@pytest.mark.parametrize(
    ("needed", "present", "at_least", "at_most", "below"),
    [
        (1.0, 1.0, True, True, False),
        (1.0, 2.0, True, False, False),
        (2.0, 1.0, False, True, True),
        (-1.0, -1.0, True, True, False),
        (0.0, -1e-3, False, True, True),
        (math.inf, 5.0, False, True, True),
        (float("nan"), 5.0, None, None, None),
        (5.0, float("nan"), None, None, None),
    ],
)
def test_hypotheses_in_numbers(
    needed: float, present: float, at_least: bool | None, at_most: bool | None, below: bool | None
) -> None:
    assert common.at_least("", needed, present).met is at_least
    assert common.at_most("", needed, present).met is at_most
    assert common.less_than("", needed, present).met is below
