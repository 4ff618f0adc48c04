"""Sharpness-aware minimisation: full-batch descent along the gradient at a point uphill."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, final

from core.settings import setting
from core.study_file.descent import Schedule, schedule_setting
from core.study_file.dynamics_section import UNTIL_MEANING, DynamicsSection


@final
class SharpnessAware(DynamicsSection):
    title: ClassVar[str] = (
        "sharpness-aware descent, W <- W - eta grad R(W + rho grad R/|grad R|); t = step * steps"
    )
    words: ClassVar[str] = "sharpness-aware descent"
    source: ClassVar[str] = "Foret et al., ICLR 2021, section 2; docs/theory.md, 4.15"
    kernels: ClassVar[tuple[str, ...]] = ("stochastic",)
    frame_is_all: ClassVar[bool] = True
    fits_targets: ClassVar[bool] = True
    takes_group_penalty: ClassVar[bool] = True

    kind: Literal["sam"] = "sam"
    step: float | None = setting(
        None,
        meaning="step size eta; default 1/lambda_0 over 1 + rho lambda_0/|grad R| at the start, "
        "half of the edge of stability",
        gt=0,
    )
    rho: float = setting(
        0.05,
        meaning="distance uphill at which the gradient is taken; 0: gradient descent",
        source="Foret et al., ICLR 2021, section 3.1",
        ge=0,
        le=1e6,
    )
    schedule: Schedule = schedule_setting()
    until_log10_time: float = setting(3.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=15)

    def inverse_edge(self, step: float, slope: float) -> float:
        """Return 1 over the curvature S at which steps on a quadratic diverge.

        Along an eigenvector of S a step multiplies W by 1 - eta S (1 + rho S/|grad R|).

        Parameters
        ----------
        step : float
            eta.
        slope : float
            |grad R|.

        Returns
        -------
        float
            Infinite where the slope is 0 and rho is not.

        Examples
        --------
        >>> sam = SharpnessAware(rho=0.5)
        >>> S = 1.0 / sam.inverse_edge(0.25, 2.0)
        >>> round(0.25 * S * (1.0 + 0.5 * S / 2.0), 12)
        2.0
        """
        if self.rho == 0.0:
            return 0.5 * step
        if not slope > 0.0:
            return math.inf
        return 0.25 * step * (1.0 + math.sqrt(1.0 + 8.0 * self.rho / (step * slope)))

    def in_row_space(self) -> bool:
        return True

    def work(self, n: float, m: float, d: float) -> float:
        return 2.0 * self.steps() * n * m * d
