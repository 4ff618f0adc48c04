"""Order parameters of a student with a teacher on Gaussian inputs: Q, R and T, and their means.

Q = V V' and R = V V*' decide the exact risk, and are what the ODE of docs/theory.md, 4.18 moves.
Curves show their means: of the diagonal of Q and the other entries, and of R for each unit of the
teacher at the neuron nearest to it and at all others (Saad and Solla 1995: Q, C, R, S).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.observables.observable import Observable, cached_per_frame
from core.observables.population import SOURCE, WHERE, has_teacher, teacher, weights
from core.runs import Run

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class OrderParameterCurves:
    """Order parameters at the frames of a run.

    `t` (F,); outer weights `a` (F, m) and `c` (M,) of student and teacher; `Q` (F, m, m), `R`
    (F, m, M) and `T` (M, M), inner products of the neurons' inner weights.
    """

    t: Array
    a: Array
    Q: Array
    R: Array
    c: Array
    T: Array


def order_parameters(run: Run) -> OrderParameterCurves:
    """Return the order parameters at all frames of a run.

    Parameters
    ----------
    run : Run
        Open run with a teacher on Gaussian inputs.

    Returns
    -------
    OrderParameterCurves

    Raises
    ------
    InputError
        The run has no teacher, or a teacher of other neurons.
    """
    if not has_teacher(run):
        raise InputError(f"order parameters are those of {WHERE}", where=run.path)
    one, frames = teacher(run), range(run.frames)
    outer = [weights(run, run.physical_parameters(index))[0] for index in frames]
    pairs = [overlaps(run, index) for index in frames]
    m, M = run.network.m, one.c.size
    return OrderParameterCurves(
        np.array(run.t[: run.frames]),
        np.reshape(outer, (-1, m)),
        np.reshape([Q for Q, _ in pairs], (-1, m, m)),
        np.reshape([R for _, R in pairs], (-1, m, M)),
        one.c,
        np.asarray(one.V @ one.V.T),
    )


@cached_per_frame
def overlaps(run: Run, index: int) -> tuple[Array, Array]:
    """Return the order parameters at a frame of a run with a teacher.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m, m), array (m, M)
        Q = V V' and R = V V*', at the physical scale.
    """
    _, V = weights(run, run.physical_parameters(index))
    return teacher(run).overlaps(V)


def length_overlap(run: Run, index: int) -> float:
    """Return the mean of Q_jj."""
    Q, _ = overlaps(run, index)
    return float(np.diagonal(Q).mean())


def pair_overlap(run: Run, index: int) -> float:
    """Return the mean of Q_jk over j != k; needs at least two neurons."""
    Q, _ = overlaps(run, index)
    m = Q.shape[0]
    return float((Q.sum() - np.trace(Q)) / (m * (m - 1)))


def own_overlap(run: Run, index: int) -> float:
    """Return the mean over the teacher's units n of max_j R_jn, the product with the nearest."""
    _, R = overlaps(run, index)
    return float(R.max(axis=0).mean())


def other_overlap(run: Run, index: int) -> float:
    """Return the mean of R_jn without max_j R_jn of each unit n; needs at least two neurons."""
    _, R = overlaps(run, index)
    m, M = R.shape
    return float((R.sum() - R.max(axis=0).sum()) / ((m - 1) * M))


def has_pairs(run: Run) -> bool:
    """Return True for a run with a teacher and a student of at least two neurons."""
    return has_teacher(run) and run.network.m > 1


def _make(
    name: str,
    title: str,
    formula: str,
    tex: str,
    function: Callable[[Run, int], float],
    applies: Callable[[Run], bool] = has_teacher,
) -> Observable:
    def value(run: Run, index: int) -> float:
        return function(run, index) if applies(run) else float("nan")

    where = WHERE if applies is has_teacher else f"{WHERE}, with m > 1"
    return Observable(name, title, formula, SOURCE, value, applies=applies, where=where, tex=tex)


OBSERVABLES = (
    _make(
        "length_overlap",
        "mean squared length of a neuron",
        "(1/m) sum_j Q_jj, Q = V V'",
        r"\frac{1}{m}\sum_j Q_{jj}",
        length_overlap,
    ),
    _make(
        "pair_overlap",
        "mean product of two neurons",
        "mean of Q_jk over j != k, Q = V V'",
        r"\langle Q_{jk}\rangle_{j\neq k}",
        pair_overlap,
        has_pairs,
    ),
    _make(
        "own_overlap",
        "product with the nearest neuron",
        "mean over the teacher's units n of max_j R_jn, R = V V*'",
        r"\frac{1}{M}\sum_n\max_j R_{jn}",
        own_overlap,
    ),
    _make(
        "other_overlap",
        "product with the other neurons",
        "mean of R_jn over the teacher's units n and all neurons but the nearest, R = V V*'",
        r"\langle R_{jn}\rangle_{R_{jn}<\max}",
        other_overlap,
        has_pairs,
    ),
)
