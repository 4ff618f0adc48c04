"""Observables of early alignment: closed forms, counts by hand, what the scale does not change."""

from __future__ import annotations

import math
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.observables.extremal import ALIGNED
from core.observables.observable import Shape
from core.observables.registry import OBSERVABLES, last_values, scalars_of, shown_of, usual_of
from core.problem.problem import Problem, resolve_problem
from core.reference.cancel_token import CancelToken
from core.reference.registry import REFERENCES, compute
from core.runs import Recorder, Run, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train

PAPER_D = np.array([-0.258333333333, 0.666666666667])
NAMES = {"least_cosine", "aligned_share", "dead_nodes", "early_time"}


def problem_of(**tables: dict[str, Any]) -> Problem:
    usual: dict[str, dict[str, Any]] = {
        "data": {"kind": "spurious"},
        "network": {"m": 12, "init": "balanced", "scale": 1e-4},
        "loss": {"kind": "least_squares"},
        "dynamics": {"kind": "plain_flow", "until_log10_time": 1.5},
        "recording": {"frames": 40},
    }
    whole = {name: {**usual.get(name, {}), **tables.get(name, {})} for name in {*usual, *tables}}
    return resolve_problem(build_experiment(whole, "early"))


def recorded(path: Path, **tables: dict[str, Any]) -> Run:
    train(problem_of(**tables), partial(Recorder, path))
    return open_run(path)


def of(name: str, run: Run, index: int) -> Any:
    return OBSERVABLES[name].value_at(run, index)


def test_the_numbers_of_the_spurious_points(tmp_path: Path) -> None:
    """One extremal vector, of which D and |D| are known: node by node from V itself."""
    with closing(recorded(tmp_path / "a.msrun")) as run:
        u = PAPER_D / np.linalg.norm(PAPER_D)
        x, length = run.dataset.x, float(np.linalg.norm(PAPER_D))
        for index in range(0, run.frames, 5):
            parts = run.network.unpack(run.parameters(index))
            sizes = [float(np.linalg.norm(v)) for v in parts["V"]]
            cosines = [float(v @ u) / size for v, size in zip(parts["V"], sizes, strict=True)]
            assert of("extremal_cosine", run, index) == pytest.approx(cosines, abs=1e-9)
            weights = [abs(a) * size for a, size in zip(parts["a"], sizes, strict=True)]
            near = [w for w, c in zip(weights, cosines, strict=True) if c > ALIGNED]
            assert of("aligned_share", run, index) == pytest.approx(sum(near) / sum(weights))
            alive = [max(float(v @ point) for point in x) > 0.0 for v in parts["V"]]
            assert of("dead_nodes", run, index) == alive.count(False)
            least = min(c for c, lives in zip(cosines, alive, strict=True) if lives)
            assert of("least_cosine", run, index) == pytest.approx(least, abs=1e-9)
            t = 10.0 ** float(run.log10_time[index])
            assert of("early_time", run, index) == pytest.approx(t * length / math.log(1e4))
        # They align, and turn away to the least-squares line when the risk falls.
        shares = OBSERVABLES["aligned_share"].trace(run)
        assert shares[0] < 0.5 and shares.max() > 0.9999 and shares[-1] == 0.0


def test_orthonormal_directions_are_normalised_sums_of_one_sign(tmp_path: Path) -> None:
    y = [1.0, 0.5, -0.8]
    data = {"kind": "orthonormal", "y": y}
    with closing(recorded(tmp_path / "a.msrun", data=data)) as run:
        sets = ([0], [1], [0, 1], [2])
        known = np.array([np.abs(y) * np.isin(np.arange(3), k) for k in sets])
        known /= np.linalg.norm(known, axis=1)[:, None]
        for index in (0, run.frames // 2, run.frames - 1):
            V = run.network.unpack(run.parameters(index))["V"]
            wanted = (V @ known.T / np.linalg.norm(V, axis=1)[:, None]).max(axis=1)
            assert of("extremal_cosine", run, index) == pytest.approx(wanted.tolist(), abs=1e-9)


def test_the_slope_of_the_network_is_that_of_the_vectors(tmp_path: Path) -> None:
    """The least and largest G of this sample and slope are known to six digits."""
    tables = {
        "data": {"kind": "regression", "seed": 0},
        "network": {"slope": 0.3},
        "dynamics": {"until_log10_time": 0.5},
    }
    for name, value in (("extremal_plus", 0.353991), ("extremal_minus", 0.220169)):
        found = compute(REFERENCES[name], problem_of(**tables), CancelToken(), cache=False).bracket
        assert found.value == pytest.approx(value, abs=1e-6) and found.certified
    with closing(recorded(tmp_path / "a.msrun", **tables)) as run:
        assert math.isnan(of("dead_nodes", run, 0))
        t = 10.0 ** float(run.log10_time[3])
        assert of("early_time", run, 3) == pytest.approx(t * 0.353991 / math.log(1e4), rel=1e-5)


def test_the_rates_of_orthonormal_points_are_norms_over_n() -> None:
    """|D_+| = |y_+|/n, |D_-| = |y_-|/n; without negative targets there is no D_-."""
    at = problem_of(data={"kind": "orthonormal", "y": [1.0, 0.5, -0.8, -0.4]})
    rates = {
        name: compute(REFERENCES[name], at, CancelToken(), cache=False).bracket.value
        for name in ("extremal_plus", "extremal_minus")
    }
    assert rates["extremal_plus"] == pytest.approx(math.sqrt(1.25) / 4.0)
    assert rates["extremal_minus"] == pytest.approx(math.sqrt(0.8) / 4.0)
    alone = problem_of(data={"kind": "orthonormal", "y": [1.0, 0.5]})
    none = compute(REFERENCES["extremal_minus"], alone, CancelToken(), cache=False).bracket
    assert not none.exists and "below 0" in none.method


def test_alignment_takes_a_time_without_lambda(tmp_path: Path) -> None:
    """Frames stand at the same t, and directions are the same while f is far below y."""
    shares = []
    for scale in (1e-8, 1e-12):
        network = {"m": 12, "init": "balanced", "scale": scale}
        with closing(recorded(tmp_path / f"{scale}.msrun", network=network)) as run:
            early = np.array(run.log10_time[: run.frames]) < 1.2
            shares.append(OBSERVABLES["aligned_share"].trace(run)[early])
    assert shares[0][-1] > 0.9999
    assert shares[0] == pytest.approx(shares[1], abs=1e-6)


def test_row_space_form_changes_none_of_them(tmp_path: Path) -> None:
    """A long run of few points in many dimensions is kept in the coordinates of its rows."""
    tables: dict[str, dict[str, Any]] = {
        "data": {"kind": "regression", "n": 4, "d": 400, "seed": 1},
        "network": {"m": 700, "init": "balanced", "scale": 1e-3},
        "dynamics": {"kind": "gd", "step": 1e-3, "until_log10_time": -2.0},
        "recording": {"frames": 3},
    }
    with closing(recorded(tmp_path / "a.msrun", **tables)) as run:
        from core.reference.extremal import extremal_vectors

        found = extremal_vectors(run.dataset.x, run.dataset.y)
        V = run.reduction.full(run.network.unpack(run.parameters(0))["V"])
        wanted = (V @ np.array([one.u for one in found]).T).max(axis=1) / np.linalg.norm(V, axis=1)
        assert of("extremal_cosine", run, 0) == pytest.approx(wanted.tolist(), abs=1e-9)


def test_they_are_asked_for_by_name_and_only_where_they_are_defined(tmp_path: Path) -> None:
    with closing(recorded(tmp_path / "a.msrun")) as run:
        assert {one.name for one in scalars_of(run)} >= NAMES
        assert not {one.name for one in usual_of(run)} & NAMES
        assert not last_values(run).keys() & NAMES
        assert "extremal_cosine" in {one.name for one in shown_of(run, Shape.NODE)}
    labelled = {
        "data": {"kind": "parity", "d": 4, "n": 16},
        "network": {"m": 12, "init": "paper"},
        "loss": {"kind": "logistic"},
        "dynamics": {"kind": "gd", "until_log10_time": 0.5},
    }
    with closing(recorded(tmp_path / "b.msrun", **labelled)) as run:
        assert {one.name for one in scalars_of(run)} & NAMES == {"dead_nodes"}
        assert np.isnan(of("extremal_cosine", run, 0)).all()
        assert math.isnan(of("aligned_share", run, 0)) and math.isnan(of("early_time", run, 0))
    crowd = {"kind": "regression", "n": 200, "d": 8}
    with closing(recorded(tmp_path / "c.msrun", data=crowd)) as run:
        assert not {one.name for one in scalars_of(run)} & (NAMES - {"dead_nodes"})
        assert math.isnan(of("least_cosine", run, 0))
