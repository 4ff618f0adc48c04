"""Neural collapse of a network of several classes: NC1 to NC4 of its last features.

h_i in R^m are the activations of the neurons at x_i, w_c in R^m the outer weights of class c; mu_c
is the mean of the features of a class, mu that of the classes' means. All are 0 when collapsed.
Source: Papyan, Han and Donoho, PNAS 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.network.parametrisation import TwoLayer
from core.observables.observable import Observable, cached_per_frame
from core.runs import Run

Array = NDArray[np.float64]
CUTOFF = 1e-10  # of the largest eigenvalue: S_B has rank k - 1, and rounding in the others


@final
@dataclass(frozen=True, slots=True)
class Collapse:
    """NC1 to NC4 of one frame; `OBSERVABLES` defines them."""

    within: float
    angles: float
    lengths: float
    duality: float
    nearest: float


def measure_collapse(h: Array, W: Array, y: Array, outputs: Array) -> Collapse:
    """Return NC1 to NC4.

    Parameters
    ----------
    h : array (n, m)
        Features.
    W : array (k, m)
        Outer weights, a row for each class.
    y : array (n,)
        Classes 0 to k - 1, each of them at least once.
    outputs : array (n, k)
        Outputs of the network.

    Returns
    -------
    Collapse
        NaN where it is undefined: two classes with one mean, or outer weights all alike.

    Examples
    --------
    >>> y = np.arange(6) % 3
    >>> measure_collapse(np.eye(3)[y], np.eye(3) - 1 / 3, y, np.eye(3)[y]).nearest
    0.0
    """
    k, classes = W.shape[0], y.astype(int)
    h, W = _scale_to_one(h), _scale_to_one(W)
    means = np.array([h[classes == c].mean(axis=0) for c in range(k)])
    M, deviations = means - means.mean(axis=0), h - means[classes]
    lengths = np.linalg.norm(M, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        units = M / lengths[:, None]
        cosines = (units @ units.T)[~np.eye(k, dtype=bool)]
        rows = W - W.mean(axis=0)
        duality = np.linalg.norm(rows / np.linalg.norm(rows) - M / np.linalg.norm(M))
        spread = lengths.std() / lengths.mean()
    squares = np.einsum("ij,ij->i", means, means) - 2.0 * h @ means.T  # less |h|^2, common to all
    return Collapse(
        within=_measure_spread(deviations, M),
        angles=float(np.abs(cosines + 1.0 / (k - 1)).mean()),
        lengths=float(spread),
        duality=float(duality),
        nearest=float((outputs.argmax(axis=1) != squares.argmin(axis=1)).mean()),
    )


def _scale_to_one(values: Array) -> Array:
    """Return values over a power of two, the largest in [.5, 1): no square underflows then."""
    return np.asarray(np.ldexp(values, -int(np.frexp(np.abs(values).max())[1])))


def _measure_spread(deviations: Array, M: Array) -> float:
    """Return tr(S_W S_B^+)/k, S_W = D'D/n and S_B = M'M/k, by the small Gram matrix M M'.

    M'M (m, m) has the eigenvectors M'u/sqrt(lambda) of the eigenvectors u of M M' (k, k).
    """
    n = deviations.shape[0]
    values, vectors = np.linalg.eigh(M @ M.T)
    mask = values > CUTOFF * values[-1]
    if not mask.any() or values[-1] <= 0.0:
        return float("nan")
    components = deviations @ (M.T @ vectors[:, mask])  # (n, k - 1), each times sqrt(lambda)
    return float(((components / values[mask]) ** 2).sum() / n)


def has_classes(run: Run) -> bool:
    """Return True for three or more classes with examples, and a two-layer network.

    Its outputs must be a plain sum over features, f_c = sum_j A_jc h_j.
    """
    network = run.network
    several = network.k >= 3 and np.unique(run.dataset.y).size == network.k
    return several and isinstance(network, TwoLayer) and network.plain_sum


@cached_per_frame
def collapse_at(run: Run, index: int) -> Collapse | None:
    """Return NC1 to NC4 of a frame, cached; None where `has_classes` is False."""
    if not has_classes(run):
        return None
    network, flat = run.network, run.parameters(index)
    assert isinstance(network, TwoLayer)
    A, U = network.effective(flat)
    # A common factor of all parameters changes none of them: no logarithm of the size is needed.
    h = network.activation(U @ run.inputs.T).T
    return measure_collapse(np.asarray(h), A.T, run.dataset.y, h @ A)


def _value(name: str, run: Run, index: int) -> float:
    """Return a field of `collapse_at` by its name; NaN for other networks."""
    collapse = collapse_at(run, index)
    return float("nan") if collapse is None else float(getattr(collapse, name))


SOURCE = "definition (Papyan, Han and Donoho, PNAS 2020); docs/theory.md, 3.8"
WHERE = "three and more classes, each with an example; f(x) = sum_j A_jc phi(<u_j, x>)"
of_collapse = partial(Observable, source=SOURCE, applies=has_classes, where=WHERE, on_request=True)
OBSERVABLES = (
    of_collapse(
        "nc1",
        "collapse within classes, NC1",
        "tr(S_W S_B^+) / k: S_W, S_B the covariances of the features within and between classes",
        function=partial(_value, "within"),
        tex=r"\frac{1}{k}\,\mathrm{tr}(S_WS_B^+)",
        normalisation="relative to the distances of the classes' means",
    ),
    of_collapse(
        "nc2_angles",
        "collapse of angles, NC2",
        "mean over c != c' of |cos(mu_c - mu, mu_c' - mu) + 1/(k - 1)|, mu_c the mean of a class",
        function=partial(_value, "angles"),
        tex=r"\mathrm{mean}_{c\neq c'}|\cos(\mu_c-\mu,\mu_{c'}-\mu)+\frac{1}{k-1}|",
        normalisation="a difference of cosines",
    ),
    of_collapse(
        "nc2_lengths",
        "collapse of lengths, NC2",
        "standard deviation over mean of |mu_c - mu|",
        function=partial(_value, "lengths"),
        tex=r"\frac{\mathrm{sd}_c|\mu_c-\mu|}{\mathrm{mean}_c|\mu_c-\mu|}",
        normalisation="divided by the mean length",
    ),
    of_collapse(
        "nc3",
        "distance of weights from means, NC3",
        "|W/|W|_F - M/|M|_F|_F: W the outer weights less their mean, M the rows mu_c - mu",
        function=partial(_value, "duality"),
        tex=r"\Vert\frac{W}{\Vert W\Vert_F}-\frac{M}{\Vert M\Vert_F}\Vert_F",
        normalisation="both of norm 1",
    ),
    of_collapse(
        "nc4",
        "disagreement with the nearest mean, NC4",
        "share of examples whose largest output is not that of the nearest mean of a class",
        function=partial(_value, "nearest"),
        tex=r"P[\mathrm{argmax}_cf_c\neq\mathrm{argmin}_c|h-\mu_c|]",
        normalisation="a share",
    ),
)
