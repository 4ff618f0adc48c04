"""Numbers of the viewer in a browser, against the program's own of the same run files."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.dynamics.rows import reduce_rows
from core.figures.viewer import QUANTITIES
from core.observables.margins import flat_outputs
from core.observables.node_coordinates import positions
from core.observables.nodes import outer_classes, outer_signs
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem
from core.run_files.frame import Frame
from core.runs import Recorder, Run, open_run
from tests.networks import TWO_LAYER, UNCOMPILED, Case, at_a_random_point, small_problem
from tests.support.browser import Browser, browser, browser_path
from tests.support.viewer import READY, numbers_of, write_probe

PROGRAM = browser_path()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")
PRECISION = 1e-12
SAME = 1e-9  # of the numbers that are drawn as curves
# Networks of loops: their activations and parts.
LOOPS = (
    {"activation": "relu", "parts": "Vabc"},
    {"activation": "tanh", "parts": "Vab"},
    {"activation": "silu", "parts": "Vac"},
)
TIMES = (-np.inf, -1.0, 0.5, 2.0, 3.5)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None
    with browser(PROGRAM) as one:
        one.open(write_probe(tmp_path_factory.mktemp("probe") / "probe.html"), READY)
        yield one


def random_run(
    path: Path,
    problem: Problem,
    seed: int = 0,
    precision: str = "float64",
    growth: float = 0.7,
) -> Path:
    """Record a run of random frames; homogeneous networks grow by rho, too."""
    generator = np.random.default_rng(seed)
    recorder = Recorder(path, problem, engine="tests", planned=len(TIMES), temperature_cap=None)
    start, frames = problem.start.parameters, []
    for position, time in enumerate(TIMES):
        flat = start + 0.5 * position * np.abs(start).mean() * generator.standard_normal(start.size)
        if precision == "float32":
            dual = generator.random(problem.dataset.n)
            frames.append(Frame(position, time, 0.0, flat.astype(np.float32), dual))
        else:
            frames.append(Frame(position, time, growth * position, flat))
    recorder.append(frames)
    recorder.finish("completed")
    return path


def assert_same(page: Browser, path: Path) -> dict[str, Any]:
    """Compare every frame of a run in the browser with the observables of Python."""
    found = numbers_of(page, path)
    with open_run(path) as run:
        assert len(found["frames"]) == run.frames
        for index, frame in enumerate(found["frames"]):
            assert_same_frame(frame, run, index)
        assert np.concatenate(found["index"]["steps"]).tolist() == run.steps.tolist()
        assert np.concatenate(found["index"]["times"]).tolist() == run.log10_time.tolist()
    return found


def assert_same_frame(frame: dict[str, Any], run: Run, index: int) -> None:
    assert frame["flat"].tobytes() == run.parameters(index).tobytes()
    f = np.ravel(flat_outputs(run, index))
    # Sums of m products: their rounding is relative to the terms, of the size of f or more.
    np.testing.assert_allclose(frame["f"], f, rtol=PRECISION, atol=PRECISION * np.abs(f).max())
    room = PRECISION * np.abs(f).max() / run.network.norm_power(run.parameters(index))
    for name in ("hard", "smoothed", "l1"):
        wanted = OBSERVABLES[f"{name}_margin"].value_at(run, index)
        (got,) = frame["measures"][f"{name}_margin"]
        assert got == pytest.approx(wanted, rel=PRECISION, abs=room, nan_ok=True), name
    assert_same_quantities(frame["measures"], run, index)
    for name, observable in (("norms", "relative_norm"), ("rotations", "rotation")):
        wanted = OBSERVABLES[observable].value_at(run, index)
        np.testing.assert_allclose(frame[name], wanted, rtol=PRECISION, atol=PRECISION)
    places = positions(run, index, (0, 1))
    largest = np.abs(places).max()
    np.testing.assert_allclose(
        frame["places"].reshape(-1, 2), places, rtol=PRECISION, atol=PRECISION * largest
    )
    kinds = np.where(outer_signs(run, index) == 0, run.dataset.classes, outer_classes(run, index))
    assert frame["kinds"].tolist() == kinds.tolist()


def assert_same_quantities(measures: dict[str, Any], run: Run, index: int) -> None:
    """Compare the numbers that the page draws as curves."""
    for name in QUANTITIES:
        observable = OBSERVABLES[name]
        if not observable.applies(run):
            continue
        (got,) = measures[name]
        # A logarithm near 0 has the absolute precision of its argument.
        room = {"abs": PRECISION} if name == "log10_risk" else {}
        assert got == pytest.approx(
            observable.value_at(run, index), rel=SAME, nan_ok=True, **room
        ), name


@pytest.mark.parametrize("case", (*TWO_LAYER, *UNCOMPILED), ids=str)
def test_every_network_of_two_layers(case: Case, page: Browser, tmp_path: Path) -> None:
    problem, _ = at_a_random_point(small_problem(case))
    assert_same(page, random_run(tmp_path / "a.msrun", problem))


@pytest.mark.parametrize("kind", ["standard", "bias", "scalar", "batch_norm", "normalised"])
def test_runs_in_the_coordinates_of_the_row_space(kind: str, page: Browser, tmp_path: Path) -> None:
    problem = reduce_rows(small_problem(Case(kind), d=60, n=8))
    path = random_run(tmp_path / "a.msrun", problem)
    with open_run(path) as run:
        assert run.reduction is not None
    assert_same(page, path)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("settings", LOOPS, ids=str)
def test_recorded_networks(
    settings: dict[str, Any], classes: int, page: Browser, tmp_path: Path
) -> None:
    generator = np.random.default_rng(1)
    outputs = () if classes == 2 else (classes,)
    shapes = {"V": (5, 3), "a": (*outputs, 5), "b": (5,), "c": outputs or (1,)}

    def draw(end: str = "") -> dict[str, Any]:
        return {f"{one}{end}": generator.standard_normal(shapes[one]) for one in settings["parts"]}

    x, y = generator.standard_normal((12, 3)), np.arange(12) % classes
    own = {"activation": settings["activation"], "loss": "cross_entropy" if outputs else "logistic"}
    labels = y if outputs else 2.0 * y - 1.0
    with ms.record(tmp_path / "a.msrun", x, labels, **own, **draw("0")) as r:
        for t in range(1, 4):
            r.frame(t, **draw())
    with open_run(tmp_path / "a.msrun") as run:
        assert run.network.kind == "recorded"
    assert_same(page, tmp_path / "a.msrun")


def test_frames_of_float32(page: Browser, tmp_path: Path) -> None:
    case = Case("standard", "logistic")
    problem = small_problem(case, run={"precision": "float32"})
    assert_same(page, random_run(tmp_path / "a.msrun", problem, precision="float32"))


def test_late_frames_of_a_flow(page: Browser, tmp_path: Path) -> None:
    """Where e^(2 rho) f is far beyond e^700, and margins need the digits of unit vectors."""
    problem = small_problem(Case("standard", "exponential"))
    recorder = Recorder(
        tmp_path / "a.msrun", problem, engine="tests", planned=3, temperature_cap=1e5
    )
    flat = problem.start.parameters / np.linalg.norm(problem.start.parameters)
    recorder.append([Frame(k, 1.0 + k, 4.0 + 150.0 * k, flat) for k in range(3)])
    recorder.finish("completed")
    assert_same(page, tmp_path / "a.msrun")


def test_checksums_are_those_of_zlib(page: Browser) -> None:
    generator = np.random.default_rng(3)
    for size in (0, 1, 7, 8, 9, 1000, 4099):
        data = generator.bytes(size)
        text = ",".join(map(str, data))
        before = int(generator.integers(2**32))
        assert page.value(f"crc32(new Uint8Array([{text}]))") == zlib.crc32(data)
        assert page.value(f"crc32(new Uint8Array([{text}]), {before})") == zlib.crc32(data, before)
