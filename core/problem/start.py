"""Where a run begins: at t = 0, or where another run stood, with what is known of that one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.settings import Section

Array = NDArray[np.float64]
# What a dynamics carries from one step to the next besides the parameters: arrays by name.
State = Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Frames of the runs before, in the order of time: step, log10 t and rho (H,), each with its
    flat parameters (H, size).

    None of them lies at t = 0, where the origin stands. `complete` is false where some of the runs
    before did not hand their frames on, so that there is a gap. `errors` (H + 1,) are the
    `margin_error` of these frames, and of the one that the run starts with, infinite where that
    is not known; None where no step was checked.
    """

    steps: NDArray[np.int64]
    log10_time: Array
    rho: Array
    parameters: NDArray[np.floating]
    complete: bool = True
    errors: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Where a run begins: at t = 0, or at a frame of the run that it continues.

    The physical parameters are `network.physical(parameters, rho)`. `origin` are the parameters at
    t = 0, from which rotation and distance are measured. `continues` names the run before.

    `goes_on` says that the dynamics of the run before goes on unchanged; with its `state` at the
    start it goes on exactly. Where that is only known at an `earlier` start, the run passes through
    the times `marks` (log10 t, increasing, the last of them the start's own) once more, of which
    nothing is recorded, with the dynamics of the `way` (None: its own). `history` are the frames
    before the start.
    """

    parameters: Array
    origin: Array
    rho: float = 0.0
    step: int = 0
    log10_time: float = -np.inf
    continues: Mapping[str, object] | None = None
    goes_on: bool = True
    state: State | None = None
    earlier: Start | None = None
    marks: tuple[float, ...] = ()
    way: Section | None = None
    history: History | None = None
