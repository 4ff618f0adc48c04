"""What is this? Title, formula, source and normalisation of everything that a view shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from core.errors import InputError, did_you_mean
from core.observables.observable import LOOP, PLAIN, Observable, Shape


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


VIEWS = {
    "positions": Help(
        "neuron positions",
        r"|a_j|\,v_j",
        "|alpha_j| u_j on a plane; the data are enlarged to the nodes' size",
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
    "waves": Help(
        "waves of the nodes",
        r"|\hat u_k|^2+|\hat v_k|^2+|\hat w_k|^2",
        "the power of each node at each frequency k, in the colour of k; nodes by their frequency",
        "morwani24, section 4",
        "amplitudes over the largest |theta_j|",
    ),
    "phases": Help(
        "phases of the nodes",
        r"\vartheta_u+\vartheta_v\ \mathrm{and}\ \vartheta_w",
        "phases of the waves cos(2 pi k t/p + th) at each node's frequency; equal where the margin "
        "is largest",
        "morwani24, section 4",
        "divided by pi",
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
    """The definition of an observable, a reference margin, a view, or a number `loop.NAME`.

    Raises InputError for another name.

    >>> explain("risk").normalisation
    'with 1/n'
    """
    from core.observables.registry import OBSERVABLES, find_observable
    from core.reference.registry import REFERENCES

    if name in OBSERVABLES:
        return _of(OBSERVABLES[name])
    number = find_observable(name) if name.startswith(LOOP) else None
    if number is not None:
        return _of(number)
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
    normalisation = item.normalisation or usual
    return Help(item.title, item.tex, item.formula, item.source, normalisation, item.unit)
