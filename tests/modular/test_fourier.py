"""Waves of the nodes on addition modulo p, by sums written out and at the best network."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.observables import fourier
from core.observables.registry import OBSERVABLES, scalars_of
from core.problem.problem import Problem, resolve_problem
from core.reference.cancel_token import CancelToken
from core.reference.modular import gamma_star, penalised_optimum
from core.reference.registry import REFERENCES, compute, references_of
from core.runs import Recorder, Run, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run
from tests.modular.closed_form import best_network


def problem_of(folder: Path | None = None, **tables: dict[str, Any]) -> Problem:
    network = {"kind": "quadratic", "m": 8, "init": "gaussian"}
    given = {
        "data": {"kind": "modular", **tables.get("data", {})},
        "network": {**network, **tables.get("network", {})},
        "loss": {"kind": "cross_entropy", **tables.get("loss", {})},
        "dynamics": {"kind": "gd", "step": 0.01, "until_log10_time": -1.0},
        "recording": {"frames": 5},
    }
    return resolve_problem(build_experiment(given, "test"), folder)


@pytest.fixture(params=[5, 9])
def drawn(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Run]:
    run(problem_of(data={"p": request.param}), partial(Recorder, tmp_path / "run.msrun"))
    with open_run(tmp_path / "run.msrun") as opened:
        yield opened


@pytest.fixture(params=[5, 7, 13])
def best(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Run]:
    """Yield the network that has the largest margin, as the start of a run."""
    p = request.param
    U, V, W = best_network(p)
    np.savez(tmp_path / "best.npz", A=W, V=np.hstack([U, V]))
    made = problem_of(
        tmp_path,
        data={"p": p},
        network={"m": None, "init": "file", "init_path": "best.npz"},
        loss={"l23": 1e-4},
    )
    run(made, partial(Recorder, tmp_path / "run.msrun"))
    with open_run(tmp_path / "run.msrun") as opened:
        yield opened


def test_powers_and_phases_by_sums_written_out(drawn: Run) -> None:
    p, index = drawn.dataset.classes, drawn.frames - 1
    flat = drawn.parameters(index)
    parts = drawn.network.unpack(flat)
    rows = {"u": parts["V"][:, :p], "v": parts["V"][:, p:], "w": parts["A"]}
    t = np.arange(p)
    powers, angles = np.zeros((8, (p + 1) // 2)), {}
    for name, vectors in rows.items():
        for k in range((p + 1) // 2):
            c = vectors @ np.cos(2 * np.pi * k * t / p)
            s = vectors @ np.sin(2 * np.pi * k * t / p)
            powers[:, k] += (c**2 + s**2) / p * (1 if k == 0 else 2)
            angles[name, k] = np.arctan2(-s, c)
    theta = np.hstack([parts["A"], parts["V"]])
    assert np.allclose(fourier.node_powers(drawn, index), powers, rtol=1e-12, atol=1e-14)
    assert np.allclose(powers.sum(axis=1), (theta**2).sum(axis=1), rtol=1e-12)
    weights = np.linalg.norm(theta, axis=1) ** 3
    chosen = powers[:, 1:].argmax(axis=1) + 1
    assert np.array_equal(OBSERVABLES["frequency"].value_at(drawn, index), chosen)
    purest = powers[np.arange(8), chosen] / powers.sum(axis=1)
    assert np.allclose(OBSERVABLES["purity"].value_at(drawn, index), purest, rtol=1e-12)
    gap = np.array(
        [angles["u", k][j] + angles["v", k][j] - angles["w", k][j] for j, k in enumerate(chosen)]
    )
    found = OBSERVABLES["phase_relation"].value_at(drawn, index)
    assert np.allclose(np.exp(1j * gap), np.exp(1j * found), atol=1e-12)
    assert np.abs(found).max() <= np.pi
    mean = float(weights @ np.abs(found) / weights.sum())
    assert OBSERVABLES["phase_gap"].value_at(drawn, index) == pytest.approx(mean, rel=1e-12)
    assert OBSERVABLES["cubed_norm"].value_at(drawn, index) == pytest.approx(
        weights.sum(), rel=1e-12
    )
    mass = weights @ (powers / powers.sum(axis=1)[:, None]) / weights.sum()
    assert np.allclose(fourier.frequency_mass(drawn, index), mass, rtol=1e-12)
    spread = mass[1:].max() - mass[1:].min()
    assert OBSERVABLES["frequency_spread"].value_at(drawn, index) == pytest.approx(
        spread, rel=1e-10
    )
    pure = weights[purest > 0.9].sum() / weights.sum()
    assert OBSERVABLES["frequency_share"].value_at(drawn, index) == pytest.approx(pure, abs=1e-12)


def test_the_best_network_is_waves_of_all_frequencies(best: Run) -> None:
    p = best.dataset.classes
    values = {item.name: item.value_at(best, 0) for item in scalars_of(best) if not item.on_request}
    assert values["hard_margin"] / gamma_star(p) == pytest.approx(1.0, abs=1e-12)
    assert values["frequency_share"] == pytest.approx(1.0, abs=1e-12)
    assert values["frequency_spread"] == pytest.approx(0.0, abs=1e-12)
    assert values["frequency_count"] == pytest.approx((p - 1) / 2, rel=1e-12)
    assert values["phase_gap"] == pytest.approx(0.0, abs=1e-12)
    assert values["phase_gap_largest"] == pytest.approx(0.0, abs=1e-10)
    assert values["cubed_norm"] == pytest.approx(3 * (p - 1), rel=1e-12)
    chosen = OBSERVABLES["frequency"].value_at(best, 0)
    assert np.array_equal(chosen, np.repeat(np.arange(1, (p + 1) // 2), 6))


def test_references_are_the_closed_forms(best: Run) -> None:
    p = best.dataset.classes
    names = [one.name for one in references_of(best.problem)]
    assert names == ["gamma_star", "risk_star", "norm_star"]
    brackets = {
        name: compute(REFERENCES[name], best.problem, CancelToken(), cache=False).bracket
        for name in names
    }
    assert all(one.certified for one in brackets.values())
    assert brackets["gamma_star"].value == gamma_star(p)
    levels = (brackets["risk_star"].value, brackets["norm_star"].value)
    assert levels == penalised_optimum(p, 1e-4)
    assert compute(REFERENCES["gamma_star"], best.problem, CancelToken()).is_drawable
    assert not compute(REFERENCES["norm_star"], best.problem, CancelToken()).is_drawable


def test_of_some_of_the_pairs_nothing_is_known() -> None:
    made = problem_of(data={"fraction": 0.8})
    (one,) = references_of(made)
    bracket = compute(one, made, CancelToken(), cache=False).bracket
    assert not bracket.exists
    assert "all 25 pairs" in bracket.method


def test_a_modulus_need_not_be_prime() -> None:
    made = problem_of(data={"p": 9})
    (one,) = references_of(made)
    bracket = compute(one, made, CancelToken(), cache=False).bracket
    assert bracket.certified
    assert bracket.value == gamma_star(9)


def test_other_data_have_no_frequencies() -> None:
    from tests.networks import Case, small_problem

    made = small_problem(Case("quadratic", "cross_entropy", 3))
    assert not any(one.name in REFERENCES for one in references_of(made))


def test_a_row_space_run_sees_the_same_waves(tmp_path: Path) -> None:
    """Few pairs of a large p: inner weights are kept in other coordinates."""
    from dataclasses import replace

    from core.dynamics.rows import reduce_rows

    made = problem_of(data={"p": 23, "fraction": 0.02}, network={"m": 4})
    for name, at in (("plain", made), ("rows", reduce_rows(made))):
        run(replace(at), partial(Recorder, tmp_path / f"{name}.msrun"))
    with open_run(tmp_path / "plain.msrun") as one, open_run(tmp_path / "rows.msrun") as other:
        assert (one.reduction is None) != (other.reduction is None)
        for index in (0, one.frames - 1):
            assert np.allclose(
                fourier.waves(one, index), fourier.waves(other, index), rtol=1e-9, atol=1e-9
            )
