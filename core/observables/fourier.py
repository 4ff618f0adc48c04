"""Fourier modes of the neurons of a quadratic network on addition modulo p.

With ^u(k) = sum_t u(t) e^(-2 pi i k t/p), a neuron u, v, w (p each) has the power
|^u(k)|^2 + |^v(k)|^2 + |^w(k)|^2, twice for k >= 1 and over p, so that all add up to |theta|^2. The
wave cos(2 pi k t/p + th) has it at k alone, and angle(^u(k)) = th. Margins are largest where every
neuron is one wave with th_u + th_v = th_w, and frequencies weigh the same (docs/theory.md, 5.6).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from core.data.modular import ModularData, is_addition
from core.network.parametrisation import TwoLayer
from core.network.quadratic import cubed_norm
from core.observables.margins import is_quadratic, scale
from core.observables.node_coordinates import inner_columns
from core.observables.observable import SHARE, Observable, Shape, cached_per_frame, cached_per_run
from core.observables.spectrum import effective_rank
from core.runs import Run

Array = NDArray[np.float64]
PURE = 0.9  # fraction of a neuron's power at one frequency from which it counts as one wave
VISIBLE = 1e-3  # relative to the largest |theta_j|^3: lighter neurons have no reliable phase


def is_modular_addition(run: Run) -> bool:
    """Return True for quadratic networks on addition modulo p, recorded ones among them."""
    return is_quadratic(run) and (isinstance(run.experiment.data, ModularData) or _is_modular(run))


@cached_per_run
def _is_modular(run: Run) -> bool:
    return run.is_external and is_addition(run.dataset.x, run.dataset.y)


@cached_per_frame
def waves(run: Run, index: int) -> NDArray[np.complex128]:
    """Return the Fourier transforms of all neurons at the flat parameters, without e^rho.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (3, m, K + 1) of complex
        ^u_j(k), ^v_j(k) and ^w_j(k), k = 0, ..., K = (p - 1)/2, as NumPy's rfft: not divided by p.
    """
    network, p = run.network, run.dataset.classes
    assert isinstance(network, TwoLayer)
    A, U = network.effective(run.parameters(index))
    inner = inner_columns(run, U, range(2 * p))
    return np.asarray(np.fft.rfft(np.stack([inner[:, :p], inner[:, p:], A]), axis=2))


def node_powers(run: Run, index: int) -> Array:
    """Return the power of each neuron at each frequency, at the flat parameters.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m, K + 1)
        k = 0, ..., K = (p - 1)/2; row j adds up to |theta_j|^2.
    """
    squares = (np.abs(waves(run, index)) ** 2).sum(axis=0) / run.dataset.classes
    squares[:, 1:] *= 2.0
    return np.asarray(squares)


def _shares(run: Run, index: int) -> tuple[Array, Array]:
    """Return shares of each neuron's power (m, K + 1), 0 where it is 0, and |theta_j|^3 (m,)."""
    powers = node_powers(run, index)
    squares = powers.sum(axis=1)
    return powers / np.where(squares > 0.0, squares, 1.0)[:, None], squares**1.5


def frequencies(run: Run, index: int) -> Array:
    """Return the frequency k >= 1 of each neuron's largest power.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,)
        Whole numbers, as floats; 1 for a neuron of 0.
    """
    return np.asarray(node_powers(run, index)[:, 1:].argmax(axis=1) + 1.0)


def purity(run: Run, index: int) -> Array:
    """Return the share of each neuron's power at its frequency.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,)
        In [0, 1]; 0 for a neuron of 0.
    """
    shares, _ = _shares(run, index)
    return np.asarray(shares[:, 1:].max(axis=1))


def phases(run: Run, index: int) -> Array:
    """Return the phases of each neuron at its frequency.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (3, m)
        th_u, th_v and th_w in [-pi, pi]; 0 for a neuron of 0.
    """
    chosen = frequencies(run, index).astype(np.int64)
    node_waves = waves(run, index)
    return np.asarray(np.angle(node_waves[:, np.arange(node_waves.shape[1]), chosen]))


def phase_relation(run: Run, index: int) -> Array:
    """Return th_u + th_v - th_w of each neuron, 0 for the networks of largest margin.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (m,)
        In [-pi, pi).
    """
    u, v, w = phases(run, index)
    return np.asarray((u + v - w + np.pi) % (2.0 * np.pi) - np.pi)


def frequency_mass(run: Run, index: int) -> Array:
    """Return the distribution of sum_j |theta_j|^3 over frequencies, by the power of the neurons.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (K + 1,)
        Shares at k = 0, ..., K = (p - 1)/2, of sum 1; NaN if all neurons are 0.
    """
    shares, weights = _shares(run, index)
    total = float(weights.sum())
    return np.asarray(weights @ shares / total) if total > 0.0 else np.full(shares.shape[1], np.nan)


def frequency_share(run: Run, index: int) -> float:
    """Return the share of sum_j |theta_j|^3 in neurons of purity above `PURE`; NaN if all are 0."""
    _, weights = _shares(run, index)
    total = float(weights.sum())
    return float(weights[purity(run, index) > PURE].sum()) / total if total > 0.0 else float("nan")


def frequency_spread(run: Run, index: int) -> float:
    """Return the largest less the least `frequency_mass`, k >= 1; NaN if all neurons are 0."""
    mass = frequency_mass(run, index)[1:]
    return float(mass.max() - mass.min())


def frequency_count(run: Run, index: int) -> float:
    """Return the effective number of frequencies k >= 1, by the entropy of their masses; or NaN."""
    mass = frequency_mass(run, index)[1:]
    return effective_rank(mass) if np.isfinite(mass).all() else float("nan")


def phase_gap(run: Run, index: int) -> float:
    """Return the mean of |th_u + th_v - th_w| weighted by |theta_j|^3; NaN if all neurons are 0."""
    _, weights = _shares(run, index)
    total = float(weights.sum())
    gaps = np.abs(phase_relation(run, index))
    return float(weights @ gaps) / total if total > 0.0 else float("nan")


def largest_phase_gap(run: Run, index: int) -> float:
    """Return the largest |th_u + th_v - th_w|, of neurons with a visible |theta_j|^3; or NaN."""
    _, weights = _shares(run, index)
    chosen = weights > VISIBLE * weights.max()
    return float(np.abs(phase_relation(run, index)[chosen]).max()) if chosen.any() else float("nan")


def sum_of_cubes(run: Run, index: int) -> float:
    """Return sum_j |theta_j|^3 at the physical parameters W; inf beyond float64."""
    return scale(run, index) * cubed_norm(run.network, run.parameters(index))


SOURCE = "morwani24, section 4; docs/theory.md, 5.6"
WHERE = "quadratic networks on addition modulo p"
WEIGHTED = "weighted by |theta_j|^3"
of_waves = partial(Observable, applies=is_modular_addition, where=WHERE)
OBSERVABLES = (
    Observable(
        "cubed_norm",
        "sum of cubed lengths",
        "N = sum_j |theta_j|^3, theta_j all weights of neuron j: what margins are divided by",
        "morwani24, section 3",
        sum_of_cubes,
        applies=is_quadratic,
        where="quadratic",
        tex=r"N=\sum_j|\theta_j|^3",
    ),
    of_waves(
        "frequency_share",
        "single-frequency share",
        "part of sum_j |theta_j|^3 of neurons with over .9 of their power at one frequency >= 1; "
        "undefined, as the shares of frequencies and phases, where all weights are 0",
        SOURCE,
        frequency_share,
        unit=SHARE,
        tex=r"\frac{\sum_{j\ \mathrm{pure}}|\theta_j|^3}{\sum_j|\theta_j|^3}",
        normalisation="a share",
    ),
    of_waves(
        "frequency_spread",
        "spread of the frequencies",
        "largest minus smallest share of sum_j |theta_j|^3 over the frequencies 1, ..., (p - 1)/2",
        SOURCE,
        frequency_spread,
        tex=r"\max_k M_k-\min_k M_k",
        normalisation="of shares",
    ),
    of_waves(
        "frequency_count",
        "frequencies in use",
        "exp of the entropy of the shares of sum_j |theta_j|^3 over the frequencies, natural log",
        SOURCE,
        frequency_count,
        tex=r"\exp(-\sum_k M_k\ln M_k)",
        normalisation="a number of frequencies, at most (p - 1)/2",
    ),
    of_waves(
        "phase_gap",
        "phase relation",
        "mean of |th_u + th_v - th_w| over the neurons, at each neuron's own frequency",
        SOURCE,
        phase_gap,
        unit="rad",
        tex=r"\frac{\sum_j|\theta_j|^3\,|\vartheta_u+\vartheta_v-\vartheta_w|}"
        r"{\sum_j|\theta_j|^3}",
        normalisation=WEIGHTED,
    ),
    of_waves(
        "phase_gap_largest",
        "largest phase relation",
        "largest |th_u + th_v - th_w| of neurons with |theta_j|^3 above 1e-3 of the largest",
        SOURCE,
        largest_phase_gap,
        unit="rad",
        tex=r"\max_j|\vartheta_u+\vartheta_v-\vartheta_w|",
    ),
    of_waves(
        "frequency",
        "frequency of a neuron",
        "the k >= 1 of the largest |^u(k)|^2 + |^v(k)|^2 + |^w(k)|^2",
        SOURCE,
        frequencies,
        shape=Shape.NODE,
        tex=r"\mathrm{argmax}_{k\geq 1}\ |\hat u_k|^2+|\hat v_k|^2+|\hat w_k|^2",
        normalisation="a whole number, at most (p - 1)/2",
    ),
    of_waves(
        "purity",
        "power at a neuron's frequency",
        "share of a neuron's power at its frequency",
        SOURCE,
        purity,
        shape=Shape.NODE,
        tex=r"\frac{2}{p}\,\frac{|\hat u_k|^2+|\hat v_k|^2+|\hat w_k|^2}{|\theta_j|^2}",
        normalisation="a share",
    ),
    of_waves(
        "phase_relation",
        "phase relation of a neuron",
        "th_u + th_v - th_w at the neuron's frequency, in [-pi, pi)",
        SOURCE,
        phase_relation,
        shape=Shape.NODE,
        unit="rad",
        tex=r"\vartheta_u+\vartheta_v-\vartheta_w",
        normalisation="an angle",
    ),
)
