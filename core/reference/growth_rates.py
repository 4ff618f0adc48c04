"""Growth rates |D_+| and |D_-| of small neurons: the largest extremal vectors of both signs."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar, final

from core.errors import InputError
from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.extremal import extremal_vectors, has_extremal
from core.reference.margin import Bracket, Reference, absent_bracket, data_key, exact_bracket


class GrowthRate(Reference, ABC):
    """Maximum over |u| = 1 of sign * G(u), which some extremal vector attains."""

    sign: ClassVar[float]
    source = "boursier25"
    where = "real targets, the standard or bias network"

    def applies(self, problem: Problem) -> bool:
        return has_extremal(problem)

    def key(self, problem: Problem) -> str:
        return data_key(problem, problem.inputs, self._slope(problem))

    def compute(self, problem: Problem, watch: CancelToken) -> Bracket:
        slope = self._slope(problem)
        try:
            vectors = extremal_vectors(problem.inputs, problem.dataset.y, slope, watch=watch)
        except InputError as error:
            return absent_bracket(str(error))
        rates = [self.sign * one.value for one in vectors]
        if max(rates, default=0.0) <= 0.0:
            way = "above" if self.sign > 0.0 else "below"
            return absent_bracket(
                f"No extremal vector has G {way} 0: no neuron of this sign grows."
            )
        return exact_bracket(
            max(rates), f"the largest of {len(rates)} extremal vectors, all enumerated"
        )

    def _slope(self, problem: Problem) -> float:
        network = problem.network
        assert isinstance(network, TwoLayer)
        return network.activation.slope


@final
class PositiveGrowth(GrowthRate):
    """Largest growth rate of neurons with a_j > 0."""

    name = "extremal_plus"
    title = "largest growth of positive neurons"
    formula = "|D_+| = max over |u| = 1 of G(u), G(u) = (1/n) sum_k y_k phi(<u, x_k>)"
    label = "|D_+|"
    sign = 1.0


@final
class NegativeGrowth(GrowthRate):
    """Largest growth rate of neurons with a_j < 0."""

    name = "extremal_minus"
    title = "largest growth of negative neurons"
    formula = "|D_-| = max over |u| = 1 of -G(u), G(u) = (1/n) sum_k y_k phi(<u, x_k>)"
    label = "|D_-|"
    sign = -1.0
