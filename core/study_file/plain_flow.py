"""Gradient flow in plain time, for losses without a log time."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

from core.errors import RuleError
from core.settings import setting
from core.study_file.dynamics_section import UNTIL_MEANING, DynamicsSection


@final
class PlainFlow(DynamicsSection):
    title: ClassVar[str] = "gradient flow in plain time, in small steps that keep a_j^2 - |v_j|^2"
    words: ClassVar[str] = "gradient flow in plain time"
    source: ClassVar[str] = "Boursier and Flammarion 2025 (the flow); docs/theory.md (the steps)"
    full_gradient: ClassVar[bool] = True
    kernels: ClassVar[tuple[str, ...]] = ("balanced",)
    fits_targets: ClassVar[bool] = True

    kind: Literal["plain_flow"] = "plain_flow"
    step: float | None = setting(
        None,
        meaning="length of a step, which is cut where it is too long; default .01/((1/n) sum_i "
        "|l'_i| |x_i|) at f = 0, a hundredth of the time in which a small node turns",
        gt=0,
    )
    until_log10_time: float = setting(2.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=15)

    def check(self, experiment: Any) -> None:
        self._needs_standard(experiment, "keeps a_j^2 - |v_j|^2")
        self._needs_float64(experiment)
        if experiment.loss.l2 > 0.0:
            raise RuleError(
                f'dynamics.kind = "{self.kind}" follows the risk alone, and a penalty changes what '
                'it keeps; use loss.l2 = 0 or dynamics.kind = "gd"',
                keys=("loss.l2", "dynamics.kind"),
            )

    def work(self, n: float, m: float, d: float) -> float:
        return 2.0 * self.steps() * n * m * d
