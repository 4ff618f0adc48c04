"""Steepest descent in a norm: W <- W + eta_s u, u the unit vector with the largest <u, G>.

G = sum_i q_i grad p_i, with the dual weights q over their sum, has the direction of -grad R. It
neither vanishes nor overflows, whatever the size of the margins, so this needs no log time.
Step number s, counted from t = 0, has the length eta_s = step s^-power in the norm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.compiled import steepest as kernel
from core.compiled.descent import Work
from core.compiled.polar import Polar
from core.dynamics import solver_state
from core.dynamics.dual_weights import output_weights
from core.dynamics.kernel_arrays import make_work_arrays
from core.dynamics.step_size import round_down
from core.dynamics.stepper import Stepper
from core.network.parametrisation import Network, join_flat
from core.problem.problem import Problem
from core.study_file.steepest import SteepestDescent

Array = NDArray[Any]
FLOOR = 1e-12  # relative to the largest eigenvalue of M'M


def polar_factor(matrix: Array) -> Array:
    """Return M (M'M)^(-1/2), by the eigenvectors of the smaller of M'M and MM'.

    Eigenvalues count as at least `FLOOR` of the largest, so that no singular value of the result
    is above 1.

    Parameters
    ----------
    matrix : array (m, d)
        M.

    Returns
    -------
    array (m, d)
        0 if M is.

    Examples
    --------
    >>> polar_factor(np.array([[3.0, 0.0], [0.0, -2.0], [0.0, 0.0]])).round(12).tolist()
    [[1.0, 0.0], [0.0, -1.0], [0.0, 0.0]]
    """
    if matrix.shape[0] < matrix.shape[1]:
        return polar_factor(matrix.T).T
    M = matrix.astype(np.float64, copy=False)
    values, Q = np.linalg.eigh(M.T @ M)
    if not values[-1] > 0.0:
        return np.zeros_like(matrix)
    roots = np.sqrt(np.maximum(values, FLOOR * values[-1]))
    return np.asarray(M @ ((Q / roots) @ Q.T), dtype=matrix.dtype)


def _normalise(g: Array) -> Array:
    """Return g/|g|, or g where that is 0."""
    wide = g.astype(np.float64, copy=False)  # its square does not underflow
    length = float(np.sqrt(wide @ wide))
    return g / length if length > 0.0 else g


def _select_largest_entry(g: Array) -> Array:
    """Return sign(g) at the largest |g_i|, and 0 elsewhere."""
    u, place = np.zeros_like(g), int(np.abs(g).argmax())
    u[place] = np.sign(g[place])
    return u


def _normalise_blocks(network: Network, g: Array) -> Array:
    """Return the polar factor of each matrix of parameters, and each vector over its length."""
    blocks = network.unpack(g).values()
    units = [
        _normalise(block.reshape(-1))
        if block.ndim < 2
        else polar_factor(block.reshape(block.shape[0], -1))
        for block in blocks
    ]
    return np.asarray(join_flat(units))


def find_direction(norm: str, network: Network, g: Array) -> Array:
    """Return u with |u| <= 1 in the norm and the largest <u, g>; entries without a slope stay 0.

    Parameters
    ----------
    norm : str
        "sign", "l2", "spectral" or "coordinate".
    network : Network
        Network, whose blocks count for the spectral norm.
    g : array (size,)
        G.

    Returns
    -------
    array (size,)
        Direction.
    """
    if norm == "spectral":
        return _normalise_blocks(network, g)
    return _DIRECTIONS[norm](g)


_DIRECTIONS: dict[str, Callable[[Array], Array]] = {
    "sign": np.sign,
    "l2": _normalise,
    "coordinate": _select_largest_entry,
}

_KERNELS = {
    "sign": kernel.SIGN,
    "l2": kernel.LENGTH,
    "coordinate": kernel.LARGEST,
    "spectral": kernel.SPECTRAL,
}


def _make_polar(network: Network | None) -> Polar:
    """Return the blocks of a network and their work; nothing without a network."""
    rows, first = list[tuple[int, int, int]](), 0
    for block in () if network is None else network.layout:
        size = int(np.prod(block.shape))
        columns = size // block.shape[0] if len(block.shape) > 1 else 0
        rows.append((first, block.shape[0], columns))
        first += size
    side = max((min(n, columns) for _, n, columns in rows), default=0)
    largest = max((n * columns for _, n, columns in rows), default=0)
    sizes = (largest, largest, side**2, side**2, side**2, side)
    blocks = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return Polar(blocks, FLOOR, *(np.zeros(size) for size in sizes))


@final
class Steepest(Stepper):
    """Steepest descent of any network, by its compiled passes if it has them.

    The state is the mean gradient.
    """

    def __init__(self, problem: Problem) -> None:
        dynamics = problem.experiment.dynamics
        assert isinstance(dynamics, SteepestDescent)
        super().__init__(problem, dynamics.step)
        self._dynamics = dynamics
        self._weights = problem.physical_start().astype(self.dtype)
        # A copy: numba would compile a second kernel for a run file's read-only arrays.
        self._inputs = np.array(problem.inputs, self.dtype, order="C")
        engine = "compiled" if problem.network.compiled else problem.network.engine
        self.engine = f"{engine} {self.dtype.name}"
        size = self._weights.size if dynamics.momentum > 0.0 else 0
        self._mean = np.zeros(size, self.dtype)
        self._work: Work | None = None
        if problem.network.compiled:
            self._work = make_work_arrays(problem, self._weights, np.inf, problem.dataset.n)
            self._work.columns[:] = problem.inputs.T
            self._labels = problem.dataset.y.astype(self.dtype)
            constants = (dynamics.step, dynamics.power, dynamics.momentum)
            polar = _make_polar(problem.network if dynamics.norm == "spectral" else None)
            self._rule = kernel.Rule(_KERNELS[dynamics.norm], *constants, self._mean, polar)
        self._resume()

    def _parts(self) -> solver_state.Parts:
        mean = {"mean": self._mean} if self._mean.size else {}
        return {**super()._parts(), **mean}

    def _first_mark(self) -> float:
        return float(np.log10(self.step_size))  # its time has nothing to do with the curvature

    def _flat(self) -> Array:
        return self._weights.copy()

    def _advance(self, count: int) -> int:
        if self._work is not None:
            return self._take_compiled_steps(self._work, count)
        dynamics, network = self._dynamics, self.problem.network
        for n_taken in range(count):
            g = self._find_mean()
            if g is None:
                return n_taken
            eta = self.step_size * float(self._step + n_taken + 1) ** -dynamics.power
            self._weights += eta * find_direction(dynamics.norm, network, g)
        return count

    def _take_compiled_steps(self, work: Work, count: int) -> int:
        n_taken: int = kernel.steepest_steps(
            work, self._inputs, self._labels, count, self._step, self._rule
        )
        return n_taken

    def _find_mean(self) -> Array | None:
        """Return G (size,) at the present parameters; with momentum update and return its mean.

        None where G or the outputs are not finite.
        """
        problem, network, W = self.problem, self.problem.network, self._weights
        with np.errstate(over="ignore", invalid="ignore"):  # weights may exceed float32
            f = np.asarray(network.outputs(W, self._inputs)).astype(np.float64)
            if not np.isfinite(f).all():
                return None
            weights = output_weights(problem.loss, f, problem.dataset.y).astype(self.dtype)
            g = np.asarray(network.gradient(W, self._inputs, weights), self.dtype)
        if not np.isfinite(g).all():
            return None
        if self._mean.size:
            self._mean += (1.0 - self._dynamics.momentum) * (g - self._mean)
            return self._mean
        return g

    def suggested_step(self) -> float:
        return round_down(self.step_size / 10.0)
