"""Tangent kernel of a frame as a matrix of cosines between the examples' gradients, sorted.

The cosine of examples i and r is K_ir/sqrt(K_ii K_rr), K_ir = <grad f_i, grad f_r>, summed over the
outputs of several classes. Examples are sorted by class, and within a class by the first principal
component of its gradients at t = 0, so that an example keeps its place. Real targets sort by y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.network.parametrisation import Network, TwoLayer
from core.network.recorded_network import why_no_output
from core.observables.observable import cached_per_run
from core.observables.tangent_kernel import centre
from core.runs import Run

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
# Larger data are thinned to MOST examples, about the pixels of a plot. The kernel of 200 examples
# takes 3 ms at m = 256, d = 64, and 20 ms at most; that of 48 examples of a head takes 30 ms.
MOST, FEWEST = 200, 24
WORK = 2e8  # multiplications of a frame
MOST_SINGLY = 48  # examples whose gradients are computed one at a time


@final
@dataclass(frozen=True, slots=True, eq=False)
class ExampleOrder:
    """Shown examples in their order, and the places of the borders between classes.

    `examples` (c,) are indices of training examples; `borders` lie between 0 and c.
    """

    examples: Indices
    borders: tuple[int, ...]


def why_no_kernel(run: Run) -> str:
    """Return why a run has no tangent kernel, as part of a sentence; empty if it has one."""
    if run.network.kind == "kernel_predictor":
        return "a kernel predictor has one kernel at all times"
    return why_no_output(run.experiment.network)


def count_shown(run: Run) -> int:
    """Return how many examples a matrix shows: as many as are computed in a few milliseconds."""
    network, n = run.network, run.dataset.n
    D, m, k = run.inputs.shape[1], network.m, network.k
    count = min(math.isqrt(int(WORK / ((m + D) * k * k))), int(WORK / (m * D)), MOST)
    if not _has_closed_form(network):
        count = min(math.isqrt(int(WORK / (m * D * k))), MOST_SINGLY // k)
    return min(max(count, FEWEST), n)


def _has_closed_form(network: Network) -> bool:
    is_own = type(network).gram not in (Network.gram, TwoLayer.gram)
    return is_own or (isinstance(network, TwoLayer) and network.direct)


def cosines_at(run: Run, flat: Array, examples: Indices) -> Array:
    """Return the cosines between the gradients of some examples.

    Parameters
    ----------
    run : Run
        Open run.
    flat : array (size,)
        Trained parameters.
    examples : array of int (c,)
        Indices of training examples.

    Returns
    -------
    array (c, c)
        Symmetric matrix in [-1, 1]; 0 where a gradient is 0 or not finite.
    """
    k, count = run.network.k, examples.size
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        K = run.network.gram(flat, run.inputs[examples])
        if k > 1:
            K = np.einsum("icrc->ir", K.reshape(count, k, count, k))
        sizes = np.sqrt(np.diag(K))
        cosines = K / sizes[:, None] / sizes
    cosines[~np.isfinite(cosines)] = 0.0
    return np.clip(cosines, -1.0, 1.0)


def thin_order(order: ExampleOrder, limit: int) -> ExampleOrder:
    """Return the order with at most `limit` of its examples, evenly taken.

    >>> thin_order(ExampleOrder(np.arange(6), (4,)), 3)
    ExampleOrder(examples=array([0, 2, 5]), borders=(2,))
    """
    count = order.examples.size
    if count <= limit:
        return order
    places = np.linspace(0, count - 1, limit).round().astype(np.int64)
    borders = np.searchsorted(places, order.borders).tolist()
    return ExampleOrder(order.examples[places], tuple(borders))


@cached_per_run
def example_order(run: Run) -> ExampleOrder:
    """Return the shown examples, evenly taken from all sorted by y, the same at all frames.

    The examples of a class are then sorted by their gradients at t = 0 (`_sort_by_gradients`).
    """
    data = run.dataset
    ranked = np.argsort(data.y, kind="stable")
    places = np.linspace(0, data.n - 1, count_shown(run)).round().astype(np.int64)
    chosen = ranked[places]
    if data.real:
        return ExampleOrder(chosen, ())
    labels = data.y[chosen]
    borders = (np.flatnonzero(np.diff(labels)) + 1).tolist()
    parts = np.split(chosen, borders)
    return ExampleOrder(
        np.concatenate([_sort_by_gradients(run, one) for one in parts]), tuple(borders)
    )


def _sort_by_gradients(run: Run, examples: Indices) -> Indices:
    """Sort examples by the first principal component of their gradients at t = 0."""
    if examples.size < 3:
        return examples
    _, vectors = np.linalg.eigh(centre(cosines_at(run, run.origin, examples)))
    first = vectors[:, -1]
    # Of both signs the one whose largest entry is positive.
    first = first * np.sign(first[np.abs(first).argmax()])
    return np.asarray(examples[np.argsort(first, kind="stable")])


def kernel_cosines(run: Run, index: int, order: ExampleOrder | None = None) -> Array:
    """Return the cosines between the gradients of the shown examples, in their order.

    Parameters
    ----------
    run : Run
        Open run with a tangent kernel (`why_no_kernel`).
    index : int
        Index of the frame.
    order : ExampleOrder, optional
        Shown examples; default: `example_order`.

    Returns
    -------
    array (c, c)
        Symmetric matrix in [-1, 1].
    """
    network = run.network
    is_free = network.homogeneous and network.scaled == network.size
    flat = run.parameters(index) if is_free else run.physical_parameters(index)
    examples = (order or example_order(run)).examples
    return cosines_at(run, np.asarray(flat, dtype=np.float64), examples)
