"""`continue` gives the run that was not interrupted, for every dynamics and network."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.dynamics.integrator import Integrator, Pace
from core.dynamics.registry import ENGINES, make_integrator, prepare
from core.dynamics.replay import Replay
from core.losses import LOSSES
from core.problem.problem import Problem
from core.runs import Recorder, open_run
from core.training.control import Control, FinishReason
from core.training.trajectory import record
from tests.networks import HEADS, LINEAR_PREDICTORS, TWO_LAYER, UNCOMPILED, Case, small_problem
from tests.support.continued_runs import (
    ROUNDING,
    assert_frames_agree,
    continued_at,
    recorded_at,
    with_marks,
)

STANDARD, SCALAR = Case("standard", "logistic"), Case("scalar", "exponential")
EXPONENTIAL, FEW = Case("standard", "exponential"), {"n": 5, "m": 6, "seed": 3}  # easily fitted
UNFITTED = {"n": 20, "d": 4, "m": 2}  # implicit steps from t = 1000 on
QUADRATIC, L23 = Case("quadratic", "cross_entropy", 3), {"loss": {"l23": 0.01}}
FITTED = Case("standard", "least_squares")
DIAGONAL = LINEAR_PREDICTORS[1]
NORMALISED, HEAD = Case("normalised", "logistic"), HEADS[1]


@dataclass(frozen=True)
class Kind:
    """A dynamics on a network; `exact`: to the bit."""

    name: str
    case: Case
    dynamics: dict[str, Any]
    tables: dict[str, Any] = field(default_factory=dict)
    exact: bool = True
    sizes: dict[str, int] = field(default_factory=dict)

    def problem(self) -> Problem:
        """Return the small problem, to log10 t = 1, of about twenty-four frames."""
        dynamics = {"until_log10_time": 1.0, **self.dynamics}
        tables = {"recording": {"frames": 24}, **self.tables}
        return prepare(small_problem(self.case, dynamics, **self.sizes, **tables))

    def __str__(self) -> str:
        return self.name


SGD = {"kind": "sgd", "step": 0.03125}
ADAM = {"kind": "adam", "step": 0.01}
SAM = {"kind": "sam", "step": 0.03125, "rho": 0.2}
NOISE = {"kind": "label_noise", "step": 0.0078125, "sigma": 0.5}
STEEPEST = {"kind": "steepest", "step": 0.0625}
SHORT = {"until_log10_time": 0.6}  # a step of a head takes a millisecond
SINGLE = {"run": {"precision": "float32"}}
KINDS = (
    Kind("flow", STANDARD, {"kind": "flow"}),
    Kind("flow, late", EXPONENTIAL, {"kind": "flow", "until_log10_time": 31.0}, sizes=FEW),
    Kind(
        "flow, unfitted",
        EXPONENTIAL,
        {"kind": "flow", "until_log10_time": 3.1},
        {"recording": {"frames": 24, "log10_times": [3.04, 3.07]}},
        sizes=UNFITTED,
    ),
    Kind("flow, euler", STANDARD, {"kind": "flow", "scheme": "euler"}),
    Kind(
        "flow, head",
        HEAD,
        {"kind": "flow", "until_log10_time": -1.0},
        {"recording": {"frames": 10, "log10_times": np.linspace(-1.7, -1.05, 8).tolist()}},
    ),
    Kind("gd", STANDARD, {"kind": "gd", "step": 0.03125}, exact=False),
    Kind(
        "gd, pairs",
        STANDARD,
        {"kind": "gd", "step": 0.03125},
        {"recording": {"frames": 24, "spacing": "pairs"}},
        exact=False,
    ),
    Kind("gd, more examples", STANDARD, {"kind": "gd", "step": 0.03125}, sizes={"n": 20, "d": 5}),
    Kind("gd, float32", STANDARD, {"kind": "gd", "step": 0.03125}, SINGLE, sizes={"n": 20, "d": 5}),
    Kind("gd, head", HEAD, {"kind": "gd", "step": 0.0625, **SHORT}),
    Kind("gd, l2", STANDARD, {"kind": "gd", "step": 0.03125}, {"loss": {"l2": 0.01}}, exact=False),
    Kind("gd, l23", QUADRATIC, {"kind": "gd", "step": 0.0625}, L23),
    Kind("sgd, training set", STANDARD, SGD),
    Kind("sgd, batches", STANDARD, {**SGD, "batch": 5}),
    Kind("sgd, fresh", STANDARD, {**SGD, "fresh": True}),
    Kind("sgd, fresh, float32", STANDARD, {**SGD, "fresh": True, "batch": 3}, SINGLE),
    Kind("sgd, head", HEAD, {**SGD, "batch": 3, **SHORT}),
    Kind("adam", STANDARD, ADAM),
    Kind("adam, batches", STANDARD, {**ADAM, "batch": 5}),
    Kind("adam, float32", STANDARD, {**ADAM, "batch": 5}, SINGLE),
    Kind(
        "adam, late",
        Case("standard", "exponential", settings={"slope": 0.3}),
        {**ADAM, "step": 0.5, "eps": 0.0, "beta1": 0.5, "beta2": 0.6, "until_log10_time": 2.6},
        sizes=FEW,
    ),
    Kind("plain_flow, diagonal", DIAGONAL, {"kind": "plain_flow", "step": 0.03125}),
    Kind("adam, head", HEAD, {**ADAM, "until_log10_time": 0.3}),
    Kind("adam, decay, l23", QUADRATIC, {**ADAM, "weight_decay": 0.1}, L23),
    Kind("heavy ball", STANDARD, {"kind": "heavy_ball", "step": 0.0078125, "warm_up": 100}),
    Kind("nesterov", QUADRATIC, {"kind": "nesterov", "step": 0.0078125}),
    Kind("heavy ball, float32", STANDARD, {"kind": "heavy_ball", "step": 0.0078125}, SINGLE),
    Kind("nesterov, head", HEAD, {"kind": "nesterov", "step": 0.0078125, **SHORT}),
    Kind("sam", STANDARD, SAM),
    Kind("sam, l23", QUADRATIC, SAM, L23),
    Kind("sam, float32", STANDARD, SAM, SINGLE),
    Kind("sam, head", HEAD, {**SAM, **SHORT}),
    Kind("label noise", FITTED, NOISE),
    Kind("label noise, batches", Case("linear", "least_squares"), {**NOISE, "batch": 5}),
    Kind("label noise, float32", FITTED, NOISE, SINGLE),
    Kind("steepest, l2", STANDARD, STEEPEST),
    Kind("steepest, sign", QUADRATIC, {**STEEPEST, "norm": "sign", "power": 0.0}),
    Kind("steepest, spectral", STANDARD, {**STEEPEST, "norm": "spectral", "momentum": 0.9}),
    Kind("steepest, float32", STANDARD, {**STEEPEST, "norm": "sign", "momentum": 0.5}, SINGLE),
    Kind("steepest, head", HEAD, {**STEEPEST, "norm": "spectral", **SHORT}),
    Kind("mirror", SCALAR, {"kind": "mirror"}),
    Kind("mirror, late", SCALAR, {"kind": "mirror", "until_log10_time": 5.0}),
    Kind("mirror, steps", NORMALISED, {"kind": "mirror", "step": 0.0625}, exact=False),
    Kind("plain flow", STANDARD, {"kind": "plain_flow", "step": 0.03125}),
    Kind(
        "population",
        FITTED,
        {"kind": "population", "step": 0.05},
        {"data": {"kind": "regression", "units": 1}},
    ),
    Kind("perturbed", STANDARD, {"kind": "perturbed", "step": 0.03125, "sigma": 0.3}),
    Kind("two phases", STANDARD, {"kind": "two_phase", "step": 0.03125}),
    Kind("two phases, fresh", STANDARD, {"kind": "two_phase", "step": 0.0625, "first_batch": 50}),
)
EVERY = pytest.mark.parametrize("kind", KINDS, ids=str)


def test_no_dynamics_is_left_out() -> None:
    """Kernel predictors are fitted and never go on."""
    assert {kind.dynamics["kind"] for kind in KINDS} == set(ENGINES) - {"kernel"}


def end_of(problem: Problem) -> float:
    return float(problem.experiment.dynamics.until_log10_time)


def pieces_agree(whole_path: Path, kind: Kind, parts: list[Path]) -> None:
    rounding = 0.0 if kind.exact else ROUNDING
    with open_run(whole_path) as whole:
        for path in parts:
            with open_run(path) as part:
                assert "note" not in (part.continues or {})
                assert_frames_agree(part, whole, rounding)
        with open_run(parts[-1]) as last:
            assert last.log10_time[-1] == whole.log10_time[-1]
            assert last.reason == "completed"


@pytest.fixture(scope="module")
def whole_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return defaultdict(partial(tmp_path_factory.mktemp, "whole"))


@pytest.fixture
def whole_path(kind: Kind, whole_runs: dict[str, Path]) -> Path:
    path = whole_runs[kind.name] / "whole.msrun"
    if not path.exists():
        recorded_at(path, kind.problem())
    return path


@EVERY
def test_an_interrupted_run_is_completed_frame_by_frame(
    kind: Kind, whole_path: Path, tmp_path: Path
) -> None:
    """Stopped after a third and again after two thirds, and continued each time."""
    problem = kind.problem()
    first, second, third = (tmp_path / f"{name}.msrun" for name in ("first", "second", "third"))
    with open_run(whole_path) as whole:
        count = whole.frames
    stop_after(first, problem, count // 3)
    stop_after_continued(second, first, count // 3)
    continued_at(third, second)
    pieces_agree(whole_path, kind, [first, second, third])
    with open_run(first) as one, open_run(second) as two, open_run(third) as three:
        assert one.reason == two.reason == "cancelled"
        assert one.frames + two.frames - 1 + three.frames - 1 == count


def stop_after(path: Path, problem: Problem, frames: int) -> None:
    control = Control()
    seen = Seen(Recorder, path, frames, control)
    for _ in record(problem, seen, control, in_small_chunks(problem)):
        pass
    assert control.status.reason is FinishReason.CANCELLED


def in_small_chunks(problem: Problem) -> Integrator:
    """Return the integrator of a problem, which is so small that one chunk would do all of it."""
    made = make_integrator(problem)
    assert not isinstance(made, Replay)  # the state of the last frame is in the file
    inner: Any = made
    inner.pace = SmallPace(units=20, seconds=1e-9)
    return made


class SmallPace(Pace):
    def stop(self) -> None:
        """Keep the number of units."""


def stop_after_continued(path: Path, source: Path, frames: int) -> None:
    from core.training.continuation import continue_problem

    with open_run(source) as begun:
        problem, _ = continue_problem(begun, None, [])
    stop_after(path, problem, frames)


class Seen:
    """Makes a recorder whose run is stopped once it has some frames, which it then ends with."""

    def __init__(self, make: Any, path: Path, frames: int, control: Control) -> None:
        self.make, self.path, self.frames, self.control = make, path, frames, control

    def __call__(self, problem: Problem, **facts: Any) -> Any:
        recorder, control, most = self.make(self.path, problem, **facts), self.control, self.frames
        append, count = recorder.append, 0

        def counted(frames: Any) -> int:
            nonlocal count
            count += len(frames)
            if count >= most:
                control.stop()
            return int(append(frames))

        recorder.append = counted
        return recorder


@EVERY
def test_a_run_that_goes_on_further(kind: Kind, tmp_path: Path) -> None:
    """To an end of its own, then onwards: the uninterrupted run with the same marks."""
    problem = kind.problem()
    end = end_of(problem)
    middle = 0.5 * end if end > 1.0 else end - 0.5
    early = np.linspace(min(-1.0, middle - 0.5), middle, 9).tolist()
    late = np.linspace(middle, end, 7)[1:].tolist()
    recorded_at(tmp_path / "first.msrun", with_marks(problem, early))
    continued_at(
        tmp_path / "second.msrun",
        tmp_path / "first.msrun",
        f"dynamics.until_log10_time={end}",
        f"recording.frames={len(late) + 2}",
        f"recording.log10_times={late}",
    )
    recorded_at(tmp_path / "whole.msrun", with_marks(problem, [*early, *late]))
    parts = [tmp_path / "first.msrun", tmp_path / "second.msrun"]
    pieces_agree(tmp_path / "whole.msrun", kind, parts)


LINEAR = {"schedule": "linear"}
SHORTENED = (
    Kind("adam, linear", STANDARD, ADAM | LINEAR),
    Kind("heavy ball, linear", STANDARD, {"kind": "heavy_ball", "step": 0.0078125, **LINEAR}),
    Kind("sam, linear", STANDARD, SAM | LINEAR),
    Kind("sgd, linear", STANDARD, {**SGD, "batch": 5, **LINEAR}),
)
"""Their steps depend on the end, so that they cannot go on further as one run."""


@pytest.mark.parametrize("kind", (*KINDS, *SHORTENED), ids=str)
def test_any_frame_is_gone_on_from(kind: Kind, whole_path: Path, tmp_path: Path) -> None:
    """The start, an early one, where flows are young, and the last but one; two in the middle are
    those of the test above."""
    with open_run(whole_path) as whole:
        frames = (0, 3, whole.frames - 2)
    for frame in frames:
        path = tmp_path / f"from-{frame}.msrun"
        continued_at(path, whole_path, frame=frame)
        pieces_agree(whole_path, kind, [path])


def has_flow(case: Case) -> bool:
    flows = not LOSSES[case.loss].fits and not case.settings.get("smooth")
    return flows and bool(case.settings.get("normalise", True))


# Steps are what another engine takes of a network: one kind of them for each network.
NETWORKS = [
    *((case, "flow") for case in TWO_LAYER if has_flow(case)),
    *zip((*TWO_LAYER, *UNCOMPILED), cycle(("gd", "adam", "sgd")), strict=False),
]


@pytest.mark.parametrize(("case", "dynamics"), NETWORKS, ids=str)
def test_every_network(case: Case, dynamics: str, tmp_path: Path) -> None:
    """Interrupted in the middle, by the flow and by steps."""
    settings: dict[str, Any] = {"kind": dynamics, "until_log10_time": 0.5}
    if dynamics != "flow":
        settings["step"] = 0.015625
    tables = {"recording": {"frames": 12}}
    problem = prepare(small_problem(case, settings, n=12, d=7, **tables))
    kind = Kind(str(case), case, settings, exact=dynamics != "gd")
    recorded_at(tmp_path / "whole.msrun", problem)
    stop_after(tmp_path / "first.msrun", problem, 5)
    continued_at(tmp_path / "second.msrun", tmp_path / "first.msrun")
    parts = [tmp_path / "first.msrun", tmp_path / "second.msrun"]
    pieces_agree(tmp_path / "whole.msrun", kind, parts)
