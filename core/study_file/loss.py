"""The losses."""

from __future__ import annotations

from typing import ClassVar, Literal, final

from core.settings import Registry, Section, kind_of, setting


class LossSection(Section):
    """What every loss has, and what others ask of one."""

    vanishes: ClassVar[bool] = True  # l(z) -> 0 as z -> infinity, so that flow has a log time
    exp_tailed: ClassVar[bool] = False  # of a margin y f, with -l'(z) e^z -> 1
    several: ClassVar[bool] = False  # of the logits of three and more classes
    fits_targets: ClassVar[bool] = False
    known: ClassVar[bool] = True  # False: whatever it is, for any number of classes
    kind: str
    l2: float = setting(
        0.0,
        meaning="lambda of the penalty lambda |Theta|^2 on all trained parameters (descent only)",
        source="wei19, section 2",
        ge=0,
    )
    l23: float = setting(
        0.0,
        meaning="lambda of the penalty lambda sum_j |theta_j|^3, theta_j all trained weights of "
        "node j (descent only)",
        source="morwani24, section 3 (the L_2,3 norm)",
        ge=0,
        added=True,
    )

    @property
    def penalised(self) -> bool:
        """Whether more than the risk is lowered."""
        return self.l2 > 0.0 or self.l23 > 0.0


@final
class ExponentialLoss(LossSection):
    title: ClassVar[str] = "exponential loss l(z) = exp(-z); risk R = (1/n) sum_i l(p_i)"
    source: ClassVar[str] = "telgarsky22, section 1.2"
    exp_tailed: ClassVar[bool] = True

    kind: Literal["exponential"] = "exponential"


@final
class LogisticLoss(LossSection):
    title: ClassVar[str] = "logistic loss l(z) = ln(1 + exp(-z)); risk R = (1/n) sum_i l(p_i)"
    source: ClassVar[str] = "telgarsky22, section 1.2"
    exp_tailed: ClassVar[bool] = True

    kind: Literal["logistic"] = "logistic"


@final
class SquaredLoss(LossSection):
    title: ClassVar[str] = "squared loss l(p) = (1 - p)^2 = (y - f)^2 for labels +-1"
    source: ClassVar[str] = "wei19, sections B.3 and F.3"
    vanishes: ClassVar[bool] = False

    kind: Literal["squared"] = "squared"


@final
class LeastSquaresLoss(LossSection):
    title: ClassVar[str] = "half the squared error: R = (1/2n) sum_i (f(x_i) - y_i)^2"
    source: ClassVar[str] = "the usual risk of regression; Boursier and Flammarion 2025"
    vanishes: ClassVar[bool] = False
    fits_targets: ClassVar[bool] = True

    kind: Literal["least_squares"] = "least_squares"


@final
class MeanSquaredErrorLoss(LossSection):
    title: ClassVar[str] = "squared error of a recorded loop: R = (1/n) sum_i (f(x_i) - y_i)^2"
    source: ClassVar[str] = "MSELoss of PyTorch"
    vanishes: ClassVar[bool] = False
    fits_targets: ClassVar[bool] = True

    kind: Literal["mse"] = "mse"


@final
class CrossEntropyLoss(LossSection):
    title: ClassVar[str] = "cross-entropy of the logits, for three and more classes"
    source: ClassVar[str] = "frei23, section F.2; wei19, Theorem C.1"
    several: ClassVar[bool] = True

    kind: Literal["cross_entropy"] = "cross_entropy"


@final
class UnknownLoss(LossSection):
    title: ClassVar[str] = "the loss of another program's run, which it did not name"
    source: ClassVar[str] = "the user's own"
    vanishes: ClassVar[bool] = False
    known: ClassVar[bool] = False
    fits_targets: ClassVar[bool] = True

    kind: Literal["unknown"] = "unknown"


LOSSES: Registry[type[LossSection]] = Registry(
    kind_of, ExponentialLoss, LogisticLoss, SquaredLoss, LeastSquaresLoss, CrossEntropyLoss
)
LOSSES.aside |= {"mse": MeanSquaredErrorLoss, "unknown": UnknownLoss}
