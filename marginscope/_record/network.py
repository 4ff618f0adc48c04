"""Network of a recording: its arrays by their names in a run file, and its outputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.run_files.networks import UNKNOWN, Form, activation_value
from marginscope._record import arrays
from marginscope._record.arrays import Examples

Floats = NDArray[Any]
Weights = Mapping[str, Any]
DEGREES = {"relu": 1, "leaky_relu": 1, "linear": 1, "quadratic": 2}


@final
@dataclass(frozen=True, slots=True, eq=False)
class NetworkArrays:
    """Arrays by their names in a run file, a (m,) or A (m, k), and the form that they have."""

    form: Form
    parts: dict[str, Floats]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the trained arrays."""
        return np.result_type(*(self.parts[name] for name, _ in self.form.layout))

    @property
    def fixed(self) -> dict[str, NDArray[np.float64]]:
        """Arrays that are not trained."""
        return {name: np.asarray(self.parts[name], np.float64) for name, _ in self.form.fixed}

    def flatten(self, dtype: np.dtype[Any]) -> Floats:
        """Copy the trained arrays into one vector."""
        layout = self.form.layout
        with np.errstate(over="ignore"):
            return np.concatenate(
                [self.parts[name].reshape(-1).astype(dtype) for name, _ in layout]
            )

    def with_values(self, flat: Floats) -> NetworkArrays:
        """The same network with the trained arrays of a vector, which it shares."""
        parts, start = dict(self.parts), 0
        for name, shape in self.form.layout:
            size = math.prod(shape)
            parts[name] = flat[start : start + size].reshape(shape)
            start += size
        return NetworkArrays(self.form, parts)

    def outputs(self, x: Floats) -> Floats:
        """f(x), (n,) or (n, k); NaN for an activation without a name."""
        parts = {name: part.astype(np.float64) for name, part in self.parts.items()}
        z = x @ parts["V"].T + parts.get("b", 0.0)
        if self.form.activation == UNKNOWN:
            z = np.full(z.shape, np.nan)
        else:
            z = activation_value(self.form.activation, self.form.slope, z)
        f = z @ parts["A" if self.form.k > 1 else "a"]
        c = parts.get("c")
        return f if c is None else f + (c if self.form.k > 1 else c[0])


@final
@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """phi, its slope, and the factor of the outputs: f(x) = scale sum_j a_j phi(<v_j, x> + b_j)."""

    activation: str
    slope: float
    scale: float = 1.0
    scales_c: bool = True

    @property
    def degree(self) -> int:
        """Degree of phi; 0 if phi is not homogeneous."""
        return DEGREES.get(self.activation, 0)

    def shares(self, trained: bool) -> tuple[float, float]:
        """Factors of V and b, and of a, that make up `scale`.

        They are equal where a is trained and f homogeneous, so that gradient descent on the file's
        weights is that of the loop with another step size.
        """
        if not trained or not self.degree:
            return 1.0, self.scale
        each = abs(self.scale) ** (1.0 / (self.degree + 1))
        return each, math.copysign(each, self.scale)

    def step_factor(self, trained: bool, offset: bool) -> float | None:
        """Step size of gradient descent on the file's weights over that of the loop.

        None if the file's weights do not follow gradient descent.
        """
        if self.scale == 1.0:
            return 1.0
        if not trained:
            return None if offset and self.scales_c else 1.0
        inner, outer = self.shares(trained)
        return inner**2 if inner == abs(outer) and not offset else None

    def arrange(self, weights: Weights, a_fixed: Any, examples: Examples) -> NetworkArrays:
        """Check the arrays of a frame, and name them as in a run file.

        Raises InputError for shapes that do not fit.
        """
        k, d = examples.k, int(examples.x.shape[1])
        V = arrays.hidden(weights["V"], d)
        m = int(V.shape[0])
        given = weights["a"] is not None
        if not given and a_fixed is None:
            raise InputError("a, the outer weights, are missing; give them with V, or as a_fixed.")
        a = arrays.outer(weights["a"] if given else a_fixed, m, k)
        inner, outer = self.shares(given)
        parts: dict[str, Floats] = {"V": V if inner == 1.0 else inner * V}
        parts["A" if k > 1 else "a"] = a = a if outer == 1.0 else outer * a
        if weights["b"] is not None:
            parts["b"] = inner * arrays.vector(weights["b"], m, "b")
        if weights["c"] is not None:
            factor = self.scale if self.scales_c else 1.0
            parts["c"] = factor * arrays.vector(weights["c"], k, "c")
        alike = not given and k == 1 and np.allclose(np.abs(a), m**-0.5, rtol=1e-12, atol=0.0)
        form = Form(
            n=int(examples.x.shape[0]),
            d=d,
            m=m,
            k=k,
            activation=self.activation,
            slope=self.slope,
            biases="b" in parts,
            offset="c" in parts,
            outer=given,
            alike=alike,
        )
        return NetworkArrays(form, parts)


def describe_scale(scale: float, m: int) -> str:
    """A scale as a program writes it.

    >>> describe_scale(0.1, 100), describe_scale(0.25, 100)
    ('m**-0.5', '0.25')
    """
    known = {1.0 / m: "1/m", m**-0.5: "m**-0.5", m**0.5: "m**0.5", float(m): "m", 1.0: "1"}
    return known.get(scale, f"{scale:.6g}")


def describe_shapes(form: Form) -> str:
    """Shapes of a network's arrays, for a sentence."""
    return ", ".join(f"{name} {size}" for name, size in (*form.layout, *form.fixed))
