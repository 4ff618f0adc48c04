"""Observables of single neurons, and of all weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.network.parametrisation import TwoLayer
from core.observables.observable import SHARE, Observable, Shape, cached_per_run
from core.runs import Run

Array = NDArray[np.float64]


def norm_squared(run: Run, index: int) -> float:
    """Return |W|^2 of the physical weights in which f is homogeneous; inf beyond float64."""
    with np.errstate(over="ignore"):
        return float(np.exp(2.0 * run.rho[index])) * run.network.norm(run.parameters(index)) ** 2


def distance(run: Run, index: int) -> float:
    """Return |W - W(0)| of all trained parameters, at the physical scale."""
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(run.physical_parameters(index) - run.origin))


def balance_drift(run: Run, index: int) -> float:
    """Return the largest change of a neuron's imbalance since the start, over |W|^2.

    NaN where W = 0 or W(0) = 0, and for networks without conserved imbalances.
    """
    # At the flat scale, since the difference of large physical numbers cancels. W(0) is normalised
    # first, since squares of tiny weights underflow.
    flat, rho = run.parameters(index), float(run.rho[index])
    squared = run.network.norm(flat) ** 2
    size = float(np.abs(run.origin[: run.network.scaled]).max())
    now = run.network.imbalance(flat)
    if squared == 0.0 or size == 0.0 or now.size == 0:
        return float("nan")
    initial = run.network.imbalance(run.origin / size)
    with np.errstate(over="ignore", invalid="ignore"):  # e^-rho exceeds float64 for rho < -354
        drift = now - np.where(initial == 0.0, 0.0, np.exp(2.0 * (np.log(size) - rho)) * initial)
    return float(np.abs(drift).max()) / squared


def balance(run: Run, index: int) -> Array:
    """Return each neuron's difference of squared norms, which gradient flow conserves.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,), or (0,) for a network without an invariant
        Over |W_h|^2; NaN if that is 0.
    """
    flat = run.parameters(index)
    squared = run.network.norm(flat) ** 2
    return np.asarray(run.network.imbalance(flat)) / (squared if squared > 0.0 else np.nan)


@cached_per_run
def _origin_directions(run: Run) -> tuple[Array, Array]:
    """Return v_j(0) (m, d) and |v_j(0)| (m,), which the rotation needs at every frame."""
    initial = run.network.directions(run.origin)
    return initial, np.asarray(np.linalg.norm(initial, axis=1))


def rotation(run: Run, index: int) -> Array:
    """Return the cosine of v_j(0) and v_j(t) of each neuron.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,)
        In [-1, 1]; NaN for a neuron of length 0 at either time.
    """
    return _cosines(run.network.directions(run.parameters(index)), *_origin_directions(run))


@cached_per_run
def _origin_units(run: Run) -> tuple[Array, Array]:
    """Return u_j(0) (m, D), with biases D = d + 1, and |u_j(0)| (m,)."""
    initial = run.network.nodes(run.origin)[1]
    return initial, np.asarray(np.linalg.norm(initial, axis=1))


@cached_per_run
def has_biases(run: Run) -> bool:
    """Return True for networks whose neurons have biases, u_j = (v_j, b_j)."""
    V, U = run.network.directions(run.origin), run.network.nodes(run.origin)[1]
    return bool(U.shape[1] == V.shape[1] + 1)


def unit_rotation(run: Run, index: int) -> Array:
    """Return the cosine of u_j(0) and u_j(t) of each neuron, u_j = (v_j, b_j).

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,)
        In [-1, 1]; NaN for a neuron of length 0 at either time.
    """
    return _cosines(run.network.nodes(run.parameters(index))[1], *_origin_units(run))


def _cosines(now: Array, initial: Array, before: Array) -> Array:
    """Return the cosine of each row and its start, of length `before`; NaN for rows of 0."""
    lengths = np.linalg.norm(now, axis=1) * before
    inner = np.einsum("jk,jk->j", now, initial)
    is_known = lengths > 0.0
    # A neuron of length 0 has no direction: NaN instead of a division by 0.
    safe = np.where(is_known, lengths, 1.0)
    # Clipped, since rounding may give a neuron that has not turned a cosine above 1.
    return np.where(is_known, np.clip(np.where(is_known, inner, 0.0) / safe, -1.0, 1.0), np.nan)


def node_norms(run: Run, index: int) -> Array:
    """Return the size |alpha_j u_j| of each neuron at the flat parameters.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,)
        |a_j b_j| for a head, which has no u_j.
    """
    s, U = run.network.nodes(run.parameters(index))
    if not run.network.inner_weights:
        return np.abs(s)
    return np.asarray(np.abs(s) * np.linalg.norm(U, axis=1))


def relative_norm(run: Run, index: int) -> Array:
    """Return the size of each neuron over the largest.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,)
        In [0, 1]; NaN if all are 0.
    """
    norms = node_norms(run, index)
    largest = norms.max()
    return norms / largest if largest > 0.0 else np.full(norms.shape, np.nan)


def outer_signs(run: Run, index: int) -> Array:
    """Return the sign of each neuron's outer weight alpha_j.

    For more than two classes, the sign of the neuron's A_jc of largest absolute value.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,)
        1, -1 or 0; 0 for a network without alpha_j.
    """
    network, flat = run.network, run.parameters(index)
    if network.k > 1 and isinstance(network, TwoLayer):
        A = network.effective(flat)[0]
        chosen = np.abs(A).argmax(axis=1)
        return np.asarray(np.sign(A[np.arange(A.shape[0]), chosen]))
    return np.nan_to_num(np.sign(network.nodes(flat)[0]))


def outer_classes(run: Run, index: int) -> NDArray[np.int64]:
    """Return the class c of each neuron's largest |A_jc|.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,) of int
        For two classes 1 if alpha_j > 0, else 0.
    """
    network, flat = run.network, run.parameters(index)
    if network.k > 1 and isinstance(network, TwoLayer):
        return np.asarray(np.abs(network.effective(flat)[0]).argmax(axis=1), dtype=np.int64)
    return np.asarray(outer_signs(run, index) > 0.0, dtype=np.int64)


def patterns(run: Run, flat: Array) -> NDArray[np.bool_]:
    """Return the activation patterns at flat parameters.

    Parameters
    ----------
    run : Run
        Open run.
    flat : array (size,)
        Flat parameters.

    Returns
    -------
    array (m, n) of bool
        <u_j, x~_i> > 0.
    """
    U = run.network.nodes(flat)[1]
    return np.asarray(U @ run.inputs.T > 0.0)


def patterns_changed(run: Run, index: int) -> float:
    """Return the share of (neuron, example) pairs whose activation differs from the start's.

    NaN for other than two-layer networks.
    """
    if not isinstance(run.network, TwoLayer):
        return float("nan")
    return float(np.mean(patterns(run, run.parameters(index)) != _patterns_at_start(run)))


@cached_per_run
def _patterns_at_start(run: Run) -> NDArray[np.bool_]:
    """Return `patterns` at the origin of the run, (m, n)."""
    return patterns(run, run.origin)


def is_two_layer(run: Run) -> bool:
    """Return True for f(x) = sum_j alpha_j phi(<u_j, x~>), in any parametrisation."""
    return isinstance(run.network, TwoLayer)


def is_balanced(run: Run) -> bool:
    """Return True if gradient flow conserves the imbalance of every neuron."""
    return run.network.imbalance(run.origin).size > 0


OBSERVABLES = (
    Observable(
        "norm_squared",
        "squared norm",
        "|W|^2 of the homogeneous parameters: |a|^2 + |V|_F^2, |a|^2 + |b|^2, |a|^2 + |c|^2",
        "telgarsky22, section 1.2",
        norm_squared,
        tex=r"|W|^2=|a|^2+|V|_F^2",
    ),
    Observable(
        "distance",
        "distance from the start",
        "|W(t) - W(0)| over all trained parameters",
        "telgarsky22, Theorem 2.1",
        distance,
        tex=r"|W(t)-W(0)|",
    ),
    Observable(
        "balance_drift",
        "balance drift",
        "max_j |(a_j^2 - |v_j|^2)(t) - (a_j^2 - |v_j|^2)(0)| / |W(t)|^2 (b_j^2 or c_j^2 for "
        "|v_j|^2 where margins have these norms); 0 for exact gradient flow",
        "telgarsky22, section 3.1",
        balance_drift,
        tex=r"\max_j\frac{|[a_j^2-|v_j|^2](t)-[a_j^2-|v_j|^2](0)|}{|W(t)|^2}",
        normalisation="divided by |W(t)|^2",
    ),
    Observable(
        "patterns_changed",
        "activation patterns changed",
        "share of all pairs (j, i) whose 1[<u_j, x_i> > 0] differs from t = 0",
        "wei19, section F.1",
        patterns_changed,
        unit=SHARE,
        applies=is_two_layer,
        where="two-layer networks",
        tex=r"\frac{1}{mn}\sum_{j,i}1[o_{ji}(t)\neq o_{ji}(0)],\ "
        r"o_{ji}=1[\langle u_j,x_i\rangle>0]",
        normalisation="divided by m n",
    ),
    Observable(
        "rotation",
        "rotation",
        "<v_j(0)/|v_j(0)|, v_j(t)/|v_j(t)|>",
        "telgarsky22, Figure 1c",
        rotation,
        shape=Shape.NODE,
        tex=r"\frac{\langle v_j(0),v_j(t)\rangle}{|v_j(0)|\,|v_j(t)|}",
        normalisation="a cosine",
    ),
    Observable(
        "unit_rotation",
        "rotation with bias",
        "<u_j(0)/|u_j(0)|, u_j(t)/|u_j(t)|>, u_j = (v_j, b_j)",
        "telgarsky22, Figure 1c, on (x, 1)",
        unit_rotation,
        shape=Shape.NODE,
        applies=has_biases,
        where="networks whose neurons have biases",
        tex=r"\frac{\langle u_j(0),u_j(t)\rangle}{|u_j(0)|\,|u_j(t)|},\ u_j=(v_j,b_j)",
        normalisation="a cosine",
    ),
    Observable(
        "relative_norm",
        "relative norm",
        "|a_j v_j| / max_k |a_k v_k|, effective weights",
        "telgarsky22, Figure 1d",
        relative_norm,
        shape=Shape.NODE,
        tex=r"\frac{|a_jv_j|}{\max_k|a_kv_k|}",
        normalisation="divided by the largest neuron",
    ),
    Observable(
        "balance",
        "layer balance",
        "(a_j^2 - |v_j|^2) / |W|^2 (b_j^2 or c_j^2 for |v_j|^2 where margins have these norms)",
        "telgarsky22, section 3.1",
        balance,
        shape=Shape.NODE,
        applies=is_balanced,
        where="networks whose layers stay balanced",
        tex=r"\frac{a_j^2-|v_j|^2}{|W|^2}",
        normalisation="divided by |W|^2",
    ),
)
