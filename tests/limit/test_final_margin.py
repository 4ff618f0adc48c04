"""The bracket on the final margin: never broken, closed late, refused where none is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.observables.final_margin import (
    FinalMargin,
    final_margin,
    find_first_frame,
    lower_end,
    refusal,
    traces,
)
from core.observables.margins import flat_margins
from core.reference.cancel_token import CancelledError, CancelToken
from core.reference.gated_limits import FixedPattern, gates_and_neurons
from core.reference.margin import ReferenceMargin, exact_bracket
from core.reference.registry import REFERENCES, compute
from core.runs import Run, open_run
from tests.networks import Case, small_problem
from tests.recording import recorded
from tests.support.brackets import check_bracket
from tests.support.judged_runs import problem_of, recorded_run

SMALL = ("recording.frames=40", "data.n=12", "data.d=5", "network.m=24")
FRAMES = "recording.frames=24"
# The study, and settings of its first cell that make it quick.
STUDIES = {
    "telgarsky22-figure-1": (*SMALL, "dynamics.until_log10_time=1e3"),
    "telgarsky22-figure-2": (FRAMES, "dynamics.until_log10_time=100"),
    "telgarsky22-theorem-3-2": (FRAMES, "dynamics.until_log10_time=100"),
    "telgarsky22-theorem-3-3": (FRAMES, "network.m=16"),
    "homogeneity-theorem-4-1": (FRAMES, "network.m=16", "data.d=6", "data.n=20"),
    "frei23-theorem-3-2": (FRAMES, "dynamics.until_log10_time=100"),
}


def promised(run: Run) -> dict[str, ReferenceMargin]:
    one = REFERENCES["gamma_gl"]
    return (
        {one.name: compute(one, run.problem, CancelToken(20.0))} if one.applies(run.problem) else {}
    )


def bracket(run: Run, index: int = -1, **changes: Any) -> FinalMargin:
    return final_margin(run, index, changes.pop("known", {}), CancelToken(20.0), **changes)


@pytest.mark.parametrize("study", STUDIES)
def test_no_run_leaves_its_bracket(study: str, tmp_path: Path) -> None:
    """Of longer runs; tests.theorems has a short one of every shipped study."""
    recorded(tmp_path / "run", *STUDIES[study], study=study)
    with open_run(tmp_path / "run") as run:
        last, known = run.frames - 1, promised(run)
        kept = bracket(run, last, known=known).weakest_bound.pattern
        first = find_first_frame(run, last, kept, CancelToken())
        check_bracket(run, known, {last, first, (first + last) // 2})
        assert not known or np.isfinite(bracket(run, known=known).above_always)


def test_a_long_run_closes_its_bracket(tmp_path: Path) -> None:
    """Figure 1 with fewer points, followed to log10 t = 1e6: both ends within a part in 1000, and
    the weaker condition has held for most of the time, unlike the stronger one."""
    settings = ("data.n=12", "data.d=5", "dynamics.until_log10_time=1e6")
    recorded(tmp_path / "run", FRAMES, *settings)
    with open_run(tmp_path / "run") as run:
        late, early = bracket(run), bracket(run, 12)
        own, cells = late.above_while
        assert late.is_closed and late.gap < 1e-3
        assert late.below <= late.hard <= late.upper_end
        assert late.condition == own.condition
        assert own.since < 1e5 < cells.since
        assert not early.is_closed
        assert late.hard <= early.above_always or np.isnan(early.above_always)


def test_the_conditions_are_of_the_frames_before(tmp_path: Path) -> None:
    """Every frame from the first on keeps each node's sign and what it is active on; the frame
    before it does not."""
    recorded(tmp_path / "run", *SMALL, "dynamics.until_log10_time=1e3")
    with open_run(tmp_path / "run") as run:
        y, last = run.dataset.y, run.frames - 1

        def state(frame: int, own: bool) -> np.ndarray:
            a, V = run.network.effective(np.asarray(run.parameters(frame), dtype=np.float64))
            on = (V @ run.inputs.T) > 0.0
            return np.column_stack([np.sign(a), on & (a[:, None] * y > 0.0) if own else on])

        for kept in (FixedPattern.OWN_LABEL, FixedPattern.CONES):
            first = find_first_frame(run, last, kept, CancelToken())
            same = [
                np.array_equal(
                    state(k, kept is FixedPattern.OWN_LABEL),
                    state(last, kept is FixedPattern.OWN_LABEL),
                )
                for k in range(run.frames)
            ]
            assert all(same[first:])
            assert first == 0 or not same[first - 1]
        assert find_first_frame(
            run, last, FixedPattern.OWN_LABEL, CancelToken()
        ) <= find_first_frame(run, last, FixedPattern.CONES, CancelToken())


def test_the_carriers_are_those_of_the_certificate(tmp_path: Path) -> None:
    recorded(tmp_path / "run", *SMALL, "dynamics.until_log10_time=1e3")
    with open_run(tmp_path / "run") as run:
        found = bracket(run, known=promised(run))
        a, V = run.network.effective(np.asarray(run.parameters(-1 % run.frames), dtype=np.float64))
        active = (V @ run.inputs.T) > 0.0
        for one in found.above_while:
            assert sum(q for _, q in one.examples) == pytest.approx(1.0, abs=0.02)
            assert sum(part.weight for part in one.nodes) == pytest.approx(1.0, abs=0.03)
            for part in one.nodes:
                assert {int(np.sign(a[j])) for j in part.nodes} == {part.sign}
                own = part.sign * run.dataset.y > 0.0
                on = active[list(part.nodes)]
                on = on[:, own] if one.pattern is FixedPattern.OWN_LABEL else on
                assert (on == on[0]).all()
        assert found.upper_end <= found.above_always
        assert found.always == "gamma_gl / 2"


def test_nodes_of_weight_zero_and_dead_ones_count_for_nothing(tmp_path: Path) -> None:
    """Node 1 has a = 0, node 2 is active on no example: neither has a gate."""
    at = small_problem(Case("standard", "exponential"), DESCENT, n=8, d=4, m=5)
    flat = at.physical_start()
    a, V = at.network.effective(flat)
    a[1], V[2] = 0.0, -at.inputs[0]
    # Every example within a right angle of the first, from which node 2 points away.
    x = at.inputs * np.where(at.inputs @ at.inputs[0] < 0.0, -1.0, 1.0)[:, None]
    for kept in FixedPattern:
        _, nodes = gates_and_neurons(replace(at, dataset=replace(at.dataset, x=x)), flat, kept)
        named = {node for group in nodes for node in group}
        assert not named & {1, 2}
        assert named <= {0, 3, 4}


# ------------------------------------------------------------------------ what is not known


DESCENT = {"kind": "gd", "step": 0.1, "until_log10_time": 0.0}
FLOW = {"kind": "flow", "until_log10_time": 1.0}


@pytest.mark.parametrize(
    ("case", "dynamics", "tables", "word"),
    [
        (Case("standard", "exponential"), DESCENT, {}, "only gradient flow"),
        (Case("standard", "exponential"), FLOW, {}, "not yet"),
        (Case("standard", "exponential"), DESCENT, {"loss": {"l2": 0.1}}, "gradient"),
        (Case("standard", "squared"), DESCENT, {}, "gradient"),
    ],
)
def test_where_nothing_holds_from_below_it_is_said(
    tmp_path: Path, case: Case, dynamics: dict[str, Any], tables: dict[str, Any], word: str
) -> None:
    at = small_problem(case, dynamics, **tables)
    with recorded_run(tmp_path / "run", at) as run:
        below, why = lower_end(run, 0)
        found = bracket(run, 0)
    assert np.isnan(below) and word in why
    assert found.why == why and np.isnan(found.gap) and not found.is_closed
    assert found.as_json()["why_no_below"] == why


@pytest.mark.parametrize(
    "case",
    [
        Case("batch_norm"),
        Case("multiclass", "cross_entropy", 3),
        Case("fixed_outer", "logistic", settings={"smooth": True}),
        Case("head", "logistic", settings={"depth": 2, "hidden": 8}),
    ],
    ids=str,
)
def test_other_networks_are_refused(case: Case, tmp_path: Path) -> None:
    with recorded_run(tmp_path / "run", small_problem(case, DESCENT)) as run:
        sentence = refusal(run)
        assert sentence.endswith(".")
        assert ("3 classes" in sentence) == (case.classes == 3)
        with pytest.raises(ValueError, match="bracket"):
            bracket(run)


@pytest.mark.parametrize("kind", ["standard", "scalar", "normalised", "bias", "fixed_outer"])
def test_every_network_with_a_bracket_is_within_it(kind: str, tmp_path: Path) -> None:
    """At the start, whatever the weights are."""
    at = small_problem(Case(kind, "exponential"), DESCENT)
    with recorded_run(tmp_path / "run", at) as run:
        assert refusal(run) == ""
        found = bracket(run, 0)
    assert all(found.hard <= one.above for one in found.above_while)


def test_long_untrained_weights_count(tmp_path: Path) -> None:
    """|v_j| = 3 of a scalar network lets |a_j b_j| count three times in gamma_gl / 2."""
    at = small_problem(Case("scalar", "exponential"), DESCENT)
    at.network.fixed["V"][:] *= 3.0
    one = ReferenceMargin(REFERENCES["gamma_gl"], exact_bracket(0.1, ""), 0.0)
    with recorded_run(tmp_path / "run", at) as run:
        found = bracket(run, 0, known={"gamma_gl": one})
        largest = float(np.linalg.norm(run.network.fixed["V"], axis=1).max())
        assert flat_margins(run, 0).size == run.dataset.n
    assert found.above_always == pytest.approx(0.05 * largest)


def test_a_margin_that_is_not_proved_is_no_end(tmp_path: Path) -> None:
    at = small_problem(Case("standard", "exponential"), DESCENT)
    guess = exact_bracket(0.1, "")
    one = ReferenceMargin(REFERENCES["gamma_gl"], type(guess)(0.1, 0.1, 0.1, False, ""), 0.0)
    with recorded_run(tmp_path / "run", at) as run:
        assert np.isnan(bracket(run, 0, known={"gamma_gl": one}).above_always)


def test_it_can_be_cancelled(tmp_path: Path) -> None:
    at = small_problem(Case("standard", "exponential"), DESCENT)
    watch = CancelToken()
    watch.cancel()
    with recorded_run(tmp_path / "run", at) as run, pytest.raises(CancelledError):
        final_margin(run, 0, {}, watch)


def test_the_lines_end_at_the_last_frame(tmp_path: Path) -> None:
    recorded(tmp_path / "run", *SMALL, "dynamics.until_log10_time=100")
    with open_run(tmp_path / "run") as run:
        found = bracket(run)
        (upper, above), (lower, below) = traces(found)
        assert above.size == below.size == run.frames
        begun = np.flatnonzero(np.isfinite(above))
        assert begun[0] <= found.weakest_bound.frame and begun[-1] == run.frames - 1
        assert above[-1] == found.upper_end and below[-1] == found.below
        assert upper == f"final <= {found.upper_end:.3g}".replace("0.", ".")
        assert lower == ""
        ((early, _),) = traces(bracket(run, 0))  # nothing is known from below yet
        assert early.startswith("final <= .")


def test_real_targets_have_no_margin(tmp_path: Path) -> None:
    at = problem_of(
        {"m": 4},
        {"kind": "plain_flow", "until_log10_time": 0.0},
        "least_squares",
        {"kind": "spurious"},
    )
    with recorded_run(tmp_path / "real", at) as run:
        assert "real numbers" in refusal(run)
