"""telgarsky22, Proposition 2.6, item 1: the linear solution as a KKT point.

The problem is min |W|^2/2 subject to p_i = y_i f(x_i) >= 1, with m neurons (a_j, v_j).
"""

from __future__ import annotations

import math

import numpy as np

from core.data.geometry import max_margin
from core.errors import InputError
from core.observables.certificates import certify_multipliers, score_gram
from core.runs import Run
from core.theorems import common
from core.theorems.common import Array
from core.theorems.statement import Comparison, Context, Hypothesis
from core.theorems.telgarsky22_data import of_telgarsky22
from core.theorems.telgarsky22_global import is_on_two_cones, two_cones_data_hypotheses

KKT_ROOM = 1e-6  # relative tolerance of the linear solution's multipliers


def linear_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return `two_cones_data_hypotheses` (three), and the hypothesis gamma_linear > 0."""
    separable = common.positive(context, "gamma_linear", "a linear margin of the data")
    return *two_cones_data_hypotheses(context), separable


def linear_network(run: Run) -> Array | None:
    """Return flat parameters with a_j = 1 and v_j = u for all j, of the standard network.

    u is the direction of largest linear margin of the examples, computed from the run's data.

    Parameters
    ----------
    run : Run
        Open run; no reference margins are needed.

    Returns
    -------
    array (size,) or None
        Flat parameters, |u| = 1 and not scaled to margin 1; None without a linear margin.
    """
    try:
        _, u, _ = max_margin(run.dataset.y[:, None] * run.inputs)
    except InputError:
        return None
    m = run.network.m
    return run.network.pack({"a": np.ones(m), "V": np.tile(u, (m, 1))})


def compare_linear_kkt(context: Context) -> Comparison:
    """Test that `linear_network`, scaled to min p = 1, is a KKT point, up to `KKT_ROOM`.

    The run's frames play no part. Multipliers are only allowed where p_i <= 1 + `KKT_ROOM`
    (complementarity), and the relative residual is compared with `KKT_ROOM`. Undecided without a
    linear margin.
    """
    run, flat = context.run, linear_network(context.run)
    if flat is None:
        return common.leave_open("<=", KKT_ROOM, common.NAN, "no linear margin exists")
    p = run.network.margins(flat, run.inputs, run.dataset.y)
    # f is of degree 2: dividing W by sqrt(min p) divides the margins by min p.
    flat, p = flat / math.sqrt(float(p.min())), p / float(p.min())
    active = p <= 1.0 + KKT_ROOM
    kernel = score_gram(run, flat)[np.ix_(active, active)]
    # <grad p_i, W> = 2 p_i, by homogeneity.
    certificate = certify_multipliers(kernel, 2.0 * p[active], float(flat @ flat), p[active])
    return common.compare_once("<=", KKT_ROOM, certificate.residual)


STATEMENTS = (
    of_telgarsky22(
        "Proposition 2.6, item 1",
        "The linear solution is a KKT point (to 1e-6).",
        r"(a_j, v_j) = (1, u)\ \mathrm{is\ a\ KKT\ point\ for\ every}\ m \geq 1",
        is_on_two_cones,
        "the standard network on two cones",
        linear_hypotheses,
        compare_linear_kkt,
    ),
)
