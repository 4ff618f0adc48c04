"""An experiment: one data set, network, loss and dynamics, its recording, and the seed.

Every section is a frozen value (pydantic), so experiments are hashable and can be replaced field by
field. Kinds and keys are those of study files; the paper and section of a value are given beside
it, and `python -m core describe` and the window's form print them from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, final

from pydantic import BeforeValidator, SerializeAsAny, model_validator

from core.data.parity import ParityData
from core.data.registry import DATA
from core.data.section import DataSection
from core.errors import RuleError
from core.network.parametrisation import TwoLayer
from core.network.registry import NETWORKS
from core.network.section import NetworkSection
from core.network.standard import StandardNetwork
from core.settings import MAX_ELEMENTS, MAX_FRAMES, MAX_SEED, Registry, Section, kind_of, setting
from core.study_file.dynamics import DYNAMICS, GradientFlow
from core.study_file.dynamics_section import DynamicsSection

# ------------------------------------------------------------------------------------------- losses


class LossSection(Section):
    """Loss of an experiment, with its penalties."""

    vanishes: ClassVar[bool] = True  # l(z) -> 0 as z -> infinity: flow has a log time
    exp_tailed: ClassVar[bool] = False  # for a margin y f, with -l'(z) e^z -> 1
    several: ClassVar[bool] = False  # for logits of three or more classes
    fits_targets: ClassVar[bool] = False
    known: ClassVar[bool] = True  # False for an unknown loss, of any number of classes
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
        "neuron j (descent only)",
        source="morwani24, section 3 (the L_2,3 norm)",
        ge=0,
        added=True,
    )

    @property
    def is_penalised(self) -> bool:
        """True if training minimises more than the risk."""
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

    words: ClassVar[str] = "least-squares loss"
    kind: Literal["least_squares"] = "least_squares"


@final
class MeanSquaredErrorLoss(LossSection):
    title: ClassVar[str] = "squared error of a recorded loop: R = (1/n) sum_i (f(x_i) - y_i)^2"
    source: ClassVar[str] = "MSELoss of PyTorch"
    vanishes: ClassVar[bool] = False
    fits_targets: ClassVar[bool] = True

    words: ClassVar[str] = "mean-squared error"
    kind: Literal["mse"] = "mse"


@final
class CrossEntropyLoss(LossSection):
    title: ClassVar[str] = "cross-entropy of the logits, for three and more classes"
    source: ClassVar[str] = "frei23, section F.2; wei19, Theorem C.1"
    several: ClassVar[bool] = True

    words: ClassVar[str] = "cross-entropy loss"
    kind: Literal["cross_entropy"] = "cross_entropy"


@final
class UnknownLoss(LossSection):
    title: ClassVar[str] = "unnamed loss of another program's run"
    source: ClassVar[str] = "the user's own"
    vanishes: ClassVar[bool] = False
    known: ClassVar[bool] = False
    fits_targets: ClassVar[bool] = True

    kind: Literal["unknown"] = "unknown"


LOSSES: Registry[type[LossSection]] = Registry(
    kind_of, ExponentialLoss, LogisticLoss, SquaredLoss, LeastSquaresLoss, CrossEntropyLoss
)
LOSSES.aside |= {"mse": MeanSquaredErrorLoss, "unknown": UnknownLoss}


# --------------------------------------------------------------------------- sections without kinds


class Recording(Section):
    """Frames of a run: their number, spacing, and extra times."""

    title: ClassVar[str] = "recorded frames, on a schedule fixed before the run starts"

    frames: int = setting(
        400, meaning="upper bound on the number of frames, t = 0 included", ge=2, le=MAX_FRAMES
    )
    log10_times: tuple[float, ...] = setting(
        (), meaning="extra frames, at times t = 10^this", unit="log10 t"
    )
    spacing: Literal["log", "even", "pairs"] = setting(
        "log",
        meaning="log: evenly in log10 t; even: evenly in t, for dynamics of equal steps; pairs: "
        "the same, each frame with that of the previous step, for quantities that change "
        "from step to step",
        advanced=True,
        added=True,
    )

    @model_validator(mode="after")
    def _marks_fit(self) -> Recording:
        """Raise RuleError for more extra times than frames between the first and the last."""
        if len(set(self.log10_times)) > self.frames - 2:
            raise RuleError(
                f"{len(set(self.log10_times))} marks do not fit into frames = {self.frames}; "
                "raise frames or give fewer log10_times",
                keys=("log10_times", "frames"),
            )
        return self


class RunSettings(Section):
    """Seed, precision and device of a run."""

    title: ClassVar[str] = "seed, precision and device"

    seed: int = setting(0, meaning="seed of data and parameters (NumPy PCG64)", ge=0, le=MAX_SEED)
    precision: Literal["float64", "float32"] = setting(
        "float64",
        meaning="float64, or float32 for gradient descent: to 1e-6 of a hard margin with the "
        "default step, to 1e-4 after a million small steps",
    )
    device: Literal["auto", "cpu", "cuda"] = setting(
        "auto",
        meaning="device of gradient descent; auto: an NVIDIA GPU if available and the problem is "
        "large",
    )


# ----------------------------------------------------------------------------------- the experiment


@final
class NetworkSections(Mapping[str, type[NetworkSection]]):
    """Sections of the registered networks, by kind."""

    def __getitem__(self, kind: str) -> type[NetworkSection]:
        return NETWORKS[kind].section

    def __iter__(self) -> Iterator[str]:
        return iter(NETWORKS)

    def __len__(self) -> int:
        return len(NETWORKS)


KINDS: Mapping[str, Mapping[str, type[Section]]] = {
    "data": DATA,
    "network": NetworkSections(),
    "loss": LOSSES,
    "dynamics": DYNAMICS,
}
PLAIN_SECTIONS: dict[str, type[Section]] = {"recording": Recording, "run": RunSettings}


def _of_kind(section: str) -> BeforeValidator:
    """Return a validator that makes a table the section of its kind, looked up when it runs.

    Values that are no tables pass unchanged. ValueError for a kind that does not exist.
    """

    def made(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        kind = value.get("kind")
        try:
            cls = KINDS[section][str(kind)]
        except KeyError:
            raise ValueError(f"kind = {kind!r} does not exist") from None
        return cls.model_validate(value)

    return BeforeValidator(made)


Data = Annotated[SerializeAsAny[DataSection], _of_kind("data")]
Network = Annotated[SerializeAsAny[NetworkSection], _of_kind("network")]
Loss = Annotated[SerializeAsAny[LossSection], _of_kind("loss")]
Dynamics = Annotated[SerializeAsAny[DynamicsSection], _of_kind("dynamics")]


class Experiment(Section):
    """All settings that determine one run; core.problem.problem makes data and network of them."""

    data: Data = setting(ParityData(), meaning="distribution of the examples")
    network: Network = setting(StandardNetwork(m=256), meaning="network and initialisation")
    loss: Loss = setting(ExponentialLoss(), meaning="loss")
    dynamics: Dynamics = setting(GradientFlow(), meaning="training dynamics")
    recording: Recording = setting(Recording(), meaning="recorded frames")
    run: RunSettings = setting(RunSettings(), meaning="seed, precision and device")

    @model_validator(mode="after")
    def _sizes_and_precision(self) -> Experiment:
        """Raise RuleError for sections that do not go together, or sizes beyond a run file."""
        self._check_targets()
        self._check_group_penalty()
        self.dynamics.check(self)
        if self.dynamics.log_time and self.recording.spacing != "log":
            raise RuleError(
                f'recording.spacing = "{self.recording.spacing}" needs equal steps, and '
                f'dynamics.kind = "{self.dynamics.kind}" is followed in log time; use spacing = '
                '"log", or dynamics.kind = "gd"',
                keys=("recording.spacing", "dynamics.kind"),
            )
        network, loss = NETWORKS[self.network.kind], self.loss
        one_sort = network.classes != "any" and loss.known
        if one_sort and (network.classes == "several") != loss.several:
            raise RuleError(
                f'network.kind = "{self.network.kind}" does not go with loss.kind = "{loss.kind}": '
                '"multiclass" and "quadratic" need "cross_entropy", and the other networks one of '
                "the other losses",
                keys=("network.kind", "loss.kind"),
            )
        d, n, m = self.data.d, self.data.n, self.network.m
        for key, size in (("data.n", n), ("network.m", m)):
            if size is not None and d is not None and size * d > MAX_ELEMENTS:
                name = key[-1]
                raise RuleError(
                    f"{name} * d = {size * d:.3g} is larger than {MAX_ELEMENTS:.0e}, the limit "
                    f"of a run file; choose a smaller {name} or d",
                    keys=(key, "data.d"),
                )
        if d is not None:
            self.network.check_dimension(d)
        # If a file defines d, check d = 1: too large then is too large for any d.
        too_large = self.network.too_large(1 if d is None else d, 1)
        if too_large:
            raise RuleError(f"network: {too_large}", keys=("network.m",))
        return self

    def _check_group_penalty(self) -> None:
        """Raise RuleError for a penalty of neurons that dynamics or network do not support."""
        if not self.loss.l23 > 0.0:
            return
        if not self.dynamics.takes_group_penalty:
            kinds = [kind for kind, cls in DYNAMICS.items() if cls.takes_group_penalty]
            raise RuleError(
                f"loss.l23 = {self.loss.l23:g} does not go with dynamics.kind = "
                f'"{self.dynamics.kind}"; use one of {", ".join(kinds)}, or l23 = 0',
                keys=("loss.l23", "dynamics.kind"),
            )
        if not issubclass(NETWORKS[self.network.kind], TwoLayer):
            raise RuleError(
                f"loss.l23 = {self.loss.l23:g} is a penalty of neurons, and not all weights of "
                f'network.kind = "{self.network.kind}" belong to one; use loss.l2, or l23 = 0',
                keys=("loss.l23", "network.kind"),
            )

    def _check_targets(self) -> None:
        """Raise RuleError for real targets with a loss, or dynamics, for labels."""
        for name in ("loss", "dynamics") if self.data.real else ():
            section: LossSection | DynamicsSection = getattr(self, name)
            if not section.fits_targets:
                kinds = [kind for kind, cls in KINDS[name].items() if cls.fits_targets]
                raise RuleError(
                    f'real targets do not go with {name}.kind = "{section.kind}", which is for '
                    f"labels; use one of {', '.join(kinds)}",
                    keys=("data.targets", f"{name}.kind"),
                )
