"""Deep linear network f(x) = <W_L ... W_1, X>, whose modes have exact solutions.

Source: Saxe, McClelland and Ganguli 2014; Arora, Cohen and Hazan 2018. L-homogeneous. Gradient flow
of any loss conserves W_(l+1)'W_(l+1) - W_l W_l' (docs/theory.md, 4.17). X (k, d/k) is the input x,
row after row. With k = 1 the product is a row, f(x) = W_L ... W_1 x, and the last layer is a'. With
k > 1 an example (x_i, c) of X = e_c x_i' asks for the output c of the map W_L ... W_1 at x_i.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.errors import RuleError
from core.network.linear_predictor import LinearPredictor
from core.network.parametrisation import Array, Arrays, Block, Shape, join_flat, squared_norms
from core.network.section import FILE_MEANING, NetworkSection
from core.network.standard import draw_on_sphere
from core.settings import setting

RANK = 1e-12  # of the largest singular value


@final
class DeepLinearNetwork(NetworkSection):
    title: ClassVar[str] = "deep linear network f(x) = <W_L ... W_1, X>, all trained"
    source: ClassVar[str] = "Saxe, McClelland and Ganguli 2014; Arora, Cohen and Hazan 2018"
    shrinks: ClassVar[str] = "m or layers"

    words: ClassVar[str] = "deep linear network"
    kind: Literal["deep_linear"] = "deep_linear"
    layers: int = setting(3, meaning="L, number of weight matrices", ge=2, le=16)
    init: Literal["aligned", "paper", "balanced", "random", "file"] = setting(
        "aligned",
        meaning="balanced: each W_l of rank one and norm scale^(1/L), so that f = scale <w, x> "
        "with w uniform on the sphere; aligned or paper: the same with w along "
        "sum_i y_i x_i; with rows > 1 all singular values of the product are scale, and its "
        "singular vectors random, or those of sum_i y_i X_i; random: all entries "
        f"N(0, scale^(2/L)/m); {FILE_MEANING}",
    )
    rows: int = setting(
        1,
        meaning="k, rows of W_L: x is read as a matrix X (k, d/k), row after row, and "
        "f(x) = <W_L ... W_1, X>; 1: f(x) = W_L ... W_1 x",
        ge=1,
        le=10_000,
        added=True,
    )
    scale: float = setting(1e-3, meaning="size of the product of the layers", gt=0, le=1e6)

    @property
    def small_start(self) -> bool:
        return self.init != "file"

    def weights(self, d: int, k: int) -> int:
        m = self.m or 1
        return m * (d // self.rows + (self.layers - 2) * m + self.rows * k)

    def check_dimension(self, d: int) -> None:
        if d % self.rows:
            raise RuleError(
                f"network.rows = {self.rows} does not divide data.d = {d}, so that x is not a "
                f"matrix of {self.rows} rows; choose a divisor of {d}",
                keys=("network.rows", "data.d"),
            )


def draw_frames(generator: Generator, count: int, m: int, rank: int) -> list[Array]:
    """Draw matrices of orthonormal columns, uniformly.

    Parameters
    ----------
    generator : Generator
        Source of randomness; its state advances.
    count : int
        Number of matrices.
    m, rank : int
        Rows and columns of each, rank <= m.

    Returns
    -------
    list of arrays (m, rank)
        `count` matrices; for rank 1 their columns are uniform on the sphere.
    """
    if rank == 1:
        return [unit[:, None] for unit in draw_on_sphere(generator, count, m)]
    frames = []
    for _ in range(count):
        Q, R = np.linalg.qr(generator.standard_normal((m, rank)))
        frames.append(Q * np.sign(np.diag(R)))  # unique, and therefore uniform
    return frames


def singular_frames(S: Array) -> tuple[Array, Array, Array]:
    """Return the singular vectors and values of a matrix (k, d) without those of value 0.

    Parameters
    ----------
    S : array (k, d)
        Matrix.

    Returns
    -------
    tuple of arrays
        Left vectors (k, r), values (r,) from the largest on, and right vectors (d, r), with r the
        numerical rank: values above RANK times the largest.
    """
    left, values, right = np.linalg.svd(S, full_matrices=False)
    mask = values > RANK * values.max(initial=0.0)
    return left[:, mask], values[mask], right[mask].T


@final
class DeepLinear(LinearPredictor):
    """Deep linear network with parameters W1 (m, d/k), W2, ... (m, m), and WL (k, m) or a (m,).

    >>> net = DeepLinear(DeepLinearNetwork(m=1, layers=3), Shape(1, np.zeros((5, 2))), {})
    >>> net.coefficients(np.array([1.0, 2.0, 3.0, 5.0])).tolist()  # 5 * 3 * (1, 2)
    [15.0, 30.0]
    >>> net = DeepLinear(DeepLinearNetwork(m=1, layers=2, rows=2), Shape(1, np.zeros((5, 4))), {})
    >>> net.coefficients(np.array([1.0, 2.0, 3.0, 5.0])).tolist()  # (3, 5)' (1, 2), row after row
    [3.0, 6.0, 5.0, 10.0]
    """

    kind = "deep_linear"
    section = DeepLinearNetwork

    def __init__(self, section: DeepLinearNetwork, shape: Shape, fixed: Arrays) -> None:
        section.check_dimension(shape.d)
        m, self.m, self.d, self.degree = shape.m, shape.m, shape.d, section.layers
        self.rows = section.rows
        self.layout = (
            Block("W1", (m, self.d // self.rows)),
            *(Block(f"W{place}", (m, m)) for place in range(2, self.degree)),
            Block("a", (m,)) if self.rows == 1 else Block(f"W{self.degree}", (self.rows, m)),
        )
        self.scaled = self.size

    @staticmethod
    def initial(section: DeepLinearNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw a frame of each hidden layer, and those of both ends; or all entries.

        Parameters
        ----------
        section : DeepLinearNetwork
            Settings. `init` "random" makes the entries N(0, scale^(2/L)/m); else all singular
            values of each W_l are scale^(1/L), or 0.
        shape, generator : Shape, Generator
            Width m, inputs x (n, d) and targets y (n,); source of randomness. The ends of an
            aligned start are the singular frames of sum_i y_i X_i, if y is known and it is not 0.

        Returns
        -------
        dict of str to array
            W_1, ..., W_L by name, in the shapes of `layout`.
        """
        size, net = section.scale ** (1.0 / section.layers), DeepLinear(section, shape, {})
        if section.init == "random":
            sd = size / np.sqrt(shape.m)
            return {one.name: sd * generator.standard_normal(one.shape) for one in net.layout}
        k, columns = net.rows, shape.d // net.rows
        rank = min(k, columns, shape.m)
        frames = draw_frames(generator, section.layers - 1, shape.m, rank)
        last = np.ones((1, 1)) if k == 1 else draw_frames(generator, 1, k, rank)[0]
        first = draw_frames(generator, 1, columns, rank)[0]
        pull = np.zeros(shape.d) if shape.y is None else shape.y @ shape.x
        if section.init != "balanced" and float(np.linalg.norm(pull)) > 0.0:
            first, last = net._target_frames(pull, rank)
            frames = [frame[:, : first.shape[1]] for frame in frames]
        ends = [first, *frames, last]
        return {
            block.name: (size * (after @ before.T)).reshape(block.shape)
            for block, (before, after) in zip(net.layout, pairwise(ends), strict=True)
        }

    def _target_frames(self, pull: Array, rank: int) -> tuple[Array, Array]:
        """Return at most `rank` right and left singular vectors of sum_i y_i X_i = `pull` (d,)."""
        if self.rows == 1:
            return (pull / float(np.linalg.norm(pull)))[:, None], np.ones((1, 1))
        left, _, right = singular_frames(pull.reshape(self.rows, -1))
        return right[:, :rank], left[:, :rank]

    def matrices(self, flat: Any) -> list[Any]:
        """Return W_1, ..., W_L, the last one (k, m)."""
        *inner, last = self.unpack(flat).values()
        return [*inner, last.reshape(self.rows, self.m)]

    def multiply_layers(self, flat: Any) -> Any:
        """Return W_L ... W_1, (k, d/k)."""
        *inner, product = self.matrices(flat)
        for W in reversed(inner):
            product = product @ W
        return product

    def coefficients(self, flat: Any) -> Any:
        return self.multiply_layers(flat).reshape(-1)

    def push_coefficients(self, flat: Array, direction: Array) -> Array:
        (*inner, product), (*changes, along) = self.matrices(flat), self.matrices(direction)
        for W, change in zip(reversed(inner), reversed(changes), strict=True):
            along = along @ W + product @ change
            product = product @ W
        return np.asarray(along.reshape(-1))

    def pull_coefficients(self, flat: Array, d_beta: Array) -> Array:
        *inner, product = self.matrices(flat)
        # W_l ... W_1 G', for the gradient G (k, d/k) in the product
        columns = [d_beta.reshape(self.rows, -1).T]
        for W in inner:
            columns.append(W @ columns[-1])
        slopes = [columns.pop().T]
        for W, column in zip(reversed(inner), reversed(columns), strict=True):
            slopes.append(product.T @ column.T)
            product = product @ W
        return np.asarray(join_flat(slopes[::-1]))

    def invariants(self, flat: Array) -> Array:
        layers = self.matrices(flat)
        differences = [after.T @ after - before @ before.T for before, after in pairwise(layers)]
        return np.asarray(join_flat(differences))

    def imbalance(self, flat: Array) -> Array:
        """Return the difference of squared norms of each neuron of the last hidden layer.

        Parameters
        ----------
        flat : array (size,)
            Trained parameters.

        Returns
        -------
        array (m,)
            |a_j|^2 - |w_j|^2 of column a_j of W_L and row w_j of the matrix before.
        """
        *_, W, last = self.matrices(flat)
        return np.asarray(squared_norms(last.T) - squared_norms(W))

    def nodes(self, flat: Array) -> tuple[Array, Array]:
        """Return the neurons of the last hidden layer, with sum_j s_j u_j = beta.

        Parameters
        ----------
        flat : array (size,)
            Trained parameters.

        Returns
        -------
        s : array (m,)
            a with k = 1; with k > 1 the length |a_j| of each column of W_L.
        U : array (m, d)
            Rows of W_(L-1) ... W_1 with k = 1; with k > 1 the matrix a_j/|a_j| times that row, row
            after row, and 0 for a_j = 0.
        """
        *inner, last = self.matrices(flat)
        U = inner[0]
        for W in inner[1:]:
            U = W @ U
        if self.rows == 1:
            return np.asarray(last[0]), np.asarray(U)
        sizes = np.sqrt(squared_norms(last.T))
        units = (last / np.where(sizes > 0.0, sizes, 1.0)).T
        return sizes, (units[:, :, None] * U[:, None, :]).reshape(self.m, self.d)
