"""Activations phi of the papers, for NumPy arrays and torch tensors alike; codes of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any, final

PLAIN, SCALAR, NORMALISED, FIXED_OUTER, BATCH_NORM, WITH_BIAS = range(6)


# Codes in compiled kernels; 3 is core.network.recorded_network.OTHER.
RELU, LEAKY, SMOOTH, SQUARE = 0, 1, 2, 4


@final
@dataclass(frozen=True, slots=True)
class Activation:
    """Activation phi with its derivatives; phi'(0) is the slope on the left.

    code RELU: max(z, 0). LEAKY: max(g z, z), g = `slope`. SMOOTH (frei23, section F.1):
    g z + (1 - g) (ln(1 + e^z) - ln 2), whose derivative is g + (1 - g)/(1 + e^-z). SQUARE: z^2.

    >>> import numpy as np
    >>> Activation(LEAKY, 0.1)(np.array([-2.0, 3.0])).tolist()
    [-0.2, 3.0]
    >>> Activation(SMOOTH, 0.1)(np.array([0.0])).tolist()
    [0.0]
    >>> Activation(SQUARE)(np.array([-3.0])).tolist()
    [9.0]
    """

    code: int = RELU
    slope: float = 0.0

    @property
    def bent(self) -> bool:
        """True if phi'' is not 0 off the kinks."""
        return self.code in (SMOOTH, SQUARE)

    def __call__(self, z: Any) -> Any:
        if self.code == SMOOTH:
            # Through e^-|z|, which never overflows.
            softplus = z.clip(0.0) + _log1p(_exp(-abs(z)))
            return self.slope * z + (1.0 - self.slope) * (softplus - log(2.0))
        if self.code == SQUARE:
            return z * z
        positive = z.clip(0.0)
        return positive if self.code == RELU else positive + self.slope * (z - positive)

    def slopes(self, z: Any) -> Any:
        """Return phi'(z), elementwise, in the type of z."""
        if self.code == SMOOTH:
            e = _exp(-abs(z))
            right = _indicator(z)
            return self.slope + (1.0 - self.slope) * (right + (1.0 - 2.0 * right) * e / (1.0 + e))
        if self.code == SQUARE:
            return 2.0 * z
        active = _indicator(z)
        return active if self.code == RELU else active + self.slope * (1.0 - active)

    def curvatures(self, z: Any) -> Any:
        """Return phi''(z), elementwise, in the type of z.

        0 except for SMOOTH, (1 - g) e^-|z| / (1 + e^-|z|)^2, and SQUARE, 2.

        >>> import numpy as np
        >>> Activation(SMOOTH, 0.2).curvatures(np.array([0.0])).tolist()
        [0.2]
        """
        if self.code == SQUARE:
            return 0.0 * z + 2.0
        if self.code != SMOOTH:
            return 0.0 * z
        e = _exp(-abs(z))
        return (1.0 - self.slope) * e / (1.0 + e) ** 2


# At a kink the slope is the left one: a unit at 0 is inactive (docs/theory.md, 2.4).
def _indicator(z: Any) -> Any:
    """Return 1[z > 0] in the type of z."""
    active = z > 0
    return active.to(z.dtype) if hasattr(z, "exp") else active.astype(z.dtype)


def _exp(z: Any) -> Any:
    if hasattr(z, "exp"):  # a torch tensor
        return z.exp()
    import numpy as np

    with np.errstate(under="ignore"):
        return np.exp(z)


def _log1p(z: Any) -> Any:
    """Return ln(1 + z) of an array or a torch tensor."""
    if hasattr(z, "exp"):
        return z.log1p()
    import numpy as np

    return np.log1p(z)
