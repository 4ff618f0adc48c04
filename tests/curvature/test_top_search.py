"""What one Lanczos process misses: eigenvectors its start has no part in, and equal eigenvalues."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.dynamics import curvature as module
from core.dynamics.curvature import TOLERANCE, Curvature, gauss_newton_sharpness, sharpness
from core.dynamics.lanczos import MISS, _Lanczos, top_eigenvalues
from core.observables import sharpness as observable
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem, resolve_problem
from core.runs import Recorder, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train
from tests.networks import HEADS, LINEAR_PREDICTORS, TWO_LAYER, UNCOMPILED, Case, small_problem

NAMES = ("sharpness", "hessian_2", "hessian_3")
ROOM = 1.01 * TOLERANCE


def by_products(problem: Problem, flat: np.ndarray) -> np.ndarray:
    product = Curvature(problem, flat)
    return np.array([product(one) for one in np.eye(flat.size)])


def special_points(problem: Problem) -> list[np.ndarray]:
    """Return parameters near the start, and some with zeros, copies of nodes, and dead nodes."""
    generator = np.random.default_rng(0)
    flat = problem.physical_start()
    near = flat + 0.3 * generator.standard_normal(flat.size)
    sparse = near * (generator.random(flat.size) < 0.4)
    copies = np.tile(near[: -(-flat.size // 2)], 2)[: flat.size]
    dead = np.where(np.arange(flat.size) < flat.size // 2, near, 1e-3 * near)
    return [near, sparse, copies, dead]


# ---------------------------------------------------------------------------------------- Lanczos


@pytest.mark.parametrize("count", [1, 3])
def test_a_start_near_another_eigenvector_does_not_hide_the_top(count: int) -> None:
    """Such as the vectors of an earlier frame. The residual of the second is 1e-6 at once."""
    D = np.concatenate([[3.0, 2.0, 1.5, 1.4], np.linspace(0.0, 1.0, 196)])
    start = np.eye(200)[1] + 1e-7 * np.eye(200)[5]
    found = top_eigenvalues(lambda v: D * v, 200, count, start=start)
    assert found.values == pytest.approx(D[:count], abs=3.0 * TOLERANCE)


@pytest.mark.parametrize("copies", [2, 3, 7])
def test_equal_eigenvalues_are_found_as_often_as_they_occur(copies: int) -> None:
    D = np.concatenate([np.full(copies, 3.0), [2.5], np.linspace(1.0, 0.0, 192)])
    found = top_eigenvalues(lambda v: D * v, D.size, 4)
    assert found.values == pytest.approx(D[:4], abs=3.0 * TOLERANCE)
    assert found.vectors @ found.vectors.T == pytest.approx(np.eye(4), abs=1e-9)
    assert (np.abs(found.values - D[:4]) <= found.bounds).all()


def test_blocks_without_connection_are_searched_all() -> None:
    """A start within one block of a matrix never leaves it."""
    g = np.random.default_rng(1)
    A = np.zeros((120, 120))
    for block in range(4):
        part = g.standard_normal((30, 30))
        A[30 * block :][:30, 30 * block :][:, :30] = (1.0 + block) * (part + part.T)
    start = np.where(np.arange(120) < 30, 1.0, 0.0)
    known = np.linalg.eigvalsh(A)[::-1][:3]
    found = top_eigenvalues(lambda v: A @ v, 120, 3, start=start)
    assert found.values == pytest.approx(known, abs=ROOM * known[0])


def test_an_eigenvalue_above_the_bound_is_as_rare_as_it_says() -> None:
    """At a probability of .2 after 6 products, in 200 searches."""
    D = np.concatenate([[1.3], np.linspace(0.0, 1.0, 79)])
    missed = 0
    for seed in range(200):
        process = _Lanczos((lambda v: D * v, None), 80, np.random.default_rng(seed), 80)
        for _ in range(6):
            process.step()
        missed += not process.exceeds(1.3 - 1e-9) and process.probability(1.3 - 1e-9) < 0.2
    assert missed <= 0.2 * 200


def test_bounds_hold_where_products_do_not_suffice() -> None:
    D = np.linspace(0.0, 1.0, 2000)
    for count in (1, 3):
        found = top_eigenvalues(lambda v: D * v, D.size, count, 1e-6, max_products=25)
        assert found.products <= 50
        assert (D[::-1][:count] - found.values <= found.bounds).all()
        assert found.bounds[0] > 1e-6
    assert MISS <= 1e-9


# --------------------------------------------------------------------------------------- Hessians


@pytest.mark.parametrize("case", [*TWO_LAYER, *UNCOMPILED, *HEADS, *LINEAR_PREDICTORS], ids=str)
def test_the_whole_matrix_is_that_of_the_products(case: Case) -> None:
    problem = small_problem(case, d=4, n=6, m=3, loss={"l2": 0.01})
    flat = special_points(problem)[0]
    rows, product = by_products(problem, flat), Curvature(problem, flat)
    scale = np.abs(rows).max()
    assert np.abs(product.dense() - rows).max() < 1e-12 * scale
    part = np.array([product.gauss_newton(one) for one in np.eye(flat.size)])
    assert np.abs(product.dense(full=False) - part).max() < 1e-12 * scale


@pytest.mark.parametrize("case", [*TWO_LAYER, *UNCOMPILED, *HEADS, *LINEAR_PREDICTORS], ids=str)
def test_lanczos_finds_the_top_at_special_points(case: Case) -> None:
    """Lanczos and LAPACK, on one matrix."""
    problem = small_problem(case, d=4, n=6, m=4)
    for flat in special_points(problem):
        with np.errstate(all="ignore"):
            H = Curvature(problem, flat).dense()
        if not np.isfinite(H).all():
            continue
        known = np.linalg.eigvalsh(H)[::-1][:3]
        room = ROOM * abs(known[0]) + 1e-11 * np.abs(H).sum(axis=1).max()
        found = top_eigenvalues(lambda v, H=H: H @ v, len(H), 3)
        assert found.values == pytest.approx(known, abs=room)


def test_few_parameters_take_the_whole_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = (small_problem(Case("scalar"), m=m) for m in (4, 400))
    assert module.is_dense(small) and not module.is_dense(large)
    flat = small.physical_start()
    found = sharpness(small, flat), gauss_newton_sharpness(small, flat)
    monkeypatch.setattr(module, "is_dense", lambda _: False)
    assert found[0].values == pytest.approx(sharpness(small, flat).values, abs=1e-6)
    assert found[1] == pytest.approx(gauss_newton_sharpness(small, flat), rel=1e-6)
    assert np.isnan(module._eigenvalues_of_matrix(np.full((3, 3), np.nan), 2).values).all()


@pytest.fixture(params=["as it is", "lanczos"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Use Lanczos also where the whole matrix or a proof is cheaper."""
    if request.param == "lanczos":
        monkeypatch.setattr(module, "is_dense", lambda _: False)
        monkeypatch.setattr(observable, "make_prover", lambda _: None)
    return str(request.param)


def wrong_frames(folder: Path, x: np.ndarray, y: np.ndarray, network: dict, loss: str) -> list[str]:
    """Train, and return the frames whose observables are not those of the dense Hessian."""
    np.savez(folder / "x.npz", x=x, y=y)
    tables = {
        "data": {"kind": "file", "path": "x.npz"},
        "network": network,
        "loss": {"kind": loss},
        "dynamics": {"kind": "gd", "until_log10_time": 1.5},
        "recording": {"frames": 3},
    }
    train(
        resolve_problem(build_experiment(tables, "top"), folder),
        partial(Recorder, folder / "a.msrun"),
    )
    wrong = []
    with closing(open_run(folder / "a.msrun")) as run:
        for index in range(run.frames):
            H = by_products(run.problem, run.physical_parameters(index))
            known = np.linalg.eigvalsh(0.5 * (H + H.T))[::-1][:3]
            found = np.array([OBSERVABLES[name].value_at(run, index) for name in NAMES])
            room = ROOM * abs(known[0]) + 1e-12 * np.abs(H).sum(axis=1).max()
            if not (np.abs(found[: len(known)] - known) <= room).all():
                wrong.append(f"{network} {loss} frame {index}: {found} for {known}")
    (folder / "a.msrun").unlink()
    return wrong


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    ("kind", "loss", "x"),
    [
        ("scalar", "logistic", np.eye(3)),
        ("normalised", "logistic", np.eye(3)),
        ("standard", "least_squares", np.repeat([[0.17, 1.32, 1.11, -0.53]], 2, axis=0)),
        ("normalised", "exponential", np.array([[-0.18, -0.2, 0.29, 0.78, 0.16, 0.42]]).T),
    ],
)
def test_observables_are_those_of_the_dense_hessian(
    tmp_path: Path, kind: str, loss: str, x: np.ndarray
) -> None:
    y = np.resize([1.0, -1.0, 1.0], len(x))
    assert not wrong_frames(tmp_path, x, y, {"kind": kind, "m": 4}, loss)


@pytest.mark.slow
@pytest.mark.usefixtures("way")
def test_frames_of_random_small_runs(tmp_path: Path) -> None:
    """Of data in general position, orthogonal, doubled, at corners, and antipodal."""
    cases = [case for case in TWO_LAYER if case.classes == 2 and case.kind != "batch_norm"]
    wrong = []
    for seed in range(120):
        g = np.random.default_rng(seed)
        case, (n, d) = cases[seed % len(cases)], g.integers([2, 1], [7, 5])
        x = g.standard_normal((n, d))
        special = [x, np.eye(7)[:n, :d], x.copy(), np.sign(x), x.copy()]
        place = int(g.integers(5))
        x = special[place]
        if place in (2, 4):
            x[n // 2 :] = (-1.0 if place == 4 else 1.0) * x[: n - n // 2]
        y = np.resize([1.0, -1.0], n)
        network = {"kind": case.kind, "m": int(g.integers(1, 5)), **case.settings}
        wrong += wrong_frames(tmp_path, x, y, network, case.loss)
    assert not wrong
