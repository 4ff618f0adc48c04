"""Networks that divide by the lengths or the deviations of their neurons.

Source: homogeneity, equation 1 and section 4. f is 2-homogeneous in (a, b). Gradient flow conserves
a_j^2 - b_j^2 and |v_j| at every neuron.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.errors import InputError
from core.network.activation import BATCH_NORM, NORMALISED
from core.network.parametrisation import Array, Arrays, Block, Shape, TwoLayer, join_flat
from core.network.section import FILE_MEANING, NetworkSection
from core.network.standard import draw_on_sphere, signs
from core.settings import setting


@final
class NormalisedNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j b_j relu(<v_j/|v_j|, x>), all trained"
    source: ClassVar[str] = "homogeneity, equation 1 and section 4"

    divides_by_lengths: ClassVar[bool] = True
    kind: Literal["normalised"] = "normalised"
    init: Literal["paper", "file"] = setting(
        "paper",
        meaning=f"paper: a, b = +-1/sqrt(m) uniformly, v uniform on the sphere; {FILE_MEANING}",
    )


@final
class Normalised(TwoLayer):
    """Network with normalised directions: alpha_j = a_j b_j, u_j = v_j/|v_j|, NaN at v_j = 0."""

    kind = "normalised"
    section = NormalisedNetwork
    compiled = True
    row_space = True
    factored = True
    starts_small = True
    plain_relu = True
    code = NORMALISED

    def __init__(self, section: NormalisedNetwork, shape: Shape, fixed: Arrays) -> None:
        m, d = self.m, self.d = shape.m, shape.d
        self.layout = (Block("a", (m,)), Block("b", (m,)), Block("V", (m, d)))
        self.scaled = 2 * m

    @staticmethod
    def initial(section: NormalisedNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw a, b = +-1/sqrt(m) uniformly, then v uniformly on the sphere.

        Parameters
        ----------
        section, shape, generator : NormalisedNetwork, Shape, Generator
            Settings, not used; width m and dimension d; source of randomness.

        Returns
        -------
        dict of str to array
            "a" and "b" (m,), "V" (m, d) with |v_j| = 1.
        """
        # Balanced, |a_j| = |b_j|, which the flow conserves: it is the mirror flow of u_j = a_j^2
        # from u_j(0) = 1/m (homogeneity, Lemma 3.2).
        scale = shape.m**-0.5
        a, b = scale * signs(generator, shape.m), scale * signs(generator, shape.m)
        return {"a": a, "b": b, "V": draw_on_sphere(generator, shape.m, shape.d)}

    def _unit(self, V: Any) -> tuple[Any, Any]:
        """Return v_j/|v_j|, (m, d), and |v_j|, (m, 1)."""
        norms = ((V * V).sum(axis=1) ** 0.5)[:, None]
        return V / norms, norms

    def effective(self, flat: Any) -> tuple[Any, Any]:
        a, b, V = self.unpack(flat).values()
        return a * b, self._unit(V)[0]

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        (a, b, V), (da, db, dV) = (self.unpack(one).values() for one in (flat, direction))
        unit, norms = self._unit(V)
        return a * db + b * da, (dV - unit * (unit * dV).sum(axis=1)[:, None]) / norms

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        a, b, V = self.unpack(flat).values()
        unit, norms = self._unit(V)
        tangential = (d_U - unit * (unit * d_U).sum(axis=1)[:, None]) / norms
        return join_flat([b * d_alpha, a * d_alpha, tangential])

    def gram(self, flat: Array, inputs: Array) -> Array:
        """Return the tangent kernel; the inner weights' part is orthogonal to each neuron's v_j.

        Parameters
        ----------
        flat, inputs : array (size,), array (n, d)
            Trained parameters and inputs.

        Returns
        -------
        array (n, n)
            Symmetric kernel matrix; a sum over neurons, without 1/m.
        """
        a, b, V = (part.reshape(self.m, -1) for part in self.unpack(flat).values())
        U, norms = self._unit(V)
        z = U @ inputs.T
        outer, w = np.hypot(a, b) * self.activation(z), a * b * self.activation.slopes(z) / norms
        wz = w * z
        return np.asarray(outer.T @ outer + (inputs @ inputs.T) * (w.T @ w) - wz.T @ wz)


# ------------------------------------------------------------------------------------ batch norm
#
# f(x) = sum_j a_j relu(c_j <v_j, x - mu>/N(v_j)), N(v) = sqrt(v' Sigma v + eps), with the mean mu
# and the biased covariance Sigma of the training inputs. Source: batchnorm, section 1.3.
# 2-homogeneous in (a, c); a_j^2 - c_j^2 is constant along gradient flow; with eps = 0 so is |v_j|.


@final
class BatchNormNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j relu(c_j <v_j, x - mu>/N(v_j)), whole-data statistics"
    source: ClassVar[str] = "batchnorm, section 1.3"

    words: ClassVar[str] = "network with batch norm"
    kind: Literal["batch_norm"] = "batch_norm"
    # 0, not the usual 1e-5, which distorts the dyadic points: their variances go down to 4^-d/d.
    eps: float = setting(0.0, meaning="eps in N(v) = sqrt(v' Sigma v + eps)", ge=0, le=1e6)
    normalise: bool = setting(
        True, meaning="false: N(v) = 1, the same network without batch norm, for comparison"
    )
    init: Literal["paper", "file"] = setting(
        "paper", meaning=f"paper: a ~ N(0, 1/m), V ~ N(0, I/d), c = 1; {FILE_MEANING}"
    )


@final
class BatchNorm(TwoLayer):
    """Network with batch norm: alpha_j = a_j, u_j = c_j v_j/N(v_j); N = 1 with `normalise` false.

    Raises InputError where all inputs are equal and eps = 0: N is then zero for every v.
    """

    kind = "batch_norm"
    section = BatchNormNetwork
    compiled = True
    row_space = True
    centred = True
    code = BATCH_NORM
    product = ("a", "c")

    def __init__(self, section: BatchNormNetwork, shape: Shape, fixed: Arrays) -> None:
        m, d = self.m, self.d = shape.m, shape.d
        self.layout = (Block("a", (m,)), Block("c", (m,)), Block("V", (m, d)))
        self.scaled = 2 * m
        # Biased mean of the whole training set, not of batches; test points lose the same mean.
        self.mean = shape.x.mean(axis=0)
        self.eps, self.normalise = section.eps, section.normalise
        centred = shape.x - self.mean
        if self.normalise and self.eps == 0.0 and not centred.any():
            raise InputError(
                "All training inputs are equal, so batch norm divides by zero; "
                "use other data, or network.eps > 0."
            )
        # (Sigma v) = Xc' (Xc v)/n: two thin products for large d, else one square product.
        self.root = centred / np.sqrt(shape.x.shape[0])
        self.sigma = self.root.T @ self.root if d <= 2 * shape.x.shape[0] else None

    @staticmethod
    def initial(section: BatchNormNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw a ~ N(0, 1/m), then V ~ N(0, I/d); c starts at 1.

        Parameters
        ----------
        section, shape, generator : BatchNormNetwork, Shape, Generator
            Settings, not used; width m and dimension d; source of randomness.

        Returns
        -------
        dict of str to array
            "a" and "c" (m,), "V" (m, d).
        """
        a = generator.standard_normal(shape.m) / np.sqrt(shape.m)
        V = generator.standard_normal((shape.m, shape.d)) / np.sqrt(shape.d)
        return {"a": a, "c": np.ones(shape.m), "V": V}

    def inputs(self, x: Array) -> Array:
        return np.asarray(x - self.mean)

    def statistics(self, V: Any) -> tuple[Any, Any]:
        """Return N(v_j) (m, 1) and V Sigma (m, d); N = 1 and zeros without normalisation."""
        if not self.normalise:
            # Derived from V, which gives an array or a tensor of V's type and device.
            return 1.0 + 0.0 * V[:, :1], 0.0 * V
        if self.sigma is not None:
            VS = V @ self.constant(self.sigma, V)
        else:
            root = self.constant(self.root, V)
            VS = (V @ root.T) @ root
        return ((VS * V).sum(axis=1) + self.eps)[:, None] ** 0.5, VS

    def effective(self, flat: Any) -> tuple[Any, Any]:
        a, c, V = self.unpack(flat).values()
        return a, c[:, None] * V / self.statistics(V)[0]

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        (_, c, V), (da, dc, dV) = (self.unpack(one).values() for one in (flat, direction))
        N, VS = self.statistics(V)
        radial = (VS * dV).sum(axis=1)[:, None]
        return da, dc[:, None] * V / N + c[:, None] * (dV / N - V * radial / N**3)

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        _, c, V = self.unpack(flat).values()
        N, VS = self.statistics(V)
        radial = (V * d_U).sum(axis=1)[:, None]
        return join_flat([d_alpha, radial / N, c[:, None] / N * (d_U - VS * radial / N**2)])

    def imbalance(self, flat: Array) -> Array:
        """Return what gradient flow conserves of the outer weights and scales of each neuron.

        Parameters
        ----------
        flat : array (size,)
            Trained parameters.

        Returns
        -------
        array (m,)
            a_j^2 - c_j^2, without the inner weights.
        """
        a, c, _ = self.unpack(flat).values()
        return np.asarray(a**2 - c**2)

    def gram(self, flat: Array, inputs: Array) -> Array:
        """Return the tangent kernel; the inner weights' part is orthogonal to Sigma v_j.

        Parameters
        ----------
        flat, inputs : array (size,), array (n, d)
            Trained parameters, and inputs less the training mean.

        Returns
        -------
        array (n, n)
            Symmetric kernel matrix; a sum over neurons, without 1/m.
        """
        a, c, V = (part.reshape(self.m, -1) for part in self.unpack(flat).values())
        N, VS = self.statistics(V)
        z = self.effective(flat)[1] @ inputs.T
        h, o = self.activation(z), self.activation.slopes(z)
        P, q, w = V @ inputs.T / N, VS / N, a * c * o / N
        wP, wr = w * P, w * (q @ inputs.T)
        lengths = np.linalg.norm(q, axis=1)[:, None] * wP
        cross, scale = wr.T @ wP, a * o * P
        inner = (inputs @ inputs.T) * (w.T @ w) - cross - cross.T + lengths.T @ lengths
        return np.asarray(h.T @ h + scale.T @ scale + inner)

    def compiled_constants(self) -> tuple[Array, float]:
        """Return the covariance of the training inputs, and eps.

        Returns
        -------
        tuple of array (d, d) and float
            Sigma and eps in N(v)^2 = v' Sigma v + eps; zeros (1, 1) and 1 with `normalise` false.
        """
        if not self.normalise:
            return np.zeros((1, 1)), 1.0  # N(v)^2 = v' 0 v + 1
        return (self.root.T @ self.root if self.sigma is None else self.sigma), self.eps
