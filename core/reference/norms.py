"""Margins over the norms in which dynamics other than gradient descent are steepest."""

from __future__ import annotations

from abc import abstractmethod

from core.problem.problem import Problem
from core.reference.margin import SampleMargin


class NormMargin(SampleMargin):
    """Margin over a norm that is not l_2, and so none of the margins over |W|^2.

    Listed with runs of steepest descent in this norm. Python finds it by its name for other data.
    """

    @property
    @abstractmethod
    def norm(self) -> str:
        """Name of the norm in studies."""

    def is_listed(self, problem: Problem) -> bool:
        return getattr(problem.experiment.dynamics, "norm", None) == self.norm
