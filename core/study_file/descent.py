"""Dynamics by steps: full-batch and stochastic descent, and Adam.

Each takes the penalty `loss.l23`, and a schedule of its steps. Frames are at t = step * steps
whatever the schedule: `step` is the length of the first.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

from core.errors import RuleError
from core.settings import setting
from core.study_file.dynamics_section import UNTIL_MEANING, DynamicsSection, check_batch

Schedule = Literal["constant", "linear"]


def schedule_setting() -> Any:
    """Return the key by which steps become shorter towards the end of a run."""
    return setting(
        "constant",
        meaning="step length: constant; linear: constant for half of the steps, then decreasing "
        "linearly to 0 (t stays step * steps)",
        added=True,
    )


@final
class GradientDescent(DynamicsSection):
    title: ClassVar[str] = "full-batch gradient descent; t = step * steps"
    words: ClassVar[str] = "gradient descent"
    source: ClassVar[str] = "telgarsky22, Figure 1"
    full_gradient: ClassVar[bool] = True
    kernels: ClassVar[tuple[str, ...]] = ("descent", "gram")
    frame_is_all: ClassVar[bool] = True
    fits_targets: ClassVar[bool] = True
    takes_group_penalty: ClassVar[bool] = True

    kind: Literal["gd"] = "gd"
    step: float | None = setting(
        None,
        meaning="step size eta; default 1/lambda_0 at the start, safe below 2/lambda_0; less where "
        "one of the first ten steps would raise the risk",
        gt=0,
    )
    schedule: Schedule = schedule_setting()
    until_log10_time: float = setting(3.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=15)

    def in_row_space(self) -> bool:
        return True

    def work(self, n: float, m: float, d: float) -> float:
        return self.steps() * n * m * min(n, d)


@final
class StochasticGradientDescent(DynamicsSection):
    title: ClassVar[str] = "stochastic gradient descent; t = step * steps"
    words: ClassVar[str] = "SGD"
    source: ClassVar[str] = "telgarsky22, equation 1.1 and Theorem 2.1; frei23, section F.2"
    kernels: ClassVar[tuple[str, ...]] = ("stochastic",)
    count_is_all: ClassVar[bool] = True
    fits_targets: ClassVar[bool] = True
    takes_group_penalty: ClassVar[bool] = True

    kind: Literal["sgd"] = "sgd"
    step: float | None = setting(
        None,
        meaning="step size eta; default 1/(5 max_i l''(p_i) |grad f(x_i)|^2) at the start, a tenth "
        "of the step at which a single example becomes unstable",
        gt=0,
    )
    batch: int = setting(
        1, meaning="examples per step; the gradient is their mean (no 1/n)", ge=1, le=1_000_000
    )
    fresh: bool = setting(
        False,
        meaning="true: each step draws new examples from the distribution (one pass); false: the "
        "training examples, reshuffled for each pass, batches running on from one to the next",
    )
    schedule: Schedule = schedule_setting()
    until_log10_time: float = setting(3.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=15)

    def in_row_space(self) -> bool:
        return not self.fresh

    def check(self, experiment: Any) -> None:
        if self.fresh and not experiment.data.known_law:
            raise RuleError(
                "dynamics.fresh = true needs a distribution to draw from, but data.kind = "
                f'"{experiment.data.kind}" has none; use fresh = false',
                keys=("dynamics.fresh", "data.kind"),
            )
        if not self.fresh:
            check_batch(self.batch, experiment.data.n)

    def work(self, n: float, m: float, d: float) -> float:
        return self.steps() * self.batch * m * d


@final
class Adam(DynamicsSection):
    title: ClassVar[str] = "Adam, or AdamW with weight_decay; t = step * steps"
    words: ClassVar[str] = "Adam"
    source: ClassVar[str] = "batchnorm, appendix A (the reference networks)"
    long_state: ClassVar[bool] = True
    kernels: ClassVar[tuple[str, ...]] = ("stochastic",)
    fits_targets: ClassVar[bool] = True
    takes_group_penalty: ClassVar[bool] = True

    kind: Literal["adam"] = "adam"
    step: float = setting(1e-3, meaning="step size", gt=0)
    beta1: float = setting(0.9, meaning="decay of the mean of the gradient", ge=0, lt=1)
    beta2: float = setting(0.999, meaning="decay of the mean of its square", ge=0, lt=1)
    eps: float = setting(
        1e-8,
        meaning="added to the root of the mean square; 0: nothing; weights without a slope stay",
        ge=0,
        le=1,
    )
    batch: int = setting(
        0, meaning="examples per step, reshuffled for each pass; 0: all of them", ge=0, le=1_000_000
    )
    weight_decay: float = setting(
        0.0,
        meaning="decoupled decay: W <- (1 - step weight_decay) W before each step, as in AdamW",
        source="Loshchilov and Hutter 2019; torch.optim.AdamW",
        ge=0,
        added=True,
    )
    schedule: Schedule = schedule_setting()
    power: float = setting(
        0.0,
        meaning="step number s has the length step * s^-power; 0: equal steps (t is step * steps)",
        ge=0,
        le=10,
        added=True,
    )
    until_log10_time: float = setting(0.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=15)

    def check(self, experiment: Any) -> None:
        check_batch(self.batch, experiment.data.n)

    def describe_restart(self, fixed_features: bool) -> str:
        return "Adam's moments restart there"
