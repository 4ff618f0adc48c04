"""Losses as a loop calls them, and the risk R of the run file that they are a multiple of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.run_files.networks import UNKNOWN, softplus

Floats = NDArray[Any]
REDUCTIONS = ("mean", "sum")
# Outputs of a model that a loss takes: logits or any numbers, logits up to a constant of each
# example, probabilities, their logarithms; or whichever the model has.
LOGITS, SHIFTED, PROBABILITIES, LOGARITHMS, ANY = "logits", "shifted", "probs", "logs", "any"
SQUARES = ("squared", "least_squares", "mse")
# Losses of PyTorch, as a module's class or a function is called, and what they are here.
TORCH = {
    "BCEWithLogitsLoss": ("logistic", LOGITS),
    "binary_cross_entropy_with_logits": ("logistic", LOGITS),
    "SoftMarginLoss": ("logistic", LOGITS),
    "soft_margin_loss": ("logistic", LOGITS),
    "BCELoss": ("logistic", PROBABILITIES),
    "binary_cross_entropy": ("logistic", PROBABILITIES),
    "CrossEntropyLoss": ("cross_entropy", SHIFTED),
    "cross_entropy": ("cross_entropy", SHIFTED),
    "NLLLoss": ("cross_entropy", LOGARITHMS),
    "nll_loss": ("cross_entropy", LOGARITHMS),
    "MSELoss": ("mse", LOGITS),
    "mse_loss": ("mse", LOGITS),
}
# Options of PyTorch's losses, with the values that leave the loss what it is.
PLAIN = {"weight": None, "pos_weight": None, "label_smoothing": 0.0, "ignore_index": -100}


@final
@dataclass(frozen=True, slots=True)
class NamedLoss:
    """Loss by its name, the reduction of the loop, and the outputs of a model that it takes."""

    name: str | None
    reduction: str
    outputs: str = ANY


def read_loss(loss: Any, reduction: str | None) -> NamedLoss:
    """Return a loss by its name: one of `marginscope.record`, or a loss of PyTorch.

    Raises InputError for a loss of PyTorch that is none of this program's.
    """
    if reduction is not None and reduction not in REDUCTIONS:
        raise InputError(f'reduction = {reduction!r:.40}; allowed are "mean" and "sum".')
    if loss is None or isinstance(loss, str):
        return NamedLoss(loss, reduction or "mean", LOGITS if loss in SQUARES else ANY)
    name = getattr(loss, "__name__", type(loss).__name__)
    if name not in TORCH or not str(getattr(loss, "__module__", "")).startswith("torch."):
        raise InputError(
            f"loss = {name} is not known; give one of {', '.join(sorted(set(TORCH)))} of PyTorch, "
            "a name, or None for any other."
        )
    for option, plain in PLAIN.items():
        if (value := getattr(loss, option, plain)) is not plain and value != plain:
            raise InputError(
                f"loss = {name} has {option}, and the risk of a run has none; give loss=None, and "
                "margins are recorded without a risk."
            )
    own = getattr(loss, "reduction", None)
    if own is not None and reduction is not None and own != reduction:
        raise InputError(f"loss = {name} has reduction {own!r}, and reduction = {reduction!r}.")
    if (own or "mean") not in REDUCTIONS:
        raise InputError(f"loss = {name} has reduction {own!r}; allowed are 'mean' and 'sum'.")
    kind, outputs = TORCH[name]
    return NamedLoss(kind, reduction or own or "mean", outputs)


def risk(loss: str, f: Floats, y: Floats) -> float:
    """Return R = (1/n) sum_i l of outputs f, (n,) or (n, k); NaN for a loss without a name."""
    return float(np.mean(losses(loss, f, y)))


def losses(loss: str, f: Floats, y: Floats) -> Floats:
    """Return l of each example, (n,); NaN for a loss without a name."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return _LOSSES[loss](f, y) if loss != UNKNOWN else np.full(len(y), np.nan)


def _cross_entropy(f: Floats, y: Floats) -> Floats:
    gaps = f - np.take_along_axis(f, y.astype(np.int64)[:, None], axis=1)
    most = gaps.max(axis=1)
    return np.asarray(most + np.log(np.exp(gaps - most[:, None]).sum(axis=1)))


_LOSSES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "logistic": lambda f, y: softplus(-y * f),
    "exponential": lambda f, y: np.exp(-y * f),
    "squared": lambda f, y: (1.0 - y * f) ** 2,
    "least_squares": lambda f, y: (f - y) ** 2 / 2.0,
    "mse": lambda f, y: (f - y) ** 2,
    "cross_entropy": _cross_entropy,
}
