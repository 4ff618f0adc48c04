"""A random teacher network with a margin, by rejection (wei19, sections F.1 and F.3)."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.data.dataset import Array, Directions, Law
from core.data.section import D_MEANING, MAX_N, N_MEANING, DataSection
from core.errors import InputError
from core.settings import MAX_SEED, SEED_MEANING, setting

MOST_VALUES = 2**20  # of one batch of proposals
MOST_PROPOSALS = (200_000, 1000)  # so many, and so many more for each example wanted


@final
class TeacherData(DataSection, Law):
    """y = sign f(x), f(x) = sum_j a_j relu(<w_j, x>) with |f(x)| >= margin; x ~ N(0, I).

    a_j and w_j are N(0, 1); f is not normalised. wei19 leaves these laws open: with standard normal
    inputs its section F.1 has the margins of docs/theory.md, 7.8, with inputs of norm 1 it does
    not. The directions are |a_j| w_j, `positive` and `negative` by the sign of a_j, so that f is
    the sum of their relu(<., x>) minus that of the negative ones. Raises InputError where fewer
    than one proposal in a thousand keeps the margin.
    """

    title: ClassVar[str] = "labels of a random two-layer ReLU network, kept where |f(x)| >= margin"
    source: ClassVar[str] = "wei19, sections F.1 (10 units, margin .01) and F.3 (6 units, .1)"

    kind: Literal["teacher"] = "teacher"
    d: int = setting(20, meaning=D_MEANING, ge=1, le=100_000)
    n: int = setting(200, meaning=N_MEANING, ge=1, le=MAX_N)
    units: int = setting(10, meaning="hidden units of the teacher", ge=1, le=10_000)
    margin: float = setting(
        0.01, meaning="inputs with |f(x)| below this are drawn again", ge=0, le=1e6
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    def directions(self, generator: Generator) -> dict[str, Array]:
        inner = generator.standard_normal((self.units, self.d))
        outer = generator.standard_normal(self.units)
        # |a| relu(<w, x>) = relu(<|a| w, x>), so that a teacher is two sets of directions.
        directions = np.abs(outer)[:, None] * inner
        return {"positive": directions[outer > 0], "negative": directions[outer <= 0]}

    @staticmethod
    def outputs(x: Array, known: Directions) -> Array:
        """f(x), (n,)."""
        up, down = (np.maximum(x @ known[name].T, 0.0) for name in ("positive", "negative"))
        return np.asarray(up.sum(axis=1) - down.sum(axis=1))

    def draw(self, generator: Generator, count: int, known: Directions) -> tuple[Array, Array]:
        xs, fs, accepted, drawn = [], [], 0, 0
        batch = max(1, min(MOST_VALUES // self.d, 2 * count + 64))
        most = MOST_PROPOSALS[0] + MOST_PROPOSALS[1] * count
        while accepted < count:
            if drawn >= most:
                raise InputError(
                    f"data.margin = {self.margin:g}: only {accepted} of {drawn} random inputs have "
                    f"|f(x)| that large for this teacher; choose a smaller margin, such as 0.01."
                )
            x = generator.standard_normal((batch, self.d))
            f = self.outputs(x, known)
            # sign(0) would be no label; it happens where no unit is active on an input.
            kept = (np.abs(f) >= self.margin) & (f != 0.0)
            xs.append(x[kept])
            fs.append(f[kept])
            accepted += int(kept.sum())
            drawn += batch
        x, f = np.concatenate(xs)[:count], np.concatenate(fs)[:count]
        return np.ascontiguousarray(x), np.sign(f)
