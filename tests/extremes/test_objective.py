"""What a hunt measures: formulas against traces, a statement's room against its verdict."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.extremes.hunt import FileRetention
from core.extremes.hunt_building import hunt_for
from core.extremes.objective import (
    UNFIT,
    VALUE,
    VERDICT,
    Frames,
    ObjectiveReader,
    find_statement,
    objective_of,
    slug,
    verdict_words,
)
from core.extremes.question import Question
from core.observables.observable import Shape
from core.observables.registry import OBSERVABLES
from core.runs import Run, open_run
from core.studies.claims import Take
from core.studies.formulas import SYMBOLS
from core.studies.measures.frame_measures import RunMargins
from core.studies.study import load_study
from core.theorems.registry import STATEMENTS
from core.theorems.statement import Context, assess
from tests.support.made_up_hunts import study_of
from tests.support.sweeps import recorded_trials

pytestmark = pytest.mark.usefixtures("few_directions")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    study = study_of().with_settings(["recording.frames=12", "dynamics.until_log10_time=3"])
    return recorded_trials(study, folder)[0].path


def value(
    run: Run, text: str, take: Take = "last", at: float | None = None, after: str = ""
) -> float:
    asked = ObjectiveReader(objective_of(text, True, Frames(take, at, after), SYMBOLS))
    return float(asked(run)[VALUE])


def trace(run: Run, name: str) -> np.ndarray:
    return np.array([float(OBSERVABLES[name].value_at(run, frame)) for frame in range(run.frames)])


def test_a_formula_is_that_of_the_last_frame(path: Path) -> None:
    with open_run(path) as run:
        risk, norm = trace(run, "risk"), trace(run, "norm_squared")
        assert value(run, "risk") == risk[-1]
        assert value(run, "risk / risk_0 + n") == pytest.approx(risk[-1] / risk[0] + 16)
        assert value(run, "2 * norm_squared") == 2 * norm[-1]


def test_other_frames_are_taken_where_that_is_asked(path: Path) -> None:
    with open_run(path) as run:
        margin, risk = trace(run, "hard_margin"), trace(run, "risk")
        times = run.log10_time[: run.frames]
        assert value(run, "hard_margin", "least") == margin.min()
        assert value(run, "risk", "largest") == risk.max()
        nearest = int(np.argmin(np.abs(np.maximum(times, -99) - 1.0)))
        if abs(times[nearest] - 1.0) < 0.05:
            assert value(run, "risk", at=1.0) == risk[nearest]
        else:
            assert np.isnan(value(run, "risk", at=1.0))
        begun = int(np.argmax(margin > 0.0))
        assert 0 < begun < run.frames
        assert value(run, "norm_squared", "least", after="hard_margin") == (
            trace(run, "norm_squared")[begun:].min()
        )
        assert np.isnan(value(run, "risk", "least", after="hard_margin - 9"))  # never


def test_runs_that_do_not_fit_can_be_left_out(path: Path, tmp_path: Path) -> None:
    """At the start an example is wrong, and at the end none is."""
    short = study_of().with_settings(["dynamics.until_log10_time=-0.5"])
    early = recorded_trials(short, tmp_path)[0].path
    objective = replace(objective_of("risk", True, Frames(), ()), fit=True)
    with open_run(path) as run:
        assert trace(run, "train_error")[-1] == 0.0
        assert ObjectiveReader(objective)(run)[VALUE] == trace(run, "risk")[-1]
    with open_run(early) as run:
        assert trace(run, "train_error")[-1] > 0.0
        told = ObjectiveReader(objective)(run)
        assert np.isnan(told[VALUE])
        assert told[UNFIT] == 1.0
        assert value(run, "risk") == trace(run, "risk")[-1]


def test_a_share_of_a_margin_is_by_the_runs_own_data(path: Path) -> None:
    """gamma_gl of core.reference, whose bracket is proved elsewhere."""
    with open_run(path) as run:
        gamma = RunMargins(run)["gamma_gl"].bracket.value
        told = value(run, "hard_margin / (gamma_gl / 2)")
        assert told == pytest.approx(trace(run, "hard_margin")[-1] / (gamma / 2.0))


def test_the_room_of_a_statement_is_that_of_its_verdict(path: Path) -> None:
    with open_run(path) as run:
        name = "homogeneity, Lemma 3.2"
        known = [one for one in STATEMENTS.values() if one.applies(run) and one.constants]
        context = Context(run, RunMargins(run))
        decided = [(one, assess(one, context)) for one in known]
        decided = [(one, told) for one, told in decided if told.comparison.holds is not None]
        assert decided, name
        for (one, told), kind in product(decided, ("slack", "ratio")):
            asked = ObjectiveReader(objective_of(f"{kind}:{one.full_name()}", True, Frames(), ()))
            found = asked(run)
            np.testing.assert_equal(found[VALUE], getattr(told.comparison, kind), one.full_name())
            assert verdict_words(found[VERDICT]) == told.verdict.value


def test_a_statement_about_other_runs_is_refused(path: Path) -> None:
    asked = ObjectiveReader(
        objective_of("slack:telgarsky22-theorem-3-3-margin", True, Frames(), ())
    )
    with open_run(path) as run, pytest.raises(InputError, match="but to the scalar network"):
        asked(run)


def test_an_observable_that_the_runs_lack_is_refused(path: Path, tmp_path: Path) -> None:
    with open_run(path) as run:
        lacking = [
            name
            for name, one in OBSERVABLES.items()
            if one.shape is Shape.SCALAR and not one.applies(run)
        ]
        assert len(lacking) > 5
        for name in lacking:
            with pytest.raises(InputError, match=f"{name} is defined for .*do not have"):
                value(run, f"{name} + risk")
    # Of real targets every hard margin would be the best, before and after hours of training.
    study, keeping = load_study("boursier25-spurious"), FileRetention(tmp_path)
    for text, after in (("hard_margin", ""), ("risk", "hard_margin - 1")):
        frames = Frames("least", after=after)
        with pytest.raises(InputError, match="hard_margin is defined for labels, not real"):
            hunt_for(study, Question(text, frames=frames), keeping, "quick")
    assert hunt_for(study, Question("risk"), keeping, "quick").drawn > 0


def test_statements_are_found_by_any_spelling() -> None:
    one = STATEMENTS["telgarsky22, Theorem 3.3 (margin)"]
    for text in ("telgarsky22-theorem-3-3-margin", "telgarsky22 Theorem 3.3 (margin)"):
        assert find_statement(text) is one
    for text in (
        "slack('telgarsky22-theorem-3-3-margin')",
        "slack: telgarsky22-Theorem-3.3-margin",
    ):
        made = objective_of(text, True, Frames(), ())
        assert (made.statement, made.kind) == (one.full_name(), "slack")
    slugs = [slug(name) for name in STATEMENTS]
    assert len(slugs) == len(set(slugs))
    for name in STATEMENTS:
        assert find_statement(slug(name)).full_name() == name


@pytest.mark.parametrize(
    ("text", "frames", "sentence"),
    [
        ("hard_margn", Frames(), "did you mean 'hard_margin'"),
        ("rotation", Frames(), "more than one number a frame"),
        ("risk +", Frames(), "is not a formula"),
        ("risk.x", Frames(), "is not a formula"),
        ("slack:telgarsky22-theorem-3.3", Frames(), "may be .*margin or .*balance; write one"),
        ("slack:telgarsky22-theorem-9", Frames(), "is not a statement"),
        ("ratio:telgarsky22-theorem-2-2-error", Frames(), "states no constant"),
        ("risk", Frames("least", 1.0), "has no time"),
        ("risk", Frames("last", None, "risk"), "add --take"),
        ("risk", Frames("least", None, "rsk"), "did you mean 'risk'"),
        ("slack:telgarsky22-lemma-a-4", Frames("least"), "frame of least slack"),
        ("eval('1')", Frames(), "is not a function|is not a formula|not known"),
    ],
)
def test_what_cannot_be_measured_is_said_before(text: str, frames: Frames, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        objective_of(text, True, frames, SYMBOLS)


def test_what_has_no_number_is_behind_all_others() -> None:
    least = objective_of("risk", True, Frames(), ())
    largest = objective_of("risk", False, Frames(), ())
    assert least.score(2.0) < least.score(3.0) < least.score(float("nan"))
    assert largest.score(3.0) < largest.score(2.0) < largest.score(float("nan"))
