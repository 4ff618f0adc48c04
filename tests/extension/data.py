"""Stripes: x uniform on the square [-1, 1]^2, labelled by the side of x_1 = 0, with a gap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, final

import numpy as np

from core.data.dataset import Array, Law
from core.data.registry import DATA
from core.data.section import D_MEANING, MAX_N, N_MEANING, DataSection
from core.settings import MAX_SEED, SEED_MEANING, setting


@DATA.add
@final
class StripesData(DataSection, Law):
    """y = sign(x_1) for |x_1| >= gap; all other coordinates are uniform on [-1, 1]."""

    title: ClassVar[str] = "two stripes of the cube, a gap apart"
    source: ClassVar[str] = "docs/extend.md"

    kind: Literal["stripes"] = "stripes"
    d: int = setting(2, meaning=D_MEANING, ge=1, le=1000)
    n: int = setting(20, meaning=N_MEANING, ge=2, le=MAX_N)
    gap: float = setting(0.2, meaning="every |x_1| is at least this", ge=0, lt=1)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    def draw(
        self, generator: np.random.Generator, count: int, known: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        x, y = generator.uniform(-1.0, 1.0, (count, self.d)), generator.choice([-1.0, 1.0], count)
        x[:, 0] = y * generator.uniform(self.gap, 1.0, count)
        return x, y
