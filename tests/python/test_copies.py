"""A recorded copy of the program's own trajectory says the same, but for what cannot be seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import marginscope as ms
from core.observables.registry import OBSERVABLES, scalars_of
from core.problem.problem import points_for_test
from core.reference.cancel_token import CancelToken
from core.reference.margin import ReferenceMargin
from core.reference.registry import REFERENCES
from core.runs import RecordedRun, open_run
from core.theorems.registry import assess_all
from tests.recording import recorded

DESCENT = ("dynamics.kind=gd", "dynamics.step=0.25", "dynamics.until_log10_time=1", "data.d=6")
# Known of a law, and not of a file: that the test points are all there are, its directions, and
# how the weights of the start are drawn.
NOT_SEEN = {"test_error_se", "covering_radius", "kernel_deviation"}


def copy_of(run: RecordedRun, path: Path, **settings: object) -> None:
    """Record a run's frames as a loop that trained the same would."""
    x, y, points = run.dataset.x, run.dataset.y, points_for_test(run.problem)
    test = {"x_test": points.x, "y_test": points.y, "frames": run.planned_frames}
    with ms.record(path, x, y, strict=True, loss=run.loss.kind, **test, **settings) as r:
        for index in range(run.frames):
            parts = run.network.unpack(run.parameters(index))
            parts["a" if "a" in parts else "A"] = parts.get("a", parts.get("A"))
            if "A" in parts:
                parts["a"] = parts.pop("A").T
            r.frame(int(run.steps[index]), **parts, **run.diagnostics(index))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RecordedRun, RecordedRun]]:
    tmp_path = tmp_path_factory.mktemp("pair")
    recorded(tmp_path / "own.msrun", *DESCENT)
    with open_run(tmp_path / "own.msrun") as own:
        copy_of(own, tmp_path / "copy.msrun", dynamics="gd", eta=0.25)
        with open_run(tmp_path / "copy.msrun") as copy:
            yield own, copy


def test_frames_and_observables_are_the_same_to_the_last_bit(
    pair: tuple[RecordedRun, RecordedRun],
) -> None:
    own, copy = pair
    assert np.array_equal(own.log10_time, copy.log10_time)
    assert np.array_equal(own.steps, copy.steps)
    names = {item.name for item in scalars_of(own)}
    assert names - {item.name for item in scalars_of(copy)} <= NOT_SEEN
    assert len(names) > 20
    for name in names - NOT_SEEN:
        one, two = (OBSERVABLES[name].trace(run) for run in (own, copy))
        assert np.array_equal(one, two, equal_nan=True), name


def test_margins_of_the_data_are_the_same(pair: tuple[RecordedRun, RecordedRun]) -> None:
    applying = [
        [name for name, one in REFERENCES.items() if one.applies(run.problem)] for run in pair
    ]
    assert "gamma_gl" in applying[1]
    for name in ("gamma_gl", "gamma_linear"):
        own, copy = (REFERENCES[name].compute(run.problem, CancelToken()) for run in pair)
        assert (own.lower, own.upper) == (copy.lower, copy.upper)


def test_verdicts_are_the_same_but_for_hypotheses_that_cannot_be_seen(
    pair: tuple[RecordedRun, RecordedRun],
) -> None:
    own, copy = pair
    margins: dict[str, ReferenceMargin] = {}
    ours = {one.statement.full_name(): one for one in assess_all(own, margins)}
    theirs = {one.statement.full_name(): one for one in assess_all(copy, margins)}
    common, unseen, decided = set(ours) & set(theirs), 0, 0
    for name in common:
        one, two = ours[name], theirs[name]
        if np.isnan(two.comparison.bound):  # one that rests on the law of the data
            assert two.comparison.holds is None
        else:
            mine, seen = one.comparison, two.comparison
            assert (mine.holds, mine.bound) == (seen.holds, seen.bound)
            assert mine.measured == seen.measured
            decided += 1
        for known, told in zip(one.hypotheses, two.hypotheses, strict=True):
            assert told.met in (known.met, None), (name, known.text)
            unseen += told.met is None and known.met is not None
    assert unseen > 0
    assert decided >= 3


HOW = ("gradient flow", "the risk without a penalty", "one fresh example a step", "start ")


def test_how_a_recording_was_trained_is_never_met(pair: tuple[RecordedRun, RecordedRun]) -> None:
    for one in assess_all(pair[1], {}):
        for hypothesis in one.hypotheses:
            if hypothesis.text.startswith(HOW) and "step alpha" not in hypothesis.text:
                assert hypothesis.met is None, hypothesis
