"""Addition modulo p: every pair once, labelled by its sum, trained on or tested."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.data.modular import ModularData, pairs_of
from core.errors import InputError
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem, points_for_test, resolve_problem
from core.runs import Recorder, open_run
from core.studies.study import load_study
from core.study_file.validation import build_experiment
from core.training.trajectory import run


def problem_of(p: int = 5, fraction: float = 1.0, seed: int = 0, **data: object) -> Problem:
    experiment = build_experiment(
        {
            "data": {"kind": "modular", "p": p, "fraction": fraction, **data},
            "network": {"kind": "quadratic", "m": 8},
            "loss": {"kind": "cross_entropy"},
            "dynamics": {"kind": "adam", "step": 0.02, "until_log10_time": -1.0},
            "recording": {"frames": 4},
            "run": {"seed": seed},
        },
        "test",
    )
    return resolve_problem(experiment)


@pytest.mark.parametrize("p", [3, 5, 9, 23])
def test_all_pairs_once_with_their_sums(p: int) -> None:
    data = problem_of(p).dataset
    assert (data.n, data.d, data.classes) == (p * p, 2 * p, p)
    seen = set()
    for x, y in zip(data.x, data.y, strict=True):
        (a, b) = np.flatnonzero(x)
        assert x.sum() == 2.0
        assert y == (a + b - p) % p
        seen.add((a, b))
    assert len(seen) == p * p
    assert points_for_test(problem_of(p)) is None


def test_what_is_left_out_is_tested() -> None:
    at = problem_of(7, 0.6)
    points = points_for_test(at)
    assert points.exact
    assert at.dataset.n == 29
    both = np.concatenate([pairs_of(at.dataset.x), pairs_of(points.x)])
    assert np.array_equal(np.sort(both), np.arange(49))
    assert np.array_equal(points.y, (pairs_of(points.x) // 7 + pairs_of(points.x) % 7) % 7)


def test_the_test_error_is_of_the_pairs_left_out_also_of_a_file(tmp_path: Path) -> None:
    at = problem_of(5, 0.6)
    run(at, partial(Recorder, tmp_path / "run.msrun"))
    with open_run(tmp_path / "run.msrun") as kept:
        last = kept.frames - 1
        flat = np.asarray(kept.parameters(last), dtype=np.float64)
        points = points_for_test(at)
        wrong = at.network.outputs(flat, points.x).argmax(axis=1) != points.y
        assert OBSERVABLES["test_error"].value_at(kept, last) == pytest.approx(
            wrong.mean(), abs=1e-12
        )
        assert OBSERVABLES["test_error_se"].value_at(kept, last) == 0.0


def test_the_pairs_are_drawn_by_the_seed_and_alike() -> None:
    drawn = [pairs_of(problem_of(5, 0.4, seed).dataset.x) for seed in range(300)]
    assert np.array_equal(drawn[3], pairs_of(problem_of(5, 0.4, 3).dataset.x))
    counts = np.bincount(np.concatenate(drawn), minlength=25)
    assert counts.min() > 120 - 5 * np.sqrt(300 * 0.24)
    assert counts.max() < 120 + 5 * np.sqrt(300 * 0.24)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"p": 6}, "even"),
        ({"p": 1}, "greater than or equal to 3"),
        ({"p": 293}, "less than or equal to 291"),
        ({"p": 5, "d": 9}, "leave d out"),
        ({"p": 5, "n": 9}, "leave n out"),
        ({"fraction": 0.0}, "greater than 0"),
        ({"p": "five"}, "number"),
    ],
)
def test_what_is_refused(keys: dict[str, object], words: str) -> None:
    tables = {
        "data": {"kind": "modular", **keys},
        "network": {"kind": "quadratic", "m": 4},
        "loss": {"kind": "cross_entropy"},
        "dynamics": {"kind": "gd"},
    }
    with pytest.raises(InputError, match=words):
        build_experiment(tables, "test")


def test_sizes_follow_p() -> None:
    section = ModularData(p=11, fraction=0.5)
    assert (section.d, section.n) == (22, 60)


def test_choosing_it_brings_a_network_and_a_loss_of_many_classes() -> None:
    """As the form and --set do, from the first study; what goes with it stays."""
    study = load_study("telgarsky22-figure-1")
    chosen = study.with_settings(["data.kind=modular", "network.m=8"]).cells()[0].experiment
    assert (chosen.network.kind, chosen.loss.kind) == ("quadratic", "cross_entropy")
    resolve_problem(chosen)
    kept = study.with_settings(
        ["network.kind=multiclass", "loss.kind=cross_entropy", "data.kind=modular", "network.m=8"]
    )
    assert kept.cells()[0].experiment.network.kind == "multiclass"
