"""Order parameters of runs with a teacher: matrices, their means, and where there are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.observables.order_parameters import order_parameters
from core.observables.registry import OBSERVABLES
from tests.dynamics.test_population import ERF, recorded
from tests.observables.columns import scalar_columns

NAMES = ("length_overlap", "pair_overlap", "own_overlap", "other_overlap")
DESCENT = {"kind": "gd", "step": 0.02, "until_log10_time": 0.0}


@pytest.mark.parametrize("kind", ["standard", "committee"])
def test_matrices_and_means(kind: str, tmp_path: Path) -> None:
    tables = {**(ERF if kind == "committee" else {}), "network": {"kind": kind, "m": 3}}
    with recorded(tmp_path, **tables, dynamics=DESCENT) as run:
        found = order_parameters(run)
        assert found.Q.shape == (run.frames, 3, 3)
        assert found.R.shape == (run.frames, 3, 2)
        for index in (0, run.frames - 1):
            parts = run.network.unpack(run.physical_parameters(index))
            V = parts["V"]
            assert np.array_equal(found.a[index], parts.get("a", np.ones(3)))
            Q = np.array([[v @ w for w in V] for v in V])
            assert np.allclose(found.Q[index], Q, rtol=1e-13, atol=1e-15)
            if kind == "committee":
                assert np.allclose(found.R[index], V[:, :2], rtol=1e-13)
                assert np.array_equal(found.T, np.eye(2))
            R = found.R[index]
            best = [max(R[:, n]) for n in range(2)]
            wanted = (
                sum(Q[j, j] for j in range(3)) / 3.0,
                sum(Q[j, k] for j in range(3) for k in range(3) if j != k) / 6.0,
                sum(best) / 2.0,
                (R.sum() - sum(best)) / 4.0,
            )
            values = [OBSERVABLES[name].value_at(run, index) for name in NAMES]
            assert np.allclose(values, wanted, rtol=1e-12, atol=1e-14)
        assert set(NAMES) < set(scalar_columns(run))


def test_one_neuron_has_no_others(tmp_path: Path) -> None:
    tables = {**ERF, "network": {"kind": "committee", "m": 1}}
    with recorded(tmp_path, **tables, dynamics=DESCENT) as run:
        assert np.isnan(OBSERVABLES["pair_overlap"].value_at(run, 0))
        assert np.isnan(OBSERVABLES["other_overlap"].value_at(run, 0))
        assert set(NAMES) & set(scalar_columns(run)) == {"length_overlap", "own_overlap"}
        assert OBSERVABLES["own_overlap"].value_at(run, 0) == order_parameters(run).R[0].mean()


def test_a_teacher_of_other_neurons_has_none(tmp_path: Path) -> None:
    tables = {"network": {"kind": "committee", "m": 2}}  # and ReLU neurons of the teacher
    with recorded(tmp_path, **tables, dynamics=DESCENT) as run:
        with pytest.raises(InputError, match="teacher of the same neurons"):
            order_parameters(run)
        assert np.isnan(OBSERVABLES["own_overlap"].value_at(run, 0))
        assert not set(NAMES) & set(scalar_columns(run))
