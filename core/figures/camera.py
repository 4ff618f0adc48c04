"""Camera of the neurons' picture: its reach follows the neurons evenly.

Neurons grow by many powers of ten: in a range that holds the whole run, all that happens before the
last decade of time is one dot. The camera's reach follows the neurons instead. It depends on the
moment alone, so that the same moment is always the same picture.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Number of frames that determine the camera, and how far to either side, as a fraction of all
# frames: enough to smooth a jump of the extent, and few enough to read again when the plane
# changes.
SAMPLES = 9
SIDE = 0.04


def sample_frames(frame: int, frames: int, planned: int) -> Indices:
    """Return the frames around one that set the camera's reach.

    Parameters
    ----------
    frame : int
        Frame that is shown.
    frames : int
        Number of frames so far.
    planned : int
        Number of frames of the whole run, which sets the distance of the outermost ones.

    Returns
    -------
    array (SAMPLES,)
        Frames to both sides; the first and the last repeat beyond the ends.

    Examples
    --------
    >>> sample_frames(50, 101, 101).tolist()
    [46, 47, 48, 49, 50, 51, 52, 53, 54]
    """
    side = max(SIDE * (planned - 1), 1.0)
    places = np.rint(frame + np.linspace(-side, side, SAMPLES)).astype(np.int64)
    return np.clip(places, 0, frames - 1)


def smooth_reach(log10_extents: ArrayLike, log10_now: float) -> float:
    """Return log10 of the camera's reach from log10 extents (SAMPLES,) of the frames around.

    The reach is a mean with weights that fall evenly to both sides. No extent counts less than the
    present one, so that no neuron is ever outside. -inf where no neuron has a length.

    >>> smooth_reach([0.0] * SAMPLES, 0.0), smooth_reach([-3.0] * SAMPLES, 1.0)
    (0.0, 1.0)
    """
    if not math.isfinite(log10_now):
        return log10_now
    extents = np.maximum(np.asarray(log10_extents, dtype=np.float64), log10_now)
    half = (SAMPLES + 1) // 2
    weights = np.minimum(np.arange(1, SAMPLES + 1), np.arange(SAMPLES, 0, -1)) / half**2
    return float(weights @ extents)


def unit_power(log10_extent: float) -> int:
    """Return the power of ten that is the unit of places; 0 where ticks are short without one.

    >>> unit_power(1.5), unit_power(-2.3), unit_power(5.2), unit_power(-3.5), unit_power(-math.inf)
    (0, -3, 5, -4, 0)
    """
    power = math.floor(log10_extent) if math.isfinite(log10_extent) else 0
    # Between 10^-2 and 10^3 ticks are short without a power of ten.
    return power if power >= 4 or power <= -3 else 0


def signed_root(x: ArrayLike) -> Floats:
    """Return sign(x) sqrt |x|, which spreads values near 0 and keeps signs.

    Parameters
    ----------
    x : array-like
        Numbers of any shape.

    Returns
    -------
    array
        Of the same shape.

    Examples
    --------
    >>> signed_root([-4.0, 0.0, 0.25]).tolist()
    [-2.0, 0.0, 0.5]
    """
    values = np.asarray(x, dtype=np.float64)
    return np.asarray(np.copysign(np.sqrt(np.abs(values)), values))


def signed_square(x: ArrayLike) -> Floats:
    """Return sign(x) x^2, the inverse of `signed_root`.

    Parameters
    ----------
    x : array-like
        Numbers of any shape.

    Returns
    -------
    array
        Of the same shape.

    Examples
    --------
    >>> signed_square([-2.0, 0.5]).tolist()
    [-4.0, 0.25]
    """
    values = np.asarray(x, dtype=np.float64)
    return np.asarray(np.copysign(values**2, values))
