"""Vector field of the mirror flow in (ln u, V), u = |a b|, and the balance that it needs.

d ln u/dt = -2 dR/du (homogeneity, Lemma 3.2). Observables import this module without kernels.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from core.network.parametrisation import Network
from core.problem.problem import Problem

Array = NDArray[np.float64]
IMBALANCE = 1e-9  # relative to a_j^2: larger differences are not rounding


def is_balanced(network: Network, flat: Array) -> bool:
    """Return True if |a_j| = |b_j| for every neuron, to rounding."""
    a, b = flat[: network.m], flat[network.m : 2 * network.m]
    return bool(np.all(np.abs(a * a - b * b) <= IMBALANCE * (a * a + b * b)))


@final
class MirrorField:
    """Vector field of (ln u, V) for networks whose first two blocks are a and b, (m,) each."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._m = problem.network.m
        flat = problem.physical_start()
        self._signs = np.sign(flat[: 2 * self._m])

    def state(self, flat: Array) -> Array:
        """Return the state of parameters.

        Parameters
        ----------
        flat : array (size,)
            (a, b, V) with a^2 = b^2 = u.

        Returns
        -------
        array (m + size of V,)
            (ln u, V).
        """
        m = self._m
        with np.errstate(divide="ignore"):
            return np.concatenate([np.log(np.abs(flat[:m] * flat[m : 2 * m])), flat[2 * m :]])

    def flat(self, state: Array) -> Array:
        """Return the parameters of a state.

        Parameters
        ----------
        state : array (m + size of V,)
            (ln u, V).

        Returns
        -------
        array (size,)
            (a, b, V), with the signs of the start.
        """
        with np.errstate(over="ignore"):  # infinite where a run diverges
            root = np.exp(0.5 * state[: self._m])
        return np.concatenate([self._signs * np.tile(root, 2), state[self._m :]])

    def outputs(self, state: Array) -> Array:
        """Return the outputs on the training data.

        Parameters
        ----------
        state : array (m + size of V,)
            (ln u, V).

        Returns
        -------
        array (n,) or (n, k)
            f(x_i).
        """
        return self._problem.outputs(self.flat(state))

    def __call__(self, state: Array, f: Array | None = None) -> Array:
        """Return (d ln u/dt, dV/dt) = (-2 dR/du, -dR/dV); `f` are the outputs, if known."""
        problem, m = self._problem, self._m
        flat = self.flat(state)
        f = problem.outputs(flat) if f is None else f
        g = problem.loss.output_gradient(f, problem.dataset.y) / problem.dataset.n
        slope = np.asarray(problem.network.gradient(flat, problem.inputs, g))
        a = flat[:m]
        alive = a != 0.0
        # ln u_j = 2 ln |a_j| and da_j/dt = -dR/da_j.
        logarithmic = np.where(alive, -2.0 * slope[:m] / np.where(alive, a, 1.0), 0.0)
        return np.concatenate([logarithmic, -slope[2 * m :]])
