"""Steepest descent in a norm: sign descent, normalised, spectral and coordinate descent."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

from core.errors import RuleError
from core.network.standard import FixedOuterNetwork
from core.settings import setting
from core.study_file.dynamics_section import UNTIL_MEANING, DynamicsSection


@final
class SteepestDescent(DynamicsSection):
    title: ClassVar[str] = "steepest descent in a norm, steps of chosen lengths; t = step * steps"
    words: ClassVar[str] = "steepest descent"
    source: ClassVar[str] = "tsilivis25; docs/theory.md, 4.13"
    kernels: ClassVar[tuple[str, ...]] = ("stochastic",)
    long_state: ClassVar[bool] = True

    kind: Literal["steepest"] = "steepest"
    norm: Literal["sign", "l2", "spectral", "coordinate"] = setting(
        "l2",
        meaning="unit ball of the steps. sign: largest entry, sign descent; l2: |W|, normalised "
        "descent; spectral: largest operator norm of a block, Muon with exact polar factors; "
        "coordinate: sum of entries, which changes one weight per step (linear predictors only)",
    )
    momentum: float = setting(
        0.0,
        meaning="beta of the mean gradient M <- beta M + (1 - beta) G whose direction is followed; "
        "0: the gradient of each step alone",
        ge=0,
        lt=1,
    )
    step: float = setting(0.1, meaning="length of the first step in the norm", gt=0)
    power: float = setting(
        0.5,
        meaning="step number s has the length step * s^-power; 0: equal steps (t is step * steps)",
        ge=0,
        le=10,
    )
    until_log10_time: float = setting(2.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=15)

    def in_row_space(self) -> bool:
        """Return True for l2 alone: the form keeps the inner products within each neuron only."""
        return self.norm == "l2"

    def check(self, experiment: Any) -> None:
        network, loss = experiment.network, experiment.loss
        if not loss.vanishes:
            raise RuleError(
                'dynamics.kind = "steepest" takes steps of given lengths, so it never settles at '
                f'the minimum of loss.kind = "{loss.kind}"; choose the exponential loss, the '
                'logistic loss or cross-entropy, or dynamics.kind = "gd"',
                keys=("loss.kind", "dynamics.kind"),
            )
        if loss.l2 > 0.0:
            raise RuleError(
                'dynamics.kind = "steepest" follows the risk without a penalty; set '
                'loss.l2 = 0, or choose dynamics.kind = "gd"',
                keys=("loss.l2", "dynamics.kind"),
            )
        linear = isinstance(network, FixedOuterNetwork) and network.slope == 1.0
        if self.norm == "coordinate" and not linear:
            raise RuleError(
                'dynamics.norm = "coordinate" changes one weight per step and cannot train '
                'networks with kinks; choose norm = "sign", "l2" or "spectral", or a linear '
                'predictor: network.kind = "fixed_outer" with slope = 1',
                keys=("dynamics.norm", "network.kind"),
            )

    def work(self, n: float, m: float, d: float) -> float:
        """Return the multiply-adds of all steps.

        Parameters
        ----------
        n, m, d : float
            Examples, neurons and dimension.

        Returns
        -------
        float
            n m (d + 36) a step, and 10 min(m, d)^2 (m + d) more for the polar factor of "spectral".
        """
        polar = 10.0 * min(m, d) ** 2 * (m + d) if self.norm == "spectral" else 0.0
        return self.steps() * (n * m * (d + 36.0) + polar)

    def describe_restart(self, fixed_features: bool) -> str:
        return "the mean gradient restarts there" if self.momentum > 0.0 else ""
