"""How fast small nodes grow: the lengths of the longest extremal vectors of either sign."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar, final

from core.errors import InputError
from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem
from core.reference.extremal import extremal_vectors, has_extremal
from core.reference.margin import Bracket, Reference, absent, exact
from core.reference.sample import data_key
from core.reference.watch import Watch


class GrowthRate(Reference, ABC):
    """max over |u| = 1 of sign * G(u), which some extremal vector has."""

    sign: ClassVar[float]
    source = "boursier25"
    where = "real targets, the standard or bias network"

    def applies(self, problem: Problem) -> bool:
        return has_extremal(problem)

    def key(self, problem: Problem) -> str:
        return data_key(problem, problem.inputs, self._slope(problem))

    def compute(self, problem: Problem, watch: Watch) -> Bracket:
        watch.look()
        try:
            found = extremal_vectors(problem.inputs, problem.dataset.y, self._slope(problem))
        except InputError as error:
            return absent(str(error))
        rates = [self.sign * one.value for one in found]
        if max(rates, default=0.0) <= 0.0:
            way = "above" if self.sign > 0.0 else "below"
            return absent(f"No extremal vector has G {way} 0: no node of this sign grows.")
        return exact(max(rates), f"the largest of {len(rates)} extremal vectors, all enumerated")

    def _slope(self, problem: Problem) -> float:
        network = problem.network
        assert isinstance(network, TwoLayer)
        return network.activation.slope


@final
class PositiveGrowth(GrowthRate):
    """How fast nodes with a_j > 0 grow at most."""

    name = "extremal_plus"
    title = "largest growth of positive nodes"
    formula = "|D_+| = max over |u| = 1 of G(u), G(u) = (1/n) sum_k y_k phi(<u, x_k>)"
    label = "|D_+|"
    sign = 1.0


@final
class NegativeGrowth(GrowthRate):
    """How fast nodes with a_j < 0 grow at most."""

    name = "extremal_minus"
    title = "largest growth of negative nodes"
    formula = "|D_-| = max over |u| = 1 of -G(u), G(u) = (1/n) sum_k y_k phi(<u, x_k>)"
    label = "|D_-|"
    sign = -1.0
