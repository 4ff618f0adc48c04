"""Runs that are started replace the open ones once they have frames, and not before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.training.recipes import FromExperiment
from core.errors import InputError
from core.problem.problem import Problem
from tests.app.shell.conftest import trained

WHY = "These data cannot be drawn."


def headings(program: Marginscope) -> list[str]:
    return [run.heading for run in program.session]


def keys_of(program: Marginscope) -> list[int]:
    return [run.key for run in program.session]


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[FromExperiment], bool]], None]:
    """Return a function that lets the runs fail for which a condition holds."""
    begin = FromExperiment.problem

    def fail(where: Callable[[FromExperiment], bool]) -> None:
        def problem(recipe: FromExperiment) -> Problem:
            if where(recipe):
                raise InputError(WHY)
            return begin(recipe)

        monkeypatch.setattr(FromExperiment, "problem", problem)

    return fail


def test_runs_that_fail_leave_the_open_ones_as_they_are(
    program: Marginscope, qtbot: QtBot, failing: Callable[..., None]
) -> None:
    before, intent = keys_of(program), program.display.intent
    frames = [panel.frame for panel in program.display.panels]
    failing(lambda _recipe: True)
    program.training.restart()
    assert keys_of(program) == before
    qtbot.waitUntil(lambda: not program.session.live)
    assert keys_of(program) == before and program.display.intent == intent
    assert [panel.frame for panel in program.display.panels] == frames
    assert program.window.bar.text == WHY
    assert all(run.data is not None for run in program.session)
    # Nothing of them is in the way of the next ones.
    failing(lambda _recipe: False)
    program.training.restart()
    qtbot.waitUntil(lambda: trained(program))
    assert not set(keys_of(program)) & set(before)


def test_runs_replace_the_open_ones_at_once_and_in_order(
    program: Marginscope, qtbot: QtBot
) -> None:
    before, names = keys_of(program), headings(program)
    seen: list[list[int]] = []
    empty: list[bool] = []

    def look() -> None:
        seen.append(keys_of(program))
        empty.extend(panel.run is None or panel.run.data is None for panel in shown(program))

    program.display.runs_changed.connect(look)
    program.training.restart()
    qtbot.waitUntil(lambda: trained(program))
    program.display.runs_changed.disconnect(look)
    after = keys_of(program)
    assert headings(program) == names and not set(after) & set(before)
    assert [one for at, one in enumerate(seen) if seen.index(one) == at] == [before, after]
    assert not any(empty)


def shown(program: Marginscope) -> list:
    return [panel for panel in program.display.panels if not panel.isHidden()]


def test_one_run_that_fails_beside_a_good_one_says_so_in_its_place(
    program: Marginscope, qtbot: QtBot, failing: Callable[..., None]
) -> None:
    failing(lambda recipe: recipe.experiment.network.m == 8)
    program.training.restart()
    qtbot.waitUntil(lambda: not program.session.live and not program.session.pending)
    first, second = program.session
    assert first.failure == WHY and second.data is not None


def test_a_choice_of_a_study_and_its_runs_are_one_step(
    program: Marginscope, plain_study: Path, qtbot: QtBot
) -> None:
    before = [run.path for run in program.session]
    program.files.open_files([str(plain_study)])
    qtbot.waitUntil(lambda: trained(program) and not program.scenes.has_pending_change)
    assert len(program.session) == 1
    program.scenes.undo()
    assert [run.path for run in program.session] == before
    assert program.window.form.edits.base.title == "A small study"
    assert len(program.scenes.history.past) == 0


def test_runs_that_are_starting_can_be_stopped_and_leave_the_open_ones(
    program: Marginscope, qtbot: QtBot
) -> None:
    before = keys_of(program)
    program.training.restart()
    program.training.stop()
    qtbot.waitUntil(lambda: not program.session.live)
    if program.session.pending:  # they were stopped before they had begun
        assert keys_of(program) == before
    program.training.close_runs()
    assert not len(program.session) and not program.session.pending


def test_nodes_of_closed_runs_are_not_marked_in_the_next_ones(
    program: Marginscope, qtbot: QtBot
) -> None:
    (first, *_) = program.session
    program.display.update_intent(pinned=frozenset({(first.key, 3)}))
    panel = program.display.panels[0]
    assert panel.view("margins")._pinned == {3}
    program.training.restart()
    qtbot.waitUntil(lambda: trained(program))
    assert not program.display.intent.pinned
    assert not panel.view("margins")._pinned
