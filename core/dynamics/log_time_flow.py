"""Gradient flow dW/dt = -grad R(W) in log time: base of its engines.

The scheme is in core.compiled.log_time, its state in log_time_state, its loop in phases.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.compiled import log_time as state
from core.compiled.log_time_state import Frames, new_state
from core.compiled.log_time_state import State as Scheme
from core.dynamics import solver_state
from core.dynamics.clock import first_step, first_time, frame_times
from core.dynamics.companion import PREFIX, RATIO, Companion, has_companion, is_needed_after
from core.dynamics.integrator import Chunk, Event, Integrator, Outcome, Pace, first_units
from core.dynamics.kernel_arrays import padded_zeros
from core.dynamics.standstill import describe_lost_precision, describe_rest, describe_slow_flow
from core.errors import InputError
from core.network.parametrisation import Network, TwoLayer
from core.problem.problem import Problem, State
from core.run_files.frame import Frame
from core.study_file.dynamics import GradientFlow

# Up to this time steps are short: long ones early lead to another branch (docs/theory.md, 9).
LATE_LOG10_TIME = 30.0
WIDE = 1024  # from this width on early steps may be longer and less accurate
UNIT = 1e-12  # a norm this near 1 is 1 up to rounding
NEAR = 1e-9  # tolerance of a frame that another processor recomputes from its state
GROWTH = 1.3  # largest ratio of a step and the one before it
# A step that no run reaches, exact in float64: states are saved in float64.
NEVER = 2**52
BEGUN, RESTING = 0, 1
DIAGNOSTICS = ("h", "stages", "fewest_atoms", "largest_fall", "margin_error", "turn_error")


def set_step_parameters(s: Scheme, dynamics: GradientFlow, network: Network) -> None:
    """Write the bounds of steps, the temperature cap and the scheme into a kernel's state.

    Parameters
    ----------
    s : State
        State of the kernel, changed in place.
    dynamics : GradientFlow
        Settings of the flow: scheme and accuracy.
    network : Network
        Its width and kind decide how long steps may be before and after log10 t = 30.
    """
    m = network.m
    fine = m < WIDE and isinstance(network, TwoLayer)  # deep heads turn fast, and are slower
    tau, longest = (0.0005, 0.02) if fine else (0.002, 0.1)
    # Long steps at the start lead to another branch (docs/theory.md, 9): long ones only late.
    late_tau, late_longest = (0.002, 0.5)
    if dynamics.accuracy == "numbers":
        late_tau, late_longest = (0.001, 0.1)
    # A flow at a capped temperature ascends the capped margin, and the exact one falls by the
    # growth of the largest dual weight. Runs to log10 t = 1e4 do not reach a cap this high.
    cap, stages = 1e7, 1.0
    if network.scaled < network.size:
        # V moves beside (a, b): the stiffness grows with e^(4 rho), and V chatters across kinks,
        # which lambda does not include, by about h/S^2.
        cap, stages, tau = 1e6, 40.0, 0.002
    euler = dynamics.scheme == "euler"
    s.tau_early, s.h_early = tau, longest
    s.tau_late, s.h_late = max(tau, late_tau), late_longest
    s.late_ln_t = LATE_LOG10_TIME * np.log(10.0)
    s.cap = np.inf if euler else cap
    s.euler, s.euler_c, s.euler_h = int(euler), 1.0, 0.01 if m < WIDE else 0.1
    # docs/theory.md, 4.4: late frames do not depend on v_speed, early ones at large rho do.
    s.v_speed = 30.0
    s.base_stages = 1.0 if euler else stages
    s.growth = GROWTH


class LogTimeFlow(Integrator):
    """Flow by Chebyshev steps (or Euler, the test oracle) in float64; an engine adds two methods.

    `kernel_state` is the state of the scheme, of which run files keep `_floats` and `_counts`;
    `direction` are the parameters on the unit sphere.
    """

    slides = False  # True with implicit steps for data that cannot be fitted
    _advance: Callable[[Any, Scheme, Frames, int], int]
    _work: Any

    def __init__(self, problem: Problem) -> None:
        dynamics = problem.experiment.dynamics
        assert isinstance(dynamics, GradientFlow)
        if not problem.network.homogeneous:
            raise InputError('dynamics.kind = "flow" needs a homogeneous network; use "gd".')
        self.problem = problem
        self.kernel_state, self._floats, self._counts = new_state()
        set_step_parameters(self.kernel_state, dynamics, problem.network)
        cap = float(self.kernel_state.cap)
        self.temperature_cap = cap if np.isfinite(cap) else None
        self.marks = np.ascontiguousarray(frame_times(problem, first_time(problem)))
        self.planned = 1 + self.marks.size
        self._start()
        self._allocate()
        self._set_first_implicit_step()
        self._started = False
        self._companion: Companion | None = None
        self._companion_is_due = True
        if problem.start.state is not None:
            self._resume(problem.start.state)

    @abstractmethod
    def _allocate(self) -> None:
        """Set `_advance` and `_work`."""

    @abstractmethod
    def _vectors(self) -> dict[str, NDArray[np.float64]]:
        """Return the arrays of the engine's state, besides floats and counts."""

    def integrate_for(self, budget: int) -> int:
        """Take steps for about `budget` field evaluations, to the next frame at most.

        Returns a code of core.compiled.log_time, STICKS before or after an implicit step.
        """
        frames = Frames(self.marks, self._buffer, self._rows)
        return self._advance(self._work, self.kernel_state, frames, budget)

    def _start(self) -> None:
        problem, start, network = self.problem, self.problem.start, self.problem.network
        norm = network.norm(start.parameters)
        if norm == 0.0:
            raise InputError("All initial parameters are zero, which gradient flow never leaves.")
        if abs(norm - 1.0) <= UNIT:  # a frame of a flow, no digit of which may change
            norm = 1.0
        self.direction = start.parameters.copy()
        self.direction[: network.scaled] /= norm
        s = self.kernel_state
        s.loss, s.degree = problem.loss.code, network.degree
        s.others = max(network.k - 1, 1)
        s.rho = s.peak_rho = start.rho + np.log(norm)
        s.ln_t = s.previous_ln_t = start.log10_time * np.log(10.0)
        tau = float(s.tau_early)
        s.h, s.safety = first_step(problem, self.direction, float(s.rho), self.marks, tau), 2.0
        s.fewest_atoms, s.least_stages = np.inf, s.base_stages
        # Start of the power iteration, without symmetry: an eigenvector of symmetric data must not
        # be orthogonal to it.
        count = problem.dataset.n * s.others
        wave = 1.0 + 0.3 * np.cos(1.0 + np.arange(count) ** 2)
        self._wave = padded_zeros(count)
        self._wave[:] = wave / np.linalg.norm(wave)
        # One row: the engine stops at every frame, so that the state there can be saved.
        self._buffer, self._rows = np.zeros((1, self.direction.size)), np.zeros((1, state.ROW))
        # Number of steps before those counted here, and 1 once nothing moves any more.
        self._clock = np.array([start.step, 0])
        self._warned = False  # warned that the data are not fitted; a continued run warns again
        rho, flat = float(s.rho), self.direction
        if start.log10_time > -np.inf:  # continues from a frame of another run
            rho, flat = start.rho, start.parameters
        self._first = Frame(start.step, start.log10_time, rho, flat.copy())
        self._frame_state: State | None = None
        self.pace = Pace(first_units(network.m, *problem.inputs.shape))

    def _start_companion(self) -> None:
        """Start the companion of a flow before t = 10^3."""
        self._companion_is_due = False
        passed = self.marks[: int(self.kernel_state.mark)]
        time = float(passed[-1]) if passed.size else self.problem.start.log10_time
        if not is_needed_after(time):
            return
        fresh = replace(self.problem, start=replace(self.problem.start, state=None))
        self._companion = Companion(type(self)(fresh))
        if self._frame_state is not None and has_companion(self._frame_state):
            self._companion.set_state(self._frame_state, time)

    def last_emitted(self) -> NDArray[np.float64]:
        """Return the parameters of the last emitted frame.

        Returns
        -------
        array (size,)
            Of norm 1; a view, which the next frame overwrites.
        """
        return np.asarray(self._buffer[0])

    def advance(self) -> Chunk:
        if self._companion_is_due:
            self._start_companion()
        if not self._started:
            self._started = True
            is_complete = self.planned == 1
            return self._chunk((self._first,), Outcome.COMPLETED if is_complete else Outcome.GOING)
        if self._clock[RESTING]:
            return self._repeat_frame(())
        frames: tuple[Frame, ...] = ()
        # A chunk consists of several calls of the kernel, each ended by a frame. No call starts in
        # its second half, since a call may take a whole chunk.
        deadline = time.perf_counter() + 0.5 * self.pace.seconds
        while True:
            before = int(self.kernel_state.mark)
            code = self._advance_once()
            new = self._frames(before)
            frames, event = frames + new, self._stuck_event(new)
            if code in (state.BUFFER_FULL, state.DONE):
                self._frame_state = solver_state.get_state(self.parts())
            has_more = code in (state.BUFFER_FULL, state.STICKS)
            if event is not None or not has_more or time.perf_counter() >= deadline:
                break
        if code == state.GOING:
            self.pace.stop()
        if code == state.STATIONARY:
            return self._repeat_frame(frames)
        if code == state.ENDED:
            return self._chunk(frames, Outcome.STALLED, self._precision_event())
        if code == state.STALLED:
            payload = {"step": self._step(), "log10_time": self._log10_time()}
            return self._chunk(frames, Outcome.STALLED, ("stalled", payload))
        outcome = Outcome.COMPLETED if code == state.DONE else Outcome.GOING
        return self._chunk(frames, outcome, event)

    def _advance_once(self) -> int:
        """Integrate the companion while it is behind, else the flow; return the scheme's code."""
        units, companion = self.pace.start(), self._companion
        if companion is None or not companion.is_behind:
            return self.integrate_for(units)
        return state.GOING if companion.integrate_for(units) == state.GOING else state.STICKS

    def log10_progress(self, log10_time: float) -> float:
        """Return log10 of the mean t of the flow and its companion, by what t costs either."""
        if self._companion is None:
            return log10_time
        parts = RATIO / (RATIO + 1.0), 1.0 / (RATIO + 1.0)
        ln_t = np.log(10.0) * np.array([log10_time, self._companion.log10_time])
        return float(np.logaddexp(*(np.log(parts) + ln_t)) / np.log(10.0))

    # ------------------------------------------------------------------------- saving and restoring

    def state(self) -> State | None:
        """Return the scheme at the last frame, the engine's vectors included; None at t = 0."""
        return self._frame_state

    def parts(self) -> solver_state.Parts:
        """Return the arrays that live from frame to frame, those of the companion among them."""
        of_companion = {} if self._companion is None else self._companion.parts()
        return {**self._own_parts(), **of_companion}

    def _own_parts(self) -> solver_state.Parts:
        numbers = {"floats": self._floats, "counts": self._counts, "clock": self._clock}
        return {**numbers, "wave": self._wave, **self._vectors()}

    def _resume(self, saved: State) -> None:
        """Continue from a state, which must reproduce the very frame that the run starts with."""
        start = self.problem.start
        self.set_state(saved)
        self._frame_state = saved
        if self._clock[RESTING]:
            self.direction[:], self.kernel_state.rho = start.parameters, start.rho
            return
        s = self.kernel_state
        solver_state.check_finite("floats", np.array([s.rho, s.ln_t, s.h, s.safety]))
        if self.kernel_state.phase != state.EMIT:
            raise solver_state.invalid_state("it is not that of a step's end")
        if not abs(self.problem.network.norm(self.direction) - 1.0) <= NEAR:
            raise solver_state.invalid_state("its direction has not norm 1")
        # The state may come from an untrusted file: it is accepted only if it reproduces its own
        # frame exactly (docs/decisions/0011).
        marks, self.marks = self.marks, np.array([start.log10_time])
        code = self.integrate_for(1)
        errors = np.append(self._buffer[0] - start.parameters, self._rows[0, 1] - start.rho)
        if code != state.DONE or not np.abs(errors).max() <= NEAR:
            raise solver_state.invalid_state(
                "it is not that of the frame at which the run continues"
            )
        self.marks = marks
        self.set_state(saved)

    def set_state(self, state: State) -> None:
        """Continue from a saved state; `advance` gives the companion its part of it."""
        own = {name: part for name, part in state.items() if not name.startswith(PREFIX)}
        solver_state.set_state(self._own_parts(), own)
        s = self.kernel_state
        s.mark = s.buffered = 0
        s.others = max(self.problem.network.k - 1, 1)  # overrides a damaged file
        self._set_first_implicit_step()

    def _set_first_implicit_step(self) -> None:
        """Set the first step with implicit steps, which another engine may not have had."""
        if not self.slides:
            self.kernel_state.slides_from = NEVER
        elif self.kernel_state.slides_from == NEVER:
            self.kernel_state.slides_from = 0

    def _step(self) -> int:
        return int(self._clock[BEGUN]) + int(self.kernel_state.step)

    def _log10_time(self) -> float:
        return float(self.kernel_state.ln_t / np.log(10.0))

    def _chunk(
        self, frames: tuple[Frame, ...], outcome: Outcome, event: Event | None = None
    ) -> Chunk:
        return Chunk(frames, outcome, self._step(), self._log10_time(), event)

    def _frames(self, before: int) -> tuple[Frame, ...]:
        """Return the buffered frames from mark number `before` on, and empty the buffer."""
        count = int(self.kernel_state.buffered)
        self.kernel_state.buffered = 0
        theta, rows = self._buffer[:count].copy(), self._rows[:count].tolist()
        if count and self._companion is not None:
            mark = float(self.marks[before])
            rows[0][-2] = float(np.fmax(rows[0][-2], self._companion.compare(mark, theta[0])))
            if not is_needed_after(mark):
                self._companion = None
        first = int(self._clock[BEGUN])
        times = self.marks[before : before + count].tolist()
        diagnostics = [dict(zip(DIAGNOSTICS, row[2:], strict=True)) for row in rows]
        for one in diagnostics:
            if np.isinf(one["fewest_atoms"]):  # no step ended since the last frame
                del one["fewest_atoms"]
        return tuple(
            Frame(first + int(row[0]), times[i], row[1], theta[i], None, diagnostics[i])
            for i, row in enumerate(rows)
        )

    def _repeat_frame(self, frames: tuple[Frame, ...]) -> Chunk:
        """Return the last chunk of a resting flow: `frames`, then the present one to the end."""
        step, rho = self._step(), float(self.kernel_state.rho)
        theta = self.direction.copy()
        if self._companion is not None:
            s = self.kernel_state
            s.error = float(np.fmax(s.error, self._companion.error_ahead(theta)))
            self._companion = None
        marks = self.marks[int(self.kernel_state.mark) :].tolist()
        errors = float(self.kernel_state.error), float(self.kernel_state.turn_error)
        diagnostics = dict(zip(DIAGNOSTICS[-2:], errors, strict=True))
        repeats = tuple(Frame(step, mark, rho, theta, None, diagnostics) for mark in marks)
        self._clock[RESTING] = 1
        self._frame_state = solver_state.get_state(self.parts())
        facts = self._position_facts(theta, rho)
        facts["note"] = describe_rest(facts)
        return self._chunk(frames + repeats, Outcome.COMPLETED, ("stationary", facts))

    def _stuck_event(self, frames: tuple[Frame, ...]) -> Event | None:
        """Return an event at the last of `frames`, once, when an unfitted flow hardly moves."""
        if self.kernel_state.stuck != state.HARDLY or self._warned or not frames:
            return None
        self._warned = True
        last = frames[-1]
        facts = self._position_facts(last.parameters, last.rho)
        facts |= {"step": last.step, "log10_time": last.log10_time}
        facts["note"] = describe_slow_flow(facts, self.slides)
        return ("unfitted", facts)

    def _precision_event(self) -> Event:
        """Return the event of a risk at rest, while fitted margins still grow like ln t."""
        facts = self._position_facts(self.direction, float(self.kernel_state.rho))
        facts["note"] = describe_lost_precision(facts)
        return ("stalled", facts)

    def _position_facts(self, theta: NDArray[Any], rho: float) -> dict[str, Any]:
        """Return the present step and time; at e^rho theta R, |grad R| and the count of p <= 0."""
        problem, network = self.problem, self.problem.network
        flat = network.physical(theta, rho)
        g = problem.loss.output_gradient(problem.outputs(flat), problem.dataset.y)
        slope = np.asarray(network.gradient(flat, problem.inputs, g / problem.dataset.n))
        risk = np.exp(problem.loss.log_risk(problem.scores(flat)))
        wrong = int((problem.margins(flat) <= 0.0).sum())
        return {
            "step": self._step(),
            "log10_time": self._log10_time(),
            "risk": float(risk),
            "gradient": float(np.linalg.norm(slope)),
            "wrong": wrong,
            "of": problem.dataset.n,
        }
