"""A line of a panel of a study's figure, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line of a panel: x (k,), mean, low and high (k,), and of how many runs each, (k,).

    x is log10 t where the panel's x is "t".

    `value` is what the line stands for: a value of the setting `lines`, a formula, or a moment.
    """

    value: Any
    x: Array
    mean: Array
    low: Array
    high: Array
    count: NDArray[np.int64]
    slope: tuple[float, float, float] | None = None  # of log y on log x, with its 0.95 interval
    joined: bool = True  # false: points without a curve through them
