"""Empirical tangent kernel of the training data: alignment with the targets, rank, distances.

K(t) = <grad f_i, grad f_r> in all trained parameters, at a frame. At infinite width it would keep
the mean of its law at the start. That mean, and the mean square of the difference at width m, are
exact for Gaussian starts (docs/theory.md, 3.8).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.network.kernel_predictor import arc_cosine, mean_squares
from core.network.recorded_network import why_no_output
from core.network.standard import INIT_SCALES, StandardNetwork
from core.observables.observable import (
    Landmark,
    Observable,
    cached_per_frame,
    cached_per_run,
)
from core.runs import Run

Array = NDArray[np.float64]
MOST_ROWS = 2_048  # n, or n k with k outputs: a kernel of 32 MB


def has_kernel(run: Run) -> bool:
    """Return True if the kernel is known, and small enough."""
    is_known = run.network.kind != "kernel_predictor" and not why_no_output(run.experiment.network)
    return is_known and run.dataset.n * run.network.k <= MOST_ROWS


def _kernel(run: Run, flat: Array) -> Array:
    return run.network.gram(flat, run.inputs)


@cached_per_frame
def kernel(run: Run, index: int) -> Array:
    """Return the tangent kernel of the training data, up to a factor.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (n, n), or (n k, n k) with the class fastest
        Of the stored parameters where a common factor of them only multiplies the kernel;
        otherwise of the physical ones.
    """
    if run.network.homogeneous and run.network.scaled == run.network.size:
        return _kernel(run, run.parameters(index))
    return _kernel(run, run.physical_parameters(index))


@cached_per_run
def targets(run: Run) -> Array:
    """Return the targets as one vector, in the order of the kernel's rows.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (n,) or (n k,)
        y, or the class's unit vector less its mean 1/k, with the class fastest.
    """
    y, k = run.dataset.y, run.network.k
    if k == 1:
        return np.asarray(y, dtype=np.float64)
    return np.asarray((np.eye(k)[y.astype(int)] - 1.0 / k).reshape(-1))


def has_centred(run: Run) -> bool:
    """Return True if the kernel is known and the targets are not all the same."""
    return has_kernel(run) and bool(np.ptp(targets(run)) > 0.0)


def alignment_of(K: Array, y: Array) -> float:
    """Return y'Ky / (|K|_F |y|^2), the cosine between K and y y'; NaN if one of them is 0.

    >>> alignment_of(np.outer([1.0, -1.0], [1.0, -1.0]), np.array([1.0, -1.0]))
    1.0
    """
    K = _to_unit_entries(K)
    size = float(np.linalg.norm(K)) * float(y @ y)
    return float(y @ K @ y) / size if size > 0.0 else float("nan")


def _to_unit_entries(K: Array) -> Array:
    """Return K over its largest entry: squares of a kernel above 1e154 would overflow."""
    largest = float(np.max(np.abs(K)))
    return K / largest if largest > 0.0 else K


def centre(K: Array) -> Array:
    """Return the kernel of the features less their mean over the rows.

    Parameters
    ----------
    K : array (N, N)
        Kernel matrix.

    Returns
    -------
    array (N, N)
        HKH, H = I - 1/N.
    """
    means = K.mean(axis=0)
    return np.asarray(K - means - means[:, None] + means.mean())


def effective_rank_of(K: Array) -> float:
    """Return (tr K)^2 / |K|_F^2: 1 for one direction, n for a multiple of I; NaN where K = 0."""
    K = _to_unit_entries(K)
    squared = float(np.sum(K * K))
    return float(np.trace(K)) ** 2 / squared if squared > 0.0 else float("nan")


def distance_of(K: Array, other: Array) -> float:
    """Return 1 - <K, K'>/(|K|_F |K'|_F), by the difference of the unit matrices.

    1 - cosine would lose all digits of a small distance to rounding. NaN if one of them is 0.
    """
    K, other = _to_unit_entries(K), _to_unit_entries(other)
    sizes = float(np.linalg.norm(K)), float(np.linalg.norm(other))
    if min(sizes) == 0.0:
        return float("nan")
    return 0.5 * float(np.sum((K / sizes[0] - other / sizes[1]) ** 2))


def alignment(run: Run, index: int) -> float:
    """Return the cosine between the tangent kernel and y y'; NaN if one of them is 0."""
    return alignment_of(kernel(run, index), targets(run))


def centred_alignment(run: Run, index: int) -> float:
    """Return `alignment` of the centred kernel and the targets less their mean; or NaN."""
    y = targets(run)
    return alignment_of(centre(kernel(run, index)), y - y.mean())


def effective_rank(run: Run, index: int) -> float:
    """Return (tr K)^2 / |K|_F^2 of the tangent kernel; NaN where K = 0."""
    return effective_rank_of(kernel(run, index))


def distance(run: Run, index: int) -> float:
    """Return the distance from the kernel at t = 0, which lies before a continued run's frame 0."""
    return distance_of(kernel(run, index), _kernel(run, run.origin))


# ------------------------------------------------------------------------------- infinite width


@final
@dataclass(frozen=True, slots=True)
class NodeLaw:
    """Moments of a neuron's start: of K1, K2 in the mean, and of their squares.

    With v = |v| u and features h = relu(<v, x>): `first` = E a^2, `second` = the variance s of an
    entry of v, `squares` = (E a^4, E a^2 s, s^2), for a and v as they are in one neuron together.
    """

    first: float
    second: float
    squares: tuple[float, float, float]


def node_law(run: Run) -> NodeLaw | None:
    """Return the neurons' law at the start; None unless it is Gaussian and f a ReLU network."""
    section, m, d = run.experiment.network, run.network.m, run.dataset.d
    if not isinstance(section, StandardNetwork) or section.slope > 0.0:
        return None
    if section.init == "balanced":  # a^2 = |v|^2, of mean d s and mean square d (d + 2) s^2
        s = section.scale**2 / m
        return NodeLaw(d * s, s, (d * (d + 2) * s**2, (d + 2) * s**2, s**2))
    if section.init in INIT_SCALES:
        a = s = INIT_SCALES[section.init] ** 2
    elif section.init == "paper":
        a, s = 1.0 / m, 1.0 / d
    else:
        return None
    return NodeLaw(a, s, (3.0 * a**2, a * s, s**2))


@final
@dataclass(frozen=True, slots=True)
class KernelLimit:
    """Mean of the kernel at the start over its law, and the relative deviation at width m.

    `deviation` is the root mean square of |K(0) - mean|_F/|mean|_F.
    """

    mean: Array
    deviation: float


@cached_per_run
def kernel_limit(run: Run) -> KernelLimit | None:
    """Return the infinite-width kernel of a run's start; None if it has no closed form.

    K(0) is a sum over m independent neurons of a^2 1 1 <x, x'> + h h', of mean `first` K1 +
    `second` K2. Its mean square is exact too: 1 1' has the mean (pi - t)/(2 pi), and 1 1' h h'
    that of h h'.
    """
    law = node_law(run)
    if law is None:
        return None
    x, m = run.dataset.x, run.network.m
    first, second = arc_cosine(x, x)
    node = law.first * first + law.second * second
    inner = x @ x.T
    both_squares, cross, outer = law.squares
    squares = (
        both_squares * inner * first + 2.0 * cross * inner * second + outer * mean_squares(x, x)
    )
    size = float(np.sum(node * node))
    spread = max(float(squares.sum()) / size - 1.0, 0.0)
    return KernelLimit(m * node, float(np.sqrt(spread / m)))


def deviation(run: Run, index: int) -> float:
    """Return |K - mean|_F / |mean|_F at the physical parameters; NaN without an exact mean."""
    limit = kernel_limit(run)
    if limit is None:
        return float("nan")
    K = _kernel(run, run.physical_parameters(index))
    return float(np.linalg.norm(K - limit.mean) / np.linalg.norm(limit.mean))


def has_limit(run: Run) -> bool:
    """Return True if the start is Gaussian, and the mean of its kernel known exactly."""
    return has_kernel(run) and node_law(run) is not None


def _at_infinite_width(function: Callable[[Array, Array], float], run: Run) -> Landmark | None:
    limit = kernel_limit(run)
    if limit is None:
        return None
    value = function(limit.mean, targets(run))
    words = f"{value:.4g} at infinite width, where the kernel keeps its mean over the start's law"
    return Landmark(value, "infinite width", r"$m = \infty$", words)


def _align_centred(K: Array, y: Array) -> float:
    return alignment_of(centre(K), y - y.mean())


def _rank(K: Array, y: Array) -> float:
    return effective_rank_of(K)


def _expected_deviation(run: Run) -> Landmark | None:
    limit = kernel_limit(run)
    if limit is None:
        return None
    words = f"{limit.deviation:.3g}: root mean square at t = 0 over starts of m = {run.network.m}"
    return Landmark(limit.deviation, "expected at t = 0", r"expected at $t=0$", words)


SOURCE = "definition (Cortes, Mohri and Rostamizadeh, JMLR 2012); docs/theory.md, 3.8"
WHERE = "networks with a gradient; n times outputs at most 2,048"
WHERE_LIMIT = "standard ReLU networks started by a Gaussian law"
of_kernel = partial(
    Observable, source=SOURCE, applies=has_kernel, where=WHERE, costly=True, on_request=True
)
OBSERVABLES = (
    of_kernel(
        "kernel_alignment",
        "kernel alignment",
        "y'Ky / (|K|_F |y|^2), K = <grad f_i, grad f_r>; of several classes y = e_c - 1/k",
        function=alignment,
        tex=r"\frac{y^\top Ky}{\Vert K\Vert_F|y|^2}",
        normalisation="a cosine, that of K and y y'",
        landmark=partial(_at_infinite_width, alignment_of),
    ),
    of_kernel(
        "centred_alignment",
        "centred kernel alignment",
        "the alignment of HKH and Hy, H = I - 1/n: without what all examples share",
        function=centred_alignment,
        applies=has_centred,
        where=f"targets that differ; {WHERE}",
        tex=r"\frac{y^\top HKHy}{\Vert HKH\Vert_F|Hy|^2}",
        normalisation="a cosine, that of HKH and Hy y'H",
        landmark=partial(_at_infinite_width, _align_centred),
    ),
    of_kernel(
        "kernel_rank",
        "effective rank of the kernel",
        "(tr K)^2 / |K|_F^2: from 1 to n",
        function=effective_rank,
        tex=r"\frac{(\mathrm{tr}\,K)^2}{\Vert K\Vert_F^2}",
        normalisation="a number of directions",
        landmark=partial(_at_infinite_width, _rank),
    ),
    of_kernel(
        "kernel_distance",
        "distance of the kernel from its start",
        "1 - <K(0), K(t)> / (|K(0)|_F |K(t)|_F)",
        function=distance,
        tex=r"1-\frac{\langle K(0),K(t)\rangle}{\Vert K(0)\Vert_F\Vert K(t)\Vert_F}",
        normalisation="from 0, a multiple of the start, to 1",
    ),
    Observable(
        "kernel_deviation",
        "distance of the kernel from infinite width",
        "|K(t) - E K(0)|_F / |E K(0)|_F, the mean over the law of the start",
        "definition; docs/theory.md, 3.8",
        deviation,
        applies=has_limit,
        where=f"{WHERE_LIMIT}; {WHERE}",
        tex=r"\frac{\Vert K(t)-\mathrm{E}K(0)\Vert_F}{\Vert\mathrm{E}K(0)\Vert_F}",
        normalisation="relative to infinite width",
        costly=True,
        on_request=True,
        landmark=_expected_deviation,
    ),
)
