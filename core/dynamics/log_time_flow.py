"""Gradient flow dW/dt = -grad R(W) in log time: what its engines share.

The scheme is in core.compiled.log_time and core.compiled.flow.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from core.compiled import log_time as state
from core.dynamics.integrator import Chunk, Event, Integrator, Outcome, Pace, first_units
from core.dynamics.step_size import lambda_0
from core.errors import InputError
from core.frame import Frame
from core.network.parametrisation import Network, TwoLayer
from core.problem import Problem
from core.schedule import first_log10_time, log10_schedule
from core.sections.dynamics import GradientFlow

BUFFER_BYTES = 8_000_000
LATE_LOG10_TIME = 30.0
WIDE = 1024  # from this width on the early steps may be longer, and need not be as fine
DIAGNOSTICS = ("h", "stages", "fewest_atoms", "largest_fall", "margin_error", "turn_error")


def settings_of(dynamics: GradientFlow, network: Network) -> np.ndarray:
    """tau and h_max before and after log10 t = 30, the temperature cap, and the scheme."""
    m = network.m
    fine = m < WIDE and isinstance(network, TwoLayer)  # deep heads turn fast, and cost more
    tau, longest = (0.0005, 0.02) if fine else (0.002, 0.1)
    late_tau, late_longest = (0.002, 0.5)
    if dynamics.accuracy == "numbers":
        late_tau, late_longest = (0.001, 0.1)
    cap, stages = 1e7, 1.0
    if network.scaled < network.size:
        # V moves beside (a, b): stiffness grows with e^(4 rho), and V chatters across kinks, which
        # lambda does not see, by about h/S^2.
        cap, stages, tau = 1e6, 40.0, 0.002
    euler = dynamics.scheme == "euler"
    settings = np.zeros(state.SETTINGS)
    settings[state.TAU_EARLY], settings[state.H_EARLY] = tau, longest
    settings[state.TAU_LATE], settings[state.H_LATE] = max(tau, late_tau), late_longest
    settings[state.LATE_LN_T] = LATE_LOG10_TIME * np.log(10.0)
    settings[state.CAP] = np.inf if euler else cap
    settings[state.EULER] = 1.0 if euler else 0.0
    settings[state.V_SPEED] = 30.0
    settings[state.BASE_STAGES] = 1.0 if euler else stages
    settings[state.EULER_C] = 1.0
    settings[state.EULER_H] = 0.01 if m < WIDE else 0.1
    return settings


class LogTimeFlow(Integrator):
    """Chebyshev steps (or Euler, the test oracle) in float64; an engine adds two methods.

    The state of the scheme is in `_floats` and `_counts`, at the places of core.compiled.log_time.
    """

    def __init__(self, problem: Problem) -> None:
        dynamics = problem.experiment.dynamics
        assert isinstance(dynamics, GradientFlow)
        if not problem.network.homogeneous:
            raise InputError('dynamics.kind = "flow" needs a homogeneous network; use "gd".')
        self.problem = problem
        start, recording = problem.start, problem.experiment.recording
        self._settings = settings_of(dynamics, problem.network)
        cap = float(self._settings[state.CAP])
        self.temperature_cap = cap if np.isfinite(cap) else None
        first = first_log10_time(lambda_0(problem))
        if np.isfinite(start.log10_time):
            first = start.log10_time
        times = log10_schedule(
            first, dynamics.until_log10_time, recording.frames, recording.log10_times
        )
        self._marks = np.ascontiguousarray(times[times > start.log10_time])
        self.planned = 1 + self._marks.size
        self._begin()
        self._allocate()
        self._started = False

    @abstractmethod
    def _allocate(self) -> None:
        """Make what the engine works with."""

    @abstractmethod
    def _work_for(self, budget: int) -> int:
        """About `budget` field evaluations; returns a code of core.compiled.log_time."""

    def _begin(self) -> None:
        problem, start, network = self.problem, self.problem.start, self.problem.network
        norm = network.norm(start.parameters)
        if norm == 0.0:
            raise InputError("All initial parameters are zero, where gradient flow stays for ever.")
        self._theta = start.parameters.copy()
        self._theta[: network.scaled] /= norm
        floats, counts = np.zeros(state.FLOATS), np.zeros(state.COUNTS, np.int64)
        floats[state.RHO] = start.rho + np.log(norm)
        floats[state.LN_T] = floats[state.PREVIOUS_LN_T] = start.log10_time * np.log(10.0)
        floats[state.H], floats[state.SAFETY] = 1e-3, 2.0
        floats[state.FEWEST_ATOMS] = np.inf
        floats[state.LEAST_STAGES] = self._settings[state.BASE_STAGES]
        self._floats, self._counts = floats, counts
        # The power iteration starts with this: no symmetry of the data may hide from it.
        count = problem.dataset.n * max(network.k - 1, 1)
        wave = 1.0 + 0.3 * np.cos(1.0 + np.arange(count) ** 2)
        self._wave = wave / np.linalg.norm(wave)
        rows = max(1, min(64, self._marks.size, BUFFER_BYTES // self._theta.nbytes))
        self._buffer, self._rows = np.zeros((rows, self._theta.size)), np.zeros((rows, state.ROW))
        self._pace = Pace(first_units(network.m, *problem.inputs.shape))

    def _first_frame(self) -> Frame:
        start = self.problem.start
        rho = float(self._floats[state.RHO])
        return Frame(start.step, start.log10_time, rho, self._theta.copy())

    def advance(self) -> Chunk:
        if not self._started:
            self._started = True
            done = self.planned == 1
            first = (self._first_frame(),)
            return self._chunk(first, Outcome.COMPLETED if done else Outcome.GOING)
        before = int(self._counts[state.MARK])
        code = self._work_for(self._pace.start())
        if code == state.GOING:
            self._pace.stop()
        frames = self._frames(before)
        if code == state.STATIONARY:
            return self._stationary(frames)
        if code == state.STALLED:
            payload = {"step": self._step(), "log10_time": self._log10_time()}
            return self._chunk(frames, Outcome.STALLED, ("stalled", payload))
        return self._chunk(frames, Outcome.COMPLETED if code == state.DONE else Outcome.GOING)

    def _step(self) -> int:
        return self.problem.start.step + int(self._counts[state.STEP])

    def _log10_time(self) -> float:
        return float(self._floats[state.LN_T] / np.log(10.0))

    def _chunk(
        self, frames: tuple[Frame, ...], outcome: Outcome, event: Event | None = None
    ) -> Chunk:
        return Chunk(frames, outcome, self._step(), self._log10_time(), event)

    def _frames(self, before: int) -> tuple[Frame, ...]:
        count = int(self._counts[state.BUFFERED])
        self._counts[state.BUFFERED] = 0
        theta, rows = self._buffer[:count].copy(), self._rows[:count].tolist()
        begun = self.problem.start.step
        times = self._marks[before : before + count].tolist()
        return tuple(
            Frame(begun + int(row[0]), times[i], row[1], theta[i], None,
                  dict(zip(DIAGNOSTICS, row[2:], strict=True)))
            for i, row in enumerate(rows)
        )  # fmt: skip

    def _stationary(self, frames: tuple[Frame, ...]) -> Chunk:
        """The field is zero: every later frame is this one."""
        step, rho = self._step(), float(self._floats[state.RHO])
        theta = self._theta.copy()
        rest = self._marks[int(self._counts[state.MARK]) :].tolist()
        still = tuple(Frame(step, mark, rho, theta) for mark in rest)
        event = ("stationary", {"step": step, "log10_time": self._log10_time()})
        return self._chunk(frames + still, Outcome.COMPLETED, event)
