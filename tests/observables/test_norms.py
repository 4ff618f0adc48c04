"""Norms that margins are divided by have their degree, and captions print them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.figures.scene import build_scene
from core.observables.registry import OBSERVABLES, explain
from core.problem.problem import Problem
from core.runs import Run, open_run
from core.studies.panel_lines import normalised_function
from tests.support.loops import loop
from tests.support.made_up_figures import problem_of, two_runs, write_run

C = 3.0  # what weights are multiplied by
# Activation, whether the outer weights are trained, biases, and the norm that is printed.
NETWORKS: dict[str, tuple[str, bool, bool, str]] = {
    "relu": ("relu", True, False, "|W|^2"),
    "relu, fixed outer": ("relu", False, False, "|V|"),
    "leaky, fixed outer": ("leaky_relu", False, False, "|V|"),
    "leaky": ("leaky_relu", True, False, "|W|^2"),
    "linear": ("linear", True, False, "|W|^2"),
    "quadratic": ("quadratic", True, False, "|W|^3"),
    "quadratic, fixed outer": ("quadratic", False, False, "|V|^2"),
    "quadratic with biases": ("quadratic", True, True, "|W|^3"),
    "biases, fixed outer": ("relu", False, True, "|(V, b)|"),
}


def record(path: Path, activation: str, outer: bool, biases: bool, factor: float) -> Run:
    """Return a recorded run of one frame, its trained weights multiplied by a factor."""
    one = loop()
    told: dict[str, Any] = {"a0": factor * one.a} if outer else {"a_fixed": one.a}
    if biases:
        told["b0"] = factor * np.linspace(-0.5, 0.5, one.a.size)
    told |= {"loss": "logistic", "V0": factor * one.V, "activation": activation}
    with ms.record(path, one.x, one.y, **told):
        pass
    return open_run(path)


def caption_of(*runs: Run) -> str:
    return " ".join(one.text for one in build_scene(runs, ("margins",)).texts)


def in_tex(norm: str) -> str:
    """Return a norm as formulas have it.

    >>> in_tex("|W|^2")
    '\\\\Vert W\\\\Vert^2'
    """
    _, inside, power = norm.split("|")
    return f"\\Vert {inside}\\Vert{power}"


def test_margins_keep_their_value_when_weights_are_multiplied(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """The l1 margin of recorded nodes that square was three times itself at three times the
    weights, and every caption had |W|^2."""
    for name, (activation, outer, biases, norm) in NETWORKS.items():
        with subtests.test(name=name):
            runs = [
                record(tmp_path / f"{name} {factor:g}.msrun", activation, outer, biases, factor)
                for factor in (1.0, C)
            ]
            for margin in ("hard_margin", "l1_margin"):
                small, large = (OBSERVABLES[margin].value_at(run, 0) for run in runs)
                assert large == pytest.approx(small, rel=1e-12) and small != 0.0
            tex = in_tex(norm)
            assert f"p_i\\,/\\,{tex}$, its smoothed" in caption_of(*runs).replace("\n", " ")
            found = explain("hard_margin", runs[0].network)
            assert found.tex == f"\\frac{{\\min_i p_i}}{{{tex}}}"
            assert found.formula == f"min_i p_i / {norm}"
            assert found.normalisation.startswith(f"divided by {norm}")
            for run in runs:
                run.close()


def test_runs_of_several_norms_have_each_its_own(subtests: pytest.Subtests) -> None:
    fixed = write_run(problem_of("network.kind=fixed_outer", "loss.kind=logistic"))
    text = caption_of(two_runs()[0], fixed)
    assert "\\Vert W\\Vert^2$ (a) or" in text and "\\Vert V\\Vert$ (b), its smoothed" in text
    for kind, norm in {"scalar": "|(a, b)|^2", "batch_norm": "|a| |c|"}.items():
        with subtests.test(kind=kind):
            network = problem_of(f"network.kind={kind}").network
            assert explain("smoothed_margin", network).normalisation == (
                f"divided by {norm}; the sum of the losses, without 1/n"
            )
            assert norm in explain("gamma_gl", network).normalisation
    assert "|W|^2, W = (a, V)" in explain("dual_margin", two_runs()[0].network).normalisation


def test_a_function_of_the_line_keeps_its_values_when_weights_are_multiplied() -> None:
    """It was divided by |V|^2 where f is 1-homogeneous, and fell to a third."""
    told = ("data.d=1", "data.k=1", "data.n=3", "data.seed=1", "network.kind=fixed_outer")
    problem = problem_of(*told, "loss.kind=logistic")
    one, large = (
        normalised_function(
            write_run(problem, (-np.inf,), partial(multiplied, c)), np.linspace(-1.0, 1.0, 5)
        )
        for c in (1.0, C)
    )
    assert large == pytest.approx(one) and np.abs(one).max() > 0.0


def multiplied(factor: float, problem: Problem, _: int) -> tuple[np.ndarray, float]:
    return factor * problem.start.parameters, 0.0
