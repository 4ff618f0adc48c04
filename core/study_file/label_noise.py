"""Stochastic gradient descent on targets with fresh noise in every step."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

from core.errors import RuleError
from core.settings import setting
from core.study_file.descent import Schedule, schedule_setting
from core.study_file.dynamics_section import UNTIL_MEANING, DynamicsSection, check_batch


@final
class LabelNoise(DynamicsSection):
    title: ClassVar[str] = "SGD on targets y + xi with fresh xi = +-sigma; t = step * steps"
    words: ClassVar[str] = "SGD with label noise"
    source: ClassVar[str] = "Blanc et al., COLT 2020; damian21, section 1; docs/theory.md, 4.16"
    kernels: ClassVar[tuple[str, ...]] = ("stochastic",)
    count_is_all: ClassVar[bool] = True
    fits_targets: ClassVar[bool] = True
    takes_group_penalty: ClassVar[bool] = True

    kind: Literal["label_noise"] = "label_noise"
    step: float | None = setting(
        None,
        meaning="step size eta; default 1/(5 max_i |grad f(x_i)|^2) at the start, a tenth of the "
        "step at which a single example becomes unstable",
        gt=0,
    )
    sigma: float = setting(
        1.0,
        meaning="size of the noise: each example of a step has the target y + sigma or y - sigma, "
        "with equal chances",
        gt=0,
        le=1e6,
    )
    batch: int = setting(
        1,
        meaning="examples per step, reshuffled for each pass; the gradient is their mean (no 1/n)",
        ge=1,
        le=1_000_000,
    )
    schedule: Schedule = schedule_setting()
    until_log10_time: float = setting(3.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=15)

    def in_row_space(self) -> bool:
        return True

    def check(self, experiment: Any) -> None:
        if experiment.loss.kind != "least_squares":
            raise RuleError(
                'dynamics.kind = "label_noise" adds noise to targets that are fitted by '
                f'loss.kind = "least_squares", not "{experiment.loss.kind}"; choose that loss, or '
                'dynamics.kind = "sgd"',
                keys=("loss.kind", "dynamics.kind"),
            )
        check_batch(self.batch, experiment.data.n)

    def work(self, n: float, m: float, d: float) -> float:
        return self.steps() * self.batch * m * d
