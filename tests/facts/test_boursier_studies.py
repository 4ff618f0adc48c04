"""The studies of Boursier and Flammarion 2025 and Boursier et al. 2022: their claims, on runs of
other settings than the quick size has."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from core.studies.study import load_study
from tests.support.sweeps import judged_on


def verdicts(name: str, settings: list[str], folder: Path, starts: list[str]) -> list[str]:
    return [one.verdict for one in judged_on(name, settings, folder, starts)]


def test_alignment_takes_a_time_without_lambda(tmp_path: Path) -> None:
    settings = ["factor.decades=[6, 12]", 'data.points="paper"', "run.seed=[50, 51]"]
    risk = "On the paper's points with lambda = 10^-{} the risk"
    starts = ["On the paper's points all active neurons", risk.format(12), risk.format(6)]
    found = verdicts("boursier25-alignment-times", settings, tmp_path, starts)
    assert found == ["confirmed"] * 3


def test_small_starts_stop_at_the_line_and_large_ones_do_not(tmp_path: Path) -> None:
    settings = ["network.m=64", "network.scale=[1.0, 0.001]", "run.seed=[50]"]
    small = "For lambda = 10^-3 and 10^-6 no run on the paper's points ends {}"
    starts = [small.format("above"), small.format("below"), "From a balanced start with lambda = 1"]
    assert verdicts("boursier25-spurious", settings, tmp_path, starts) == ["confirmed"] * 3


def test_orthonormal_inputs_are_learned_in_two_steps(tmp_path: Path) -> None:
    settings = ["factor.decades=[12]", "run.seed=[50, 51, 52]"]
    starts = [
        "The initial risk",
        "For lambda = 10^-12 the risk lingers",
        "Every run ends at risk 0",
        "No run ends below the least norm",
        "For lambda = 10^-12 every run ends within",
    ]
    assert verdicts("boursier22-orthonormal", settings, tmp_path, starts) == ["confirmed"] * 5


def test_values_that_the_studies_state_are_those_of_their_points() -> None:
    """Levels, lengths and |beta*| of files, from the points themselves."""
    import numpy as np

    from core.data.regression import SETS

    texts = {name: load_study(f"boursier25-{name}").to_toml() for name in ("spurious",)}
    for points, risk, length in (("paper", 0.0875213675, 0.6465251), ("symmetric", 0.09, 0.7)):
        rows = np.array(SETS[points])
        beta, *_ = np.linalg.lstsq(rows[:, :2], rows[:, 2], rcond=None)
        residual = rows[:, :2] @ beta - rows[:, 2]
        assert (residual**2).mean() / 2.0 == pytest.approx(risk, abs=1e-9)
        assert np.linalg.norm(beta) == pytest.approx(length, abs=1e-6)
        assert f"{risk:.9g}"[:8] in texts["spurious"]
    y = np.array([1.0, 0.5, -0.8, -0.4])
    assert (y**2).mean() / 2.0 == pytest.approx(0.25625)
    assert (y[y < 0.0] ** 2).sum() / 8.0 == pytest.approx(0.1)
    least = math.sqrt((y[y > 0.0] ** 2).sum()) + math.sqrt((y[y < 0.0] ** 2).sum())
    assert least == pytest.approx(2.012461, abs=1e-6)
