"""A frame: the parameters of one network at one moment, as the dynamics hands them on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _no_diagnostics() -> Mapping[str, float]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Trained parameters at one moment of the schedule.

    `parameters` is flat, in the order of the network's layout, float64 or float32. The physical
    parameters are W = e^rho * parameters: rho = 0 for gradient descent, while gradient flow hands
    on a unit vector theta, since e^rho and the margins late in a run need all the digits.
    `log10_time` is -inf at t = 0. `dual` holds q (n,) when the parameters are float32.
    `diagnostics` are numbers of the integrator since the frame before (named by each dynamics).
    """

    step: int
    log10_time: float
    rho: float
    parameters: NDArray[np.floating]
    dual: Array | None = None
    diagnostics: Mapping[str, float] = field(default_factory=_no_diagnostics)
