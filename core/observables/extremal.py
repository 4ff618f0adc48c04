"""Early alignment: how far small neurons have turned to extremal vectors, and in what time.

While f is about 0 a neuron with a_j > 0 climbs G on the sphere of directions and one with a_j < 0
descends it (core.reference.extremal): they turn to critical points u of G, or end where they are
active on no example. The time it takes does not depend on the size lambda of the start, and neurons
stay small until about ln(1/lambda)/|D|, |D| the longest extremal vector.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from core.network.activation import RELU
from core.network.parametrisation import TwoLayer
from core.network.standard import SMALL, StandardNetwork
from core.observables.node_coordinates import unit_rows
from core.observables.nodes import node_norms, patterns
from core.observables.observable import SHARE, Observable, Shape, cached_per_run
from core.reference.extremal import Extremal, bound_pattern_count, extremal_vectors, has_extremal
from core.runs import Run

Array = NDArray[np.float64]
MOST_PATTERNS = 100_000  # computed in a second or two, beside a window
ALIGNED = 0.999  # cosine of aligned directions


@cached_per_run
def few_patterns(run: Run) -> bool:
    """Return True for real targets, degree 2, trained a and v_j, and few enough patterns."""
    if not has_extremal(run.problem):
        return False
    return bound_pattern_count(run.inputs, run.dataset.y) <= MOST_PATTERNS


@cached_per_run
def vectors_of(run: Run) -> tuple[Extremal, ...]:
    """Return all extremal vectors of the training data, in the coordinates of the neurons.

    Computed once for each run, which takes long for many patterns: check `few_patterns` first.
    """
    assert isinstance(run.network, TwoLayer)
    return extremal_vectors(run.inputs, run.dataset.y, run.network.activation.slope)


def longest_extremal(run: Run) -> float:
    """Return max |D| over the extremal vectors; NaN if the data have none.

    As `vectors_of`, for runs with `few_patterns` only.
    """
    return max((abs(one.value) for one in vectors_of(run)), default=math.nan)


def cosine(run: Run, index: int) -> Array:
    """Return the largest cosine of each neuron with an extremal vector.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,)
        max over extremal u of <v_j/|v_j|, u>, within [-1, 1]; NaN if v_j = 0, if no u exists,
        and without `few_patterns`.
    """
    U = run.network.nodes(run.parameters(index))[1]
    if not few_patterns(run) or not vectors_of(run):
        return np.full(len(U), np.nan)
    cosines = unit_rows(U)[0] @ np.array([one.u for one in vectors_of(run)]).T
    return np.asarray(np.clip(cosines.max(axis=1), -1.0, 1.0))


def is_active(run: Run, index: int) -> NDArray[np.bool_]:
    """Return True for each neuron that is active on an example.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,) of bool
        <u_j, x~_i> > 0 for some i.
    """
    return np.asarray(patterns(run, run.parameters(index)).any(axis=1))


def aligned_share(run: Run, index: int) -> float:
    """Return the share of sum_j |a_j||v_j| in neurons with a `cosine` above `ALIGNED`.

    NaN if all neurons are 0, or if the run has no known extremal vectors.
    """
    norms = node_norms(run, index)
    total, is_near = float(norms.sum()), cosine(run, index) > ALIGNED
    is_known = total > 0.0 and few_patterns(run) and bool(vectors_of(run))
    return float(norms[is_near].sum()) / total if is_known else math.nan


def least_cosine(run: Run, index: int) -> float:
    """Return the least `cosine` of the active neurons; NaN if none is active or one is NaN."""
    cosines = cosine(run, index)[is_active(run, index)]
    return float(cosines.min()) if cosines.size and np.isfinite(cosines).all() else math.nan


def has_relus(run: Run) -> bool:
    """Return True for a two-layer network of ReLUs, whose slope below 0 is 0."""
    network = run.network
    return isinstance(network, TwoLayer) and network.activation.code == RELU


def dead_nodes(run: Run, index: int) -> float:
    """Return the number of neurons active on no example; NaN without ReLUs."""
    return float(np.count_nonzero(~is_active(run, index))) if has_relus(run) else math.nan


def has_scale(run: Run) -> bool:
    """Return True for a small start of known size, below 1, and `few_patterns`."""
    section = run.experiment.network
    small = isinstance(section, StandardNetwork) and section.init in SMALL and section.scale < 1.0
    return small and few_patterns(run)


def early_time(run: Run, index: int) -> float:
    """Return t |D|/ln(1/lambda), D the longest extremal vector; NaN where `has_scale` is False."""
    if not has_scale(run):
        return math.nan
    section = run.experiment.network
    assert isinstance(section, StandardNetwork)
    t = 10.0 ** float(run.log10_time[index])
    return float(t * longest_extremal(run) / math.log(1.0 / section.scale))


SOURCE = "definition (Boursier and Flammarion 2025)"
WHERE = "real targets, the standard or bias network, few points"
of_alignment = partial(Observable, applies=few_patterns, where=WHERE, on_request=True)
OBSERVABLES = (
    of_alignment(
        "extremal_cosine",
        "cosine to the nearest extremal vector",
        "max over extremal directions u of <v_j/|v_j|, u>",
        SOURCE,
        cosine,
        shape=Shape.NODE,
        tex=r"\max_u\frac{\langle v_j,u\rangle}{|v_j|}",
        normalisation="a cosine",
    ),
    of_alignment(
        "least_cosine",
        "least cosine to an extremal vector",
        "min over neurons that are active on an example of max over extremal u of <v_j/|v_j|, u>",
        SOURCE,
        least_cosine,
        tex=r"\min_{j\ \mathrm{active}}\max_u\frac{\langle v_j,u\rangle}{|v_j|}",
        normalisation="a cosine",
    ),
    of_alignment(
        "aligned_share",
        "aligned share of the norm",
        f"share of sum_j |a_j| |v_j| in neurons whose cosine to an extremal u is above {ALIGNED:g}",
        SOURCE,
        aligned_share,
        unit=SHARE,
        tex=r"\sum_{j:\,\cos>.999}|a_j||v_j|\,/\,\sum_j|a_j||v_j|",
        normalisation="a share",
    ),
    Observable(
        "dead_nodes",
        "dead neurons",
        "number of neurons with <u_j, x~_i> <= 0 on every training example",
        SOURCE,
        dead_nodes,
        applies=has_relus,
        where="two-layer networks of ReLUs",
        tex=r"|\{j:\ \max_i\langle u_j,x_i\rangle\leq0\}|",
        on_request=True,
    ),
    Observable(
        "early_time",
        "early time",
        "t |D|/ln(1/lambda), |D| the longest extremal vector, lambda the scale of the start: "
        "neurons of a small start have grown at about 1",
        SOURCE,
        early_time,
        applies=has_scale,
        where=f"{WHERE}, a balanced or dominated start of scale below 1",
        tex=r"t\,|D|\,/\,\ln(1/\lambda)",
        normalisation="in units of ln(1/lambda)/|D|",
        on_request=True,
    ),
)
