"""Rules from gradients to steps, for the engines on batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.compiled import stochastic as kernel

Array = NDArray[Any]


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """Update rule from gradient to step: plain descent, momentum, SAM, or Adam with its constants.

    `decay` is AdamW's. `total` is the number of steps of a run whose second half shortens its steps
    linearly to 0, or 0. Step number s from 1 on also has the factors s^-power and
    min(1, s/warm_up). With `momentum`, beta1 is that of the velocity;
    `ahead` is Nesterov's. With `rho` > 0 the gradient is that at W + rho g/|g|.
    """

    step_size: float
    adam: bool = False
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    decay: float = 0.0
    total: int = 0
    power: float = 0.0
    warm_up: int = 0
    momentum: bool = False
    ahead: bool = False
    rho: float = 0.0

    @property
    def kind(self) -> int:
        """Kind of the rule in core.compiled.stochastic."""
        if self.adam:
            return kernel.ADAM
        if self.momentum:
            return kernel.NESTEROV if self.ahead else kernel.HEAVY_BALL
        return kernel.SHARPNESS_AWARE if self.rho > 0.0 else kernel.DESCENT

    @property
    def has_schedule(self) -> bool:
        """True if steps differ in length."""
        return bool(self.total or self.power or self.warm_up)

    def factors(self, first: int, count: int, dtype: Any) -> Array:
        """Return the factors of eta in consecutive steps.

        Parameters
        ----------
        first : int
            Number of steps before the first of them, counted from t = 0.
        count : int
            Number of steps.
        dtype : dtype
            Type of the result.

        Returns
        -------
        array (count,), or (0,) for equal steps
            Factors.

        Examples
        --------
        >>> Rule(0.1, total=8).factors(3, 4, float).tolist()
        [1.0, 1.0, 0.75, 0.5]
        >>> Rule(0.1, power=0.5).factors(0, 4, float).round(3).tolist()
        [1.0, 0.707, 0.577, 0.5]
        """
        if not self.has_schedule:
            return np.zeros(0, dtype)
        steps = np.arange(first, first + count)
        factors = np.ones(count)
        if self.total:
            factors = np.clip(2.0 * (1.0 - steps / self.total), 0.0, 1.0)
        if self.power:
            factors *= (steps + 1.0) ** -self.power
        if self.warm_up:
            factors *= np.minimum(1.0, (steps + 1.0) / self.warm_up)
        return factors.astype(dtype)

    def for_kernels(
        self, kind: int, flat: Array, penalties: tuple[float, float], blocks: Array
    ) -> kernel.Rule:
        """Return the rule for the compiled kernels, in the precision of the parameters.

        Parameters
        ----------
        kind : int
            Kind of core.compiled.stochastic.
        flat : array (size,)
            Parameters.
        penalties : tuple of float
            lambda of |W|^2 and of sum_j |theta_j|^3.
        blocks : array of int (b, 2)
            Offset and width of each block of neurons (`node_blocks`).

        Returns
        -------
        kernel.Rule
            Rule with moments of 0.
        """
        l2, group = penalties
        first = self.rho if kind == kernel.SHARPNESS_AWARE else self.beta1
        values = (self.step_size, l2, first, self.beta2, self.eps, self.decay, group)
        numbers = np.array(values, flat.dtype)
        sizes = (
            0 if kind in (kernel.SCHEDULED, kernel.DESCENT) else flat.size,
            flat.size if kind == kernel.ADAM else 0,
        )
        none, ones = np.zeros(0, flat.dtype), np.ones(2, flat.dtype)
        moments = [np.zeros(size, flat.dtype) for size in sizes]
        scale = np.zeros(1, flat.dtype)
        return kernel.Rule(kind, *numbers, *[blocks, none, ones, *moments, scale])
