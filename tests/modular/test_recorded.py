"""Addition modulo p in another program's loop: its nodes are waves, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import marginscope as ms
from core.data.modular import examples
from core.observables.registry import OBSERVABLES
from core.runs import open_run


def test_nodes_of_a_recorded_quadratic_network_are_waves(tmp_path: Path) -> None:
    p, m = 7, 6
    x, y = examples(np.arange(p * p), p)
    k, t = 1 + np.arange(m) % 3, np.arange(p)
    wave = np.cos(2 * np.pi * k[:, None] * t / p + 0.3)
    V = np.concatenate([wave, wave], axis=1)
    A = np.cos(2 * np.pi * k[:, None] * t / p + 0.6)
    settings = {"loss": "cross_entropy", "activation": "quadratic", "strict": True}
    with ms.record(tmp_path / "a.msrun", x, y, V0=V, a0=A.T, **settings) as r:
        r.frame(1, V=3.0 * V, a=3.0 * A.T)
    with open_run(tmp_path / "a.msrun") as run:
        assert run.network.kind == "quadratic"
        assert OBSERVABLES["frequency"].applies(run)
        assert OBSERVABLES["frequency"].value_at(run, 1).tolist() == k.tolist()
        assert OBSERVABLES["frequency_share"].value_at(run, 1) == pytest.approx(1.0)
        # Margins are divided by sum_j |theta_j|^3: three times the weights have the same.
        for name in ("hard_margin", "l1_margin"):
            before, after = (OBSERVABLES[name].value_at(run, index) for index in (0, 1))
            assert before == pytest.approx(after, rel=1e-12)


def test_other_data_have_no_waves(tmp_path: Path) -> None:
    x, y = examples(np.arange(49), 7)
    settings = {"loss": "cross_entropy", "activation": "quadratic"}
    start = {"V0": np.ones((6, 14)), "a0": np.ones((7, 6))}
    with ms.record(tmp_path / "a.msrun", x, y[::-1], **start, **settings):
        pass
    with open_run(tmp_path / "a.msrun") as run:
        assert not OBSERVABLES["frequency"].applies(run)
