"""What is this? Title, formula, source and normalisation of everything that a view shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from core.errors import InputError, did_you_mean
from core.network.parametrisation import Network
from core.observables.observable import HOMOGENEOUS, PLAIN, Observable, Shape

POWER = "|W|^L"  # what margins are divided by, of any network


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


def explain(name: str, network: Network | None = None) -> Help:
    """Return the definition of an observable, a reference margin or a view.

    Parameters
    ----------
    name : str
        Name in a registry, or of a view.
    network : Network, optional
        Network whose margins are explained: what they are divided by is written out.

    Returns
    -------
    Help
        Title, formula, source and normalisation.

    Raises
    ------
    InputError
        The name is not known.

    Examples
    --------
    >>> explain("risk").normalisation
    'with 1/n'
    """
    from core.observables.registry import OBSERVABLES
    from core.reference.registry import REFERENCES

    if name in OBSERVABLES:
        return _of(OBSERVABLES[name], network)
    if name in VIEWS:
        return VIEWS[name]
    if name in REFERENCES:
        margin = REFERENCES[name]
        drawn = "listed, not drawn"
        if margin.factor is not None:
            norm = POWER if network is None else network.margin_norm[0]
            drawn = f"drawn as {margin.factor:g} of it, among margins over {norm}"
        return Help(margin.title, "", margin.formula, margin.source, drawn)
    known = [*OBSERVABLES, *VIEWS, *REFERENCES]
    raise InputError(f"There is no quantity {name!r}; {did_you_mean(name, known)}")


def _of(item: Observable, network: Network | None) -> Help:
    usual = "none, at each node" if item.shape is Shape.NODE else PLAIN
    normalisation, tex, formula = item.normalisation or usual, item.tex, item.formula
    if network is not None and normalisation.startswith(HOMOGENEOUS):
        norm, typeset = network.margin_norm
        tex, formula = tex.replace(POWER, typeset), formula.replace(POWER, norm)
        trained = f", W = ({', '.join(block.name for block in network.layout)})"
        rest = normalisation.removeprefix(HOMOGENEOUS)
        normalisation = f"divided by {norm}{trained if '|W|' in norm else ''}{rest}"
    return Help(item.title, tex, formula, item.source, normalisation, item.unit)
