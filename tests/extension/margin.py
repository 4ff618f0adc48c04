"""A reference margin: half the distance of the nearest two examples of opposite labels."""

from __future__ import annotations

from typing import final

import numpy as np

from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.margin import Bracket, SampleMargin, exact_bracket
from core.reference.registry import REFERENCES


@final
class NearestMargin(SampleMargin):
    """min over y_i != y_k of |x_i - x_k|/2: no classifier is right on larger balls."""

    name = "nearest"
    title = "half the distance of the classes"
    formula = "min over y_i != y_k of |x_i - x_k| / 2"
    source = "docs/extend.md"
    label = "half distance"

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        x, y = problem.dataset.x, problem.dataset.y
        distances = np.linalg.norm(x[y > 0][:, None] - x[y < 0][None], axis=2)
        return exact_bracket(float(distances.min()) / 2.0, "all pairs compared")


REFERENCES.add(NearestMargin())
