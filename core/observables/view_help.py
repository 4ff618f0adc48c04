"""Definitions of what the views show, beside those of observables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from core.observables.observable import PLAIN


@final
@dataclass(frozen=True, slots=True)
class Help:
    """Definition of a name. `tex` is for mathtext, without dollar signs; may be empty."""

    title: str
    tex: str
    formula: str
    source: str
    normalisation: str
    unit: str = ""


VIEWS = {
    "positions": Help(
        "neuron positions",
        r"|a_j|\,v_j",
        "|alpha_j| u_j on a plane; the data are enlarged to the neurons' size",
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
        "divided by the largest neuron",
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
    "kernel": Help(
        "tangent kernel",
        r"\frac{K_{ir}}{\sqrt{K_{ii}K_{rr}}},\ K_{ir}=\langle\nabla f_i,\nabla f_r\rangle",
        "cosines between the gradients of the outputs at pairs of examples, summed over classes; "
        "sorted by class, then by their first principal component at t = 0",
        "definition; docs/theory.md, 3.8",
        "a cosine",
    ),
    "waves": Help(
        "waves of the neurons",
        r"|\hat u_k|^2+|\hat v_k|^2+|\hat w_k|^2",
        "power of each neuron at each frequency k, in the colour of k; neurons by their frequency",
        "morwani24, section 4",
        "amplitudes over the largest |theta_j|",
    ),
    "phases": Help(
        "phases of the neurons",
        r"\vartheta_u+\vartheta_v\ \mathrm{and}\ \vartheta_w",
        "phases of the waves cos(2 pi k t/p + th) at each neuron's frequency; equal where the "
        "margin is largest",
        "morwani24, section 4",
        "divided by pi",
    ),
    "phase": Help(
        "|a_j| against |v_j|",
        r"|a_j|\ \mathrm{and}\ |v_j|",
        "the sizes of a neuron's two layers; equal along balanced gradient flow",
        "telgarsky22, section 3.1",
        PLAIN,
    ),
}
