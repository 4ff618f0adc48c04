"""Shipped stories are true: every number of a sentence is measured in the runs at its moment."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from app.state.views import VIEWS
from core.cli.training import record_cells
from core.figures.names import PAGE_PANELS
from core.figures.scene import last_frame
from core.observables.registry import OBSERVABLES
from core.reference.registry import references_of
from core.runs import Run, open_run
from core.stories.shipped_stories import cells_shown, shipped_stories, story_of_study
from core.stories.story import StoryMoment
from core.studies.cell_selection import restrict_study
from core.studies.study import load_study, shipped_ids
from core.sweep.plan import run_paths

Measure = Callable[[Run, int], float]


@dataclass(frozen=True, slots=True)
class Check:
    """A text of the sentence at a place of a story, and what it says of the run in a row."""

    place: int
    words: str
    row: int
    measure: Measure
    low: float
    high: float


def observable(name: str, reduce: Callable[[np.ndarray], float] = float) -> Measure:
    def measure(run: Run, frame: int) -> float:
        return float(reduce(np.asarray(OBSERVABLES[name].value_at(run, frame))))

    return measure


def near(value: float, half: float) -> tuple[float, float]:
    """Return the numbers that round to a value whose last digit is worth twice `half`."""
    return value - half, value + half


ERROR, TEST = observable("train_error"), observable("test_error")
MARGIN, TURN = observable("hard_margin"), observable("rotation", np.min)
MODE, ANGLE, RISK = observable("mode_strength"), observable("mode_angle"), observable("risk")
NORM, SHARE = observable("cubed_norm"), observable("frequency_share")
LENGTH = math.sqrt(14.25)  # of the target (3, 2, 1, .5)


def saxe(run: Run, frame: int) -> float:
    """Return the strength by Saxe's closed form with a(0) = 1e-4 and X'X/n = I/4."""
    time = 10.0 ** float(run.log10_time[frame])
    start = 1e-4
    return LENGTH / (1.0 + (LENGTH / start - 1.0) * math.exp(-2.0 * LENGTH * 0.25 * time))


def difference(run: Run, frame: int) -> float:
    return MODE(run, frame) - saxe(run, frame)


def risk_slope(run: Run, frame: int) -> float:
    """Return d ln R / dt over ten frames."""
    values = [math.log(RISK(run, k)) for k in (frame - 10, frame)]
    times = 10.0 ** run.log10_time[[frame - 10, frame]]
    return (values[1] - values[0]) / float(times[1] - times[0])


def shrinking(run: Run, frame: int) -> float:
    """Return the cubed norm as a share of the first."""
    return NORM(run, frame) / NORM(run, 0)


CHECKS: dict[str, tuple[Check, ...]] = {
    "telgarsky22-figure-1": (
        *(Check(0, "30 of the 64", row, ERROR, 30 / 64, 30 / 64) for row in (0, 1)),
        Check(1, "exceeds .98", 1, TURN, 0.98, 0.9999),
        Check(1, "is .89", 0, TURN, *near(0.89, 0.005)),
        Check(2, "wide network classifies every example", 1, ERROR, 0.0, 0.0),
        Check(2, "still misclassifies 5", 0, ERROR, 5 / 64, 5 / 64),
        Check(2, "margin is negative", 0, MARGIN, -1.0, -1e-6),
        *(Check(3, "both networks classify every example", row, ERROR, 0.0, 0.0) for row in (0, 1)),
        Check(3, ".0097 with 16", 0, MARGIN, *near(0.0097, 5e-5)),
        Check(3, ".0065 with 256", 1, MARGIN, *near(0.0065, 5e-5)),
        Check(4, ".34 with 16", 0, TURN, *near(0.34, 0.005)),
        Check(4, ".74 with 256", 1, TURN, *near(0.74, 0.005)),
        Check(5, ".026 and", 0, MARGIN, *near(0.026, 5e-4)),
        Check(5, "and .016", 1, MARGIN, *near(0.016, 5e-4)),
    ),
    "saxe14-modes": (
        Check(0, "first along the target", 0, ANGLE, 0.0, 1e-6),
        Check(0, "106 degrees", 1, ANGLE, *near(106.0, 0.5)),
        *(Check(0, "is 1.78", row, RISK, *near(1.78, 0.005)) for row in (0, 1)),
        *(
            Check(1, "1 % of the target", row, MODE, -0.01 * LENGTH, 0.01 * LENGTH)
            for row in (0, 1)
        ),
        Check(2, "half of the mode", 0, MODE, *near(LENGTH / 2, 0.01)),
        Check(2, "Saxe's closed form", 0, difference, -1e-3, 1e-3),
        Check(2, "12 %", 1, MODE, 0.115 * LENGTH, 0.125 * LENGTH),
        Check(3, "more than half", 1, MODE, 0.5 * LENGTH, 0.7 * LENGTH),
        Check(3, "within .3 degrees", 1, ANGLE, 0.0, 0.3),
        *(Check(4, "3.77", row, MODE, *near(3.77, 0.005)) for row in (0, 1)),
        *(Check(4, "below 10^-5", row, RISK, 0.0, 1e-5) for row in (0, 1)),
        # Linearised at the target the residual falls like exp(-2 s c t), and the risk twice so.
        *(Check(4, "exponentially", row, risk_slope, *near(-LENGTH, 0.1)) for row in (0, 1)),
    ),
    "morwani24-grokking": (
        *(Check(1, "every training pair", row, ERROR, 0.0, 0.0) for row in (0, 1)),
        *(Check(1, "at most 1 % of the test", row, TEST, 0.99, 1.0) for row in (0, 1)),
        *(Check(2, "99 % of the test pairs are", row, TEST, 0.99, 1.0) for row in (0, 1)),
        Check(2, "halved the cubed norm", 0, shrinking, 0.49, 0.51),
        Check(3, "36 %", 0, SHARE, *near(0.36, 0.005)),
        Check(3, "69 %", 0, TEST, *near(0.31, 0.005)),
        Check(4, "right on every test pair", 0, TEST, 0.0, 0.0),
        Check(4, "99.5 %", 1, TEST, *near(0.995, 5e-4)),
        Check(5, "over 99.9 %", 0, SHARE, 0.999, 1.0),
        Check(5, "fits its data as well", 1, ERROR, 0.0, 0.0),
        Check(5, "has no waves", 1, SHARE, 0.0, 1e-3),
        Check(5, "never groks", 1, TEST, 0.99, 1.0),
    ),
}


@pytest.fixture(scope="module")
def runs_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Sequence[Run]]]:
    """Return a function that trains the runs that a story is about, once."""
    found: dict[str, list[Run]] = {}

    def train(name: str) -> Sequence[Run]:
        if name not in found:
            study = load_study(name)
            study = restrict_study(study, cells_shown(study))
            folder = tmp_path_factory.mktemp(name)
            assert record_cells(study, folder, force=False, quiet=True) == 0
            found[name] = [open_run(path) for path in run_paths(study, folder).values()]
        return found[name]

    yield train
    for runs in found.values():
        for run in runs:
            run.close()


def frame_at(run: Run, moment: StoryMoment) -> int:
    return last_frame(run, float(moment.log10_time))


@pytest.mark.parametrize("name", CHECKS)
def test_sentences_are_true_at_their_moments(
    name: str, runs_of: Callable[[str], Sequence[Run]], subtests: pytest.Subtests
) -> None:
    story, runs = story_of_study(name), runs_of(name)
    for moment in story.moments:
        assert moment.log10_time <= max(float(run.log10_time[-1]) for run in runs)
    for check in CHECKS[name]:
        with subtests.test(f"{check.place}: {check.words}, run {check.row + 1}"):
            moment = story.moments[check.place]
            assert check.words in moment.sentence
            run = runs[check.row]
            assert check.low <= check.measure(run, frame_at(run, moment)) <= check.high


@pytest.mark.parametrize("name", CHECKS)
def test_sentences_are_false_at_other_moments_and_of_other_runs(
    name: str, runs_of: Callable[[str], Sequence[Run]]
) -> None:
    """Each story's checks fail if its moments are exchanged, or its runs."""
    story, runs = story_of_study(name), runs_of(name)
    count = len(story.moments)

    def held(place_of: Callable[[int], int], row_of: Callable[[int], int]) -> int:
        results = []
        for one in CHECKS[name]:
            run = runs[row_of(one.row)]
            frame = max(frame_at(run, story.moments[place_of(one.place)]), 10)
            results.append(one.low <= one.measure(run, frame) <= one.high)
        return sum(results)

    total = len(CHECKS[name])
    assert held(lambda place: count - 1 - place, lambda row: row) <= total - count
    assert held(lambda place: place, lambda row: 1 - row) <= total - 4


def test_each_moment_has_a_check() -> None:
    """Of grokking's first sentence the settings of the study are the second route."""
    for name, story in shipped_stories().items():
        places = {check.place for check in CHECKS[name]}
        first = name == "morwani24-grokking"
        assert places == set(range(first, len(story.moments)))
    cells = cells_shown(load_study("morwani24-grokking"))
    settings = [(one.experiment.data.fraction, one.experiment.loss.l23) for one in cells]
    assert settings == [(0.8, 1e-4), (0.6, 0.0)]
    words = story_of_study("morwani24-grokking").moments[0].sentence
    assert "first is trained on 80 %" in words
    assert "second on 60 % without" in words
    assert {one.experiment.data.p for one in cells} == {23}


def test_times_in_sentences_are_those_of_the_moments() -> None:
    times = {
        "telgarsky22-figure-1": ("", "t = 10 ", "t = 10^1.5", "t = 100 ", "t = 1000", "t = 10^4"),
        "saxe14-modes": ("", "t = 3 ", "t = 5.58", "t = 7 ", "t = 10 "),
        # Adam's step is .01 long.
        "morwani24-grokking": ("", "40 steps", "step 100 ", "step 480", "step 1000", "step 2800"),
    }
    for name, words in times.items():
        for moment, text in zip(story_of_study(name).moments, words, strict=True):
            assert text in moment.sentence
            if not text:
                assert moment.log10_time == -math.inf
                continue
            number = text.split("=")[-1].replace("steps", "").replace("step", "").strip()
            base, _, power = number.partition("^")
            time = float(base) ** float(power or 1.0)
            time *= 0.01 if "step" in text else 1.0
            assert 10.0**moment.log10_time == pytest.approx(time, rel=0.03)


def test_stories_are_of_shipped_studies_and_of_views_that_there_are() -> None:
    assert set(shipped_stories()) == set(CHECKS) <= set(shipped_ids())
    for name, story in shipped_stories().items():
        assert story.study == name
        assert 5 <= len(story.moments) <= 6
        for moment in story.moments:
            assert moment.sentence.endswith(".")
            assert len(moment.sentence) <= 180
            assert {*moment.views, *filter(None, [moment.enlarged])} <= set(VIEWS) & set(
                PAGE_PANELS
            )


def test_the_dashed_line_of_figure_1_is_the_largest_margin(
    runs_of: Callable[[str], Sequence[Run]],
) -> None:
    story = story_of_study("telgarsky22-figure-1")
    assert "dashed line is the largest margin" in story.moments[5].sentence
    names = {one.name for one in references_of(runs_of("telgarsky22-figure-1")[0].problem)}
    assert "gamma_gl" in names


def test_the_story_of_a_folder_is_that_of_its_file() -> None:
    folder = Path(__file__).parents[2] / "resources" / "stories"
    assert {path.name for path in folder.iterdir()} == {f"{name}.story.json" for name in CHECKS}
