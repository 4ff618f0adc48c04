"""Kernel predictors: fitted at once, recorded as two frames, c = 0 and the fitted coefficients.

Ridge regression: c = (K + ridge I)^-1 y. Hard margin: the SVM without intercept in the kernel's
space, scaled so that its smallest margin is 1. With K_y = diag(y) K diag(y) = C C' its dual is
min q' K_y q over the simplex, solved as min_{u >= 0} |[C'; 1'] u - e_{n+1}|, q = u/sum u, and
c = diag(y) q / (q' K_y q).
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.dynamics.integrator import Chunk, Integrator, Outcome
from core.errors import InputError
from core.network.kernel_predictor import KernelNetwork
from core.network.parametrisation import Shape
from core.problem.problem import Problem, Start
from core.run_files.frame import Frame
from core.study_file.dynamics import KernelPredictor

Array = NDArray[np.float64]
# Ridge regression needs a Cholesky factor of 800 MB; NNLS for the hard margin takes a round for
# each example of its support.
MOST_EXAMPLES = {False: 10_000, True: 2_000}  # of ridge regression, and of the hard margin
SEPARABLE = 1e-10  # relative to the largest K_ii: smaller q' K_y q is rounding


def kernel_start(problem: Problem) -> Problem:
    """Return the problem with the predictor for its network, at c = 0.

    Raises InputError if the predictor cannot be fitted to that many examples.
    """
    dynamics = problem.experiment.dynamics
    assert isinstance(dynamics, KernelPredictor)
    if isinstance(problem.network, KernelNetwork):
        return problem
    limit, n = MOST_EXAMPLES[dynamics.hard], problem.dataset.n
    if n > limit:
        words = "the hard margin" if dynamics.hard else "ridge regression"
        raise InputError(f"n = {n} examples are too many for {words}; choose at most {limit}.")
    shape = Shape(problem.network.m, problem.dataset.x)
    zero = np.zeros(n)
    network = dynamics.recorded_network(problem.experiment.network, shape, {})
    return replace(problem, network=network, start=Start(zero, zero))


def ridge_coefficients(K: Array, y: Array, ridge: float) -> Array:
    """Return the coefficients of kernel ridge regression.

    Parameters
    ----------
    K : array (n, n)
        Kernel matrix.
    y : array (n,)
        Labels.
    ridge : float
        Ridge, >= 0.

    Returns
    -------
    array (n,)
        (K + ridge I)^-1 y.

    Raises
    ------
    InputError
        The matrix is singular to rounding.
    """
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    try:
        factor = cho_factor(K + ridge * np.eye(y.size), lower=True)
    except LinAlgError as error:
        raise InputError(
            f"The kernel's matrix plus dynamics.ridge = {ridge:g} is singular (examples are "
            "repeated or linearly dependent); choose a larger ridge, such as 1e-8."
        ) from error
    return np.asarray(cho_solve(factor, y))


def hard_margin(K: Array, y: Array) -> tuple[Array, float, float]:
    """Return the hard-margin predictor in the kernel's space.

    Parameters
    ----------
    K : array (n, n)
        Kernel matrix.
    y : array (n,)
        Labels +-1.

    Returns
    -------
    c : array (n,)
        Coefficients, with min_i y_i f(x_i) = 1.
    margin : float
        min_i y_i f(x_i)/|f|.
    gap : float
        1 - primal/dual, the relative distance from the optimum.

    Raises
    ------
    InputError
        No predictor of the kernel's space separates the data.
    """
    from scipy.optimize import nnls

    signed = y[:, None] * K * y
    largest = float(np.diag(signed).max())
    values, vectors = np.linalg.eigh(signed / largest if largest > 0.0 else signed)
    C = vectors * np.sqrt(np.maximum(values, 0.0))
    target = np.zeros(y.size + 1)
    target[-1] = 1.0
    u = nnls(np.vstack([C.T, np.ones(y.size)]), target, maxiter=30 * y.size)[0]
    q = u / u.sum()
    image = signed @ q
    squared = float(q @ image)
    if not squared > SEPARABLE * largest:
        raise InputError(
            "No predictor of this kernel classifies all examples correctly (equal or opposite "
            "inputs with contradictory labels?); use hard = false with a ridge."
        )
    dual = float(np.sqrt(squared))
    primal = float(image.min()) / dual
    return y * q / float(image.min()), primal, 1.0 - primal / dual


@final
class KernelFit(Integrator):
    """Integrator with one chunk for frame 0 and one for the solution, fitted by the constructor."""

    engine = "LAPACK float64"
    planned = 2
    temperature_cap = None

    def __init__(self, problem: Problem) -> None:
        assert isinstance(problem.experiment.dynamics, KernelPredictor)
        self.problem = kernel_start(problem)
        # Here, so that data without a fit are rejected before a file is created.
        self._fitted = self._fit(problem.experiment.dynamics)
        self._started = False

    def _fit(self, dynamics: KernelPredictor) -> Frame:
        network, y = self.problem.network, self.problem.dataset.y
        assert isinstance(network, KernelNetwork)
        if not dynamics.hard:
            c = ridge_coefficients(network.matrix, y, dynamics.ridge)
            return Frame(1, 0.0, 0.0, c)
        c, margin, gap = hard_margin(network.matrix, y)
        return Frame(1, 0.0, 0.0, c, None, {"kernel_margin": margin, "gap": gap})

    def advance(self) -> Chunk:
        if not self._started:
            self._started = True
            first = Frame(0, -np.inf, 0.0, self.problem.start.parameters)
            return Chunk((first,), Outcome.GOING, 0, -np.inf)
        return Chunk((self._fitted,), Outcome.COMPLETED, 1, 0.0)
