"""Runs that begin without compiled kernels and take them up: the numbers of the compiled engine."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from core.compiled import jit, kernel, warming
from core.dynamics.integrator import Chunk, Integrator, Outcome
from core.dynamics.meanwhile import Meanwhile, meanwhile
from core.dynamics.registry import integrator, prepared
from core.problem.problem import Problem
from marginscope._files.frame import Frame
from tests.problems import problem

# The first two chunks are without kernels: frame 0, and a few steps.
WITHOUT = 2
STEPS = ("dynamics.step=0.001", "dynamics.until_log10_time=0.3")  # 2,000, of which some are left
RUNS = {
    "flow": ("dynamics.until_log10_time=1",),
    "flow, biases": ("network.kind=bias", "dynamics.until_log10_time=0.5"),
    "flow, head": ("network.kind=head", "network.m=4", "dynamics.until_log10_time=-0.5"),
    "gd": ("dynamics.kind=gd", *STEPS),
    "gd, float32": ("dynamics.kind=gd", *STEPS, "run.precision=float32"),
    "sgd, rows": ("dynamics.kind=sgd", *STEPS),
    "sgd, batches": ("dynamics.kind=sgd", "dynamics.batch=8", *STEPS),
    "adam": ("dynamics.kind=adam", *STEPS),
}
# The same operations in another order: rounding, which grows with the steps, most where Adam
# divides by the root of a second moment that is next to nothing.
TOLERANCE = {"gd, float32": 1e-4, "adam": 1e-6}


class After:
    """Says that kernels are there from the n-th question on."""

    def __init__(self, count: int) -> None:
        self.left = count

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def frames_of(dynamics: Integrator) -> list[Frame]:
    frames: list[Frame] = []
    while True:
        chunk = dynamics.advance()
        frames += chunk.frames
        if chunk.outcome is not Outcome.GOING:
            assert chunk.outcome is Outcome.COMPLETED
            return frames


def prepared_problem(*settings: str) -> Problem:
    return prepared(problem(*settings, "recording.frames=30"))


def raise_after(count: int, network: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the arithmetic of kernels in Python raise once, after so many gradients of a network."""
    gradient, calls = network.gradient, itertools.count()

    def raising(*given: Any) -> Any:
        if getattr(jit._python, "only", False) and next(calls) == count:
            raise OverflowError("math range error")
        return gradient(*given)

    monkeypatch.setattr(network, "gradient", raising)


def assert_equal(frames: list[Frame], others: list[Frame], tolerance: float) -> None:
    """Compare steps, times and parameters."""
    assert [frame.step for frame in frames] == [frame.step for frame in others]
    assert [frame.log10_time for frame in frames] == [frame.log10_time for frame in others]
    for frame, other in zip(frames, others, strict=True):
        np.testing.assert_allclose(frame.parameters, other.parameters, rtol=0, atol=tolerance)


def test_what_raises_within_a_chunk_costs_no_frame(
    monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """The weights were wrong as well: by 0.65 after descent, and by 1.6 after Adam."""
    for name in ("flow", "gd", "gd, float32", "sgd, rows", "sgd, batches", "adam"):
        with subtests.test(name=name), monkeypatch.context() as patched:
            at = prepared_problem(*RUNS[name])
            alone = frames_of(integrator(at))
            raise_after(300, type(at.network), patched)
            made = meanwhile(at, After(8))
            assert made is not None
            assert_equal(frames_of(made), alone, TOLERANCE.get(name, 1e-8))


def test_what_raises_before_the_first_frame_is_waited_for() -> None:
    first, at = Overflowing(), prepared_problem("dynamics.until_log10_time=0")
    first.calls = 1
    made = Meanwhile(first, integrator(at), After(2))
    assert_equal(frames_of(made), frames_of(integrator(at)), 0.0)


@pytest.mark.parametrize("name", RUNS)
def test_what_takes_over_gives_the_frames_of_the_compiled_engine(name: str) -> None:
    at = prepared_problem(*RUNS[name])
    made = meanwhile(at, After(WITHOUT))
    assert made is not None
    frames, alone = frames_of(made), frames_of(integrator(at))
    assert not made.waits
    assert_equal(frames, alone, TOLERANCE.get(name, 1e-8))


def test_nothing_is_compiled_before_the_kernels_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(warming, "listeners", [told.append])
    again = jit.compiled(kernel.is_large.py_func)
    with jit.interpreted(), jit.traced() as called:
        assert again(100, 100, 100)
    assert not told
    assert not called
    made = meanwhile(prepared_problem(), After(10_000))
    assert made is not None
    with jit.traced() as called:
        for _ in range(3):
            made.advance()
    assert not called
    assert made.waits


@pytest.mark.parametrize(
    "settings",
    [
        ("network.kind=normalised",),  # its parts of degree 0 are moved otherwise
        ("network.kind=scalar", "dynamics.kind=mirror"),
        ("dynamics.kind=two_phase",),
        ("dynamics.kind=gd", "data.d=80"),  # in the examples' coordinates
    ],
)
def test_what_has_no_other_engine_waits(settings: tuple[str, ...]) -> None:
    assert meanwhile(prepared_problem(*settings), After(0)) is None


class Overflowing(Integrator):
    """Goes well for one chunk."""

    engine, planned, temperature_cap = "NumPy", 2, None

    def __init__(self) -> None:
        self.calls = 0

    def advance(self) -> Chunk:
        self.calls += 1
        if self.calls > 1:
            raise OverflowError("math range error")
        return Chunk((), Outcome.GOING, 0, -np.inf)


def test_where_python_cannot_go_on_the_kernels_are_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[Integrator] = []
    first, at = Overflowing(), prepared_problem("dynamics.until_log10_time=0")
    then = integrator(at)
    monkeypatch.setattr(then, "take_over", taken.append)
    made = Meanwhile(first, then, After(3))
    chunks = [made.advance() for _ in range(3)]
    assert [chunk.outcome for chunk in chunks] == [Outcome.GOING] * 3
    assert first.calls == 2
    assert frames_of(made)
    assert taken == [first]
