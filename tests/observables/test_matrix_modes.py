"""Linear networks of several outputs: their data, starts, modes, and exact curves."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.data.matrix import MatrixData
from core.errors import InputError
from core.network.deep_linear import DeepLinear, DeepLinearNetwork
from core.network.parametrisation import Shape
from core.observables.registry import OBSERVABLES, predict
from core.problem.problem import resolve_problem
from core.reference.registry import references_of
from core.runs import Recorder, Run, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train
from tests.observables.test_depth_mode import HALF
from tests.observables.test_linear_networks import integrated

VALUES = (3.0, 2.0, 1.0, 0.5)
LOSS = {"kind": "least_squares"}


def recorded(
    folder: Path,
    network: dict[str, Any],
    data: dict[str, Any] | None = None,
    until: float = 1.0,
    **tables: Any,
) -> Run:
    """Return a run of a deep linear network with 4 outputs, on the entries of a 4 x 4 matrix."""
    made: dict[str, Any] = {
        "data": {"kind": "matrix", **(data or {})},
        "network": {"kind": "deep_linear", "m": 5, "rows": 4, "scale": 1e-3, **network},
        "loss": LOSS,
        "dynamics": {"kind": "plain_flow", "step": 0.05, "until_log10_time": until},
        "recording": {"frames": 400, "spacing": "even"},
        **tables,
    }
    at = resolve_problem(build_experiment(made, "test"))
    train(at, lambda problem, **facts: Recorder(folder / "run.msrun", problem, **facts))
    return open_run(folder / "run.msrun")


# --------------------------------------------------------------------------------- data and network


def test_data_are_the_entries_of_a_matrix_on_white_inputs() -> None:
    data = MatrixData(singular_values=(2.0, 0.7), rows=3, columns=5)
    dataset = data.sample(np.random.default_rng(4))
    assert (data.n, data.d, dataset.real) == (15, 15, True)
    assert np.allclose(dataset.x.T @ dataset.x / 15, np.eye(15))
    S = (dataset.x.T @ dataset.y / 15).reshape(3, 5)
    assert np.allclose(np.linalg.svd(S)[1], (2.0, 0.7, 0.0), atol=1e-14)
    again, other = (data.sample(np.random.default_rng(seed)).y for seed in (4, 5))
    assert (again == dataset.y).all()
    assert not np.allclose(other, dataset.y)


@pytest.mark.parametrize(
    ("data", "network", "sentence"),
    [
        ({"singular_values": []}, {}, "no singular values are given; give at least one"),
        ({"rows": 2}, {}, "4 singular values are given for a matrix of 2 x 4; give 1 to 2"),
        ({"singular_values": [1.0, 0.0]}, {}, "singular value 0 is not between"),
        ({"singular_values": [1e7]}, {}, "singular value 1e[+]07 is not between"),
        ({"rows": 40, "columns": 30}, {}, "1200 entries, more than 1024"),
        ({"n": 3}, {}, "n = 3, but the matrix has 16 entries; leave n out"),
        ({}, {"rows": 3}, "network.rows = 3 does not divide data.d = 16"),
        ({}, {"rows": 0}, "greater than or equal to 1"),
    ],
)
def test_wrong_sizes_get_one_sentence(
    data: dict[str, Any], network: dict[str, Any], sentence: str
) -> None:
    tables = {
        "data": {"kind": "matrix", **data},
        "network": {"kind": "deep_linear", "m": 4, **network},
        "loss": LOSS,
        "dynamics": {"kind": "plain_flow"},
    }
    with pytest.raises(InputError, match=sentence):
        build_experiment(tables, "test")


def test_rows_that_do_not_divide_the_columns_of_a_file(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "data.csv", np.random.default_rng(0).normal(size=(9, 6)), delimiter=",")
    tables = {
        "data": {"kind": "file", "path": "data.csv", "targets": "real", "label": "last"},
        "network": {"kind": "deep_linear", "m": 4, "rows": 2},
        "loss": LOSS,
        "dynamics": {"kind": "plain_flow"},
    }
    with pytest.raises(InputError, match=r"network.rows = 2 does not divide data.d = 5.*of 5\.$"):
        resolve_problem(build_experiment(tables, "test"), folder=tmp_path)


def deep(rows: int, columns: int, m: int, layers: int) -> DeepLinear:
    section = DeepLinearNetwork(m=m, layers=layers, rows=rows)
    return DeepLinear(section, Shape(m, np.zeros((1, rows * columns))), {})


def test_an_example_asks_for_one_output_of_the_map() -> None:
    generator = np.random.default_rng(1)
    network = deep(rows=3, columns=2, m=4, layers=3)
    flat, x = generator.standard_normal(network.size), generator.standard_normal(2)
    W1, W2, W3 = network.unpack(flat).values()
    asked = np.array([np.outer(unit, x).reshape(-1) for unit in np.eye(3)])
    assert np.allclose(network.outputs(flat, asked), W3 @ W2 @ W1 @ x, rtol=1e-12)
    direction, g, h = generator.standard_normal(network.size), generator.standard_normal(3), 1e-5
    ahead, back = (network.outputs(flat + one * direction, asked) for one in (h, -h))
    wanted = (ahead - back) / (2.0 * h)
    assert np.allclose(network.derivative(flat, asked, direction), wanted, rtol=1e-8)
    assert network.gradient(flat, asked, g) @ direction == pytest.approx(g @ wanted, rel=1e-8)
    sizes, U = network.nodes(flat)
    assert np.allclose(sizes @ U, network.coefficients(flat), rtol=1e-12)
    assert np.allclose(np.linalg.norm(W3, axis=0), sizes)


@pytest.mark.parametrize("m", [2, 4, 7])
@pytest.mark.parametrize("init", ["aligned", "balanced"])
def test_starts_are_balanced_and_have_equal_singular_values(init: str, m: int) -> None:
    made = {
        "data": {"kind": "matrix", "rows": 5},
        "network": {"kind": "deep_linear", "m": m, "rows": 5, "scale": 0.01, "init": init},
        "loss": LOSS,
        "dynamics": {"kind": "plain_flow"},
    }
    at = resolve_problem(build_experiment(made, "test"))
    assert isinstance(at.network, DeepLinear)
    product = at.network.multiply_layers(at.start.parameters)
    values = np.linalg.svd(product)[1]
    assert np.allclose(values[: min(m, 4)], 0.01, rtol=1e-12)
    assert np.allclose(values[min(m, 4) :], 0.0, atol=1e-15)
    assert np.abs(at.network.invariants(at.start.parameters)).max() <= 1e-15
    S = (at.dataset.x.T @ at.dataset.y).reshape(5, 4)
    left, _, right = np.linalg.svd(S, full_matrices=False)
    within = left.T @ product @ right.T
    is_diagonal = bool(np.abs(within - np.diag(np.diag(within))).max() < 1e-14)
    assert is_diagonal == (init == "aligned")


# ------------------------------------------------------------------------------------- exact curves


@pytest.mark.parametrize("layers", HALF)
def test_the_four_modes_are_learned_one_after_another(layers: int, tmp_path: Path) -> None:
    """Half times of all modes of one run, from a(0) = .001, as in theory.md, 4.17."""
    until = np.log10(1.1 * HALF[layers][3])
    with closing(recorded(tmp_path, {"layers": layers}, until=float(until))) as run:
        for number, (s, half) in enumerate(zip(VALUES, HALF[layers], strict=True), start=1):
            found = predict(run, f"mode_{number}_depth")
            assert found.largest <= 1e-5
            strengths = OBSERVABLES[f"mode_{number}"].trace(run)
            assert strengths[0] == pytest.approx(1e-3, rel=1e-9)
            assert np.interp(s / 2.0, strengths, run.t) == pytest.approx(half, abs=0.01)
            landmark = OBSERVABLES[f"mode_{number}"].landmark
            assert landmark is not None
            assert landmark(run).value == pytest.approx(s, rel=1e-12)
        assert OBSERVABLES["mode_rest"].trace(run).max() <= 1e-9
        assert OBSERVABLES["layer_drift"].trace(run).max() <= 1e-12
        whole = predict(run, "mode_depth")  # the strength along the whole target
        assert whole.largest <= 1e-5
        residual = predict(run, "log10_risk_depth").residual
        assert np.abs(residual[run.t < HALF[layers][3]]).max() <= 1e-4


def test_a_narrow_network_learns_only_the_largest_modes(tmp_path: Path) -> None:
    with closing(recorded(tmp_path, {"m": 2, "layers": 2, "scale": 0.1})) as run:
        assert OBSERVABLES["mode_2"].trace(run)[-1] == pytest.approx(2.0, abs=1e-6)
        assert np.abs(OBSERVABLES["mode_3"].trace(run)).max() <= 1e-9
        for number in (1, 2, 3, 4):
            assert predict(run, f"mode_{number}_depth").largest <= 1e-5


def test_modes_from_any_balanced_start_lie_on_the_matrix_solution(tmp_path: Path) -> None:
    network = {"layers": 2, "init": "balanced", "scale": 0.02}
    with closing(recorded(tmp_path, network, data={"columns": 5}, until=0.8)) as run:
        assert isinstance(run.network, DeepLinear)
        S = (run.dataset.x.T @ run.dataset.y / run.dataset.n).reshape(4, 5)
        left, _, right = np.linalg.svd(S, full_matrices=False)
        W1, W2 = run.network.matrices(run.origin)
        for t in (0.4, 1.3, 3.0):
            product = integrated(S, W1, W2, t)
            for number in (1, 2, 3, 4):
                found = predict(run, f"mode_{number}_matrix").prediction.function
                wanted = left[:, number - 1] @ product @ right[number - 1]
                assert found(run, np.array([t]))[0] == pytest.approx(wanted, abs=1e-11)
        for number in (1, 2, 3, 4):
            assert predict(run, f"mode_{number}_matrix").largest <= 1e-4
        assert OBSERVABLES["mode_rest"].trace(run).max() > 1e-3
        with pytest.raises(InputError, match="is not a sum of the target's modes"):
            predict(run, "mode_1_depth")


@pytest.mark.parametrize(
    ("network", "name", "sentence"),
    [
        ({"init": "random"}, "mode_1_depth", "the start is not balanced"),
        ({"layers": 3}, "mode_1_matrix", "of two layers"),
        ({"rows": 1}, "mode_1_depth", "network.rows > 1"),
    ],
)
def test_where_no_curve_is_known_one_sentence_says_so(
    network: dict[str, Any], name: str, sentence: str, tmp_path: Path
) -> None:
    with (
        closing(recorded(tmp_path, network, until=-1.0)) as run,
        pytest.raises(InputError, match=sentence),
    ):
        predict(run, name)


def test_missing_modes_do_not_apply(tmp_path: Path) -> None:
    network, data = {"layers": 2, "rows": 2}, {"singular_values": [1.0, 0.5]}
    with closing(recorded(tmp_path, network, data=data, until=-1.0)) as run:
        names = [f"mode_{number}" for number in (1, 2, 3, 4)]
        assert [OBSERVABLES[name].applies(run) for name in names] == [True, True, False, False]
        assert np.isnan(OBSERVABLES["mode_3"].value_at(run, 0))


def test_equal_singular_values_share_one_curve(tmp_path: Path) -> None:
    network, data = {"layers": 3, "rows": 3}, {"singular_values": [1.0, 1.0, 1.0]}
    with closing(recorded(tmp_path, network, data=data, until=1.0)) as run:
        curves = [OBSERVABLES[f"mode_{number}"].trace(run) for number in (1, 2, 3)]
        assert np.abs(curves[0] - curves[2]).max() <= 1e-9
        assert predict(run, "mode_1_depth").largest <= 1e-5


def test_margins_of_one_output_do_not_apply_to_several() -> None:
    tables = {
        "data": {"kind": "gaussian_mixture", "d": 4, "n": 8},
        "network": {"kind": "deep_linear", "m": 3, "rows": 2},
        "dynamics": {"kind": "gd"},
    }
    names = {one.name for one in references_of(resolve_problem(build_experiment(tables, "test")))}
    assert "gamma_deep" not in names
    assert "gamma_linear" in names


def test_a_file_of_pairs_is_a_regression_on_several_outputs(tmp_path: Path) -> None:
    """As docs/own.md makes it; a regression on Gaussian inputs ends at the least-squares map."""
    generator, k = np.random.default_rng(3), 3
    x, Y = generator.standard_normal((12, 4)), generator.standard_normal((12, k))
    pairs = np.array([np.kron(output, point) for point in x for output in np.eye(k)])
    np.savez(tmp_path / "pairs.npz", x=pairs, y=Y.reshape(-1))
    tables: dict[str, Any] = {
        "data": {"kind": "file", "path": "pairs.npz", "targets": "real"},
        "network": {"kind": "deep_linear", "m": 5, "rows": k, "layers": 2, "init": "random"},
        "loss": LOSS,
        "dynamics": {"kind": "plain_flow", "step": 0.1, "until_log10_time": 2.5},
        "recording": {"frames": 5},
    }
    at = resolve_problem(build_experiment(tables, "test"), folder=tmp_path)
    train(at, lambda problem, **facts: Recorder(tmp_path / "run.msrun", problem, **facts))
    least, *_ = np.linalg.lstsq(x, Y, rcond=None)
    with closing(open_run(tmp_path / "run.msrun")) as run:
        assert isinstance(run.network, DeepLinear)
        product = run.network.multiply_layers(run.physical_parameters(run.frames - 1))
        assert np.allclose(product, least.T, atol=1e-4)
        risk = OBSERVABLES["risk"].value_at(run, run.frames - 1)
        assert risk == pytest.approx(0.5 * ((x @ product.T - Y) ** 2).mean(), rel=1e-9)
