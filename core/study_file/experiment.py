"""An experiment: one data set, network, loss and dynamics, what is recorded, and the seed.

Every section is a frozen value (pydantic), so experiments are hashable and can be replaced field by
field. Kinds and keys are those of study files; the paper and section that a value comes from stand
beside it, and `python -m core describe` and the window's form print them from here.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from core.study_file.sections.clusters import (
    ConesData,
    MixtureData,
    NearOrthogonalData,
    TwoConesData,
    XorData,
)
from core.study_file.sections.combinations import check_dynamics
from core.study_file.sections.constructions import (
    DyadicData,
    IntervalsData,
    TeacherData,
    ThreePointData,
    Wei19Data,
)
from core.study_file.sections.data import CifarData, DigitsData, FileData, MnistData, ParityData
from core.study_file.sections.dynamics import (
    Adam,
    GradientDescent,
    GradientFlow,
    KernelPredictor,
    MirrorFlow,
    PerturbedFlow,
    StochasticGradientDescent,
    TwoPhase,
)
from core.study_file.sections.loss import (
    CrossEntropyLoss,
    ExponentialLoss,
    LogisticLoss,
    SquaredLoss,
)
from core.study_file.sections.network import (
    BatchNormNetwork,
    BiasNetwork,
    CustomNetwork,
    FixedOuterNetwork,
    HeadNetwork,
    MulticlassNetwork,
    NormalisedNetwork,
    ScalarNetwork,
    StandardNetwork,
)
from core.study_file.sections.plain import Recording, RunSettings
from core.study_file.settings import MAX_ELEMENTS, Section, setting

Data = Annotated[
    ParityData
    | Wei19Data
    | MixtureData
    | XorData
    | NearOrthogonalData
    | ThreePointData
    | ConesData
    | TwoConesData
    | TeacherData
    | IntervalsData
    | DyadicData
    | DigitsData
    | FileData
    | MnistData
    | CifarData,
    Field(discriminator="kind"),
]
Network = Annotated[
    StandardNetwork
    | ScalarNetwork
    | NormalisedNetwork
    | FixedOuterNetwork
    | BatchNormNetwork
    | BiasNetwork
    | MulticlassNetwork
    | HeadNetwork
    | CustomNetwork,
    Field(discriminator="kind"),
]
Loss = Annotated[
    ExponentialLoss | LogisticLoss | SquaredLoss | CrossEntropyLoss, Field(discriminator="kind")
]
Dynamics = Annotated[
    GradientDescent
    | StochasticGradientDescent
    | Adam
    | GradientFlow
    | MirrorFlow
    | PerturbedFlow
    | TwoPhase
    | KernelPredictor,
    Field(discriminator="kind"),
]

KINDS: dict[str, dict[str, type[Section]]] = {
    "data": {
        "parity": ParityData,
        "wei19": Wei19Data,
        "gaussian_mixture": MixtureData,
        "xor": XorData,
        "near_orthogonal": NearOrthogonalData,
        "three_point": ThreePointData,
        "cones": ConesData,
        "two_cones": TwoConesData,
        "teacher": TeacherData,
        "intervals": IntervalsData,
        "dyadic": DyadicData,
        "digits": DigitsData,
        "file": FileData,
        "mnist": MnistData,
        "cifar10": CifarData,
    },
    "network": {
        "standard": StandardNetwork,
        "scalar": ScalarNetwork,
        "normalised": NormalisedNetwork,
        "fixed_outer": FixedOuterNetwork,
        "batch_norm": BatchNormNetwork,
        "bias": BiasNetwork,
        "multiclass": MulticlassNetwork,
        "head": HeadNetwork,
        "custom": CustomNetwork,
    },
    "loss": {
        "exponential": ExponentialLoss,
        "logistic": LogisticLoss,
        "squared": SquaredLoss,
        "cross_entropy": CrossEntropyLoss,
    },
    "dynamics": {
        "flow": GradientFlow,
        "gd": GradientDescent,
        "sgd": StochasticGradientDescent,
        "adam": Adam,
        "mirror": MirrorFlow,
        "perturbed": PerturbedFlow,
        "two_phase": TwoPhase,
        "kernel": KernelPredictor,
    },
}
PLAIN_SECTIONS: dict[str, type[Section]] = {"recording": Recording, "run": RunSettings}


class Experiment(Section):
    """Everything that determines one run, as a value; core.problem.problem makes it concrete."""

    data: Data = setting(ParityData(), meaning="the distribution the examples come from")
    network: Network = setting(StandardNetwork(m=256), meaning="the network and its start")
    loss: Loss = setting(ExponentialLoss(), meaning="the loss")
    dynamics: Dynamics = setting(GradientFlow(), meaning="how the parameters move")
    recording: Recording = setting(Recording(), meaning="what is kept")
    run: RunSettings = setting(RunSettings(), meaning="seed and precision")

    @model_validator(mode="after")
    def _sizes_and_precision(self) -> Experiment:
        if self.dynamics.kind == "flow" and self.run.precision == "float32":
            raise ValueError(
                'run.precision = "float32" cannot follow gradient flow, whose margins live in '
                'the last digits; use "float64", or dynamics.kind = "gd"'
            )
        if self.dynamics.kind == "flow" and self.loss.l2 > 0.0:
            raise ValueError(
                f"loss.l2 = {self.loss.l2:g} cannot be followed in log time, where the penalised "
                'flow comes to rest; use dynamics.kind = "gd", or l2 = 0'
            )
        self._check_combinations()
        d, n, m = self.data.d, self.data.n, self.network.m
        for name, size, other, value in (("n", n, "d", d), ("m", m, "d", d)):
            if size is not None and value is not None and size * value > MAX_ELEMENTS:
                raise ValueError(
                    f"{name} * {other} = {size * value:.3g} is larger than {MAX_ELEMENTS:.0e}, "
                    f"the most a run file holds; choose a smaller {name} or {other}"
                )
        too_large = self.network.too_large(1 if d is None else d, 1)
        if too_large:
            raise ValueError(f"network: {too_large}")
        return self

    def _check_combinations(self) -> None:
        """Raise ValueError for parts that do not fit together."""
        many, network, loss = "cross_entropy", self.network, self.loss
        check_dynamics(self.dynamics, self.data, network, loss, self.run)
        if (network.kind == "multiclass") != (loss.kind == many) and network.kind != "custom":
            raise ValueError(
                f'network.kind = "{network.kind}" does not go with loss.kind = "{loss.kind}": '
                '"multiclass" needs "cross_entropy", and the other networks one of the other losses'
            )
        if self.dynamics.kind == "flow" and loss.kind == "squared":
            raise ValueError(
                'loss.kind = "squared" has no log time, which needs a loss that goes to zero; use '
                'dynamics.kind = "gd", or the exponential or logistic loss'
            )
        if self.dynamics.kind == "flow" and getattr(network, "smooth", False):
            raise ValueError(
                "network.smooth = true: the smoothed leaky ReLU is not homogeneous, so its flow "
                'cannot be followed in log time; use dynamics.kind = "gd", or smooth = false'
            )
