"""SGD with label noise: a loop of its own, the noise, and the least trace of linear networks."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.dynamics.curvature import Curvature
from core.dynamics.stream import ReshuffledStream
from core.errors import InputError
from core.observables.registry import OBSERVABLES
from core.observables.trace import squared_slopes
from core.problem.problem import Problem, Start, resolve_problem
from core.runs import Recorder, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train
from tests.frames_in_chunks import trajectory
from tests.networks import HEADS, TWO_LAYER, UNCOMPILED, Case, at_a_random_point, small_problem

Array = np.ndarray
NOISE = {"kind": "label_noise", "step": 0.01, "sigma": 0.7, "until_log10_time": 0.3}
LINEAR = Case("linear", "least_squares", settings={"init": "random", "scale": 1.0})


def regression(n: int, d: int, **dynamics: Any) -> Problem:
    tables = {
        "data": {"kind": "regression", "n": n, "d": d},
        "network": {"kind": "linear", "m": 6, "init": "random", "scale": 1.0},
        "loss": {"kind": "least_squares"},
        "dynamics": {**NOISE, **dynamics},
        "recording": {"frames": 12},
    }
    return resolve_problem(build_experiment(tables, "test"))


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("case", [Case("standard", "least_squares"), LINEAR], ids=str)
def test_steps_are_those_of_a_loop(case: Case, batch: int) -> None:
    """With the order and then the signs of each block of `default_rng([seed, 2])`."""
    import torch

    at = small_problem(case, {**NOISE, "batch": batch})
    last = list(trajectory(at))[-1]
    block, n = 4096 // batch * batch, at.dataset.n
    generator = np.random.default_rng([0, 2])
    passes = [generator.permutation(n) for _ in range(-(-block // n))]
    order = np.concatenate(passes)[:block]
    signs = 2.0 * generator.integers(0, 2, block) - 1.0
    assert last.step == 200 and last.step * batch <= block
    x, y = torch.tensor(at.inputs), torch.tensor(at.dataset.y)
    start = at.network.unpack(at.start.parameters).values()
    a, V = (torch.tensor(part, requires_grad=True) for part in start)
    for step in range(last.step):
        rows = slice(step * batch, (step + 1) * batch)
        chosen, noise = torch.tensor(order[rows]), torch.tensor(0.7 * signs[rows])
        z = x[chosen] @ V.T
        f = (z if case is LINEAR else torch.relu(z)) @ a
        risk = 0.5 * ((f - y[chosen] - noise) ** 2).mean()
        slopes = torch.autograd.grad(risk, (a, V))
        with torch.no_grad():
            a -= 0.01 * slopes[0]
            V -= 0.01 * slopes[1]
    wanted = torch.cat([a.detach(), V.detach().reshape(-1)]).numpy()
    assert np.abs(last.parameters - wanted).max() < 1e-12 * np.abs(wanted).max()


def test_the_noise_is_fair_and_that_of_the_seed() -> None:
    at = regression(7, 9)
    taken = []
    for seed in (0, 0, 1):
        run = at.experiment.run.model_copy(update={"seed": seed})
        other = replace(at, experiment=at.experiment.model_copy(update={"run": run}))
        stream = ReshuffledStream(other, 1, np.float64, sigma=0.7)
        ys = np.concatenate([stream.next_batches(4096)[1] for _ in range(5)])
        xs = ReshuffledStream(other, 1, np.float64, sigma=0.7).next_batches(64)[0]
        rows = [int(np.flatnonzero((at.inputs == x).all(axis=1))[0]) for x in xs]
        assert np.abs(np.abs(ys[:64] - at.dataset.y[rows]) - 0.7).max() < 1e-12
        taken.append(ys)
    assert np.array_equal(taken[0], taken[1])
    assert not np.array_equal(taken[0], taken[2])
    near = np.abs(taken[0][:, None] - at.dataset.y)
    ups = (np.abs(near - 0.7).min(axis=1) < 1e-12).mean()
    assert ups == 1.0
    means = taken[0].reshape(-1).mean() - at.dataset.y.mean()
    assert abs(means) < 4 * np.hypot(0.7, at.dataset.y.std()) / np.sqrt(taken[0].size)


def test_a_large_noise_is_no_divergence() -> None:
    """Its own loss is above the limit of a run with small targets."""
    at = regression(4, 9, sigma=3000.0, step=1e-9, until_log10_time=-6.0)
    frames = list(trajectory(at))
    assert frames[-1].step == 1000


@pytest.mark.parametrize(("n", "d"), [(5, 9), (12, 4)])
def test_no_fit_has_less_than_the_least_trace(tmp_path: Path, n: int, d: int) -> None:
    """Random fits are above it, the balanced one of rank one has it."""
    at, path = regression(n, d), tmp_path / "a.msrun"
    train(at, partial(Recorder, path))
    generator = np.random.default_rng(2)
    with closing(open_run(path)) as run:
        least = OBSERVABLES["least_trace"].value_at(run, 0)
        x, y, network = run.inputs, run.dataset.y, run.network
        S, beta = x.T @ x / n, np.linalg.pinv(x) @ y
        assert least == pytest.approx(2.0 * np.sqrt(np.trace(S) * (beta @ S @ beta)), rel=1e-10)

        def trace(a: Array, V: Array) -> float:
            flat = network.pack({"a": a, "V": V})
            found = squared_slopes(run, flat) / n
            by_hand = a @ a * np.trace(S) + np.trace(V @ S @ V.T)
            assert found == pytest.approx(by_hand, rel=1e-10)
            return float(found)

        for _ in range(200):
            a, V = generator.standard_normal(6), generator.standard_normal((6, x.shape[1]))
            a *= 10.0 ** generator.uniform(-1.0, 1.0)
            V += np.outer(a, beta - a @ V) / (a @ a)
            assert a @ V == pytest.approx(beta, abs=1e-9)
            assert trace(a, V) >= least * (1.0 - 1e-12)
        a = generator.standard_normal(6)
        a *= (beta @ S @ beta / np.trace(S)) ** 0.25 / np.linalg.norm(a)
        assert trace(a, np.outer(a, beta) / (a @ a)) == pytest.approx(least, rel=1e-10)
        landmark = OBSERVABLES["gauss_newton_trace"].landmark
        assert landmark is not None
        line = landmark(run)
        assert line is not None and line.value == pytest.approx(least)
        assert OBSERVABLES["noise_time"].value_at(run, run.frames - 1) == pytest.approx(
            1e-4 * run.steps[-1]
        )


@pytest.mark.parametrize("case", [*TWO_LAYER, *UNCOMPILED, HEADS[0]], ids=str)
def test_the_trace_is_that_of_the_dense_matrix(tmp_path: Path, case: Case) -> None:
    at, flat = at_a_random_point(small_problem(case, d=4, n=8, m=6))
    at = replace(at, start=Start(flat, flat))
    train(at, partial(Recorder, tmp_path / "a.msrun"))
    with closing(open_run(tmp_path / "a.msrun")) as run:
        for index in (0, run.frames - 1):
            curvature = Curvature(run.problem, run.physical_parameters(index))
            wanted = np.trace(curvature.dense(full=False))
            found = OBSERVABLES["gauss_newton_trace"].value_at(run, index)
            assert found == pytest.approx(wanted, rel=1e-9)
            if case.kind == "linear":
                assert found == pytest.approx(np.trace(curvature.dense()), rel=1e-9)


BAD: tuple[tuple[Case, dict[str, Any], str], ...] = (
    (Case("standard", "logistic"), {}, "loss.kind"),
    (Case("standard", "squared"), {}, "loss.kind"),
    (LINEAR, {"sigma": 0.0}, "dynamics.sigma"),
    (LINEAR, {"sigma": float("inf")}, "dynamics.sigma"),
    (LINEAR, {"batch": 13}, "dynamics.batch"),
    (LINEAR, {"beta": 0.9}, "dynamics.beta"),
)


@pytest.mark.parametrize(("case", "settings", "key"), BAD, ids=str)
def test_bad_settings_are_one_sentence(case: Case, settings: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError) as caught:
        small_problem(case, {**NOISE, **settings})
    assert key in str(caught.value)
    assert "\n" not in str(caught.value)
