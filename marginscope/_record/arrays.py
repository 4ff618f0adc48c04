"""Arrays of any library as NumPy's own: the examples of a recording, and its network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.run_files.frame import digest
from core.run_files.networks import UNKNOWN, Form, activation_value, split_vector
from core.run_files.schema import MAX_ELEMENTS

Floats = NDArray[Any]
MAX_CLASSES = 10_000


def as_numpy(value: Any, name: str) -> Floats:
    """Return a value as a float array: float32 if it has no more digits, else float64.

    Tensors of PyTorch and JAX are detached and fetched from their device. The array has the shape
    of the value, and may share its memory. `name` is for the message: raises InputError for
    anything but an array of real numbers.

    >>> as_numpy([[1, 2]], "x").tolist()
    [[1.0, 2.0]]
    """
    try:
        if callable(getattr(value, "detach", None)):  # a tensor of PyTorch
            value = value.detach().cpu()
            value = (value.float() if "bfloat16" in str(value.dtype) else value).numpy()
        array = np.asarray(value)
        if array.dtype.name in ("bfloat16", "float16", "float32"):
            return array.astype(np.float32, copy=False)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"it holds {array.dtype}")
        return array.astype(np.float64, copy=False)
    except Exception as error:  # other libraries may raise anything
        raise InputError(
            f"{name} is not an array of real numbers ({' '.join(str(error).split())[:200]}); give "
            "an array of NumPy, or a tensor of PyTorch or JAX."
        ) from error


def check_finite(array: Floats, name: str) -> None:
    """Raise InputError, naming the place, for NaN and infinity."""
    finite = np.isfinite(array)
    if not finite.all():
        place = tuple(int(part) for part in np.argwhere(~finite)[0])
        raise InputError(f"{name} holds {array[place]} at {place}; give finite numbers only.")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Examples of a loop: x (n, d), y (n,), and test points.

    y are -1 and +1 for two classes (k = 1), else class numbers 0, ..., k - 1. If `real`, y are
    targets, any finite numbers, of one output.
    """

    x: Floats
    y: Floats
    k: int = 1
    x_test: Floats | None = None
    y_test: Floats | None = None
    real: bool = False

    @property
    def d(self) -> int:
        """Number of coordinates of a point."""
        return int(self.x.shape[1])

    @property
    def arrays(self) -> dict[str, Floats]:
        """The arrays of the run file, by name."""
        arrays = {"x": self.x, "y": self.y, "x_test": self.x_test, "y_test": self.y_test}
        return {name: array for name, array in arrays.items() if array is not None}

    @property
    def content(self) -> str:
        """SHA-256 of all arrays, as the program's own data sets have it."""
        return digest(self.arrays.values())


def examples(x: Any, y: Any, test: tuple[Any, Any] = (None, None), real: bool = False) -> Examples:
    """Check the examples that a loop learns from.

    Raises InputError for shapes that do not fit, values that are not finite, and other labels.

    Parameters
    ----------
    x : array (n, d)
        Inputs.
    y : array (n,) or (n, 1)
        Labels -1 and +1, 0 and 1, or class numbers 0, ..., k - 1.
    test : pair
        x_test (N, d) and y_test (N,), or (None, None).
    real : bool
        True if y are real targets, which are kept unchanged.

    Returns
    -------
    checked : Examples
        Labels 0 and 1 of two classes have become -1 and +1.
    """
    points = _points(x, "x")
    labels = _labels(y, "y", points.shape[0])
    k = 1 if real else _classes(labels)
    own = labels if real else _file_labels(labels, k, "y")
    if test[0] is None and test[1] is None:
        return Examples(points, own, k, real=real)
    if test[0] is None or test[1] is None:
        raise InputError("x_test and y_test belong together; give both, or neither.")
    tests = _points(test[0], "x_test")
    if tests.shape[1] != points.shape[1]:
        raise InputError(
            f"x_test has {tests.shape[1]} columns and x has {points.shape[1]}; they must agree."
        )
    test_labels = _labels(test[1], "y_test", tests.shape[0])
    test_labels = test_labels if real else _file_labels(test_labels, k, "y_test")
    return Examples(points, own, k, tests, test_labels, real)


def _points(value: Any, name: str) -> Floats:
    array = np.array(as_numpy(value, name), dtype=np.float64)
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(
            f"{name} has shape {array.shape}; give a table (n, d) with a row for each example."
        )
    if array.size > MAX_ELEMENTS:
        raise InputError(
            f"{name} has {array.size:.3g} values; a run file holds at most {MAX_ELEMENTS:.0e}."
        )
    check_finite(array, name)
    return array


def _labels(value: Any, name: str, n: int) -> Floats:
    array = np.array(as_numpy(value, name), dtype=np.float64)
    # (n, 1) is the shape that PyTorch's losses need beside outputs of this shape.
    array = array[:, 0] if array.shape == (n, 1) else array
    if array.shape != (n,):
        raise InputError(
            f"{name} has shape {array.shape}; give one label for each of {n} examples."
        )
    check_finite(array, name)
    return array


def _classes(y: Floats) -> int:
    """Return 1 for two classes, else the number of classes."""
    values = set(np.unique(y).tolist())
    if values <= {-1.0, 1.0} or values <= {0.0, 1.0}:
        return 1
    if values == {1.0, 2.0}:
        raise InputError(
            "y holds 1 and 2; labels are -1 and +1, or 0 and 1, or class numbers from 0: give "
            "y - 1."
        )
    largest = max(values)
    are_classes = all(value == int(value) and value >= 0.0 for value in values)
    if not are_classes or largest >= MAX_CLASSES:
        odd = next((v for v in sorted(values) if v not in (-1.0, 1.0)), largest)
        raise InputError(
            f"y has the label {odd:g}; labels are -1 and +1, or 0 and 1, or the class numbers "
            f'0, 1, ..., k - 1 with k <= {MAX_CLASSES}; with targets = "real" y is any number.'
        )
    return int(largest) + 1


def _file_labels(y: Floats, k: int, name: str) -> Floats:
    """Return labels as a run file holds them."""
    values = set(np.unique(y).tolist())
    if k == 1:
        if not (values <= {-1.0, 1.0} or values <= {0.0, 1.0}):
            odd = sorted(values - {-1.0, 1.0})[0]
            raise InputError(f"{name} has the label {odd:g}; labels are -1 and +1, or 0 and 1.")
        return np.where(y > 0.0, 1.0, -1.0)
    if any(value != int(value) or not 0.0 <= value < k for value in values):
        raise InputError(f"{name} has labels other than the class numbers 0 to {k - 1}.")
    return y


def inner_weights(value: Any, d: int) -> Floats:
    """Return inner weights V (m, d). Raises InputError for another shape."""
    V = as_numpy(value, "V")
    if V.ndim != 2 or V.shape[1] != d or 0 in V.shape:
        is_transposed = V.ndim == 2 and V.shape[0] == d
        hint = "; its rows must be the neurons, so give V.T" if is_transposed else ""
        raise InputError(f"V has shape {V.shape}; it must be (m, {d}){hint}.")
    return V


def outer(value: Any, m: int, k: int) -> Floats:
    """Return outer weights as a run file holds them. Raises InputError for another shape.

    Parameters
    ----------
    value : array (m,), (1, m) or (m, 1); (k, m) for k >= 3
        Weights in the shape of PyTorch's layers.
    m, k : int
        Numbers of neurons and of outputs, 1 output for two classes.

    Returns
    -------
    array (m,), or (m, k) for k >= 3
    """
    a = as_numpy(value, "a")
    if k == 1:
        if a.shape not in ((m,), (1, m), (m, 1)):
            hint = ""
            if a.shape in ((2, m), (m, 2)):
                hint = "; of two logits give the difference of their rows, and the logistic loss"
            raise InputError(f"a has shape {a.shape}; it must be ({m},) or (1, {m}){hint}.")
        return a.reshape(m)
    if a.shape != (k, m):
        hint = "; class numbers count from 0" if a.shape == (k - 1, m) else ""
        raise InputError(
            f"a has shape {a.shape}; it must be (k, m) = ({k}, {m}), a row for each class{hint}."
        )
    return a.T


def vector(value: Any, size: int, name: str) -> Floats:
    """Return an array of so many numbers. Raises InputError for another number.

    Parameters
    ----------
    value : array (size,), (size, 1) or (1, size)
    size, name : int, str
        Length, and name for the message.

    Returns
    -------
    array (size,)
    """
    array = as_numpy(value, name)
    if array.size != size or array.ndim > 2:
        raise InputError(f"{name} has shape {array.shape}; it must be ({size},).")
    return array.reshape(size)


# ----------------------------------------------------------------------------------- the network

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
    def fixed_arrays(self) -> dict[str, NDArray[np.float64]]:
        """Arrays that are not trained, by name, as float64."""
        return {
            name: np.asarray(self.parts[name], np.float64) for name, _ in self.form.fixed_arrays
        }

    def flatten(self, dtype: np.dtype[Any]) -> Floats:
        """Copy the trained arrays into one vector."""
        layout = self.form.layout
        with np.errstate(over="ignore"):
            return np.concatenate(
                [self.parts[name].reshape(-1).astype(dtype) for name, _ in layout]
            )

    def with_values(self, flat: Floats) -> NetworkArrays:
        """Return the same network with the trained arrays of a vector, whose memory they share."""
        return NetworkArrays(self.form, self.parts | split_vector(flat, self.form.layout))

    def outputs(self, x: Floats) -> Floats:
        """Return f(x), (n,) or (n, k), at x (n, d); NaN for an activation without a name."""
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
    scales_c: bool = True  # `scale` also multiplies the output biases c

    @property
    def degree(self) -> int:
        """Degree of phi; 0 if phi is not homogeneous."""
        return DEGREES.get(self.activation, 0)

    def shares(self, trained: bool) -> tuple[float, float]:
        """Return the factors of V and b, and of a, that make up `scale`.

        They are equal where a is trained and f homogeneous. Gradient descent on the file's weights
        is then that of the loop with another step size.
        """
        if not trained or not self.degree:
            return 1.0, self.scale
        each = abs(self.scale) ** (1.0 / (self.degree + 1))
        return each, math.copysign(each, self.scale)

    def step_factor(self, trained: bool, offset: bool) -> float | None:
        """Return the step size of gradient descent on the file's weights over that of the loop.

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

        Raises InputError for shapes that do not fit, or missing outer weights.

        Parameters
        ----------
        weights : mapping
            V (m, d), a, b (m,) and c (k,) as `marginscope.record` takes them; a, b, c may be None.
        a_fixed : array or None
            Outer weights where a is None: they are not trained.
        examples : Examples
            Its d and k decide the shapes.

        Returns
        -------
        NetworkArrays
            `scale` is shared among its arrays.
        """
        k, d = examples.k, int(examples.x.shape[1])
        V = inner_weights(weights["V"], d)
        m = int(V.shape[0])
        is_trained = weights["a"] is not None
        if not is_trained and a_fixed is None:
            raise InputError("a, the outer weights, are missing; give them with V, or as a_fixed.")
        a = outer(weights["a"] if is_trained else a_fixed, m, k)
        inner, of_outer = self.shares(is_trained)
        parts: dict[str, Floats] = {"V": V if inner == 1.0 else inner * V}
        parts["A" if k > 1 else "a"] = a = a if of_outer == 1.0 else of_outer * a
        if weights["b"] is not None:
            parts["b"] = inner * vector(weights["b"], m, "b")
        if weights["c"] is not None:
            factor = self.scale if self.scales_c else 1.0
            parts["c"] = factor * vector(weights["c"], k, "c")
        alike = not is_trained and k == 1 and np.allclose(np.abs(a), m**-0.5, rtol=1e-12, atol=0.0)
        form = Form(
            n=int(examples.x.shape[0]),
            d=d,
            m=m,
            k=k,
            activation=self.activation,
            slope=self.slope,
            biases="b" in parts,
            offset="c" in parts,
            outer=is_trained,
            alike=alike,
        )
        return NetworkArrays(form, parts)


def describe_scale(scale: float, m: int) -> str:
    """Return a scale as a program writes it.

    >>> describe_scale(0.1, 100), describe_scale(0.25, 100)
    ('m**-0.5', '0.25')
    """
    formulas = {1.0 / m: "1/m", m**-0.5: "m**-0.5", m**0.5: "m**0.5", float(m): "m", 1.0: "1"}
    return formulas.get(scale, f"{scale:.6g}")


def describe_shapes(form: Form) -> str:
    """Return the shapes of a network's arrays, for a sentence."""
    return ", ".join(f"{name} {size}" for name, size in (*form.layout, *form.fixed_arrays))
