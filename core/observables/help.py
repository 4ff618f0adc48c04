"""What is this? Title, formula, source and normalisation of everything that a view shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from core.errors import InputError, did_you_mean
from core.observables.observable import Observable, Shape


@final
@dataclass(frozen=True, slots=True)
class Help:
    """One definition. `tex` is for mathtext, without dollar signs; empty where there is none."""

    title: str
    tex: str
    formula: str
    source: str
    normalisation: str
    unit: str = ""


HOMOGENEOUS = (
    "divided by |W|^L: |W|^2 = |a|^2 + |V|_F^2 for the standard and bias networks, |a|^2 + |b|^2 "
    "for the scalar and normalised ones and the head, |W| (L = 1) for a fixed outer layer, "
    "|a| |c| for batch norm"
)
MEAN = "with 1/n"
PLAIN = "none, at the physical scale of the parameters"
NORMALISATIONS = {
    "risk": MEAN,
    "log10_risk": "with 1/n; logarithm to base 10",
    "hard_margin": HOMOGENEOUS,
    "smoothed_margin": HOMOGENEOUS + "; the sum of the losses, without 1/n",
    "l1_margin": "divided by sum_j |a_j| |v_j| (l1); comparable with |W|^2 after halving",
    "balanced_margin": "divided by |a|^2 + |c|^2",
    "dual_margin": HOMOGENEOUS + "; q divided by its sum",
    "train_error": MEAN,
    "atoms": "a count",
    "dual": "sum_i q_i = 1 for the exponential loss, at least 1 for the logistic one",
    "balance_drift": "divided by |W(t)|^2",
    "balance": "divided by |W|^2",
    "patterns_changed": "divided by m n",
    "rotation": "a cosine",
    "relative_norm": "divided by the largest node",
    "test_error": "with 1/N, N test points",
    "test_error_se": "divided by sqrt(N), N test points",
    "test_loss": "with 1/N, N test points",
    "stable_rank": "scale-free",
    "trajectory_rank": "scale-free; natural logarithm",
    "kkt_residual": "divided by |theta^|, theta^ = theta/p_min^(1/L): scale-free",
    "complementarity": "lambda divided by its sum, p by p_min: scale-free",
    "kl_pbar": "|pbar|_1 = 1, u of any total; natural logarithm",
    "mirror_gap": "divided by max_j u_j",
    "perceptron_sum": "with 1/n; for sgd a sum over steps, without the step size",
    "log10_perceptron_sum": "logarithm to base 10 of what has 1/n",
    "loss_ratio": "a ratio",
    "log10_loss_ratio": "logarithm to base 10 of a ratio",
    "proxy_pl": "a ratio; both sides with 1/n",
    "pbar_margin": "|pbar|_1 = 1 (l1)",
    "covering_radius": "unit directions",
    "cone_potential": "sum_k |alpha_k| = 1; natural logarithm",
    "empty_cones": "a count",
    "scalar_potential": "sum_k |alpha_k| = 1; natural logarithm",
    "batch_norm_potential": "squared norms, |abar| = |cbar| = 1 in Ubar = (abar, cbar)",
}

VIEWS = {
    "positions": Help(
        "neuron positions",
        r"|a_j|\,v_j",
        "|alpha_j| u_j on two coordinates; the data are enlarged to the nodes' size",
        "telgarsky22, Figure 1a and 1b",
        PLAIN,
    ),
    "rotations": Help(
        "sorted rotations",
        r"\frac{\langle v_j(0),v_j(t)\rangle}{|v_j(0)|\,|v_j(t)|}",
        "<v_j(0)/|v_j(0)|, v_j(t)/|v_j(t)|>, ascending",
        "telgarsky22, Figure 1c",
        "a cosine",
    ),
    "norms": Help(
        "sorted relative norms",
        r"\frac{|a_jv_j|}{\max_k|a_kv_k|}",
        "|a_j v_j| / max_k |a_k v_k|, sorted",
        "telgarsky22, Figure 1d",
        "divided by the largest node",
    ),
    "singular_values": Help(
        "singular values",
        r"\sigma_1(V)\geq\sigma_2(V)\geq\cdots",
        "the leading singular values of V, at most 16",
        "frei23, Theorem 3.2",
        PLAIN,
    ),
    "predictor": Help(
        "predictor",
        r"f(x)=\sum_ja_j\,\phi(\langle v_j,x\rangle)",
        "f(x) = sum_j alpha_j phi(<u_j, x~>); the largest logit's class for several classes",
        "telgarsky22, section 1.2; wei19, section F.4",
        PLAIN,
    ),
    "phase": Help(
        "|a_j| against |v_j|",
        r"|a_j|\ \mathrm{and}\ |v_j|",
        "the sizes of a node's two layers; equal along balanced gradient flow",
        "telgarsky22, section 3.1",
        PLAIN,
    ),
}


def explain(name: str) -> Help:
    """The definition of an observable, a reference margin or a view.

    Raises InputError for another name.

    >>> explain("risk").normalisation
    'with 1/n'
    """
    from core.observables.registry import OBSERVABLES
    from core.reference.registry import REFERENCES

    if name in OBSERVABLES:
        return _of(OBSERVABLES[name])
    if name in VIEWS:
        return VIEWS[name]
    if name in REFERENCES:
        margin = REFERENCES[name]
        factor = margin.factor
        drawn = "listed, not drawn" if factor is None else f"drawn as {factor:g} of it over |W|^2"
        return Help(margin.title, "", margin.formula, margin.source, drawn)
    known = [*OBSERVABLES, *VIEWS, *REFERENCES]
    raise InputError(f"There is no quantity {name!r}; {did_you_mean(name, known)}")


def _of(item: Observable) -> Help:
    usual = "none, at each node" if item.shape is Shape.NODE else PLAIN
    normalisation = NORMALISATIONS.get(item.name, usual)
    return Help(item.title, item.tex, item.formula, item.source, normalisation, item.unit)
