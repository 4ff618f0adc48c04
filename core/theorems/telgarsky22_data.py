"""telgarsky22, section 1 and appendix A: margins of data, and the start of training."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from core.data.parity import ParityData
from core.runs import Run
from core.theorems import common
from core.theorems.statement import Comparison, Context, Hypothesis, Statement

of_telgarsky22 = partial(Statement, "telgarsky22")
GAUSSIAN = "a ~ N(0, 1/m), V ~ N(0, I/d)"


def two_parity(run: Run) -> bool:
    """2-parity with the uniform law on the corners."""
    section = run.experiment.data
    if not isinstance(section, ParityData) or section.k != 2:
        return False
    return section.law == "uniform" and not section.freeze


def has_linear(run: Run) -> bool:
    """Two classes of data."""
    return bool(run.dataset.classes == 2)


# ------------------------------------------------------------------ Propositions 1.5 and 1.6


def linear_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    return (
        common.positive(
            context, "gamma_linear", "a unit u with min_i y_i <x_i, u> >= gamma_linear"
        ),
        common.unit_ball(context.run),
    )


def _linear_item(name: str, factor: float, root_d: bool = False) -> Callable[[Context], Comparison]:
    """margin >= gamma_linear / (factor, and sqrt d)."""

    def compare(context: Context) -> Comparison:
        scale = math.sqrt(context.run.dataset.d) if root_d else 1.0
        bound = context.lower("gamma_linear") / (factor * scale)
        linear = context.margins.get("gamma_linear")
        why = ""
        if linear is not None and not linear.bracket.exists:
            nothing = linear.bracket.nothing
            why = "there is no linear margin" if nothing else "no linear margin is known"
        return common.margin_at_least(context, name, bound, why=why)

    return compare


def parity_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    run = context.run
    text = "x on {+-1/sqrt(d)}^d, y = d x_a x_b"
    met = two_parity(run)
    return (Hypothesis(text, "2-parity", f"{run.experiment.data.kind}", met),)


def parity_ntk(context: Context) -> Comparison:
    return common.margin_at_least(context, "gamma_ntk", 1.0 / (50.0 * context.run.dataset.d))


def parity_global(context: Context) -> Comparison:
    # A lower bound in the paper; for all corners it is the margin (docs/theory.md, 5.4).
    bound = 1.0 / math.sqrt(8.0 * context.run.dataset.d)
    return common.margin_at_least(context, "gamma_gl", bound)


# ------------------------------------------------------------------------------ Lemma A.2


def start_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    return common.paper_start(context.run, GAUSSIAN), common.unit_ball(context.run)


def norm_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    needed = 2.0 * math.log(1.0 / context.delta)
    return *start_hypotheses(context), common.width(context.run, needed, "2 ln(1/delta)")


def start_norms(context: Context) -> Comparison:
    run = context.run
    parts = run.network.unpack(run.origin)
    m = run.network.m
    ratio = max(
        float(np.linalg.norm(parts["a"])) / 2.0,
        float(np.linalg.norm(parts["V"])) / (2.0 * math.sqrt(m)),
    )
    return common.once("<=", 1.0, ratio, frame=0)


def start_outputs(context: Context) -> Comparison:
    run = context.run
    outputs = np.abs(run.network.outputs(run.origin, run.inputs)).max()
    bound = 4.0 * common.log_term(run.dataset.n, context.delta)
    return common.once("<=", bound, float(outputs), frame=0)


def drawn(run: Run) -> bool:
    """The standard network with two classes."""
    return common.standard_relu(run) and run.dataset.classes == 2


TWO_CLASSES = (has_linear, "data of two classes", linear_hypotheses)
PARITY = (two_parity, "2-parity on the corners", parity_hypotheses)
DRAWN = (drawn, "the standard network")
CUTOFF = (
    "The text does not print that theta is bounded by 1 pointwise; appendix A uses it, and so does "
    "the value here."
)
STATEMENTS = (
    of_telgarsky22(
        "Proposition 1.5 (1)",
        "A linear margin gives an NTK margin.",
        r"\gamma_{\mathrm{ntk}} \geq \hat\gamma / 32",
        *TWO_CLASSES,
        _linear_item("gamma_ntk", 32.0),
        CUTOFF,
    ),
    of_telgarsky22(
        "Proposition 1.5 (2)",
        "The outer layer alone gives an NTK margin.",
        r"\gamma_{\mathrm{ntk}} \geq \hat\gamma / (16 \sqrt{d})",
        *TWO_CLASSES,
        _linear_item("gamma_ntk", 16.0, True),
        CUTOFF,
    ),
    of_telgarsky22(
        "Proposition 1.5 (3)",
        "A linear margin gives half of it as a global margin.",
        r"\gamma_{\mathrm{gl}} \geq \hat\gamma / 2",
        *TWO_CLASSES,
        _linear_item("gamma_gl", 2.0),
    ),
    of_telgarsky22(
        "Proposition 1.6 (1)",
        "2-sparse parity has an NTK margin of the order 1/d.",
        r"\gamma_{\mathrm{ntk}} \geq 1 / (50\, d)",
        *PARITY,
        parity_ntk,
        "The proof's theta has no cutoff at |w| < 2, and it uses E|a| >= 1, which is .798.",
    ),
    of_telgarsky22(
        "Proposition 1.6 (2)",
        "2-sparse parity has a global margin of the order d^(-1/2).",
        r"\gamma_{\mathrm{gl}} \geq 1 / \sqrt{8\, d}",
        *PARITY,
        parity_global,
    ),
    of_telgarsky22(
        "Lemma A.2 (norms)",
        "The start is about as large as its mean.",
        r"\max(\Vert a_0 \Vert / 2,\ \Vert V_0 \Vert / (2 \sqrt{m})) \leq 1",
        *DRAWN,
        norm_hypotheses,
        start_norms,
    ),
    of_telgarsky22(
        "Lemma A.2 (outputs)",
        "The start predicts nothing large.",
        r"\max_i |f(x_i; W_0)| \leq 4 \ln(n / \delta)",
        *DRAWN,
        start_hypotheses,
        start_outputs,
    ),
)
