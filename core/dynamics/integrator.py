"""Protocol between dynamics and the run loop: short chunks of work, frames on a schedule."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, final

from core.problem.problem import State
from core.run_files.frame import Frame

Event = tuple[str, Mapping[str, Any]]
# Shorter chunks cost the training 40-70 % beside a window, longer ones feel unresponsive.
CHUNK_SECONDS = 0.0175


@final
class Outcome(Enum):
    """Outcome of a chunk."""

    GOING = "going"
    COMPLETED = "completed"
    DIVERGED = "diverged"
    STALLED = "stalled"


@final
@dataclass(frozen=True, slots=True)
class Chunk:
    """Result of one chunk of work: the frames it reached, the progress, and the outcome.

    `event` is (kind, payload) of an event to record, such as a divergence.
    """

    frames: tuple[Frame, ...]
    outcome: Outcome
    step: int
    log10_time: float
    event: Event | None = None


@final
@dataclass(slots=True)
class Pace:
    """Controller of the units of work in a chunk of 15-20 ms, by the duration of the last ones."""

    units: int
    seconds: float = CHUNK_SECONDS
    _started: float = field(default=0.0, init=False)

    def start(self) -> int:
        """Start the timer; return the units to do now."""
        self._started = time.perf_counter()
        return self.units

    def stop(self) -> None:
        """Adapt the units after all of them were done."""
        elapsed = max(time.perf_counter() - self._started, 1e-7)
        # Bounded, since other programs may have slowed down a chunk.
        factor = min(4.0, max(0.25, self.seconds / elapsed))
        self.units = max(1, int(self.units * factor))


def first_units(m: int, n: int, d: int) -> int:
    """Return units of work that surely fit into a chunk.

    Parameters
    ----------
    m, n, d : int
        Width, examples and dimension.

    Returns
    -------
    int
        Field evaluations of about 4 m n d operations, at least 1.
    """
    # A quarter of a chunk at 5e9 operations per second, and 2 us per call.
    return max(1, int(0.25 * CHUNK_SECONDS / (4.0 * m * n * d / 5e9 + 2e-6)))


class Integrator(ABC):
    """Dynamics of one run, advanced in chunks.

    `engine` names the implementation, `planned` the number of frames on the schedule (frame 0
    included), `temperature_cap` the E cap of the flow, None without one. The results do not depend
    on how the work is cut into chunks.
    """

    engine: str
    planned: int
    temperature_cap: float | None

    @abstractmethod
    def advance(self) -> Chunk:
        """Work for about 17 ms without the GIL. Not called again after a final outcome."""

    def log10_progress(self, log10_time: float) -> float:
        """Return the progress of the work as log10 t, for a chunk that ended at `log10_time`."""
        return log10_time

    def state(self) -> State | None:
        """Return the solver state at the last emitted frame, beside the parameters.

        A run whose start has this state continues as if it had not been interrupted. None at t = 0,
        and where the frame says everything.
        """
        return None
