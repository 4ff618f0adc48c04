"""Which vertical axis suits some curves, and where their values stand on it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WIDE = 100.0  # largest over smallest value beyond which positive curves are shown by their log10
FLAT = 0.04  # share of the axis that every curve must use; else each has a range of its own
LOG = "log10_"  # of the names of observables that are logarithms


LARGE_RATIO = 2.0  # decades of |W|^2 beyond which its axis is logarithmic
MOST_EXPONENT = 300.0  # beyond, a number or the span of an axis is no float


def needs_logarithm(low: float, high: float) -> bool:
    """Return whether |W|^2 from 10^low to 10^high is shown on a logarithmic axis.

    >>> needs_logarithm(0.0, 1.5), needs_logarithm(0.0, 3.0), needs_logarithm(700.0, 700.1)
    (False, True, True)
    """
    return high - low > LARGE_RATIO or max(-low, high) > MOST_EXPONENT


@final
class CurveScale(Enum):
    """What the vertical axis shows."""

    LINEAR = "the values"
    LOGARITHMIC = "their logarithms"
    OWN = "each curve from its least to its largest value"


def scaled(values: Floats, scale: CurveScale, among: Floats | None = None) -> Floats:
    """Values as an axis shows them; those it cannot show are NaN.

    Where each curve has a range of its own, it is that of `among` if that is given.
    """
    finite = np.where(np.isfinite(values), values, np.nan)
    if scale is CurveScale.LINEAR:
        return finite
    if scale is CurveScale.LOGARITHMIC:
        return np.log10(np.where(finite > 0.0, finite, np.nan))
    range_of = finite if among is None else np.where(np.isfinite(among), among, np.nan)
    low, high = (float(f.reduce(range_of, initial=np.nan)) for f in (np.fmin, np.fmax))
    return np.where(np.isnan(finite), np.nan, (finite - low) / (high - low if high > low else 1.0))


def scale_of(curves: Sequence[Floats], alike: bool = False) -> CurveScale:
    """Which axis suits some curves; those that are `alike`, as shares are, are read beside each
    other, however flat one of them is.

    >>> a, b = np.array([1.0, 2.0]), np.array([1.0, 1e4])
    >>> scale_of([a]).name, scale_of([a, b]).name, scale_of([a, -b]).name
    ('LINEAR', 'LOGARITHMIC', 'OWN')
    >>> scale_of([np.array([0.0, 0.9]), np.array([0.95, 0.96])], alike=True).name
    'LINEAR'
    """
    finite = [values[np.isfinite(values)] for values in curves]
    finite = [values for values in finite if values.size]
    if not finite:
        return CurveScale.LINEAR
    low, high = min(float(v.min()) for v in finite), max(float(v.max()) for v in finite)
    if low > 0.0 and high > WIDE * low:
        return CurveScale.LOGARITHMIC
    if alike:
        return CurveScale.LINEAR
    spans = [float(np.ptp(values)) for values in finite]
    if len(finite) > 1 and min(spans) < FLAT * (high - low):
        return CurveScale.OWN
    return CurveScale.LINEAR
