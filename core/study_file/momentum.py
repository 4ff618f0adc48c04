"""Full-batch descent with momentum: heavy ball and Nesterov."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal, final

from core.settings import setting
from core.study_file.descent import Schedule, schedule_setting
from core.study_file.dynamics_section import UNTIL_MEANING, DynamicsSection


class Momentum(DynamicsSection):
    """Common settings of both; `ahead` is True where W is Nesterov's point ahead."""

    ahead: ClassVar[bool] = False

    kernels: ClassVar[tuple[str, ...]] = ("stochastic",)
    long_state: ClassVar[bool] = True
    fits_targets: ClassVar[bool] = True
    takes_group_penalty: ClassVar[bool] = True

    step: float | None = setting(
        None,
        meaning="step size eta; default (1 - beta) times that of gd, so that early steps add up to "
        "that one",
        gt=0,
    )
    beta: float = setting(0.9, meaning="share of the velocity that a step keeps", ge=0, lt=1)
    warm_up: int = setting(
        0,
        meaning="steps of the warm-up: step number s has the length step * min(1, s/warm_up) "
        "(t stays step * steps); 0: none",
        ge=0,
        le=10**9,
    )
    schedule: Schedule = schedule_setting()
    until_log10_time: float = setting(3.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=15)

    @property
    @abstractmethod
    def edge(self) -> float:
        """Largest eta S at which descent on a quadratic of curvature S does not diverge."""

    def in_row_space(self) -> bool:
        return True

    def describe_restart(self, fixed_features: bool) -> str:
        return "the velocity restarts there" if self.beta > 0.0 else ""


@final
class HeavyBall(Momentum):
    title: ClassVar[str] = "full-batch descent with momentum, u <- beta u - eta grad R, W <- W + u"
    words: ClassVar[str] = "heavy-ball descent"
    source: ClassVar[str] = "Polyak 1964; docs/theory.md, 4.15"

    kind: Literal["heavy_ball"] = "heavy_ball"

    @property
    def edge(self) -> float:
        return 2.0 + 2.0 * self.beta


@final
class Nesterov(Momentum):
    title: ClassVar[str] = "full-batch descent with Nesterov's momentum, W where grad R is taken"
    words: ClassVar[str] = "Nesterov's descent"
    source: ClassVar[str] = "Nesterov 1983; docs/theory.md, 4.15"

    ahead: ClassVar[bool] = True

    kind: Literal["nesterov"] = "nesterov"

    @property
    def edge(self) -> float:
        return 2.0 * (1.0 + self.beta) / (1.0 + 2.0 * self.beta)
