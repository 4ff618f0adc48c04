"""The proofs' quantities against direct sums, rectangle bounds, gradients and the mirror flow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.dynamics.step_size import jacobian
from core.observables.law_features import known_features
from core.observables.proofs import log_mean_slope, sum_bounds
from core.observables.registry import OBSERVABLES
from core.runs import Run, open_run
from tests.networks import Case, small_problem
from tests.observables.test_every_network import recorded
from tests.recording import recorded as study

SMALL = ("data.d=6", "data.n=20", "network.m=9")


def trace(run: Run, name: str) -> np.ndarray:
    assert OBSERVABLES[name].applies(run)
    return OBSERVABLES[name].trace(run)


def slopes(run: Run, index: int) -> np.ndarray:
    W = run.network.physical(run.parameters(index), float(run.rho[index]))
    p = run.dataset.y * np.asarray(run.network.outputs(W, run.inputs))
    return np.exp(-p) if run.loss.kind == "exponential" else 1.0 / (1.0 + np.exp(p))


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_descent_sum_is_the_sum_over_all_steps(loss: str, tmp_path: Path) -> None:
    common = (*SMALL, f"loss.kind={loss}", "dynamics.kind=gd", "dynamics.step=0.1")
    path = tmp_path / "all.msrun"
    study(path, *common, "dynamics.until_log10_time=2", "recording.frames=60")
    with open_run(path) as run:
        W, network = run.origin.copy(), run.network
        total, sums = 0.0, {0: 0.0}
        y, n = run.dataset.y, run.dataset.n
        for step in range(1, int(run.steps[-1]) + 1):
            p = y * np.asarray(network.outputs(W, run.inputs))
            w = np.exp(-p) if loss == "exponential" else 1.0 / (1.0 + np.exp(p))
            total += 0.1 * w.mean()
            sums[step] = total
            W = W + 0.1 * network.gradient(W, run.inputs, y * w) / n
        wanted = [sums[int(step)] for step in run.steps]
        assert trace(run, "perceptron_sum") == pytest.approx(wanted, rel=2e-3)


def test_flow_sum_lies_between_rectangles_and_meets_a_finer_run(tmp_path: Path) -> None:
    settings = (*SMALL, "dynamics.kind=flow", "dynamics.until_log10_time=5")
    values = []
    for frames in (80, 600):
        path = tmp_path / f"{frames}.msrun"
        study(path, *settings, f"recording.frames={frames}")
        with open_run(path) as run:
            G = np.exp([log_mean_slope(run, k) for k in range(run.frames)])
            assert pytest.approx([slopes(run, k).mean() for k in range(run.frames)]) == G
            step = np.diff(10.0**run.log10_time)
            found = np.diff(trace(run, "perceptron_sum"))
            early = run.log10_time[1:] <= 3.0
            assert (found[early] <= (G[:-1] * step)[early] * (1 + 1e-9)).all()
            assert (found[early] >= (G[1:] * step)[early] * (1 - 1e-9)).all()
            values.append(trace(run, "perceptron_sum")[-1])
    assert values[0] == pytest.approx(values[1], rel=2e-3)


def test_few_frames_bound_the_sum_of_many(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """However far frames lie apart, the bounds from them hold the sum of a finer run."""
    for kind, dynamics in (("normalised", "flow"), ("standard", "flow"), ("standard", "gd")):
        rest = (
            f"dynamics.kind={dynamics}",
            "dynamics.until_log10_time=3",
            "recording.log10_times=[]",
        )
        settings = (*SMALL, *rest, f"network.kind={kind}")
        fine = tmp_path / f"{kind}-{dynamics}.msrun"
        study(fine, *settings, "recording.frames=300")
        with open_run(fine) as run:
            wanted = trace(run, "perceptron_sum")[-1]
        for frames in (2, 3, 5, 12, 60):
            path = tmp_path / f"{kind}-{dynamics}-{frames}.msrun"
            study(path, *settings, f"recording.frames={frames}")
            with open_run(path) as run, subtests.test(kind=kind, dynamics=dynamics, frames=frames):
                least, most = (grown.sum() for grown in sum_bounds(run))
                assert least < trace(run, "perceptron_sum")[-1] < most
                assert least <= wanted * 1.001
                assert most >= wanted / 1.001
                assert frames < 60 or most < 1.1 * least


def test_loss_ratio_and_proxy_pl_by_brute_force(tmp_path: Path) -> None:
    for smooth in (False, True):
        case = Case("fixed_outer", "logistic", settings={"smooth": smooth})
        with recorded(small_problem(case), tmp_path / f"{smooth}.msrun") as run:
            last, n = run.frames - 1, run.dataset.n
            w = slopes(run, last)
            assert trace(run, "loss_ratio")[last] == pytest.approx(w.max() / w.min())
            J = jacobian(run.network, run.parameters(last), run.inputs)
            slope = np.linalg.norm((run.dataset.y * w) @ J) / n
            lengths = np.linalg.norm(run.dataset.x, axis=1)
            gamma, R = run.experiment.network.slope, lengths.max() / lengths.min()
            right = np.sqrt(2) * lengths.min() * gamma / (3 * R * np.sqrt(n)) * w.mean()
            assert trace(run, "proxy_pl")[last] == pytest.approx(slope / right)


def test_margin_of_pbar_by_loops_and_its_start(tmp_path: Path) -> None:
    with recorded(small_problem(Case("normalised")), tmp_path / "run.msrun") as run:
        from core.observables.features import reference_distribution, signed_features

        found, pbar = trace(run, "pbar_margin"), reference_distribution(run)
        for k in range(run.frames):
            assert found[k] == pytest.approx((signed_features(run, k) @ pbar).min(), abs=1e-12)
        generator = np.random.default_rng(0)
        others = generator.dirichlet(np.ones(run.network.m), 200)
        assert (signed_features(run, 0) @ others.T).min(axis=0).max() <= found[0] + 1e-9


def test_known_features_reach_the_population_margin_and_the_radius(tmp_path: Path) -> None:
    study(tmp_path / "run.msrun", *SMALL, "dynamics.until_log10_time=1", "recording.frames=9")
    with open_run(tmp_path / "run.msrun") as run:
        known = known_features(run)
        assert known is not None
        alpha, beta = known
        p = run.dataset.y * (np.maximum(run.dataset.x @ beta.T, 0.0) @ alpha)
        assert p == pytest.approx(np.full(run.dataset.n, 1.0 / np.sqrt(8 * run.dataset.d)))
        V = run.network.directions(run.origin)
        radius = max(min(np.linalg.norm(v / np.linalg.norm(v) - b) for v in V) for b in beta)
        assert trace(run, "covering_radius") == pytest.approx(np.full(run.frames, radius))


def test_scalar_potential_grows_at_the_rate_of_its_nodes(tmp_path: Path) -> None:
    settings = ("network.kind=scalar", "network.m=40", "data.d=4", "data.n=16")
    study(tmp_path / "run.msrun", *settings, "dynamics.kind=flow", "dynamics.until_log10_time=4")
    with open_run(tmp_path / "run.msrun") as run:
        found = trace(run, "scalar_potential")
        norms = trace(run, "norm_squared")
        assert (found <= 0.25 * np.log(norms) + 1e-12).all()  # a_k^2 + b_k^2 <= |W|^2
        assert found[0] == pytest.approx(0.25 * np.log(2.0 / np.sqrt(40)))


def test_cone_potential_is_at_most_half_the_log_norm(tmp_path: Path) -> None:
    settings = ("data.kind=cones", "data.d=3", "data.n=24", "network.m=200")
    study(tmp_path / "run.msrun", *settings, "dynamics.kind=flow", "dynamics.until_log10_time=6")
    with open_run(tmp_path / "run.msrun") as run:
        found = trace(run, "cone_potential")
        finite = np.isfinite(found)
        assert finite.any()
        assert (found <= 0.25 * np.log(trace(run, "norm_squared")) + 1e-12)[finite].all()
        assert ((trace(run, "empty_cones") == 0) == finite).all()
        assert (np.diff(found[finite]) >= -1e-4).all()  # d Phi/dt >= Q ghat > 0 (Theorem 3.2)


def test_batch_norm_potential_from_the_points_themselves(tmp_path: Path) -> None:
    case = Case("batch_norm")
    with recorded(small_problem(case, m=40), tmp_path / "run.msrun") as run:
        from core.observables.proof_potentials import batch_norm_reference

        found = batch_norm_reference(run)
        W, W0, scaled = run.parameters(run.frames - 1), run.origin, run.network.scaled
        Ub = W0[:scaled] + found.r * found.direction
        near, far = ((U[:scaled] - Ub) @ (U[:scaled] - Ub) for U in (W, W0))
        wanted = near - far + found.al * np.sum((W[scaled:] - W0[scaled:]) ** 2)
        assert trace(run, "batch_norm_potential")[-1] == pytest.approx(wanted)
        assert trace(run, "batch_norm_potential")[0] == 0.0
