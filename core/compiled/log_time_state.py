"""State of the log-time scheme in a run, which kernels and Python read by name, and its frames."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from core.compiled.records import record

Array = NDArray[Any]


class Floats(Protocol):
    """Real numbers of a run. Run files store them in this order."""

    rho: float  # ln |W|, W the homogeneous parameters
    ln_t: float  # ln of the time t
    h: float  # length in s of the next step, or of the present one
    safety: float  # factor of the stiffness, at least 2
    eigenvalue: float  # the largest of K = sqrt(q) <grad p_i, grad p_j> sqrt(q), at theta
    temperature: float  # E = min(e^(L rho), cap), at which q is taken
    log_n_q: float  # ln dt/ds at the start of the step
    smoothed: float  # l^-1(sum_i l(E p_i))/E at the start of the step
    previous_rho: float  # before the last step
    previous_ln_t: float
    t_1: float  # T_(j-1)(w0) and T_(j-2)(w0), Chebyshev's polynomials, at stage j
    t_2: float
    w_0: float  # 1 + 1/S^2
    w_1: float  # T_S(w0)/T_S'(w0)
    fewest_atoms: float  # least number of q_i > ATOM since the previous frame
    largest_fall: float  # largest fall of the smoothed margin in one step since then
    least_stages: float  # least number of stages of the next step
    whole_h: float  # h before it was cut for a frame
    last_h: float  # of the step just taken
    slope: float  # of ln dt/ds in s, over that step
    hard: float  # min p at its end
    error: float  # of min p, from the last checked step
    turn_error: float  # of theta, likewise
    kept_rho: float  # rho and h after the whole step, while its halves are made
    kept_h: float
    peak_rho: float  # the largest rho so far
    speed: float  # |d theta/ds|
    part: float  # length of the next implicit step over t; 0 if unknown
    quiet: float  # ln t since which the risk R has hardly fallen; 0 while it falls


class Counts(Protocol):
    """Whole numbers of a run. Run files store them in this order.

    Names in capitals are constants of core.compiled.log_time.
    """

    phase: int  # next phase: START_STEP to HALVE
    stage: int  # stages made of this step
    stages: int  # number S of stages of this step
    power: int  # remaining power iterations for `eigenvalue`; -1 if unknown
    step: int  # steps taken
    mark: int  # the next frame's place on the schedule
    buffered: int  # frames in the buffer
    form: int  # the loss's code, or EXPONENTIAL where that is the same: see `update_dual_weights`
    rejected: int  # refused steps
    most_stages: int  # largest number of stages of a step since the previous frame
    others: int  # scores of an example: 1, or k - 1 for k classes
    in_a_row: int  # refusals in a row
    cut: int  # why h is shorter than the scheme's own choice: NOT_CUT to SPLIT
    landing: int  # 1 while a step goes the rest of the way to a frame
    half: int  # 1 and 2 during the half steps of a check, else 0
    evaluations: int  # phases done, about one evaluation of the field each
    checked: int  # step from which on the next check is due
    stuck: int  # MOVES, HARDLY or SLOWLY
    slides_from: int  # the step from which on steps along kinks are implicit


class Settings(Protocol):
    """Constants of a run; `early` is before ln t = late_ln_t."""

    tau_early: float  # |theta' - theta| that a step aims at
    h_early: float  # the longest step
    tau_late: float
    h_late: float
    late_ln_t: float
    cap: float  # of the temperature
    euler_c: float  # of explicit Euler steps: h = min(euler_h, euler_c/(E lambda))
    euler_h: float
    v_speed: float  # of |u_j| kappa_j, see core.compiled.flow
    base_stages: float  # the least number of stages
    growth: float  # largest ratio of the lengths of two successive steps
    euler: int  # 1: Euler steps, the oracle of the tests
    loss: int  # its code
    degree: int  # L


class State(Floats, Counts, Settings, Protocol):
    """State of the scheme in a run: see `new_state`."""


class Frames(NamedTuple):
    """Times and arrays of the frames to write."""

    marks: Array  # (frames,) their log10 t
    buffer: Array  # (rows, parameters) theta
    rows: Array  # (rows, ROW) diagnostics: see core.compiled.phases


def new_state() -> tuple[State, Array, Array]:
    """Return a state of zeros, and its floats and counts as arrays in the same memory.

    Returns
    -------
    state : State
        Record whose fields kernels and Python read and write by name.
    floats : array (F,) of float64
        Fields of `Floats`, in their order; a change of either changes the other.
    counts : array (C,) of int64
        Fields of `Counts`, likewise. The fields of `Settings` are in neither array.
    """
    state, words = record(State)
    first = len(Floats.__annotations__)
    counts = words[first : first + len(Counts.__annotations__)].view(np.int64)
    return state, words[:first], counts
