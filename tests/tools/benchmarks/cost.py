"""Cost of a step against n, d and m, and of a run against its frames, with their picture."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

from core.dynamics.registry import make_integrator, prepare
from core.runs import Recorder
from core.training.trajectory import run
from tests.problems import problem
from tests.tools.benchmarks import contenders
from tests.tools.benchmarks.engines import Size, medians, problem_of, seconds_a_step, seconds_of
from tests.tools.benchmarks.flows import Nowhere
from tests.tools.benchmarks.measure import CURVES, Timing, heading, interleaved, row

BASE = {"n": 64, "d": 20, "m": 256}
AXES = {
    "n": (16, 64, 256, 1024, 4096),
    "d": (5, 20, 80, 320, 1280, 5120),
    "m": (4, 16, 64, 256, 1024, 4096),
}
FRAMES = (10, 50, 200, 800, 2000)
SECONDS = 0.15  # of each contender in each round


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """Median, least and largest of one contender along an axis, in `unit`."""

    axis: str
    name: str
    unit: str
    at: tuple[float, ...]
    median: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]


def main(rounds: int) -> None:
    """Measure along all axes, and store the curves if a page is to be made."""
    curves = [curve for axis in AXES for curve in along(axis, rounds)] + frames(rounds)
    if place := os.environ.get(CURVES):
        kept = [{name: getattr(curve, name) for name in Curve.__slots__} for curve in curves]
        Path(place).write_text(json.dumps(kept), encoding="utf-8")


def along(axis: str, rounds: int) -> list[Curve]:
    """Return microseconds per step of descent in float64 while one of n, d and m varies."""
    rest = ", ".join(f"{name} = {value}" for name, value in BASE.items() if name != axis)
    heading(f"a step of descent at {rest}", "ours", "A: torch loop", "A / ours")
    found: list[Mapping[str, Timing]] = []
    for value in AXES[axis]:
        at = problem_of(Size(**(BASE | {axis: value}), precision="float64"))
        engine = make_integrator(prepare(at))
        rivals: dict[str, Callable[[], float]] = {
            "ours": partial(seconds_a_step, engine, SECONDS),
            "torch loop": seconds_of(contenders.torch_loop(at), SECONDS),
        }
        times = medians(rivals, rounds)
        mine, plain = times["ours"].median, times["torch loop"].median
        row(
            f"{axis} = {value}",
            f"{1e6 * mine:.1f} us",
            f"{1e6 * plain:.1f} us",
            f"{plain / mine:.1f} x",
            spread=times["ours"].spread("{:.1f}", 1e6),
            words=engine.engine,
        )
        found.append(times)
    return [curve(axis, name, "us", AXES[axis], found, 1e6) for name in found[0]]


def frames(rounds: int) -> list[Curve]:
    """Return the seconds of Figure 1's flow to log10 t = 10^4, m = 16, with so many frames."""
    heading("the flow to log10 t = 10^4, m = 16", "recorded", "bare", "cost")
    found: list[Mapping[str, Timing]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.msrun"
        for count in FRAMES:
            at = problem("dynamics.until_log10_time=1e4", f"recording.frames={count}", m=16)
            rivals: dict[str, Callable[[], Any]] = {
                "recorded": partial(run, at, partial(Recorder, path, force=True)),
                "bare": partial(run, at, Nowhere),
            }
            times = interleaved(rivals, rounds)
            kept, bare = times["recorded"].median, times["bare"].median
            row(
                f"{count} frames",
                f"{kept:.3f} s",
                f"{bare:.3f} s",
                f"{kept / bare - 1.0:+.1%}",
                spread=times["recorded"].spread("{:.3f}"),
                words=f"{path.stat().st_size / 1e6:.2f} MB",
            )
            found.append(times)
    return [curve("frames", name, "s", FRAMES, found, 1.0) for name in found[0]]


def curve(
    axis: str,
    name: str,
    unit: str,
    at: Sequence[int],
    found: Sequence[Mapping[str, Timing]],
    scale: float,
) -> Curve:
    """Return one contender's figures as a curve."""
    times = [one[name] for one in found]
    return Curve(
        axis,
        name,
        unit,
        tuple(map(float, at)),
        tuple(scale * one.median for one in times),
        tuple(scale * one.least for one in times),
        tuple(scale * one.most for one in times),
    )


def curves_of(text: str) -> list[Curve]:
    """Return the curves of a file written by `main`."""
    return [
        Curve(**{name: tuple(v) if isinstance(v, list) else v for name, v in one.items()})
        for one in json.loads(text)
    ]


def draw(curves: Sequence[Curve], path: Path) -> None:
    """Draw a panel for each axis, with least and largest as a band."""
    from matplotlib.figure import Figure

    from core.figures.draw import matplotlib_style
    from core.figures.palette import LIGHT

    axes = dict.fromkeys(one.axis for one in curves)
    with matplotlib_style():
        figure = Figure(figsize=(7.1, 4.6), layout="constrained", facecolor=LIGHT.background)
        for panel, axis in zip(figure.subplots(2, 2).flat, axes, strict=True):
            _panel(panel, axis, [one for one in curves if one.axis == axis])
        figure.savefig(path, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))


def _panel(panel: Any, axis: str, curves: Sequence[Curve]) -> None:
    from core.figures.palette import LIGHT

    colours = (LIGHT.positive, LIGHT.negative if axis in BASE else LIGHT.muted)
    for one, colour in zip(curves, colours, strict=True):
        panel.fill_between(one.at, one.least, one.most, color=colour, alpha=0.2, lw=0)
        panel.plot(one.at, one.median, "o-", ms=3, lw=1.2, color=colour, label=one.name)
    panel.set_xscale("log")
    if axis in BASE:
        rest = ", ".join(f"{name} = {value}" for name, value in BASE.items() if name != axis)
        title, what = f"a step of descent at {rest}", "microseconds"
        panel.set_yscale("log")
    else:
        title, what = "the flow to log10 t = 10000, m = 16", "seconds"
        panel.set_ylim(bottom=0.0)
    panel.set_title(title, fontsize=8.0, color=LIGHT.muted)
    panel.set_xlabel(axis, fontsize=8.0)
    panel.set_ylabel(what, fontsize=8.0)
    panel.tick_params(labelsize=7.0)
    panel.grid(True, color=LIGHT.grid, lw=0.5)
    panel.legend(frameon=False, fontsize=7.0)
    panel.spines[["top", "right"]].set_visible(False)
