"""The sections without kinds: what is recorded, and the seed."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import model_validator

from core.errors import RuleError
from core.settings import MAX_FRAMES, MAX_SEED, Section, setting


class Recording(Section):
    title: ClassVar[str] = "what is kept of a run: frames on a schedule fixed before it starts"

    frames: int = setting(
        400, meaning="upper bound on the number of frames, t = 0 included", ge=2, le=MAX_FRAMES
    )
    log10_times: tuple[float, ...] = setting(
        (), meaning="extra marks: times t = 10^this that get a frame of their own", unit="log10 t"
    )
    spacing: Literal["log", "even", "pairs"] = setting(
        "log",
        meaning="log: evenly in log10 t; even: evenly in t, for dynamics of equal steps; pairs: "
        "the same, each frame with that of the step before it, for what changes from step to step",
        advanced=True,
        added=True,
    )

    @model_validator(mode="after")
    def _marks_fit(self) -> Recording:
        if len(set(self.log10_times)) > self.frames - 2:
            raise RuleError(
                f"{len(set(self.log10_times))} marks do not fit into frames = {self.frames}; "
                "raise frames or give fewer log10_times",
                keys=("log10_times", "frames"),
            )
        return self


class RunSettings(Section):
    title: ClassVar[str] = "the seed, and how numbers are held"

    seed: int = setting(0, meaning="seed of data and parameters (NumPy PCG64)", ge=0, le=MAX_SEED)
    precision: Literal["float64", "float32"] = setting(
        "float64",
        meaning="float64, or float32 for gradient descent: to 1e-6 of a hard margin with the "
        "default step, to 1e-4 after a million small steps",
    )
    device: Literal["auto", "cpu", "cuda"] = setting(
        "auto",
        meaning="where gradient descent computes; auto: on an NVIDIA GPU if there is one and the "
        "problem is large",
    )
