"""Speed of every engine, beside plain PyTorch, JAX, and the machine's matrix-product rate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from core.dynamics.integrator import Integrator, Outcome
from core.dynamics.registry import make_integrator, prepare
from core.problem.problem import Problem
from tests.networks import HEADS, Case, small_problem
from tests.tools.benchmarks import contenders
from tests.tools.benchmarks.measure import Timing, heading, matrix_rate, row

SECONDS = 0.25  # of each contender in each round
FAR = {"kind": "gd", "step": contenders.STEP, "until_log10_time": 9.0}


@final
@dataclass(frozen=True)
class Size:
    """Problem of the standard network, with goals: times A, times F, share of the rate."""

    n: int
    d: int
    m: int
    precision: str
    plain: float | None = None
    jax: float | None = None
    share: float | None = None


SIZES = (
    Size(64, 20, 16, "float32", 60, 2),
    Size(64, 20, 16, "float64", 40),
    Size(64, 20, 256, "float32", 9, 1.4),
    Size(64, 20, 256, "float64"),
    Size(64, 20, 4096, "float32", 2.2),
    Size(64, 20, 4096, "float64"),
    Size(1000, 100, 1024, "float32", 1.5, share=0.6),
    Size(1000, 100, 1024, "float64", 1.5, share=0.6),
    Size(4000, 100, 1024, "float32", share=0.6),
    Size(100, 10_000, 512, "float32", 150),
    Size(100, 10_000, 512, "float64", 150),
)


def problem_of(size: Size) -> Problem:
    """Return parity with the standard network and the exponential loss, with two frames."""
    return small_problem(
        Case("standard", "exponential"),
        FAR,
        d=size.d,
        n=size.n,
        m=size.m,
        recording={"frames": 2},
        run={"precision": size.precision},
    )


def seconds_a_step(engine: Integrator, seconds: float = SECONDS) -> float:
    """Return the seconds per step of a run that continues for so many seconds."""
    begun, first, last = time.perf_counter(), -1, -1
    while time.perf_counter() - begun < seconds:
        chunk = engine.advance()
        if chunk.outcome is not Outcome.GOING:
            raise SystemExit(f"the run ended after {chunk.step} steps: {chunk.outcome.value}")
        if first < 0:  # from here on, since the first chunk may only hand on frame 0
            first, begun = chunk.step, time.perf_counter()
        last = chunk.step
    return (time.perf_counter() - begun) / max(last - first, 1)


def seconds_of(steps: Callable[[int], None], seconds: float = SECONDS) -> Callable[[], float]:
    """Return a measurement of a program that makes any number of steps."""
    steps(2)
    count = 2
    while True:
        begun = time.perf_counter()
        steps(count)
        taken = time.perf_counter() - begun
        if taken > seconds / 4:
            break
        count *= 2
    whole = max(1, round(count * seconds / taken))

    def measure() -> float:
        begun = time.perf_counter()
        steps(whole)
        return (time.perf_counter() - begun) / whole

    return measure


def medians(contestants: dict[str, Callable[[], float]], rounds: int) -> dict[str, Timing]:
    """Return each contestant's own figure, measured in turn without the first round."""
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(rounds + 1):
        for name, contestant in contestants.items():
            value = contestant()
            if turn:
                found[name].append(value)
    return {
        name: Timing(float(np.median(values)), min(values), max(values))
        for name, values in found.items()
    }


def asked(size: Size) -> str:
    """Return the goal for a size, in words."""
    parts = [f">= {size.plain:g} A"] if size.plain else []
    parts += [f">= {size.jax:g} F"] if size.jax else []
    parts += [f">= {size.share:.0%}"] if size.share else []
    return ", ".join(parts)


def operations(size: Size, engine: Integrator) -> float:
    """Return the operations of the matrix products that the engine really computes per step."""
    if "examples' coordinates" in engine.engine:
        return 2.0 * size.n * size.n * size.m
    return 4.0 * size.n * size.d * size.m


def descent_speed(rounds: int) -> None:
    """Measure descent at every size, beside A, F and the share of the matrix-product rate."""
    rates = {name: matrix_rate(getattr(np, name)) for name in ("float32", "float64")}
    jax = contenders.jax_is_present()
    heading("a step of descent at (n, d, m)", "ours", "A: torch loop", "A / ours")
    for name, rate in rates.items():
        row(f"matrix product, {name}, one core", f"{rate / 1e9:.1f} GFLOP/s")
    for size in SIZES:
        at = problem_of(size)
        engine = make_integrator(prepare(at))
        rivals: dict[str, Callable[[], float]] = {"ours": partial(seconds_a_step, engine)}
        rivals["A"] = seconds_of(contenders.torch_loop(at))
        if jax:
            rivals["F"] = seconds_of(contenders.jax_loop(at))
        times = medians(rivals, rounds)
        mine, plain = times["ours"].median, times["A"].median
        share = operations(size, engine) / mine / rates[size.precision]
        theirs = f"{times['F'].median / mine:.2f} F (JAX fori_loop), " if jax else ""
        row(
            f"({size.n}, {size.d}, {size.m}) {size.precision}",
            f"{mine * 1e6:.2f} us",
            f"{plain * 1e6:.1f} us",
            f"{plain / mine:.1f} x",
            asked=asked(size),
            spread=times["ours"].spread("{:.2f}", 1e6),
            words=f"{theirs}{share:.0%} of the matrix rate, {engine.engine}",
        )


def stochastic_speed(rounds: int) -> None:
    """Measure one fresh example a step at m = 4096, d = 50."""
    settings = {"kind": "sgd", "step": contenders.STEP, "until_log10_time": 6.0, "fresh": True}
    for precision in ("float32", "float64"):
        at = small_problem(
            Case("standard"),
            settings,
            d=50,
            n=64,
            m=4096,
            recording={"frames": 2},
            run={"precision": precision},
        )
        engine = make_integrator(prepare(at))
        rivals = {
            "ours": partial(seconds_a_step, engine),
            "A": seconds_of(contenders.torch_stochastic(at)),
        }
        times = medians(rivals, rounds)
        mine, plain = times["ours"].median, times["A"].median
        row(
            f"fresh SGD, m = 4096, d = 50, {precision}",
            f"{mine * 1e6:.1f} us",
            f"{plain * 1e6:.1f} us",
            f"{plain / mine:.1f} x",
            asked=">= 9 A",
            spread=times["ours"].spread("{:.1f}", 1e6),
            words=f"{mine * 1e9 / (4096 * 50):.3f} ns m d, {engine.engine}",
        )


STEEPEST = {"kind": "steepest", "step": 1e-3, "until_log10_time": 9.0}
OPTIMISERS = {
    "gd": FAR,
    "sam": {"kind": "sam", "step": contenders.STEP, "until_log10_time": 9.0},
    "sign": {**STEEPEST, "norm": "sign"},
    "Muon, momentum .9": {**STEEPEST, "norm": "spectral", "momentum": 0.9},
}


def optimiser_speed(rounds: int) -> None:
    """Measure microseconds per step of each optimiser at (64, 20, 256), all in turn."""
    heading("microseconds a step of an optimiser", "us", "times gd")
    for precision in ("float64", "float32"):
        engines = {
            name: make_integrator(prepare(_optimiser_problem(dynamics, precision)))
            for name, dynamics in OPTIMISERS.items()
        }
        times = medians(
            {name: partial(seconds_a_step, engine) for name, engine in engines.items()}, rounds
        )
        for name, time_ in times.items():
            row(
                f"{name}, {precision}",
                f"{1e6 * time_.median:.1f}",
                f"{time_.median / times['gd'].median:.2f}",
                asked="<= 4 gd" if name.startswith("Muon") else "",
                spread=time_.spread("{:.1f}", 1e6),
            )


def _optimiser_problem(dynamics: dict[str, object], precision: str) -> Problem:
    sizes = {"d": 20, "n": 64, "m": 256}
    tables = {"recording": {"frames": 2}, "run": {"precision": precision}}
    return small_problem(Case("standard", "exponential"), dynamics, **sizes, **tables)


KINDS = (
    Case("standard", "exponential"),
    Case("scalar"),
    Case("normalised", "exponential"),
    Case("fixed_outer", "exponential"),
    Case("fixed_outer", settings={"smooth": True}),
    Case("batch_norm"),
    Case("bias"),
    Case("multiclass", "cross_entropy", 3, {"biases": True}),
    HEADS[1],  # which the general engines train
)


def network_speed(rounds: int) -> None:
    """Measure microseconds per step of descent and flow, for every network at (64, 20, 256)."""
    heading("microseconds a step at (64, 20, 256)", "gd, float64", "gd, float32", "flow")
    for case in KINDS:

        def at(
            dynamics: dict[str, object], precision: str = "float64", case: Case = case
        ) -> Timing:
            made = small_problem(
                case,
                dynamics,
                d=20,
                n=64,
                m=256,
                recording={"frames": 2},
                run={"precision": precision},
            )
            engine = make_integrator(prepare(made))
            return medians({"": partial(seconds_a_step, engine)}, rounds)[""]

        double, single = at(FAR), at(FAR, "float32")
        smooth = case.settings.get("smooth", False)
        flow = None if smooth else at({"kind": "flow", "until_log10_time": 1e150})
        row(
            str(case),
            f"{1e6 * double.median:.1f}",
            f"{1e6 * single.median:.1f}",
            "" if flow is None else f"{1e6 * flow.median:.0f}",
            asked="< 100" if smooth else "",
            spread=double.spread("{:.1f}", 1e6),
            words="" if smooth else "a step of flow has stages",
        )
