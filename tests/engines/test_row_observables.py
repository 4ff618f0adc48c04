"""Row-space runs through their files: the observables of plain runs, and figures of frei23."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.dynamics import rows
from core.observables.registry import OBSERVABLES
from core.problem.problem import resolve_problem
from core.runs import Recorder, Run, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run
from tests.networks import Case, small_problem

CASES = (
    Case("standard", "exponential"),
    Case("scalar"),
    Case("normalised", "exponential"),
    Case("fixed_outer", "logistic", settings={"smooth": True}),
    Case("batch_norm"),
    Case("bias"),
)


def compared(low: Run, plain: Run, index: int) -> dict[str, tuple[float, float]]:
    found = {}
    for name, observable in OBSERVABLES.items():
        if not (observable.applies(low) and observable.applies(plain)):
            continue
        one, other = (
            np.asarray(observable.value_at(low, index)),
            np.asarray(observable.value_at(plain, index)),
        )
        assert one.shape == other.shape, name
        assert np.array_equal(np.isnan(one), np.isnan(other)), name
        if one.size and not np.isnan(one).all():
            gap = np.nanmax(np.abs(one - other)) if np.isfinite(one).all() else 0.0
            if observable.error is not None:  # of what is searched for
                gap = max(0.0, gap - observable.error(low, index) - observable.error(plain, index))
            found[name] = (float(np.nanmax(np.abs(one))), float(gap))
    return found


@pytest.mark.parametrize("case", CASES, ids=str)
def test_observables_are_those_of_a_plain_run(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"kind": "gd", "step": 0.01, "until_log10_time": 0.5}
    at = small_problem(case, settings, d=48, n=20, m=12, recording={"frames": 4})
    run(at, partial(Recorder, tmp_path / "plain.msrun"))
    monkeypatch.setattr(rows, "SMALLEST", 0)
    run(at, partial(Recorder, tmp_path / "low.msrun"))
    with open_run(tmp_path / "low.msrun") as low, open_run(tmp_path / "plain.msrun") as plain:
        assert low.reduction is not None
        assert plain.reduction is None
        assert "row space" in low.engine
        last = low.frames - 1
        found = compared(low, plain, last)
        for name in ("risk", "hard_margin", "distance", "rotation", "test_error", "stable_rank"):
            assert name in found
        for name, (size, gap) in found.items():
            assert gap <= 1e-8 * max(size, 1e-3), name


@pytest.mark.slow
def test_stable_rank_of_frei23(tmp_path: Path) -> None:
    """docs/theory.md, 7.7: ratio to the start after 1, 10, 100, 1000 steps, within 4 %.

    Of long steps; tests.facts.test_frei23_studies has the short ones.
    """
    step, multiple, wanted = 0.16, 1.0, (1.0, 1.0, 0.93, 0.79)
    marks = [float(np.log10(step * count)) for count in (1, 10, 100)]
    tables = {
        "data": {"kind": "gaussian_mixture", "d": 10_000, "n": 100},
        "network": {
            "kind": "fixed_outer",
            "m": 512,
            "smooth": True,
            "init_multiple": multiple,
        },
        "loss": {"kind": "logistic"},
        "dynamics": {"kind": "gd", "step": step, "until_log10_time": float(np.log10(1e3 * step))},
        "recording": {"frames": 5, "log10_times": marks},
    }
    path = tmp_path / "run.msrun"
    run(resolve_problem(build_experiment(tables, "frei23")), partial(Recorder, path))
    with open_run(path) as recorded:
        assert recorded.bytes_on_disk < 60e6  # of which data, basis and E are 56e6
        rank = OBSERVABLES["stable_rank"]
        start = float(rank.value_at(recorded, 0))
        assert start == pytest.approx(341.0, rel=0.02)
        places = [int(np.flatnonzero(recorded.steps == count)[0]) for count in (1, 10, 100, 1000)]
        ratios = [float(rank.value_at(recorded, index)) / start for index in places]
        assert ratios == pytest.approx(wanted, rel=0.04)
