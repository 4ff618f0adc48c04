"""Kinds of my paper. Marginscope imports this module once its user trusts the package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, final

import numpy as np

from marginscope.kinds import (
    D_MEANING,
    DATA,
    MAX_N,
    MAX_SEED,
    N_MEANING,
    NETWORKS,
    OBSERVABLES,
    SEED_MEANING,
    Block,
    DataSection,
    Law,
    NetworkSection,
    Observable,
    Run,
    Shape,
    TwoLayer,
    join_flat,
    node_norms,
    setting,
)

PAPER = "my paper"


@DATA.add
@final
class RingsData(DataSection, Law):
    """Points of two circles around the origin: radius 1 has the label -1, `radius` the label 1."""

    title: ClassVar[str] = "two circles around the origin"
    source: ClassVar[str] = PAPER

    kind: Literal["rings"] = "rings"
    d: int = setting(2, meaning=D_MEANING, ge=2, le=2)
    n: int = setting(24, meaning=N_MEANING, ge=2, le=MAX_N)
    radius: float = setting(2.0, meaning="radius of the outer circle", gt=1, le=100)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    def draw(
        self, generator: np.random.Generator, count: int, known: Mapping[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        angle = generator.uniform(0.0, 2.0 * np.pi, count)
        y = generator.choice([-1.0, 1.0], count)
        radius = np.where(y > 0.0, self.radius, 1.0)
        return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), y


@final
class SignedSquareNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j |a_j| relu(<v_j, x>), both trained"
    source: ClassVar[str] = PAPER
    kind: Literal["signed_square"] = "signed_square"
    init: Literal["paper", "file"] = setting("paper", meaning="paper: a, V ~ N(0, 1/m)")


@NETWORKS.add
@final
class SignedSquare(TwoLayer):
    """alpha_j = a_j |a_j| and u_j = v_j: 3-homogeneous."""

    kind, section, degree, row_space = "signed_square", SignedSquareNetwork, 3, True

    def __init__(
        self, section: SignedSquareNetwork, shape: Shape, fixed: Mapping[str, np.ndarray]
    ) -> None:
        self.m, self.d, self.fixed = shape.m, shape.d, {}
        self.layout = (Block("a", (self.m,)), Block("V", (self.m, self.d)))
        self.scaled = self.size

    @staticmethod
    def initial(
        section: Any, shape: Shape, generator: np.random.Generator
    ) -> dict[str, np.ndarray]:
        normal = generator.standard_normal((shape.m, 1 + shape.d)) / np.sqrt(shape.m)
        return {"a": normal[:, 0], "V": normal[:, 1:]}

    def effective(self, flat: Any) -> tuple[Any, Any]:
        a = flat[: self.m]
        return a * abs(a), flat[self.m :].reshape(self.m, self.d)

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        da, dV = direction[: self.m], direction[self.m :].reshape(self.m, self.d)
        return 2.0 * abs(flat[: self.m]) * da, dV

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        return join_flat([2.0 * abs(flat[: self.m]) * d_alpha, d_U])


def share_of_largest(run: Run, frame: int) -> float:
    """Return the largest |alpha_j| |u_j| as a share of their sum."""
    norms = node_norms(run, frame)
    total = float(norms.sum())
    return float(norms.max()) / total if total > 0.0 else float("nan")


def has_nodes(run: Run) -> bool:
    """Return True if the norms of the run's neurons are defined."""
    return bool(np.isfinite(node_norms(run, 0)).all())


OBSERVABLES.add(
    Observable(
        "share_of_largest",
        "share of the largest neuron",
        "max_j |alpha_j| |u_j| / sum_j |alpha_j| |u_j|",
        PAPER,
        share_of_largest,
        applies=has_nodes,
        where="networks with neurons",
        tex=r"\frac{\max_j|\alpha_j||u_j|}{\sum_j|\alpha_j||u_j|}",
        normalisation="a share",
    )
)
