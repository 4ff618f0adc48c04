"""Margins over the norms in which dynamics other than gradient descent are steepest."""

from __future__ import annotations

from abc import abstractmethod

from core.problem.problem import Problem
from core.reference.margin import SampleMargin


class NormMargin(SampleMargin):
    """Margin over a norm other than l_2, which margins over |W|^2 do not approach.

    Lists show it for runs of steepest descent in this norm. `marginscope.margins` computes it by
    name for any data.
    """

    @property
    @abstractmethod
    def norm(self) -> str:
        """Name of the norm in studies."""

    def is_listed(self, problem: Problem) -> bool:
        return getattr(problem.experiment.dynamics, "norm", None) == self.norm
