"""telgarsky22, Proposition 2.6: the linear solution on two cones with x', and how it is left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.data.geometry import max_margin
from core.problem.problem import Start, resolve_problem
from core.study_file.validation import build_experiment
from tests.frames_in_chunks import trajectory


def final_margin(m: int, noise: float, seed: int) -> float:
    """Return hard margin at log10 t = 300 from the linear solution, all nodes alike, plus noise."""
    tables = {
        "data": {"kind": "two_cones", "d": 2, "n": 21, "alpha": 0.3},
        "network": {"kind": "standard", "m": m},
        "dynamics": {"kind": "flow", "until_log10_time": 300.0},
        "recording": {"frames": 3},
    }
    at = resolve_problem(build_experiment(tables, "test"))
    _, w, _ = max_margin(at.dataset.y[:, None] * at.dataset.x)
    each = 1.0 / np.sqrt(2.0 * m)
    V = each * np.tile(w / np.linalg.norm(w), (m, 1))
    flat = np.concatenate([np.full(m, each), V.reshape(-1)])
    flat = flat + noise * np.random.default_rng(seed).standard_normal(flat.size)
    last = list(trajectory(replace(at, start=Start(flat, flat))))[-1]
    return float(at.margins(last.parameters).min())


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_a_little_noise_stays_at_the_linear_solution(noise: float) -> None:
    """docs/theory.md, 7.6: .0759, half the linear margin. Few nodes: with m >= 16 it leaves."""
    for seed in range(3):
        assert final_margin(4, noise, seed) == pytest.approx(0.0759, abs=1e-4)


def test_more_noise_or_more_nodes_escape() -> None:
    """To about .24, half of gamma_gl on these cones (docs/theory.md, 7.6)."""
    assert max(final_margin(4, 0.05, seed) for seed in range(3)) == pytest.approx(0.245, abs=0.01)
    assert min(final_margin(16, 0.05, seed) for seed in range(2)) == pytest.approx(0.245, abs=0.01)
