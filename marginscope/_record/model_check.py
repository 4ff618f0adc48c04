"""Activation and scale of a network, found by one forward pass through the user's own model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.run_files.networks import ACTIVATIONS, LEAKY, UNKNOWN, activation_value
from marginscope._record import arrays
from marginscope._record.arrays import Examples, NetworkArrays, NetworkOptions
from marginscope._record.losses import ANY, LOGARITHMS, LOGITS, PROBABILITIES, SHIFTED

Floats = NDArray[np.float64]
MOST_ROWS = 256  # rows of x in a forward pass
# Relative to |z|: rounding in tails of GELU and similar is not relative to phi(z). Float32 GELU is
# off by 5e-7 at z = -3, where phi is -.004 (PyTorch 2.13.0, AMD EPYC with AVX-512).
TAILS = 1e-2
# Relative to the allowed error: a network that programs commonly use replaces the fitted one if its
# error is at most 1.5 times as large, or below 5 %.
WORSE, AS_GOOD = 1.5, 5e-2
TINY = 1e-300  # where outputs are 0
PROBES = 32  # random points of each length, in addition
REACH = 3.0  # typical |<v, x>| of the longer probes, at which activations differ
# Relative errors of a forward pass by floating-point type.
ERRORS = {"float64": 1e-9, "float32": 1e-4}
# TF32, which torch.set_float32_matmul_precision enables; half precision.
GPU_ERROR, COARSE_ERROR = 2e-3, 4e-2
USUAL = (
    "biases that were not given, transposed weights, a final sigmoid or softmax that the loss "
    "does not expect, a skip connection, a normalisation, an inner factor such as 1/sqrt(d), or "
    "another activation"
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class ModelOutputs:
    """Outputs f (N, k) of the user's model at points (N, d), and their relative error."""

    x: Floats
    f: Floats
    error: float


@final
@dataclass(frozen=True, slots=True)
class Fit:
    """Options, their largest error over the allowed one, and the largest error itself."""

    options: NetworkOptions
    excess: float
    difference: float


def identify(
    model: Callable[[Any], Any],
    weights: Mapping[str, Any],
    a_fixed: Any,
    examples: Examples,
    options: NetworkOptions,
    search: bool,
    outputs: str = ANY,
) -> tuple[NetworkOptions, str]:
    """Find the activation and the scale with which the weights give the model's outputs.

    Parameters
    ----------
    model : callable
        Network of the loop: x (N, d) to outputs (N,), (N, 1) or (N, k).
    weights : mapping
        V, a, b and c as `marginscope.record` takes them; b and c may be None.
    a_fixed : array
        Outer weights where a is None.
    examples : Examples
        Examples of the loop.
    options : NetworkOptions
        Activation and slope that the user named, or the usual ones.
    search : bool
        True to try all activations, False to find the scale alone.
    outputs : str
        Outputs that the loop's loss takes, a key of `HEADS`.

    Returns
    -------
    tuple[NetworkOptions, str]
        Options that give the model's outputs, and "". If none do, the activation is unknown, and
        the sentence says by how much the nearest network differs.

    Raises
    ------
    InputError
        The model cannot be called, or its outputs have another shape.
    """
    names = [options.activation]
    if search:
        names = ["relu", *(name for name in ACTIVATIONS if name not in {"linear", *LEAKY})]
    plain = replace(options, activation="linear", scale=1.0)
    passed = _call_model(model, weights["V"], examples)
    network = plain.arrange(weights, a_fixed, examples)
    if not any(network.parts[name].any() for name in ("a", "A") if name in network.parts):
        return options, ""  # f = 0 for every activation: compared again at later frames
    fits = [
        fit
        for head in HEADS[outputs]
        for name in names
        if name != UNKNOWN
        for fit in _fit(name, options, search, network, passed, head)
    ]
    best = min(fits, key=lambda fit: fit.excess, default=None)
    if best is None and names != [UNKNOWN]:
        return replace(options, activation=UNKNOWN), (
            f"model has outputs up to {np.abs(passed.f).max():.2g}, but the loss takes "
            "probabilities: a final sigmoid or softmax is missing, or the loss is wrong"
        )
    if best is None:
        return options, ""
    if best.excess <= 1.0:
        # The first of the fits that are about equally good: common numbers come first.
        limit = max(WORSE * best.excess, AS_GOOD)
        return next(fit.options for fit in fits if fit.excess <= limit), ""
    near = best.options
    return replace(options, activation=UNKNOWN), (
        "model's outputs are not those of a network of these weights: the nearest, "
        f"{near.activation} with scale = {near.scale:.4g}, differs by {best.difference:.2g}, "
        f"while outputs reach {np.abs(passed.f).max():.2g}; usual causes are {USUAL}"
    )


def _identity(f: Floats) -> Floats:
    return f


def _logits(f: Floats) -> Floats:
    """Return the logits of probabilities (N, 1); NaN for several outputs, or others."""
    if f.shape[1] > 1 or not ((f > 0.0) & (f < 1.0)).all():
        return np.full(f.shape, np.nan)
    return np.log(f) - np.log1p(-f)


def _centre(f: Floats) -> Floats:
    """Subtract the mean over classes, which softmax does not see; NaN for one output."""
    return f - f.mean(axis=1, keepdims=True) if f.shape[1] > 1 else np.full(f.shape, np.nan)


def _log_centred(f: Floats) -> Floats:
    """Take logarithms of probabilities, and subtract their mean over classes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _centre(np.log(f)) if (f > 0.0).all() else np.full(f.shape, np.nan)


# Functions that a model may apply to its outputs without being another network, by the loss's
# inputs.
HEADS: dict[str, tuple[Callable[[Floats], Floats], ...]] = {
    LOGITS: (_identity,),
    SHIFTED: (_identity, _centre),
    PROBABILITIES: (_logits,),
    LOGARITHMS: (_centre,),
    ANY: (_identity, _logits, _centre, _log_centred),
}


def _fit(
    name: str,
    near: NetworkOptions,
    search: bool,
    network: NetworkArrays,
    passed: ModelOutputs,
    head: Callable[[Floats], Floats],
) -> Iterator[Fit]:
    """Fit f = s phi(z) A + offset, and of ReLUs the slope on the left too.

    The numbers that a program may have written come before those that were fitted.
    """
    target = head(passed.f)
    if not np.isfinite(target).all():
        return
    tail = _identity if head in (_identity, _logits) else _centre
    parts = {key: part.astype(np.float64) for key, part in network.parts.items()}
    A = parts["A"] if network.form.k > 1 else parts["a"][:, None]
    c = parts.get("c", np.zeros(A.shape[1]))
    z = passed.x @ parts["V"].T + parts.get("b", 0.0)
    slopes = [near.slope]
    if search and name == "relu":
        bases = [tail(np.maximum(z, 0.0) @ A), tail(np.minimum(z, 0.0) @ A)]
        s, below = _coefficients(bases, target, "c" in parts)
        slopes = _slopes_near(below / s if s else 0.0, near, passed.error)
    for slope in slopes:
        called = name
        if search and name == "relu":
            called = {0.0: "relu", 1.0: "linear"}.get(slope, "leaky_relu")
        hidden_values = activation_value(called, slope, z)
        (fitted,) = _coefficients([tail(hidden_values @ A)], target, "c" in parts)
        for scale in _scales_near(fitted or near.scale, near.scale, len(A), passed):
            # Tails of smooth activations are differences of larger numbers.
            sizes = np.maximum(np.abs(hidden_values), TAILS * np.abs(z)) @ np.abs(A)
            room = np.abs(scale) * sizes.max(axis=1) + np.abs(c).max()
            for scales_c in (True, False):
                f = tail(scale * (hidden_values @ A) + (scale if scales_c else 1.0) * c)
                options = NetworkOptions(called, slope, scale, scales_c)
                yield _judge(options, f, target, room, passed.error, head)


def _judge(
    options: NetworkOptions,
    f: Floats,
    target: Floats,
    room: Floats,
    error: float,
    head: Callable[[Floats], Floats],
) -> Fit:
    """Return the fit of outputs f to `target`, (N, k); `room` (N,) bounds the terms they sum."""
    gap = np.abs(f - target).max(axis=1)
    allowed = error * room + TINY
    if head in (_logits, _log_centred):  # rounding of probabilities near 0 and 1
        allowed = allowed + error * np.exp(np.abs(target).max(axis=1).clip(max=700.0))
    excess = float(np.nan_to_num(gap / allowed, nan=np.inf).max())
    return Fit(options, excess, float(gap.max()))


def _coefficients(bases: list[Floats], f: Floats, offset: bool) -> tuple[float, ...]:
    """Return the least-squares coefficients of f by `bases`, each (N, k).

    With `offset` each class may have a constant besides, which is not returned.
    """
    columns = [base - base.mean(axis=0) if offset else base for base in bases]
    target = f - f.mean(axis=0) if offset else f
    matrix = np.stack([column.ravel() for column in columns], axis=1)
    return tuple(float(s) for s in np.linalg.lstsq(matrix, target.ravel(), rcond=None)[0])


def _slopes_near(value: float, near: NetworkOptions, error: float) -> list[float]:
    """Return slopes that a program may have written, within a relative error of a fitted one.

    In order of preference: the stated slope of a leaky ReLU, 0, 1, a short number, `value` itself.
    """
    stated = [near.slope] if near.activation == "leaky_relu" else []
    candidates = [*stated, 0.0, 1.0, _shortest(value, 0.1 * error, 6), value]
    return [
        one for one in dict.fromkeys(candidates) if abs(one - value) <= error * max(abs(value), 1.0)
    ]


def _scales_near(value: float, stated: float, m: int, passed: ModelOutputs) -> list[float]:
    """Return factors that a program may have written, within a relative error of a fitted one.

    In order of preference: the factor that was named or found before; 1, m, sqrt(m) and their
    inverses, also over sqrt(d); a short number; `value` itself.
    """
    d = passed.x.shape[1]
    roots = (1.0, 1.0 / m, m**-0.5, m**0.5, float(m))
    sizes = (root / inner for inner in (1.0, d**0.5) for root in roots)
    usual = [stated, *(float(np.copysign(size, value)) for size in sizes)]
    candidates = [*usual, _shortest(value, passed.error, 3), value]
    return [
        one for one in dict.fromkeys(candidates) if abs(one - value) <= passed.error * abs(value)
    ]


def _shortest(value: float, error: float, digits: int) -> float:
    """Return the number of fewest digits within a relative error; `value` if it needs more."""
    for count in range(digits):
        near = float(f"{value:.{count}e}")
        if abs(near - value) <= error * abs(value):
            return near
    return value


def _call_model(model: Callable[[Any], Any], V: Any, examples: Examples) -> ModelOutputs:
    """Call the model at some of x and at random points; at x alone where it takes no others."""
    x = examples.x[:MOST_ROWS]
    weights = np.asarray(arrays.as_numpy(V, "V"), dtype=np.float64)
    rng = np.random.default_rng(0)
    probes = rng.standard_normal((2, PROBES, x.shape[1]))
    probes *= np.linalg.norm(x, axis=1).mean() / x.shape[1] ** 0.5
    reach = np.median(np.abs(probes[1] @ weights.T)) if weights.shape[1] == x.shape[1] else 0.0
    probes[1] *= REACH / reach if reach > 0.0 else 1.0
    try:
        return _call(model, np.concatenate([x, *probes]), V, examples.k)
    except Exception:
        pass
    try:
        return _call(model, examples.x, V, examples.k)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"model cannot be called with x of shape {examples.x.shape} "
            f"({' '.join(str(error).split())[:200]}); give a function of x that returns f(x), or "
            "leave model out."
        ) from error


def _call(model: Callable[[Any], Any], x: Floats, V: Any, k: int) -> ModelOutputs:
    """Return the outputs (n, k) of the loop's model at x, and their relative error.

    Without gradients, in evaluation mode, and with the random state of PyTorch unchanged. Raises
    InputError for outputs of another shape.
    """
    with ExitStack() as stack:
        inputs: Any = x
        torch = sys.modules.get("torch")
        if torch is not None and callable(getattr(V, "detach", None)):
            stack.enter_context(torch.no_grad())
            stack.enter_context(torch.random.fork_rng(devices=[]))
            stack.enter_context(_evaluating(model))
            # Would be compiled again for other shapes.
            if type(model).__name__ == "OptimizedModule":
                stack.enter_context(torch.compiler.set_stance("force_eager"))
            inputs = torch.as_tensor(x, dtype=V.dtype, device=V.device)
        out = model(inputs)
    kind = str(getattr(out, "dtype", "float64")).removeprefix("torch.")
    error = ERRORS.get(kind, COARSE_ERROR)
    if kind == "float32" and "cpu" not in str(getattr(out, "device", "cpu")).lower():
        error = GPU_ERROR
    f = np.asarray(arrays.as_numpy(out, "the output of model"), dtype=np.float64)
    f = f[:, None] if f.ndim == 1 else f
    if f.shape != (len(x), k):
        hint = ""
        if k == 1 and f.shape == (len(x), 2):
            hint = "; of two logits record the difference of their rows, and the logistic loss"
        raise InputError(
            f"model has outputs of shape {f.shape}; they must have ({len(x)}, {k}){hint}."
        )
    return ModelOutputs(x, f, error)


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Put modules into evaluation for a block: dropout passes, and statistics stay unchanged."""
    modules = getattr(model, "modules", None)
    training = [part for part in modules() if part.training] if callable(modules) else []
    for part in training:
        part.training = False
    try:
        yield
    finally:
        for part in training:
            part.training = True
