"""What is said of a continued run refers to t = 0, and to all times since."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.dynamics.registry import prepare
from core.observables.features import reference_distribution
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem
from core.runs import RecordedRun, open_run
from core.theorems.registry import assess_all
from tests.networks import Case, small_problem
from tests.support.continued_runs import continued_at, recorded_at
from tests.support.judged_runs import margins_of
from tests.support.run_files import tamper

pytestmark = pytest.mark.usefixtures("few_directions")

FLOW = {"kind": "flow", "until_log10_time": 1.0}
DESCENT = {"kind": "gd", "step": 0.0625, "until_log10_time": 1.0}
RUNS = (
    (Case("normalised", "logistic"), FLOW),
    (Case("normalised", "logistic"), DESCENT),
    (Case("standard", "exponential"), FLOW),
    (Case("scalar", "exponential"), DESCENT),
    (Case("fixed_outer", "logistic", settings={"smooth": True}), DESCENT),
    (Case("fixed_outer", "exponential"), FLOW),
    (Case("batch_norm", "logistic"), DESCENT),
)
NO_HISTORY = "DELETE FROM array WHERE name >= 'history_' AND name < 'history`'"
# Frames of descent in the examples' coordinates agree to 1e-12, and quotients of small numbers
# (loss ratios, drifts) lose some digits of that.
AGREE = 1e-8


def problem_of(case: Case, dynamics: dict[str, Any]) -> Problem:
    # As wide as Lemma B.1 needs: without a good measure its search takes a second.
    m = 24 if case.kind == "normalised" else 9
    return prepare(small_problem(case, dynamics, n=8, m=m, recording={"frames": 12}))


@pytest.fixture(scope="module", params=RUNS, ids=[f"{case}-{d['kind']}" for case, d in RUNS])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """Return a run in one go, and what goes on from its frame 8 by way of frame 4 of another."""
    folder = tmp_path_factory.mktemp("both")
    whole, middle, part = (folder / f"{name}.msrun" for name in ("whole", "middle", "part"))
    recorded_at(whole, problem_of(*request.param))
    continued_at(middle, whole, frame=4)
    continued_at(part, middle, frame=4)
    return whole, part


def agree(one: Any, other: Any) -> bool:
    return bool(np.allclose(one, other, rtol=AGREE, atol=AGREE, equal_nan=True))


def test_every_observable_is_that_of_the_uninterrupted_run(both: tuple[Path, Path]) -> None:
    with open_run(both[0]) as whole, open_run(both[1]) as part:
        assert part.log10_time[0] == whole.log10_time[8]
        frames = range(8, whole.frames)
        assert len(frames) == part.frames > 2
        for name, item in OBSERVABLES.items():
            assert item.applies(part) == item.applies(whole), name
            if item.applies(whole):
                one = item.trace(part)
                other = np.array([item.value_at(whole, k) for k in frames], dtype=np.float64)
                if item.error is None:
                    assert agree(one, other), name
                    continue
                room = [item.error(part, k - 8) + item.error(whole, k) for k in frames]
                missing = np.isnan(one) & np.isnan(other)
                assert (missing | (np.abs(one - other) <= room)).all(), name


def test_every_statement_is_judged_on_the_whole_trajectory(both: tuple[Path, Path]) -> None:
    with open_run(both[0]) as whole, open_run(both[1]) as part:
        margins = margins_of(whole.problem)
        judged = [assess_all(run, margins) for run in (whole, part)]
        assert [one.statement.name for one in judged[0]] == [o.statement.name for o in judged[1]]
        assert len(judged[0]) > 3
        for one, other in zip(*judged, strict=True):
            name = one.statement.name
            assert one.verdict is other.verdict, name
            assert agree(one.comparison.bound, other.comparison.bound), name
            assert agree(one.comparison.measured, other.comparison.measured), name
            assert [h.met for h in one.hypotheses] == [h.met for h in other.hypotheses], name
            trace = other.comparison.measured_trace
            assert trace is None or trace.shape[0] == part.frames


def test_the_reference_is_that_of_t_zero(tmp_path: Path) -> None:
    """pbar and KL by their definitions at the parameters of t = 0, and not at frame 0."""
    recorded_at(tmp_path / "a.msrun", problem_of(*RUNS[0]))
    continued_at(tmp_path / "b.msrun", tmp_path / "a.msrun", frame=9)
    with open_run(tmp_path / "b.msrun") as run:
        m = run.network.m
        V, signs = (
            run.origin[2 * m :].reshape(m, -1),
            np.sign(run.origin[:m] * run.origin[m : 2 * m]),
        )
        U = V / np.linalg.norm(V, axis=1, keepdims=True)
        Z = run.dataset.y[:, None] * signs * np.maximum(run.inputs @ U.T, 0.0)
        pbar = reference_distribution(run)
        assert pbar.sum() == pytest.approx(1.0)
        gamma = (Z @ pbar).min()
        generator = np.random.default_rng(0)
        for _ in range(200):  # no other distribution has a larger margin at t = 0
            other = 0.99 * pbar + 0.01 * generator.dirichlet(np.ones(m))
            assert (Z @ other).min() <= gamma + 1e-12
        assert OBSERVABLES["pbar_margin"].value_at(run.whole_run, 0) == pytest.approx(
            gamma, abs=1e-12
        )
        u = np.abs(run.origin[:m] * run.origin[m : 2 * m])
        inside = pbar > 0.0
        kl = float(pbar[inside] @ np.log(pbar[inside] / u[inside]) + u.sum() - 1.0)
        assert OBSERVABLES["kl_pbar"].value_at(run.whole_run, 0) == pytest.approx(kl, abs=1e-12)


def start_hypothesis(run: RecordedRun) -> Any:
    made = next(a for a in assess_all(run, {}) if a.statement.name == "Theorem 3.1 (margin)")
    return next(one for one in made.hypotheses if one.text.startswith("start"))


def test_the_start_is_judged_where_it_was(tmp_path: Path) -> None:
    """At t = 0; other settings since then are another start, and a gap is not known to be one."""
    path = tmp_path / "a.msrun"
    recorded_at(path, problem_of(*RUNS[0]))
    with open_run(path) as run:
        assert start_hypothesis(run).met is True
    continued_at(tmp_path / "b.msrun", path, frame=6)
    with open_run(tmp_path / "b.msrun") as run:
        assert start_hypothesis(run).met is True
    continued_at(tmp_path / "c.msrun", path, "dynamics.accuracy=numbers", frame=6)
    continued_at(tmp_path / "d.msrun", tmp_path / "c.msrun", frame=3)
    for name in ("c", "d"):
        with open_run(tmp_path / f"{name}.msrun") as run:
            assert run.has_changed_rule
            assert start_hypothesis(run).met is False
    tamper(tmp_path / "b.msrun", NO_HISTORY)
    continued_at(tmp_path / "e.msrun", tmp_path / "b.msrun", frame=3)
    for name in ("b", "e"):
        with open_run(tmp_path / f"{name}.msrun") as run:
            assert start_hypothesis(run).met is None
            assert not OBSERVABLES["perceptron_sum"].applies(run)


def test_a_whole_run_is_a_run(tmp_path: Path) -> None:
    """Its frames, numbers and events are those of the file, after those before the start."""
    path = tmp_path / "a.msrun"
    recorded_at(path, problem_of(*RUNS[0]))
    continued_at(tmp_path / "b.msrun", path, frame=6)
    with open_run(path) as one, open_run(tmp_path / "b.msrun") as run:
        assert one.whole_run is one
        whole = run.whole_run
        assert whole is run.whole_run
        assert whole.whole_run is whole
        assert (whole.frames_before, whole.frames, whole.planned_frames) == (
            6,
            one.frames,
            one.planned_frames,
        )
        assert np.array_equal(whole.log10_time, one.log10_time)
        assert np.array_equal(whole.steps, one.steps)
        assert whole.refresh() == one.frames
        for index in range(1, one.frames):
            assert np.array_equal(whole.parameters(index), one.parameters(index))
            assert whole.dual(index) is None
        assert np.array_equal(whole.parameters(0), one.origin)
        assert whole.rho[0] == 0.0
        error = one.diagnostics(3)["margin_error"]
        assert error > 0.0
        assert whole.diagnostics(3) == {"margin_error": error}
        assert whole.diagnostics(9) == run.diagnostics(3)
        assert (whole.status, whole.reason) == (run.status, run.reason)
        assert (whole.start.step, whole.start.rho) == (0, 0.0)
        assert whole.bytes_on_disk == run.bytes_on_disk
        with pytest.raises(IndexError):
            whole.parameters(-1)
        with pytest.raises(IndexError):
            whole.parameters(whole.frames)
        with whole.batch():
            assert whole.events() == ()
