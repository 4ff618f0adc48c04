"""Hessian of the training risk, by products with directions, and its sharpness.

R = (1/n) sum_i l(f(x_i), y_i) + lambda |W|^2 + mu sum_j |theta_j|^3 (loss.l2 and loss.l23). With
J the derivative of the outputs, H the loss's curvature in them and g_i = l'_i/n,

    Hessian = J' H J / n + sum_i g_i (Hessian of f(x_i)) + 2 lambda + mu (that of the cubes).

The first part is the Gauss-Newton matrix. The second, of a two-layer network whose weights are its
parameters, is in closed form: along (d alpha, d U), with T = d U X',

    d alpha_j: sum_i g_i phi'(z_ij) T_ij,
    d u_j: sum_i g_i (d alpha_j phi'(z_ij) + alpha_j phi''(z_ij) T_ij) x_i,

phi'' = 0 and phi'(0) = slope on the left for ReLUs, as in training. For other networks PyTorch's
autograd computes it. Sharpness is the largest eigenvalue: constant-step descent on a quadratic with
more than 2/eta of it diverges (Cohen et al., ICLR 2021).
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.dynamics.eigenvalues import Top
from core.dynamics.lanczos import Product, top_eigenvalues
from core.dynamics.step_size import jacobian
from core.errors import InputError
from core.network import custom
from core.network.parametrisation import Network, TwoLayer
from core.network.quadratic import cubed_norm_curvature
from core.problem.problem import Problem

Array = NDArray[np.float64]

MOST_PARAMETERS = 10_000_000  # limit for Lanczos, which stores dozens of vectors
TOLERANCE = 1e-4  # relative tolerance of the bound; with 1e-2 errors of 1e-2 occurred
# Times of the whole matrix and of Lanczos with its search, on one core of a loaded machine: 9 and
# 73 ms with 32 parameters and 16 examples (scalar), 22 and 185 with 160 and 16 (normalised), 86 and
# 263 with 384 and 32. With 224 and 64: 105 and 117, since with more numbers a product outweighs its
# call, and batches save nothing. Up to 64 parameters the matrix takes about as many products as
# Lanczos.
FEW_PARAMETERS, MOST_ENTRIES, MOST_DENSE = 64, 2**14, 512
BATCH = 2_000_000  # numbers in one batch of derivatives of each layer


def _in_closed_form(network: Network) -> bool:
    """Return True if `_ClosedForm` has this network's second derivatives."""
    return isinstance(network, TwoLayer) and network.direct


def needs_pytorch(network: Network) -> bool:
    """Return True if second derivatives of this network's outputs need PyTorch."""
    return not _in_closed_form(network)


@final
class Curvature:
    """Hessian of a problem's risk at flat parameters, as products with directions.

    Raises InputError for networks whose second derivatives need PyTorch where it is not installed,
    and for more parameters than Lanczos can store vectors of.
    """

    def __init__(self, problem: Problem, flat: Array) -> None:
        check_size(problem.network)
        self._problem, self._flat = problem, np.asarray(flat, dtype=np.float64)
        self._penalty = 2.0 * problem.experiment.loss.l2
        self._cubes = problem.experiment.loss.l23
        network, inputs, n = problem.network, problem.inputs, problem.dataset.n
        loss, y = problem.loss, problem.dataset.y
        closed = None
        if _in_closed_form(network):
            assert isinstance(network, TwoLayer)
            closed = _ClosedForm(network, self._flat, inputs)
        f = (
            closed.outputs()
            if closed is not None and closed.is_complete
            else problem.outputs(self._flat)
        )
        self._f, self._n = f, n
        g = np.asarray(loss.output_gradient(f, y)) / n
        self._closed: _ClosedForm | None = None
        self._second: _ClosedForm | _Autograd
        if closed is None:
            self._second = _Autograd(network, self._flat, inputs, g)
            return
        closed.set_weights(g)
        self._second = closed
        if network.k == 1 and closed.is_complete:  # l''_i/n is the complete curvature of the loss
            self._closed = closed
            self._curved = np.asarray(loss.output_curvature(f, y, np.ones_like(f))) / n

    @property
    def size(self) -> int:
        return self._flat.size

    def dense(self, full: bool = True) -> Array:
        """Return the Hessian as a matrix.

        Parameters
        ----------
        full : bool
            False for the Gauss-Newton part alone.

        Returns
        -------
        array (size, size)
            Symmetric matrix.
        """
        network, problem, size = self._problem.network, self._problem, self.size
        units, n, k = np.eye(size), self._n, network.k
        if k * n <= size:
            J = jacobian(network, self._flat, problem.inputs).reshape(n, k, size)
        else:
            derivatives = [network.derivative(self._flat, problem.inputs, unit) for unit in units]
            J = np.stack(derivatives, axis=-1).reshape(n, k, size)
        classes = np.eye(k)[:, None].repeat(n, axis=1).reshape(k, *self._f.shape)
        columns = [problem.loss.output_curvature(self._f, problem.dataset.y, c) for c in classes]
        curvatures = np.stack(columns, axis=-1).reshape(n, k, k) / n
        curved = np.einsum("ica,ias->ics", curvatures, J)
        out = np.tensordot(J, curved, axes=([0, 1], [0, 1]))
        if full:
            out += self._second.dense()
            out[np.diag_indices(size)] += self._penalty
            if self._cubes:
                cubes = [cubed_norm_curvature(network, self._flat, unit) for unit in units]
                out += self._cubes * np.stack(cubes)
        return np.asarray(0.5 * (out + out.T))

    def gauss_newton(self, direction: Array) -> Array:
        """Return the Gauss-Newton part times a direction.

        Parameters
        ----------
        direction : array (size,)
            Direction.

        Returns
        -------
        array (size,)
            (J' H J / n) direction.
        """
        problem = self._problem
        df = problem.network.derivative(self._flat, problem.inputs, direction)
        curved = problem.loss.output_curvature(self._f, problem.dataset.y, df) / self._n
        return np.asarray(problem.network.gradient(self._flat, problem.inputs, curved))

    def __call__(self, direction: Array) -> Array:
        """Return the Hessian times a direction, (size,)."""
        if self._closed is not None:
            product = self._closed.hessian_products(direction, self._curved)
        else:
            product = self.gauss_newton(direction) + self._second(direction)
        if self._penalty:
            product = product + self._penalty * direction
        if self._cubes:
            network = self._problem.network
            product = product + self._cubes * cubed_norm_curvature(network, self._flat, direction)
        return product


@final
class _ClosedForm:
    """sum_i g_i (Hessian of f(x_i)) for weights that are parameters, or fixed."""

    def __init__(self, network: TwoLayer, flat: Array, inputs: Array) -> None:
        self._network, self._flat, self._inputs = network, flat, inputs
        self._alpha, U = network.effective(flat)
        self._z = U @ inputs.T
        self._values = network.activation(self._z)
        self._slopes = network.activation.slopes(self._z)
        self._bent: Array | None = None
        # f is linear in an outer bias, which comes last.
        self._linear = np.zeros(0 if network.plain_sum else network.k)

    @property
    def is_complete(self) -> bool:
        """True if f is the neurons' sum alone."""
        return not self._linear.size

    def outputs(self) -> Array:
        """Return f, (n,) or (n, k)."""
        return np.asarray(self._values.T @ self._alpha)

    def set_weights(self, g: Array) -> None:
        """Set g_i = l'_i/n, (n,) or (n, k)."""
        self._g, alpha, activation = g, self._alpha, self._network.activation
        if activation.bent:
            # sum_c alpha_jc g_ic, the factor of phi''.
            outer = alpha[:, None] * g if alpha.ndim == 1 else alpha @ g.T
            self._bent = activation.curvatures(self._z) * outer

    def __call__(self, direction: Array) -> Array:
        network, inputs, g = self._network, self._inputs, self._g
        d_alpha, d_U = network.push(self._flat, direction)
        T = d_U @ inputs.T
        outer = d_alpha[:, None] * g if d_alpha.ndim == 1 else d_alpha @ g.T
        weights = self._slopes * outer
        if self._bent is not None:
            weights += self._bent * T
        product = np.asarray(network.pull(self._flat, (self._slopes * T) @ g, weights @ inputs))
        return np.concatenate([product, self._linear])

    def dense(self) -> Array:
        """Return the matrix of these products, (size, size)."""
        return np.stack([self(unit) for unit in np.eye(self._flat.size)])

    def hessian_products(self, direction: Array, curved: Array) -> Array:
        """Return these products plus the Gauss-Newton part, of one output.

        l''_i/n is `curved` (n,). Shared factors are computed once: two matrix products instead of
        six.
        """
        network, alpha, g = self._network, self._alpha, self._g
        d_alpha, d_U = network.push(self._flat, direction)
        T = d_U @ self._inputs.T
        bent = None if self._bent is None else self._bent * T
        T *= self._slopes
        c = curved * (d_alpha @ self._values + alpha @ T)
        weights = np.stack([alpha, d_alpha], axis=1) @ np.stack([c, g])
        weights *= self._slopes
        if bent is not None:
            weights += bent
        outer = self._values @ c + T @ g
        return np.asarray(network.pull(self._flat, outer, weights @ self._inputs))


@final
class _Autograd:
    """sum_i g_i (Hessian of f(x_i)) for any network that takes tensors."""

    def __init__(self, network: Network, flat: Array, inputs: Array, g: Array) -> None:
        custom.require_pytorch(f'The sharpness of network.kind = "{network.kind}"')
        import torch

        self._leaf = torch.tensor(flat, requires_grad=True)
        f = network.outputs(self._leaf, torch.tensor(inputs))
        self._total = (f * torch.tensor(g)).sum()
        self._n = len(inputs)

    @cached_property
    def _slope(self) -> Any:
        import torch

        return torch.autograd.grad(self._total, self._leaf, create_graph=True)[0]

    def dense(self) -> Array:
        """Return the matrix of these products, (size, size), a batch of rows at a time."""
        import torch

        size = self._leaf.numel()
        if not self._slope.requires_grad:
            return np.zeros((size, size))
        rows, units = [], torch.eye(size, dtype=self._leaf.dtype)
        batch = max(1, BATCH // (size * self._n))
        for first in range(0, size, batch):
            try:
                (bent,) = torch.autograd.grad(
                    self._slope,
                    self._leaf,
                    units[first : first + batch],
                    retain_graph=True,
                    is_grads_batched=True,
                    materialize_grads=True,
                )
            except RuntimeError:  # a user's network has an operation without batching
                return np.stack([self(unit) for unit in np.eye(size)])
            rows.append(bent)
        return np.asarray(torch.cat(rows).numpy())

    def __call__(self, direction: Array) -> Array:
        import torch

        if not self._slope.requires_grad:  # linear in the parameters
            return np.zeros(direction.size)
        tangent: Any = torch.tensor(direction)
        (bent,) = torch.autograd.grad(
            (self._slope * tangent).sum(), self._leaf, retain_graph=True, materialize_grads=True
        )
        return np.asarray(bent.numpy())


def check_size(network: Network) -> None:
    """Raise InputError if dozens of vectors of the network's size are too many."""
    if network.size > MOST_PARAMETERS:
        raise InputError(
            f"the sharpness of a network with {network.size:.2g} parameters is not computed; "
            f"{MOST_PARAMETERS:.0e} is the most. Choose a smaller m or d."
        )


def is_dense(problem: Problem) -> bool:
    """Return True if the whole matrix is cheaper than Lanczos."""
    size = problem.network.size
    entries = size * problem.dataset.n * problem.network.k
    return size <= FEW_PARAMETERS or (size <= MOST_DENSE and entries <= MOST_ENTRIES)


def sharpness(
    problem: Problem,
    flat: Array,
    count: int = 3,
    tolerance: float = TOLERANCE,
    scale: Array | None = None,
) -> Top:
    """Return the largest eigenvalues of the Hessian H of the risk at flat parameters.

    For few parameters those of the whole matrix, to rounding. Lanczos starts at random: from the
    vectors of a nearby frame it needed no fewer products (46 and 51 a frame, m = 64).

    Parameters
    ----------
    problem : Problem
        Problem whose risk counts, penalties included.
    flat : array (size,)
        Physical parameters.
    count : int
        Number of eigenvalues.
    tolerance : float
        Error bound relative to the largest, which fails with probability
        `core.dynamics.lanczos.MISS`.
    scale : array (size,), optional
        Diagonal of N, for the eigenvalues of N H N; by default the identity.

    Returns
    -------
    Top
        Eigenvalues, decreasing, with vectors and bounds.
    """
    curvature = Curvature(problem, flat)
    if is_dense(problem):
        matrix = curvature.dense()
        return _eigenvalues_of_matrix(
            matrix if scale is None else scale[:, None] * matrix * scale, count
        )
    product: Product = curvature
    if scale is not None:
        product = partial(_scaled_product, curvature, scale)
    return top_eigenvalues(product, curvature.size, count, tolerance)


def _scaled_product(product: Product, scale: Array, direction: Array) -> Array:
    """Return N H N times a direction, N the diagonal `scale`, H the operator `product`."""
    return scale * product(scale * direction)


def gauss_newton_sharpness(problem: Problem, flat: Array, tolerance: float = TOLERANCE) -> float:
    """Return the largest eigenvalue of J' H J / n, the Gauss-Newton part alone.

    Parameters
    ----------
    problem : Problem
        Problem whose risk counts.
    flat : array (size,)
        Physical parameters.
    tolerance : float
        Error bound relative to the value.

    Returns
    -------
    float
        Eigenvalue, NaN if the matrix is not finite.
    """
    curvature = Curvature(problem, flat)
    if is_dense(problem):
        return _eigenvalues_of_matrix(curvature.dense(full=False), 1).largest
    return top_eigenvalues(curvature.gauss_newton, curvature.size, 1, tolerance).largest


def _eigenvalues_of_matrix(matrix: Array, count: int) -> Top:
    """Return the at most `count` largest eigenvalues of a symmetric matrix; NaN if not finite."""
    from scipy.linalg import eigh  # slow to load

    size = len(matrix)
    count = min(count, size)
    if not np.isfinite(matrix).all():
        return Top.unknown(count, size, size)
    # For a matrix with entries from 1.6 down to 1e-171 the default driver found no eigenvalue.
    # "evd" did not converge for one with entries from 1e4 to 4e8.
    values, vectors = eigh(matrix, driver="ev")
    rounding = size * np.finfo(float).eps * float(np.abs(matrix).sum(axis=1).max())
    rank = slice(None, -count - 1, -1)
    return Top(values[rank].copy(), vectors.T[rank], np.full(count, rounding), size)
