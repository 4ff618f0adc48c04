"""Gradient flow of the exact risk on Gaussian inputs with a teacher: no examples are needed."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

from core.data.regression import RegressionData
from core.errors import RuleError
from core.network.single_index import SingleIndexNetwork
from core.network.standard import StandardNetwork
from core.settings import setting
from core.study_file.dynamics_section import UNTIL_MEANING, DynamicsSection


@final
class PopulationFlow(DynamicsSection):
    title: ClassVar[str] = "gradient flow of the exact risk E (f - y)^2/2 on Gaussian inputs"
    words: ClassVar[str] = "population flow"
    source: ClassVar[str] = "Saad and Solla 1995; docs/theory.md, 4.18"
    fits_targets: ClassVar[bool] = True
    follows_population: ClassVar[bool] = True

    kind: Literal["population"] = "population"
    step: float | None = setting(
        None,
        meaning="step length, shortened where too long; default .01/((1/n) sum_i |y_i| |x_i|)",
        gt=0,
    )
    until_log10_time: float = setting(2.0, meaning=UNTIL_MEANING, unit="log10 t", ge=-8, le=15)

    def check(self, experiment: Any) -> None:
        self._check_neurons(experiment)
        self._needs_float64(experiment)
        data, loss = experiment.data, experiment.loss
        if not isinstance(data, RegressionData) or not data.units:
            raise RuleError(
                f'dynamics.kind = "{self.kind}" follows the risk on Gaussian inputs with a '
                'teacher; use data.kind = "regression" with data.units of at least 1',
                keys=("dynamics.kind", "data.kind", "data.units"),
            )
        network = experiment.network
        needed = network.known_teacher
        if data.neurons != needed:
            raise RuleError(
                f'dynamics.kind = "{self.kind}" compares network.kind = '
                f'"{network.kind}" with a teacher of the same neurons, but '
                f'data.neurons = "{data.neurons}"; use data.neurons = "{needed}"',
                keys=("data.neurons", "network.kind"),
            )
        if isinstance(network, SingleIndexNetwork) and network.degree != data.degree:
            raise RuleError(
                f"the network has degree {network.degree} and the teacher {data.degree}; use "
                "the same for network.degree and data.degree",
                keys=("network.degree", "data.degree"),
            )
        if loss.kind != "least_squares" or loss.l2 > 0.0:
            raise RuleError(
                f'dynamics.kind = "{self.kind}" follows half the squared error without a penalty; '
                'use loss.kind = "least_squares" and loss.l2 = 0',
                keys=("dynamics.kind", "loss.kind", "loss.l2"),
            )

    def _check_neurons(self, experiment: Any) -> None:
        """Raise RuleError for networks whose exact risk has no closed form."""
        network = experiment.network
        if not network.known_teacher:
            raise RuleError(
                f'dynamics.kind = "{self.kind}" has closed formulas for plain ReLU, erf and '
                f'Hermite neurons, so it does not go with network.kind = "{network.kind}"; use '
                'network.kind = "standard", "committee" or "single_index"',
                keys=("dynamics.kind", "network.kind"),
            )
        if isinstance(network, StandardNetwork):
            self._needs_relu(experiment)

    def work(self, n: float, m: float, d: float) -> float:
        return 40.0 * self.steps() * m * m * d
