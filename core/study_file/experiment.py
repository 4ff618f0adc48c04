"""An experiment: one data set, network, loss and dynamics, what is recorded, and the seed.

Every section is a frozen value (pydantic), so experiments are hashable and can be replaced field by
field. Kinds and keys are those of study files; the paper and section that a value comes from stand
beside it, and `python -m core describe` and the window's form print them from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, final

from pydantic import BeforeValidator, SerializeAsAny, model_validator

from core.data.parity import ParityData
from core.data.registry import DATA
from core.data.section import DataSection
from core.errors import RuleError
from core.network.parametrisation import TwoLayer
from core.network.registry import NETWORKS
from core.network.section import NetworkSection
from core.network.standard import StandardNetwork
from core.settings import MAX_ELEMENTS, Section, setting
from core.study_file.dynamics import DYNAMICS, GradientFlow
from core.study_file.dynamics_section import DynamicsSection
from core.study_file.loss import LOSSES, ExponentialLoss, LossSection
from core.study_file.plain import Recording, RunSettings


@final
class NetworkSections(Mapping[str, type[NetworkSection]]):
    """The sections of the networks that are registered, by kind."""

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
    """A table becomes the section of its kind, whatever kinds are registered by then."""

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
    """Everything that determines one run, as a value; core.problem.problem makes it concrete."""

    data: Data = setting(ParityData(), meaning="the distribution the examples come from")
    network: Network = setting(StandardNetwork(m=256), meaning="the network and its start")
    loss: Loss = setting(ExponentialLoss(), meaning="the loss")
    dynamics: Dynamics = setting(GradientFlow(), meaning="how the parameters move")
    recording: Recording = setting(Recording(), meaning="what is kept")
    run: RunSettings = setting(RunSettings(), meaning="seed and precision")

    @model_validator(mode="after")
    def _sizes_and_precision(self) -> Experiment:
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
                    f"{name} * d = {size * d:.3g} is larger than {MAX_ELEMENTS:.0e}, "
                    f"the most a run file holds; choose a smaller {name} or d",
                    keys=(key, "data.d"),
                )
        # Where a file will say d: what is too large for one coordinate is so for more.
        too_large = self.network.too_large(1 if d is None else d, 1)
        if too_large:
            raise RuleError(f"network: {too_large}", keys=("network.m",))
        return self

    def _check_group_penalty(self) -> None:
        """The penalty of nodes needs nodes, and steps on the objective itself."""
        if not self.loss.l23 > 0.0:
            return
        if not self.dynamics.takes_group_penalty:
            known = [kind for kind, cls in DYNAMICS.items() if cls.takes_group_penalty]
            raise RuleError(
                f"loss.l23 = {self.loss.l23:g} does not go with dynamics.kind = "
                f'"{self.dynamics.kind}"; use one of {", ".join(known)}, or l23 = 0',
                keys=("loss.l23", "dynamics.kind"),
            )
        if not issubclass(NETWORKS[self.network.kind], TwoLayer):
            raise RuleError(
                f"loss.l23 = {self.loss.l23:g} is a penalty of nodes, and not all weights of "
                f'network.kind = "{self.network.kind}" belong to one; use loss.l2, or l23 = 0',
                keys=("loss.l23", "network.kind"),
            )

    def _check_targets(self) -> None:
        """Real targets are fitted by a loss of outputs, under dynamics that ask for no labels."""
        for name in ("loss", "dynamics") if self.data.real else ():
            section: LossSection | DynamicsSection = getattr(self, name)
            if not section.fits_targets:
                known = [kind for kind, cls in KINDS[name].items() if cls.fits_targets]
                raise RuleError(
                    f'real targets do not go with {name}.kind = "{section.kind}", which is for '
                    f"labels; use one of {', '.join(known)}",
                    keys=("data.targets", f"{name}.kind"),
                )
