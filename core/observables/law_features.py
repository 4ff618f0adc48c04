"""Features of the law of the data, and how close the start's neurons are to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.data.cones import ConesData
from core.data.parity import ParityData
from core.observables.node_coordinates import unit_rows
from core.observables.observable import cached_per_run
from core.runs import Run

Array = NDArray[np.float64]


@cached_per_run
def known_features(run: Run) -> tuple[Array, Array] | None:
    """Return the features of the law of the data; None if unknown.

    2-parity: beta = (+-1, +-1, 0, ...)/sqrt2 and alpha = +-1/4, the sign of the product, whose
    margin 1/sqrt(8 d) is the largest possible. Cones: their axes, alpha = +-1/r by their labels.

    Parameters
    ----------
    run : Run
        Open run.

    Returns
    -------
    array (r,), array (r, d)
        alpha with sum |alpha| = 1, and unit vectors beta.
    """
    law = run.experiment.data
    if isinstance(law, ParityData) and law.k == 2:
        signs = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        beta = np.zeros((4, law.d))
        beta[:, :2] = signs / np.sqrt(2.0)
        return np.asarray(signs.prod(axis=1) / 4.0), beta
    if isinstance(law, ConesData):
        odd = np.arange(law.r) % 2 == 1
        # sum |alpha| = 1: the text prints +-1/k (docs/theory.md, 8.2).
        alpha = np.where(odd & (law.labels == "mixed"), -1.0, 1.0) / law.r
        return alpha, law.directions(np.random.default_rng(0))["axes"]
    return None


def unit_directions(run: Run, flat: Array) -> Array:
    """Return v_j/|v_j| in R^d at flat parameters, also of a row-space run.

    Parameters
    ----------
    run : Run
        Open run.
    flat : array (size,)
        Flat parameters.

    Returns
    -------
    array (m, d)
        NaN where v_j = 0.
    """
    V = run.network.directions(flat)
    if run.reduction is not None:
        V = run.reduction.full(V)
    return unit_rows(V)[0]


def covering_radius(run: Run, index: int) -> float:
    """Return max_k min_j |v_j(0)/|v_j(0)| - beta_k|, the same at every frame.

    For runs with `knows_features`.
    """
    return _covering_radius(run)


@cached_per_run
def _covering_radius(run: Run) -> float:
    features = known_features(run)
    assert features is not None
    cosines = features[1] @ unit_directions(run, run.origin).T
    with np.errstate(invalid="ignore"):
        distances = np.sqrt(np.maximum(2.0 - 2.0 * cosines, 0.0))
    return float(np.nanmin(distances, axis=1).max())


def knows_features(run: Run) -> bool:
    """Return True for neurons with inner weights, and a law whose directions are known."""
    V = run.network.directions(run.origin)
    inner = bool(np.isfinite(V).all() and V.any())
    return inner and known_features(run) is not None
