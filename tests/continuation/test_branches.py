"""A branch begins at exactly a frame of its parent, with something changed and all else kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.dynamics.registry import prepare
from core.errors import InputError
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.registry import compute, references_of
from core.runs import RecordedRun, Recorder, open_run
from core.theorems.registry import assess_all
from core.theorems.statement import Verdict
from core.training.branching import branch, frame_of
from core.training.continuation import note_of, with_settings
from core.training.control import FinishReason, Status
from core.training.trajectory import run
from tests.continuation.test_start import start_hypothesis
from tests.problems import problem
from tests.support.continued_runs import continued_at, recorded_at, with_marks
from tests.support.run_files import tamper

FRAMES = ("dynamics.until_log10_time=1.5", "recording.log10_times=[]", "recording.frames=40")
FEW = (*FRAMES, "data.d=8", "data.n=24")
PARENTS = {
    "gd": (*FEW, "dynamics.kind=gd", "dynamics.step=0.0625"),
    "sgd": (*FEW, "dynamics.kind=sgd", "dynamics.step=0.0625", "dynamics.batch=8"),
    "adam": (*FEW, "dynamics.kind=adam", "dynamics.step=0.02", "dynamics.batch=8"),
    "flow": FEW,
}
MIXTURE = ("data.kind=gaussian_mixture", "data.d=6", "data.n=20", "data.flips=0.1")


@pytest.fixture(scope="module")
def parents(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("parents")

    def made(name: str) -> Path:
        path = folder / f"{name}.msrun"
        if not path.exists():
            recorded_at(path, problem(*PARENTS[name]))
        return path

    return made


def branch_of(path: Path, frame: int, *settings: str) -> Problem:
    with open_run(path) as parent:
        return branch(parent, frame, with_settings(parent.experiment, settings, "branch"))


def branched_at(child: Path, path: Path, frame: int, *settings: str) -> Status:
    status = run(branch_of(path, frame, *settings), partial(Recorder, child))
    assert status.reason is FinishReason.COMPLETED
    return status


def physical(found: RecordedRun, frame: int) -> dict[str, np.ndarray]:
    """Return all weights by name, as they are."""
    network = found.network
    flat = network.physical(found.parameters(frame), float(found.rho[frame]))
    return {**network.fixed, **network.unpack(flat)}


# ---------------------------------------------------------------------------------- exactly there


@pytest.mark.parametrize("name", PARENTS)
@pytest.mark.parametrize(
    "settings",
    [
        ("loss.kind=logistic",),
        ("loss.l2=0.001", "dynamics.kind=gd", "dynamics.step=0.125"),
        ("dynamics.until_log10_time=1.75",),
        ("recording.frames=20",),
        ("dynamics.kind=gd", "dynamics.step=0.03125"),
        ("dynamics.kind=sgd", "dynamics.step=0.03125", "dynamics.batch=4"),
        ("dynamics.kind=adam", "dynamics.step=0.01"),
        ("dynamics.kind=flow", "dynamics.until_log10_time=1.75"),
        ("dynamics.kind=two_phase", "dynamics.step=0.03125"),
        ("data.k=3",),
    ],
    ids=lambda one: one[0],
)
def test_the_first_frame_is_the_parents(
    name: str, settings: tuple[str, ...], parents: Callable[[str], Path], tmp_path: Path
) -> None:
    """Weights, step and time to the bit, whatever is changed; nothing but that is changed."""
    path, child = parents(name), tmp_path / "child.msrun"
    with open_run(path) as parent:
        frame = parent.frames // 2 + 1
        made = branch(parent, frame, with_settings(parent.experiment, settings, "branch"))
        run(made, partial(Recorder, child))
        with open_run(child) as begun:
            assert begun.frames > 2
            assert begun.log10_time[0] == parent.log10_time[frame]
            assert begun.steps[0] == parent.steps[frame]
            ours, theirs = physical(begun, 0), physical(parent, frame)
            assert ours.keys() == theirs.keys()
            assert all(np.array_equal(ours[key], theirs[key]) for key in ours)
            if begun.experiment.dynamics.kind == name:
                assert begun.rho[0] == parent.rho[frame]
                assert np.array_equal(begun.parameters(0), parent.parameters(frame))
            assert np.array_equal(begun.dataset.x, parent.dataset.x)
            said = begun.continues or {}
            assert said["run"] == parent.name
            assert (said["file"], said["frame"]) == (path.name, frame)
            assert said["log10_time"] == parent.log10_time[frame]
            changed = {setting.partition("=")[0] for setting in settings}
            assert said["changes"].keys() & changed
            assert said["changes"].keys() <= changed | {"dynamics.kind", "dynamics.step"}


@pytest.mark.parametrize("name", PARENTS)
def test_a_later_end_alone_gives_the_parents_own_frames(name: str, tmp_path: Path) -> None:
    """By the run that was to go so far from the beginning: to the bit, the flow's too."""
    marks = np.linspace(-1.0, 1.5, 31).round(6).tolist()
    later = [*marks, 1.6, 1.75]
    recorded_at(tmp_path / "whole.msrun", with_marks(problem(*PARENTS[name]), later))
    recorded_at(tmp_path / "parent.msrun", with_marks(problem(*PARENTS[name]), marks))
    with open_run(tmp_path / "parent.msrun") as parent:
        frame = parent.frames - 12
    ends = (f"dynamics.until_log10_time={later[-1]}", f"recording.log10_times={later}")
    branched_at(
        tmp_path / "child.msrun",
        tmp_path / "parent.msrun",
        frame,
        *ends,
        f"recording.frames={len(later) + 2}",
    )
    with (
        open_run(tmp_path / "parent.msrun") as parent,
        open_run(tmp_path / "child.msrun") as child,
        open_run(tmp_path / "whole.msrun") as whole,
    ):
        assert not child.has_changed_rule
        assert child.frames == whole.frames - frame == parent.frames - frame + 2
        for index in range(child.frames):
            assert np.array_equal(child.parameters(index), whole.parameters(frame + index))
            assert child.rho[index] == whole.rho[frame + index]
            for key in ("distance", "patterns_changed", "hard_margin"):
                observable = OBSERVABLES[key]
                assert observable.value_at(child, index) == observable.value_at(
                    whole, frame + index
                )
        for index in range(parent.frames - frame):
            assert np.array_equal(child.parameters(index), parent.parameters(frame + index))


def test_moments_of_adam_are_those_of_the_parent_with_another_step(tmp_path: Path) -> None:
    """From a frame without a state: as from a parent that was stopped there, and kept its state."""
    recorded_at(tmp_path / "long.msrun", problem(*PARENTS["adam"]))
    with open_run(tmp_path / "long.msrun") as long:
        frame, end = 21, float(long.log10_time[21])
        assert frame not in long.saved_states()
        times = long.log10_time[1 : frame + 1].tolist()
    recorded_at(tmp_path / "short.msrun", with_marks(problem(*PARENTS["adam"]), times))
    with open_run(tmp_path / "short.msrun") as short:
        assert short.frames == frame + 1
        assert short.log10_time[-1] == end
        assert frame in short.saved_states()
    ends = ("dynamics.step=0.01", "dynamics.until_log10_time=1.6", "recording.log10_times=[]")
    for name in ("long", "short"):
        made = branch_of(tmp_path / f"{name}.msrun", frame, *ends, "recording.frames=33")
        assert note_of(made) == ""
        run(made, partial(Recorder, tmp_path / f"{name}-child.msrun"))
    with (
        open_run(tmp_path / "long-child.msrun") as one,
        open_run(tmp_path / "short-child.msrun") as two,
    ):
        assert one.frames == two.frames > 5
        for index in range(one.frames):
            assert np.array_equal(one.parameters(index), two.parameters(index))
    made = branch_of(tmp_path / "long.msrun", frame, "dynamics.kind=flow", *ends[1:])
    assert note_of(made) == ""  # which carries nothing but the length of its steps
    made = branch_of(tmp_path / "long.msrun", frame, "dynamics.beta1=0.5")
    assert note_of(made) == (
        f"Frame {frame} was reached with other settings: Adam's moments restart there."
    )


def test_another_step_is_plain_descent_from_there(
    parents: Callable[[str], Path], tmp_path: Path
) -> None:
    """Steps of descent by the network's own gradient, from the parent's frame."""
    path, child, step = parents("gd"), tmp_path / "child.msrun", 0.25
    with open_run(path) as parent:
        frame = 12
        flat = np.array(parent.parameters(frame))
        branched_at(child, path, frame, f"dynamics.step={step}", "dynamics.until_log10_time=1.2")
        with open_run(child) as begun:
            n, y = parent.dataset.n, parent.dataset.y
            time, at = 10.0 ** float(parent.log10_time[frame]), int(parent.steps[frame])
            for index in range(1, begun.frames):
                for _ in range(int(begun.steps[index]) - at):
                    p = parent.network.margins(flat, parent.inputs, y)
                    g = -y * np.exp(-p) / n
                    flat = flat - step * parent.network.gradient(flat, parent.inputs, g)
                    time += step
                at = int(begun.steps[index])
                assert np.allclose(begun.parameters(index), flat, rtol=1e-11, atol=1e-13)
                assert 10.0 ** begun.log10_time[index] == pytest.approx(time, rel=1e-12)


# ------------------------------------------------------------------------------ whose start it is


def test_distances_are_from_the_parents_start(
    parents: Callable[[str], Path], tmp_path: Path
) -> None:
    """Where loss or dynamics changed; hypotheses on the start are not met by such a trajectory."""
    path, child = parents("gd"), tmp_path / "child.msrun"
    branched_at(child, path, 15, "dynamics.step=0.03125")
    with open_run(path) as parent, open_run(child) as begun:
        assert begun.has_changed_rule
        assert np.array_equal(begun.origin, parent.origin)
        for index in (0, begun.frames - 1):
            moved = float(np.linalg.norm(begun.parameters(index) - parent.parameters(0)))
            assert OBSERVABLES["distance"].value_at(begun, index) == pytest.approx(moved, rel=1e-14)
        assert begun.whole_run.complete
        assert begun.whole_run.frames_before == 15
    continued_at(tmp_path / "on.msrun", child)
    with open_run(tmp_path / "on.msrun") as on:
        assert on.has_changed_rule
        assert "branch" not in (on.continues or {})
        assert np.array_equal(on.origin, begun.origin)


def test_a_step_that_changed_is_no_run_of_one_step(tmp_path: Path) -> None:
    """Statements on a run of one step have a start that is not met, also where it is continued."""
    made = problem(*FRAMES, "network.kind=normalised", "dynamics.kind=gd", "dynamics.step=0.0625")
    recorded_at(tmp_path / "a.msrun", made)
    continued_at(tmp_path / "b.msrun", tmp_path / "a.msrun", "dynamics.step=0.125", frame=9)
    with open_run(tmp_path / "a.msrun") as whole, open_run(tmp_path / "b.msrun") as part:
        assert OBSERVABLES["mirror_gap"].applies(whole)
        assert not OBSERVABLES["mirror_gap"].applies(part)
    flow = problem(*FRAMES, "network.kind=normalised", "loss.kind=logistic")
    recorded_at(tmp_path / "c.msrun", flow)
    branched_at(tmp_path / "d.msrun", tmp_path / "c.msrun", 9, "dynamics.until_log10_time=1.75")
    branched_at(tmp_path / "e.msrun", tmp_path / "c.msrun", 9, "dynamics.accuracy=numbers")
    with open_run(tmp_path / "d.msrun") as same, open_run(tmp_path / "e.msrun") as other:
        assert start_hypothesis(same).met is True
        assert start_hypothesis(other).met is False


def test_other_labels_are_another_problem(tmp_path: Path) -> None:
    """The same points; its start is the frame, and nothing is said of what was before it."""
    recorded_at(tmp_path / "a.msrun", problem(*FRAMES, *MIXTURE))
    with open_run(tmp_path / "a.msrun") as parent:
        frame = parent.frames - 5
        branched_at(tmp_path / "b.msrun", parent.path, frame, "data.flips=0.4")
        with open_run(tmp_path / "b.msrun") as child:
            assert np.array_equal(child.dataset.x, parent.dataset.x)
            assert not np.array_equal(child.dataset.y, parent.dataset.y)
            flat = parent.network.physical(parent.parameters(frame), float(parent.rho[frame]))
            assert np.array_equal(child.origin, flat)
            p = parent.network.outputs(flat, parent.inputs) * child.dataset.y
            assert OBSERVABLES["risk"].value_at(child, 0) == pytest.approx(
                np.exp(-p).mean(), rel=1e-12
            )
            assert OBSERVABLES["distance"].value_at(child, 0) == 0.0
            assert child.log10_time[0] == parent.log10_time[frame]
            assert not child.whole_run.complete
            assert child.experiment.network.init == "file"
            assert (child.continues or {})["changes"] == {"data.flips": [0.1, 0.4]}


@pytest.mark.parametrize(("kind", "added"), [("bias", {"b": 0.0}), ("scalar", {"b": 1.0})])
@pytest.mark.parametrize("name", ["gd", "flow"])
def test_another_network_with_the_same_weights(
    name: str, kind: str, added: dict[str, float], parents: Callable[[str], Path], tmp_path: Path
) -> None:
    """Standard weights are those of a network with biases 0, and of the scalar one with b = 1."""
    path, child = parents(name), tmp_path / "child.msrun"
    branched_at(child, path, 20, f"network.kind={kind}")
    with open_run(path) as parent, open_run(child) as begun:
        theirs, ours = physical(parent, 20), physical(begun, 0)
        for key, value in added.items():
            assert np.array_equal(ours[key], np.full(begun.network.m, value))
        assert ours.keys() == theirs.keys() | added.keys()
        if name == "gd":  # the flow's frames have a direction and a size
            assert all(np.array_equal(ours[key], theirs[key]) for key in theirs)
        assert all(np.allclose(ours[key], theirs[key], rtol=1e-15) for key in theirs)
        risk = OBSERVABLES["risk"]
        assert risk.value_at(begun, 0) == pytest.approx(risk.value_at(parent, 20), rel=1e-12)
        assert OBSERVABLES["distance"].value_at(begun, 0) < 1e-14
    if kind == "bias":  # and back again while b = 0 only
        assert branch_of(child, 0, "network.kind=standard").network.kind == "standard"
        with pytest.raises(InputError, match="they fit no other network"):
            branch_of(child, 5, "network.kind=standard")


EVERY_KIND = {
    "step": ("dynamics.step=0.03125",),
    "loss": ("loss.kind=logistic",),
    "flow": ("dynamics.kind=flow", "dynamics.until_log10_time=1.75"),
    "labels": ("data.k=3",),
    "bias": ("network.kind=bias",),
    "scalar": ("network.kind=scalar",),
    "start": ("dynamics.step=0.03125",),
}


@pytest.mark.parametrize("name", EVERY_KIND)
def test_what_is_said_of_branches(
    name: str, parents: Callable[[str], Path], tmp_path: Path
) -> None:
    """Observables have values at both ends, and no statement is called violated; the child goes on
    as any run does, and so does its child."""
    child, after = tmp_path / "child.msrun", tmp_path / "after.msrun"
    frame = 0 if name == "start" else 15
    branched_at(child, parents("gd"), frame, *EVERY_KIND[name], "recording.frames=8")
    continued_at(after, child)
    further = tmp_path / "further.msrun"
    branched_at(further, after, 1, "recording.frames=6")
    with open_run(child) as found:
        of = found.problem
        named = [one for one in references_of(of) if one.name == "gamma_gl"]
        margins = {one.name: compute(one, of, CancelToken(0.05)) for one in named}
    for path in (child, after, further):
        with open_run(path) as found:
            for assessment in assess_all(found, margins):
                assert assessment.verdict is not Verdict.VIOLATED, assessment.statement.name
            for observable in OBSERVABLES.values():
                if observable.applies(found):
                    for frame in (0, found.frames - 1):
                        observable.value_at(found, frame)
            assert np.isfinite(OBSERVABLES["distance"].trace(found)).all()
    with open_run(child) as one, open_run(after) as two:
        assert np.array_equal(two.parameters(0), one.parameters(one.frames - 1))
        assert np.array_equal(two.origin, one.origin)


def test_branches_of_a_run_in_row_space(tmp_path: Path) -> None:
    """d > n: the coordinates go on where the points stay, and are left where a network needs it."""
    wide = ("data.kind=gaussian_mixture", "data.d=200", "data.n=20", "data.flips=0.1")
    short = ("dynamics.until_log10_time=0", "recording.log10_times=[]", "recording.frames=12")
    made = prepare(problem(*short, *wide, "loss.kind=logistic", m=300))
    assert made.reduction is not None
    path, risk = tmp_path / "wide.msrun", OBSERVABLES["risk"]
    recorded_at(path, made)
    for name, settings, reduced in (
        ("gd", ("dynamics.kind=gd", "dynamics.step=0.001"), True),
        ("fresh", ("dynamics.kind=sgd", "dynamics.fresh=true", "dynamics.step=0.001"), False),
        ("labels", ("data.flips=0.4",), True),
        ("bias", ("network.kind=bias",), False),
    ):
        child = tmp_path / f"{name}.msrun"
        branched_at(child, path, 6, *settings)
        with open_run(path) as parent, open_run(child) as begun:
            assert (begun.reduction is not None) == reduced, name
            f = parent.network.outputs(parent.parameters(6), parent.inputs)
            g = begun.network.outputs(begun.parameters(0), begun.inputs)
            scale = parent.network.degree * (parent.rho[6] - begun.rho[0])
            assert np.allclose(np.exp(scale) * f, g, rtol=1e-10, atol=1e-12), name
            if name != "labels":
                assert risk.value_at(begun, 0) == pytest.approx(risk.value_at(parent, 6), rel=1e-10)


# ---------------------------------------------------------------------------------- wrong requests


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ((), "nothing is changed"),
        (("dynamics.step=0.0625",), "nothing is changed"),
        (("dynamics.stpe=1",), "did you mean 'step'"),
        (("dynamics.step=[0.1, 0.2]",), "branch makes one run"),
        (("dynamics.step=-1",), "greater than 0"),
        (("dynamics.until_log10_time=0.5",), "is before the frame's"),
        (("dynamics.kind=kernel",), "cannot start from weights"),
        (("data.n=60",), "gives other points"),
        (("data.seed=4",), "gives other points"),
        (("run.seed=4",), "draws data and start"),
        (("network.m=8",), "sets the initialisation"),
        (("network.init=small",), "sets the initialisation"),
        (("network.kind=custom", "network.code=import os"), "its parent's code"),
        (("network.kind=normalised",), "they fit scalar, bias"),
        (("data.kind=file", "data.path=/nowhere.npz"), "nowhere"),
        (("nonsense",), "write key=value"),
    ],
    ids=lambda one: str(one)[:40],
)
def test_what_no_branch_can_be(
    settings: tuple[str, ...], words: str, parents: Callable[[str], Path]
) -> None:
    with pytest.raises(InputError, match=words) as refused:
        branch_of(parents("gd"), 30, *settings)
    assert str(refused.value).count("\n") == 0


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("0", 0),
        ("12", 12),
        ("t=0", 0),
        ("10^1.5", -1),
        ("10^1", None),
        ("t = 10", None),
        ("1e1", None),
        ("log10 t = 1", None),
    ],
)
def test_moments(text: str, frame: int | None, parents: Callable[[str], Path]) -> None:
    with open_run(parents("flow")) as parent:
        found, times = frame_of(parent, text), parent.log10_time
        if frame is not None:
            assert found == frame % parent.frames
        else:
            assert times[found] <= 1.0 < times[found + 1]
        for index in range(1, parent.frames):  # a frame's own time is that frame
            assert frame_of(parent, f"log10 t = {float(times[index])!r}") == index
            assert frame_of(parent, f"10^{times[index]:.9f}") == index


@pytest.mark.parametrize(
    "text", ["10^1.6", "t=-3", "-1", "999", "soon", "", "10^1e999", "1_0", "nan"]
)
def test_moments_outside_the_run(text: str, parents: Callable[[str], Path]) -> None:
    with open_run(parents("flow")) as parent, pytest.raises(InputError, match="--at"):
        frame_of(parent, text)


def test_a_moment_before_a_run_that_goes_on_from_another(
    parents: Callable[[str], Path], tmp_path: Path
) -> None:
    branched_at(tmp_path / "b.msrun", parents("gd"), 20, "dynamics.step=0.03125")
    with open_run(tmp_path / "b.msrun") as run, pytest.raises(InputError, match="starts at t ="):
        frame_of(run, "10^-1")


def test_a_file_of_before_has_no_name_and_branches_all_the_same(tmp_path: Path) -> None:
    recorded_at(tmp_path / "a.msrun", problem(*PARENTS["gd"]))
    tamper(tmp_path / "a.msrun", "DELETE FROM meta WHERE key = 'name'")
    made = branch_of(tmp_path / "a.msrun", 3, "dynamics.step=0.5")
    assert (made.start.continues or {})["run"] == ""
