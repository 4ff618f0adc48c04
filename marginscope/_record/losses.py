"""Losses as a loop calls them, and a loop's own risks and outputs compared with the network's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.run_files.networks import UNKNOWN, softplus
from marginscope._record import arrays
from marginscope._record.arrays import Examples, NetworkArrays
from marginscope._record.options import Options

Floats = NDArray[Any]
REDUCTIONS = ("mean", "sum")
# Model outputs that a loss expects: logits (or any numbers), logits up to a constant per example,
# probabilities, log-probabilities; ANY accepts all of them.
LOGITS, SHIFTED, PROBABILITIES, LOGARITHMS, ANY = "logits", "shifted", "probs", "logs", "any"
SQUARES = ("squared", "least_squares", "mse")
# Names of losses in PyTorch, as class or function, and here.
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
# Options of PyTorch's losses at the values that leave the loss unchanged.
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
                f"loss = {name} has {option}, which the risk of a run does not have; give "
                "loss=None to record margins without a risk."
            )
    own = getattr(loss, "reduction", None)
    if own is not None and reduction is not None and own != reduction:
        raise InputError(f"loss = {name} has reduction {own!r}, and reduction = {reduction!r}.")
    if (own or "mean") not in REDUCTIONS:
        raise InputError(f"loss = {name} has reduction {own!r}; allowed are 'mean' and 'sum'.")
    kind, outputs = TORCH[name]
    return NamedLoss(kind, reduction or own or "mean", outputs)


def risk(loss: str, f: Floats, y: Floats) -> float:
    """Return the risk R = (1/n) sum_i l.

    Parameters
    ----------
    loss : str
        Name of the loss.
    f : array (n,) or (n, k)
        Outputs.
    y : array (n,)
        Labels -1 and +1, class numbers, or real targets.

    Returns
    -------
    float
        NaN for a loss without a name.
    """
    return float(np.mean(losses(loss, f, y)))


def losses(loss: str, f: Floats, y: Floats) -> Floats:
    """Return the loss l of each example.

    Parameters
    ----------
    loss : str
        Name of the loss.
    f : array (n,) or (n, k)
        Outputs.
    y : array (n,)
        Labels -1 and +1, class numbers, or real targets.

    Returns
    -------
    array (n,)
        NaN for a loss without a name.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return _LOSSES[loss](f, y) if loss != UNKNOWN else np.full(len(y), np.nan)


def _cross_entropy(f: Floats, y: Floats) -> Floats:
    """Return ln sum_c e^(f_ic - f_(i y_i)) of each example, (n,), without overflow."""
    gaps = f - np.take_along_axis(f, y.astype(np.int64)[:, None], axis=1)
    largest = gaps.max(axis=1)
    return np.asarray(largest + np.log(np.exp(gaps - largest[:, None]).sum(axis=1)))


_LOSSES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "logistic": lambda f, y: softplus(-y * f),
    "exponential": lambda f, y: np.exp(-y * f),
    "squared": lambda f, y: (1.0 - y * f) ** 2,
    "least_squares": lambda f, y: (f - y) ** 2 / 2.0,
    "mse": lambda f, y: (f - y) ** 2,
    "cross_entropy": _cross_entropy,
}


# ------------------------------------------------------------------------------------ comparison

RISKS = ("risk", "loss")  # names of a loop's risk
FIRST_FRAMES = 8  # every risk of the first 8 frames is compared, later ones at powers of two
# Tolerance for naming a cause: about thirty candidates give a false match in fewer than 1 of 1,000
# loops.
SAME = 1e-5
CLOSE_HALF = 4e-2  # of weights in half precision
CLOSE = 1e-3  # relative; single precision errs by 1e-4 in sums of thousands of terms
FAR = 0.25  # tolerance if steps between two frames may have had a higher risk
# Relative to the largest risk: ln(1 + e^-p) in single precision, as loops compute it.
ROUNDING = 1e-6
CAUSES = (
    "biases that were not given (layers=, or b and c), a factor of the outputs (scale=), a sum or "
    "another factor of the loss (reduction=, loss=), another activation, a skip connection, a "
    "penalty, or the loss of a batch"
)


@final
class NumberCheck:
    """Comparison of a loop's own numbers with the recorded network, at a few frames.

    Loops often pass the risk from before the step. A number passes if it agrees with the network of
    the frame, with that of the frame before, or is between both.
    """

    def __init__(
        self,
        examples: Examples,
        options: Options,
        start: NetworkArrays | None = None,
        half: bool = False,
    ) -> None:
        self._examples, self._options = examples, options
        self._close = CLOSE_HALF if half else CLOSE
        self._before, self._last_t = start, 0.0
        self._count = 0
        self._largest = 0.0  # largest risk of the network so far

    def compare(
        self, t: float, network: NetworkArrays, numbers: Mapping[str, float], outputs: Any
    ) -> str:
        """Compare a frame's numbers and outputs with the recorded network.

        Parameters
        ----------
        t : float
            Steps or time of the frame, in the unit of the loop.
        network : NetworkArrays
            Network of the frame, which must own its arrays: it is kept until the next frame.
        numbers : mapping of str to float
            Numbers beside the frame; `risk` and `loss` are compared.
        outputs : array (n,) or (n, k), or None
            The loop's f(x).

        Returns
        -------
        str
            "" if they agree, else a sentence on how they differ.

        Raises
        ------
        InputError
            Outputs of another shape.
        """
        before, self._before = self._before, network
        is_next = self._options.time == "step" and t - self._last_t <= 1.0
        self._last_t = t
        self._count += 1
        is_known = UNKNOWN not in (network.form.activation, self._options.loss)
        name = next((name for name in RISKS if name in numbers), "") if is_known else ""
        sentence = ""
        if name and (self._count <= FIRST_FRAMES or self._count & (self._count - 1) == 0):
            sentence = self._compare_risk(t, name, numbers[name], before, network, is_next)
        if outputs is not None and network.form.activation != UNKNOWN:
            sentence = self._compare_outputs(t, outputs, before, network, is_next) or sentence
        return sentence

    def _compare_risk(
        self,
        t: float,
        name: str,
        risk: float,
        before: NetworkArrays | None,
        now: NetworkArrays,
        is_next: bool,
    ) -> str:
        factor = self._options.loss_factor
        networks = [one for one in (before, now) if one is not None]
        risks = [factor * self._risk(one) for one in networks]
        low, high = min(risks), max(risks)
        if self._options.batch is not None:
            # The mean over a batch is between the losses of single examples.
            single = [factor * self._losses(one) for one in networks]
            low, high = (min(map(np.min, single)), max(map(np.max, single)))
        elif not is_next:
            low, high = low - (high - low), high + (high - low)
        self._largest = max(self._largest, *risks)
        room = self._close if is_next else FAR
        if _is_between(risk, low, high, room, ROUNDING * self._largest):
            return ""
        text = (
            f"at t = {t:g} the loop has {name} = {risk:.4g}, but the recorded network has "
            f"{risks[-1]:.4g} ({_ratio(risk, risks[-1])})"
        )
        cause = next(self._causes(risk, networks), "")
        return f"{text}; {cause}" if cause else f"{text}. Usual causes are {CAUSES}"

    def _causes(self, loop_risk: float, networks: list[NetworkArrays]) -> Iterator[str]:
        """Yield changes that make the network's risk the given one."""
        y, loss, factor = self._examples.y, self._options.loss, self._options.loss_factor
        m, n = networks[0].form.m, len(y)
        risks = [factor * self._risk(network) for network in networks]
        for times, advice in (
            (2.0, "the loop's loss is twice R: a mean of squares without 1/2 is loss='mse'"),
            (0.5, "the loop's loss is half of R: a mean of squares with 1/2 is 'least_squares'"),
            (float(n), "the loop's loss is n R: give reduction='sum'"),
            (1.0 / n, "the loop's loss is R/n: give reduction='mean'"),
        ):
            if any(_is_same(loop_risk, times * own) for own in risks):
                yield advice
        outputs = [network.outputs(self._examples.x) for network in networks]
        for scale, words in ((1 / m, "1/m"), (m**-0.5, "m**-0.5"), (m**0.5, "m**0.5"), (m, "m")):
            if any(_is_same(loop_risk, factor * risk(loss, scale * f, y)) for f in outputs):
                yield f"the loop's outputs are {words} times as large: give scale={words}"
        for activation in ("relu", "tanh", "gelu", "silu", "sigmoid", "linear", "quadratic", "erf"):
            for network in networks:
                form = replace(network.form, activation=activation)
                f = NetworkArrays(form, network.parts).outputs(self._examples.x)
                if form != network.form and _is_same(loop_risk, factor * risk(loss, f, y)):
                    yield f"the loop's activation is {activation}: give activation={activation!r}"

    def _compare_outputs(
        self,
        t: float,
        outputs: Any,
        before: NetworkArrays | None,
        now: NetworkArrays,
        is_next: bool,
    ) -> str:
        of_loop = np.asarray(arrays.as_numpy(outputs, "outputs"), dtype=np.float64)
        own = [one.outputs(self._examples.x) for one in (before, now) if one is not None]
        if of_loop.size == own[-1].size and of_loop.shape in (*((*own[-1].shape, 1),), ()):
            of_loop = of_loop.reshape(own[-1].shape)
        if of_loop.shape != own[-1].shape:
            raise InputError(
                f"outputs have shape {of_loop.shape}; they must have {own[-1].shape}, for all x."
            )
        gaps = [float(np.abs(of_loop - f).max()) for f in own]
        size = max(float(np.abs(f).max()) for f in (of_loop, *own))
        change = 0.0 if is_next else float(np.abs(own[-1] - own[0]).max())
        if min(gaps) <= self._close * size + change:
            return ""
        return (
            f"at t = {t:g} the loop has outputs up to {np.abs(of_loop).max():.4g}, but those of "
            f"the recorded network differ by up to {gaps[-1]:.4g}. Usual causes are {CAUSES}"
        )

    def _risk(self, network: NetworkArrays) -> float:
        return risk(self._options.loss, network.outputs(self._examples.x), self._examples.y)

    def _losses(self, network: NetworkArrays) -> Floats:
        return losses(self._options.loss, network.outputs(self._examples.x), self._examples.y)


def _is_same(number: float, own: float) -> bool:
    """Return True if two numbers agree to the relative error `SAME`."""
    return math.isclose(number, own, rel_tol=SAME)


def _is_between(number: float, low: float, high: float, slack: float, rounding: float) -> bool:
    """Return True if a number lies in a range, widened by a relative slack and by rounding."""
    if math.isnan(number) or math.isnan(low + high) or number in (low, high):
        return True
    room = slack * max(abs(low), abs(high)) + rounding
    return low - room <= number <= high + room


def _ratio(number: float, own: float) -> str:
    """Write the ratio of two numbers, or their difference."""
    if own <= 0.0 or number <= 0.0 or not math.isfinite(number / own):
        return f"a difference of {abs(number - own):.3g}"
    return f"{number / own:.4g} times as much"
