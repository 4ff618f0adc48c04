"""The papers' own constructions: D of wei19, a teacher, intervals, dyadic, three points."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import model_validator

from core.study_file.sections.data import D_MEANING, MAX_D, MAX_N, MAX_SEED, N_MEANING
from core.study_file.settings import SEED_MEANING, Section, setting


class Wei19Data(Section):
    title: ClassVar[str] = "distribution D: the signal in two coordinates, random bits in the rest"
    source: ClassVar[str] = "wei19, equation (2.1) and Theorem 2.1"

    kind: Literal["wei19"] = "wei19"
    d: int = setting(20, meaning=D_MEANING, ge=2, le=MAX_D)
    n: int = setting(100, meaning=N_MEANING, ge=1, le=MAX_N)
    scaled: bool = setting(
        False,
        meaning="true: divided by sqrt(d - 1), so that |x| = 1; false: as in the paper, where "
        "|x| = sqrt(d - 1)",
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)


class ThreePointData(Section):
    title: ClassVar[str] = "three points whose leaky ReLU limit is not the linear max-margin one"
    source: ClassVar[str] = "frei23, Lemma B.8: (-1,0,0)-, (eps,sqrt(1-eps^2),0)+, (0,0,1)+"
    own: ClassVar[tuple[str, ...]] = ("d", "n")

    kind: Literal["three_point"] = "three_point"
    d: int = setting(3, meaning="always 3", ge=3, le=3, advanced=True)
    n: int = setting(3, meaning="always 3", ge=3, le=3, advanced=True)
    eps: float = setting(
        0.01, meaning="-<x_1, x_2>; Theorem 3.2 at slope 1/2 needs at most 1/72", gt=0, lt=1
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)


class TeacherData(Section):
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


class IntervalsData(Section):
    title: ClassVar[str] = "points of [-1, 1], labelled -1 and +1 in turn from break to break"
    source: ClassVar[str] = "wei19, section F.4 (which leaves its points open)"
    own: ClassVar[tuple[str, ...]] = ("d",)

    kind: Literal["intervals"] = "intervals"
    d: int = setting(1, meaning="always 1", ge=1, le=1, advanced=True)
    n: int = setting(20, meaning=N_MEANING, ge=2, le=MAX_N)
    breaks: tuple[float, ...] = setting(
        (-0.5, 0.0, 0.5), meaning="where the label changes, in rising order"
    )
    gap: float = setting(
        0.1, meaning="no point lies nearer than half of this to a break", ge=0, lt=2
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _room(self) -> IntervalsData:
        shown = ", ".join(f"{place:g}" for place in self.breaks)
        if not self.breaks:
            raise ValueError("breaks is empty, so that there is one class; give at least one")
        if list(self.breaks) != sorted(set(self.breaks)):
            raise ValueError(f"breaks = {shown} must rise; put them in order, each once")
        if any(high <= low for low, high in self.pieces()):
            raise ValueError(
                f"breaks = {shown} with gap = {self.gap:g} leave an interval of [-1, 1] without "
                "room; lower gap, or move the breaks apart and inside (-1, 1)"
            )
        return self

    def pieces(self) -> list[tuple[float, float]]:
        """The intervals that points are drawn from, left to right."""
        half = self.gap / 2.0
        lows = [-1.0, *(place + half for place in self.breaks)]
        highs = [*(place - half for place in self.breaks), 1.0]
        return list(zip(lows, highs, strict=True))


class DyadicData(Section):
    title: ClassVar[str] = "2^-j e_j labelled +1 and -2^-j e_j labelled -1, j = 1, ..., d"
    source: ClassVar[str] = "batchnorm, Definition 1.1 and Proposition 1.1"
    own: ClassVar[tuple[str, ...]] = ("n",)

    kind: Literal["dyadic"] = "dyadic"
    d: int = setting(8, meaning=D_MEANING, ge=1, le=500)
    n: int = setting(16, meaning="always 2 d; follows d when left out", ge=2, advanced=True)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, given: Any) -> Any:
        if isinstance(given, dict) and "d" in given and "n" not in given:
            try:
                return {**given, "n": 2 * int(given["d"])}
            except (TypeError, ValueError):
                return given  # the field's own check says what is wrong with d
        return given

    @model_validator(mode="after")
    def _two_each(self) -> DyadicData:
        if self.n != 2 * self.d:
            raise ValueError(
                f"n = {self.n}, and the dyadic set has 2 d = {2 * self.d} examples; leave n out"
            )
        return self
