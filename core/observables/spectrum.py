"""Singular values of the inner weights, directions that a trajectory uses, and rotations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.observables.nodes import rotation
from core.observables.observable import Observable, cached_per_frame, cached_per_run
from core.runs import Run

Array = NDArray[np.float64]
LEADING = 16  # singular values stored per frame
MOMENTS = 64
MOST_VALUES = 2_000_000  # of all moments of a trajectory


def inner_gram(run: Run, V: Array) -> Array:
    """Return a Gram matrix of inner weights in the run's coordinates.

    In row-space form V V' = c c' + diag(z) E E' diag(z): the basis is orthogonal to every e_j.

    Parameters
    ----------
    run : Run
        Open run.
    V : array (m, D)
        Inner weights in the run's coordinates.

    Returns
    -------
    array (m, m) or (d, d)
        V V' or V' V, whichever is smaller; always V V' for runs in row-space form.
    """
    if run.reduction is not None:
        c, z = V[:, :-1], V[:, -1]
        return np.asarray(c @ c.T + z[:, None] * _perpendicular_gram(run) * z[None, :])
    return np.asarray(V @ V.T if V.shape[0] < V.shape[1] else V.T @ V)


@cached_per_run
def _perpendicular_gram(run: Run) -> Array:
    """Return E E' (m, m), e_j the unit part of v_j(0) outside the row space, or 0."""
    assert run.reduction is not None
    return np.asarray(run.reduction.perpendicular @ run.reduction.perpendicular.T)


@cached_per_frame
def flat_spectrum(run: Run, index: int) -> Array:
    """Return |V|_F and the leading singular values at the flat parameters.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (LEADING + 1,)
        (|V|_F, sigma_1, sigma_2, ...), sigma decreasing; 0 below rounding of the largest, and
        beyond the rank. NaN if V is not finite.
    """
    V = run.network.directions(run.parameters(index))
    largest = float(np.abs(V).max()) or 1.0  # its square may underflow or overflow
    gram = inner_gram(run, V / largest)
    if not np.isfinite(gram).all():
        return np.full(LEADING + 1, np.nan)
    values = np.linalg.eigvalsh(gram)[::-1][:LEADING]
    leading = np.zeros(LEADING)
    # Rounding errors of a zero are below this, but their square roots would not be small.
    noise = max(V.shape) * np.finfo(float).eps * max(values[0], 0.0)
    leading[: values.size] = np.where(values > noise, values, 0.0)
    return np.asarray(largest * np.sqrt(np.concatenate([[np.trace(gram)], leading])))


@cached_per_run
def _inner_scaled(run: Run) -> bool:
    """Return True if V belongs to the homogeneous parameters, which e^rho multiplies."""
    network, flat = run.network, run.origin
    # Tested on the network itself, without a list of kinds.
    doubled = network.physical(flat, float(np.log(2.0)))
    return not np.array_equal(network.directions(doubled), network.directions(flat))


def singular_values(run: Run, index: int) -> Array:
    """Return the leading singular values of V at the physical scale.

    The rows of V are the inner weight vectors v_j as they are trained.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (min(LEADING, m, d),)
        Decreasing.
    """
    count = min(LEADING, run.network.m, run.dataset.d)
    with np.errstate(over="ignore"):
        scale = float(np.exp(run.rho[index])) if _inner_scaled(run) else 1.0
    return scale * flat_spectrum(run, index)[1 : count + 1]


def log10_singular_values(run: Run, index: int) -> Array:
    """Return log10 of `singular_values`, finite also where these overflow.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (min(LEADING, m, d),)
        -inf for values of 0.
    """
    count = min(LEADING, run.network.m, run.dataset.d)
    factor = float(run.rho[index]) / float(np.log(10.0)) if _inner_scaled(run) else 0.0
    with np.errstate(divide="ignore"):
        return np.asarray(factor + np.log10(flat_spectrum(run, index)[1 : count + 1]))


def stable_rank(run: Run, index: int) -> float:
    """Return |V|_F^2 / sigma_1^2; NaN where V = 0."""
    total, largest = flat_spectrum(run, index)[:2]
    return float(total / largest) ** 2 if largest > 0.0 else float("nan")


def singular_value(place: int) -> Callable[[Run, int], float]:
    """Return the function of the singular value of a place, from 1; NaN beyond the last."""

    def value(run: Run, index: int) -> float:
        values = singular_values(run, index)
        return float(values[place - 1]) if place <= values.size else float("nan")

    return value


def _stride(run: Run) -> int:
    return -(-run.planned_frames // MOMENTS)


def displacement(run: Run, index: int) -> Array:
    """Return V(t) - V(0) in the run's coordinates, which preserve inner products per neuron only.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m d,)
        Row by row; in row-space form the rows are shorter.
    """
    network = run.network
    with np.errstate(over="ignore", invalid="ignore"):
        physical = run.physical_parameters(index)
        return np.asarray(network.directions(physical) - network.directions(run.origin)).reshape(-1)


def effective_rank(squares: Array) -> float:
    """Return exp(-sum_k p_k ln p_k), p_k = sigma_k^2 / sum_l sigma_l^2; NaN if all are 0.

    >>> round(effective_rank(np.array([1.0, 1.0, 0.0])), 12)
    2.0
    """
    total = float(squares.sum())
    if not (np.isfinite(total) and total > 0.0):
        return float("nan")
    p = squares[squares > 0.0] / total
    return float(np.exp(-(p @ np.log(p))))


def trajectory_rank(run: Run, index: int) -> float:
    """Return the effective rank of the displacements V(t) - V(0) up to a frame.

    They are taken at frames 0, s, 2s, ... before it and at the frame itself, s = ceil(T / 64), as
    the rows of a matrix; its squared singular values are the eigenvalues of the matrix of inner
    products. A row has m d entries: inner products of displacements are sums over neurons, which
    the row-space form preserves. Those of a continued run begin at t = 0. NaN before V
    has moved, and if a displacement is not finite.
    """
    run, index = run.whole_run, run.whole_run.frames_before - run.frames_before + index
    before = _moments(run, -(-index // _stride(run)))
    row = displacement(run, index)
    size = float(np.abs(row).max()) if np.isfinite(row).all() else np.inf
    largest = max(size, *before.sizes, 0.0)
    if largest == 0.0 or not np.isfinite(largest):
        return float("nan")
    unit = row / (size or 1.0)
    shares = np.append(before.sizes, size) / largest  # divided: late runs would overflow
    gram = np.empty((shares.size, shares.size))
    gram[:-1, :-1] = before.gram
    gram[-1, :-1] = gram[:-1, -1] = before.rows @ unit
    gram[-1, -1] = unit @ unit
    squares = np.linalg.eigvalsh(gram * shares[:, None] * shares)
    # Rounding errors of zeros would contribute to the entropy.
    return effective_rank(np.where(squares > 1e-14 * squares[-1], squares, 0.0))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """Displacements (c, m d) at frames 0, s, 2s, ... over their largest entries `sizes` (c,)."""

    rows: Array
    sizes: Array
    gram: Array  # (c, c), Gram matrix of the rows

    def first(self, count: int) -> _Moments:
        """Return the first `count` displacements."""
        return _Moments(self.rows[:count], self.sizes[:count], self.gram[:count, :count])


def _moments(run: Run, count: int) -> _Moments:
    """Return the first `count` displacements; compute only those missing in the run's memo."""
    key = ("_displacements", -1)
    moments: _Moments | None = run.memo.get(key)
    if moments is None:
        moments = _Moments(np.zeros((0, displacement(run, 0).size)), np.zeros(0), np.zeros((0, 0)))
    while moments.sizes.size < count:
        row = displacement(run, moments.sizes.size * _stride(run))
        size = float(np.abs(row).max()) if np.isfinite(row).all() else np.inf
        row = row / size if 0.0 < size < np.inf else np.zeros_like(row)
        rows = np.vstack([moments.rows, row])
        gram = np.zeros((len(rows), len(rows)))
        gram[:-1, :-1] = moments.gram
        gram[-1] = gram[:, -1] = rows @ row
        moments = _Moments(rows, np.append(moments.sizes, size), gram)
    run.memo[key] = moments
    return moments.first(count)


def has_inner(run: Run) -> bool:
    """Return True if the neurons have inner weight vectors."""
    return bool(np.isfinite(run.network.directions(run.origin)).all())


def moves_inner(run: Run) -> bool:
    """Return True if the inner weights are trained, and few enough to be stored at 64 moments."""
    trained = bool({"V", "W"} & {block.name for block in run.network.layout})
    size = run.network.directions(run.origin).size
    return has_inner(run) and trained and MOMENTS * size <= MOST_VALUES


WHERE = "networks with inner weight vectors"
of_inner = partial(Observable, applies=has_inner, where=WHERE)
OBSERVABLES = (
    of_inner(
        "stable_rank",
        "stable rank",
        "|V|_F^2 / |V|_2^2",
        "frei23, Definition 4.1",
        stable_rank,
        tex=r"\frac{|V|_F^2}{|V|_2^2}",
        normalisation="scale-free",
        costly=True,
    ),
    of_inner(
        "sigma_1",
        "largest singular value",
        "|V|_2",
        "frei23, Theorem 3.2",
        singular_value(1),
        tex=r"\sigma_1(V)=|V|_2",
        costly=True,
    ),
    of_inner(
        "sigma_2",
        "second singular value",
        "the second singular value of V, not normalised",
        "definition",
        singular_value(2),
        tex=r"\sigma_2(V)",
        costly=True,
    ),
    of_inner(
        "sigma_3",
        "third singular value",
        "the third singular value of V, not normalised",
        "definition",
        singular_value(3),
        tex=r"\sigma_3(V)",
        costly=True,
    ),
    Observable(
        "trajectory_rank",
        "effective rank of the trajectory",
        "exp of the entropy of sigma_k^2 / sum sigma^2, sigma the singular values of the rows "
        "V(s) - V(0) at up to 64 moments s <= t, natural log",
        "definition (Roy and Vetterli 2007, section 2)",
        trajectory_rank,
        applies=moves_inner,
        where="trained V, m d <= 31\u202f250",
        tex=r"\exp(-\sum_k r_k\ln r_k),\ r_k=\frac{\sigma_k^2}{\sum_l\sigma_l^2}",
        normalisation="scale-free; natural logarithm",
        costly=True,
    ),
)


# ------------------------------------------------------------------------------------- rotations


@cached_per_frame
def known_rotations(run: Run, index: int) -> Array:
    """Return the rotations of the neurons that have a direction.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (at most m,)
        Cosines, in increasing order.
    """
    values = rotation(run, index)
    return np.sort(values[np.isfinite(values)])


def least_rotation(run: Run, index: int) -> float:
    """Return the least cosine of a neuron with its direction at the start; NaN if none is known."""
    values = known_rotations(run, index)
    return float(values[0]) if values.size else float("nan")


def median_rotation(run: Run, index: int) -> float:
    """Return the median cosine of the neurons with their directions at the start; or NaN."""
    values = known_rotations(run, index)
    return float(np.median(values)) if values.size else float("nan")


ROTATIONS = (
    Observable(
        "least_rotation",
        "least rotation",
        "min_j <v_j(0)/|v_j(0)|, v_j(t)/|v_j(t)|> over the neurons that have a direction",
        "telgarsky22, Figure 1c",
        least_rotation,
        applies=has_inner,
        where="networks whose neurons have inner weight vectors",
        tex=r"\min_j\frac{\langle v_j(0),v_j(t)\rangle}{|v_j(0)|\,|v_j(t)|}",
        normalisation="a cosine",
    ),
    Observable(
        "median_rotation",
        "median rotation",
        "the median over j of <v_j(0)/|v_j(0)|, v_j(t)/|v_j(t)|>, of the neurons that have one",
        "telgarsky22, Figure 1c",
        median_rotation,
        applies=has_inner,
        where="networks whose neurons have inner weight vectors",
        tex=r"\mathrm{median}_j\frac{\langle v_j(0),v_j(t)\rangle}{|v_j(0)|\,|v_j(t)|}",
        normalisation="a cosine",
    ),
)
