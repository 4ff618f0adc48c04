"""Gradient flow dW/dt = -grad R(W), followed in log time (the scheme is in core.compiled.flow)."""

from __future__ import annotations

from typing import final

import numpy as np

from core.compiled import flow as kernel
from core.dynamics.integrator import Chunk, Event, Integrator, Outcome, Pace, first_units
from core.dynamics.step_size import lambda_0
from core.errors import InputError
from core.frame import Frame
from core.problem import Problem
from core.schedule import first_log10_time, log10_schedule
from core.sections.dynamics import GradientFlow

BUFFER_BYTES = 8_000_000
LATE_LOG10_TIME = 30.0
WIDE = 1024  # from this width on the early steps may be longer, and need not be as fine
DIAGNOSTICS = ("h", "stages", "fewest_atoms", "largest_fall")


def settings_of(dynamics: GradientFlow, m: int) -> np.ndarray:
    """tau and h_max before and after log10 t = 30, the temperature cap, and the scheme."""
    tau, longest = (0.0005, 0.02) if m < WIDE else (0.002, 0.1)
    late_tau, late_longest, cap = (0.002, 0.5, 1e5)
    if dynamics.accuracy == "numbers":
        late_tau, late_longest, cap = (0.001, 0.1, 1e6)
    euler = dynamics.scheme == "euler"
    settings = np.zeros(9)
    settings[kernel.TAU_EARLY], settings[kernel.H_EARLY] = tau, longest
    settings[kernel.TAU_LATE], settings[kernel.H_LATE] = max(tau, late_tau), late_longest
    settings[kernel.LATE_LN_T] = LATE_LOG10_TIME * np.log(10.0)
    settings[kernel.CAP] = np.inf if euler else cap
    settings[kernel.EULER] = 1.0 if euler else 0.0
    settings[kernel.EULER_C] = 1.0
    settings[kernel.EULER_H] = 0.01 if m < WIDE else 0.1
    return settings


@final
class Flow(Integrator):
    """The log-time flow by Chebyshev steps (or Euler, the test oracle), compiled, in float64."""

    engine = "compiled float64"

    def __init__(self, problem: Problem) -> None:
        dynamics = problem.experiment.dynamics
        assert isinstance(dynamics, GradientFlow)
        if problem.network.degree != 2:
            raise InputError('dynamics.kind = "flow" needs a 2-homogeneous network; use "gd".')
        self.problem = problem
        start, recording = problem.start, problem.experiment.recording
        m = problem.network.m
        self._settings = settings_of(dynamics, m)
        cap = float(self._settings[kernel.CAP])
        self.temperature_cap = cap if np.isfinite(cap) else None
        first = first_log10_time(lambda_0(problem))
        if np.isfinite(start.log10_time):
            first = start.log10_time
        times = log10_schedule(
            first, dynamics.until_log10_time, recording.frames, recording.log10_times
        )
        self._marks = np.ascontiguousarray(times[times > start.log10_time])
        self.planned = 1 + self._marks.size
        self._allocate(m)
        self._started = False

    def _allocate(self, m: int) -> None:
        problem, start = self.problem, self.problem.start
        n, d = problem.dataset.n, problem.dataset.d
        norm = float(np.linalg.norm(start.parameters))
        if norm == 0.0:
            raise InputError("All initial parameters are zero, where gradient flow stays for ever.")
        self._theta = start.parameters / norm
        size = self._theta.size
        floats, counts = np.zeros(kernel.FLOATS), np.zeros(kernel.COUNTS, np.int64)
        floats[kernel.RHO] = start.rho + np.log(norm)
        floats[kernel.LN_T] = floats[kernel.PREVIOUS_LN_T] = start.log10_time * np.log(10.0)
        floats[kernel.H], floats[kernel.SAFETY] = 1e-3, 2.0
        floats[kernel.FEWEST_ATOMS] = np.inf
        self._floats, self._counts = floats, counts
        # Copies, since a run file's arrays are read-only: another type to numba, compiled anew.
        self._XT = np.array(problem.dataset.x.T, order="C")
        self._y = np.array(problem.dataset.y)
        self._work = tuple(np.zeros(size) for _ in range(5))
        self._matrices = tuple(np.zeros((m, n)) for _ in range(3))
        # The last vector starts the power iteration: no symmetry of the data may hide from it.
        wave = 1.0 + 0.3 * np.cos(1.0 + np.arange(n) ** 2)
        self._points = (*(np.zeros(n) for _ in range(4)), wave / np.linalg.norm(wave))
        rows = max(1, min(64, self._marks.size, BUFFER_BYTES // self._theta.nbytes))
        self._buffer, self._rows = np.zeros((rows, size)), np.zeros((rows, 6))
        self._pace = Pace(first_units(m, n, d))

    def _first_frame(self) -> Frame:
        start = self.problem.start
        rho = float(self._floats[kernel.RHO])
        return Frame(start.step, start.log10_time, rho, self._theta.copy())

    def advance(self) -> Chunk:
        if not self._started:
            self._started = True
            done = self.planned == 1
            first = (self._first_frame(),)
            return self._chunk(first, Outcome.COMPLETED if done else Outcome.GOING)
        before = int(self._counts[kernel.MARK])
        code = kernel.advance(
            self.problem.loss.code, self._theta, self._XT, self._y, self._settings, self._floats,
            self._counts, self._marks, self._buffer, self._rows, self._pace.start(),
            self._work, self._matrices, self._points,
        )  # fmt: skip
        if code == kernel.GOING:
            self._pace.stop()
        frames = self._frames(before)
        if code == kernel.STATIONARY:
            return self._stationary(frames)
        if code == kernel.STALLED:
            payload = {"step": self._step(), "log10_time": self._log10_time()}
            return self._chunk(frames, Outcome.STALLED, ("stalled", payload))
        return self._chunk(frames, Outcome.COMPLETED if code == kernel.DONE else Outcome.GOING)

    def _step(self) -> int:
        return self.problem.start.step + int(self._counts[kernel.STEP])

    def _log10_time(self) -> float:
        return float(self._floats[kernel.LN_T] / np.log(10.0))

    def _chunk(
        self, frames: tuple[Frame, ...], outcome: Outcome, event: Event | None = None
    ) -> Chunk:
        return Chunk(frames, outcome, self._step(), self._log10_time(), event)

    def _frames(self, before: int) -> tuple[Frame, ...]:
        count = int(self._counts[kernel.BUFFERED])
        self._counts[kernel.BUFFERED] = 0
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
        step, rho = self._step(), float(self._floats[kernel.RHO])
        theta = self._theta.copy()
        rest = self._marks[int(self._counts[kernel.MARK]) :].tolist()
        still = tuple(Frame(step, mark, rho, theta) for mark in rest)
        event = ("stationary", {"step": step, "log10_time": self._log10_time()})
        return self._chunk(frames + still, Outcome.COMPLETED, event)
