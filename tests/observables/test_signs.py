"""Test errors of frames in any order, known from other frames or not, are those of the outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.losses import LOSSES
from core.network.parametrisation import margins_of
from core.observables.registry import OBSERVABLES
from core.observables.testing import (
    KEY,
    Weights,
    are_right,
    bound_of_sum,
    of_size_one,
    points_of,
    weights_of,
)
from core.runs import Recorder, Run, open_run
from core.training.trajectory import run as train
from tests.networks import HEADS, TWO_LAYER, UNCOMPILED, Case, small_problem

DESCENT = {"kind": "gd", "step": 0.1, "until_log10_time": 2.0}
CASES = (*TWO_LAYER, *UNCOMPILED, HEADS[0])


def plain(run: Run, index: int) -> float:
    """Return the share of test points that are not right, by the network's own outputs."""
    points = points_of(run)
    inputs, offset = run.as_network_inputs(points.x)
    f = np.asarray(run.network.outputs(run.parameters(index), inputs, offset))
    return float(np.mean(~(margins_of(f, points.y) > 0.0)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_network_in_any_order(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "run.msrun"
    problem = small_problem(case, DESCENT, recording={"frames": 12})
    train(problem, lambda problem, **facts: Recorder(path, problem, **facts))
    with open_run(path) as run:
        if points_of(run) is None:  # several classes from no law
            return
        wanted = [plain(run, k) for k in range(run.frames)]
        order = np.random.default_rng(0).permutation(run.frames)
        found = np.empty(run.frames)
        for k in order:
            found[k] = OBSERVABLES["test_error"].value_at(run, int(k))
        assert found.tolist() == wanted
    with open_run(path) as run:
        assert OBSERVABLES["test_error"].trace(run).tolist() == wanted
        two_layer = weights_of(run.network, run.parameters(0)) is not None
        assert (KEY in run.memo) == (two_layer and not LOSSES[case.loss].fits)


def test_no_output_moves_further_than_is_said() -> None:
    """Against random weights and inputs; and float32 is within its allowance."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        first = Weights(rng.standard_normal(5), rng.standard_normal((5, 3)))
        step = 10.0 ** rng.uniform(-4, 0)
        other = Weights(
            first.alpha + step * rng.standard_normal(5),
            first.U + step * rng.standard_normal((5, 3)),
        )
        x = rng.standard_normal((40, 3))

        def relu(z: np.ndarray) -> np.ndarray:
            return np.maximum(z, 0.0)

        gap = np.abs(first.outputs(relu, x) - other.outputs(relu, x)) / np.linalg.norm(x, axis=1)
        assert gap.max() <= first.distance(other) * (1.0 + 1e-12)
        size = np.linalg.norm(first.alpha) * np.linalg.norm(first.U)
        single = first.single().outputs(relu, x.astype(np.float32))
        off = np.abs(single - first.outputs(relu, x)) / np.linalg.norm(x, axis=1)
        assert off.max() <= first.error * size


def test_many_nodes_that_turn_at_random_hardly_move_the_output() -> None:
    """|a| ||U|| against sum_j |a_j| |u_j|: smaller by about the root of D, and never too small."""
    rng = np.random.default_rng(4)
    for m, d in ((256, 20), (5, 3), (3, 5), (20, 256), (300, 100)):
        a, U = rng.standard_normal(m), rng.standard_normal((m, d))
        x = rng.standard_normal((200, d))
        x[0] = np.linalg.svd(U)[2][0]
        z = np.abs(x @ U.T) * np.where(a > 0.0, 1.0, -1.0)
        reached = np.abs(z @ a) / np.linalg.norm(x, axis=1)
        by_rows = float(np.abs(a) @ np.linalg.norm(U, axis=1))
        bound = bound_of_sum(a, U)
        assert reached.max() <= bound * (1.0 + 1e-12)
        assert bound <= by_rows
        if (m, d) == (256, 20):
            assert bound < 0.5 * by_rows
        if min(m, d) <= 64:
            exact = np.linalg.norm(a) * np.linalg.svd(U, compute_uv=False)[0]
            assert bound == pytest.approx(min(exact, by_rows), rel=1e-8)


def test_few_points_are_evaluated_where_little_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights one part in 1e4 away cost a small part of the first ones."""
    path = tmp_path / "run.msrun"
    problem = small_problem(TWO_LAYER[0], DESCENT, d=14, m=30, recording={"frames": 4})
    train(problem, lambda problem, **facts: Recorder(path, problem, **facts))
    counts: list[int] = []
    plainly = Weights.outputs

    def counted(self: Weights, phi: object, inputs: np.ndarray) -> np.ndarray:
        counts[-1] += len(inputs)
        return plainly(self, phi, inputs)

    monkeypatch.setattr(Weights, "outputs", counted)
    with open_run(path) as run:
        flat, points = run.parameters(run.frames - 1), points_of(run)
        inputs, _ = run.as_network_inputs(points.x)
        noise = np.random.default_rng(2).standard_normal(flat.size)
        near = flat + 1e-4 * np.linalg.norm(flat) / np.linalg.norm(noise) * noise
        for at in (flat, near):
            counts.append(0)
            right = are_right(run, at, inputs, points.y, 512)
            assert np.array_equal(right, run.network.outputs(at, inputs) * points.y > 0.0)
    assert counts[0] >= points.y.size
    assert counts[1] < 0.1 * counts[0]


def test_inputs_of_any_size() -> None:
    """Test points of 2e94 were infinite in float32; scaling a row changes no sign of f."""
    rng = np.random.default_rng(3)
    inputs = rng.standard_normal((40, 3)) * 10.0 ** rng.uniform(-150.0, 150.0, (40, 1))
    inputs[5] = 0.0
    scaled = of_size_one(inputs)
    largest = np.abs(scaled).max(axis=1)
    assert largest[5] == 0.0
    assert ((largest >= 0.5) & (largest < 1.0))[np.arange(40) != 5].all()
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = inputs / scaled
    kept = np.arange(40) != 5
    assert np.array_equal(factors[kept, 0], factors[kept, 2])  # exactly: powers of 2
    assert np.array_equal(np.frexp(factors[kept, 0])[0], np.full(39, 0.5))
