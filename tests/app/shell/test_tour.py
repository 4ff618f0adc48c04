"""The tour: its steps name what is there, lead to it, and leave things as they were."""

from __future__ import annotations

import string

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QKeySequence
from pytestqt.qtbot import QtBot

from app.actions import ROWS
from app.shell.application import Marginscope
from app.shell.tour import STEPS, TourCard, TourController
from app.state.views import VIEWS
from tests.app.mouse import pick
from tests.app.shell.conftest import Opener, trained

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def program(program: Marginscope, monkeypatch: pytest.MonkeyPatch) -> Marginscope:
    """Return the shared window, whose small study stands for Figure 1."""
    monkeypatch.setattr(TourController, "_has_only_figure_1", lambda _controller: True)
    return program


def begun(program: Marginscope, qtbot: QtBot) -> TourCard:
    pick(qtbot, program.window, "Help", "Five-minute tour")
    card = program.tour.card
    assert card is not None and card.isVisible()
    return card


def test_steps_name_actions_and_places_that_there_are(program: Marginscope) -> None:
    keys = {row.key for row in ROWS}
    for step in STEPS:
        named = {name for _, name, _, _ in string.Formatter().parse(step.text) if name}
        assert named <= keys
        shown = step.place in VIEWS or program.tour._target(step.place) is not None
        assert shown, step.place


def test_the_tour_goes_through_figure_1(program: Marginscope, qtbot: QtBot) -> None:
    before = [run.source for run in program.session]
    card = begun(program, qtbot)
    assert [run.source for run in program.session] == before  # it is Figure 1 already
    seen = []
    for number in range(len(STEPS)):
        seen.append(card.title.text())
        assert card.place.text() == f"{number + 1} of {len(STEPS)}"
        assert program.window.rect().contains(card.geometry())
        if STEPS[number].pins:
            assert len(program.display.intent.pinned) == STEPS[number].pins
        qtbot.mouseClick(card.next, LEFT)
    assert seen == [step.title for step in STEPS]
    assert not card.isVisible() and program.tour.step is None


def test_each_card_is_as_high_as_its_text_and_in_its_corner(
    program: Marginscope, figure_1_views: None, qtbot: QtBot
) -> None:
    """After the longest text each shorter one stood in the middle of a gap."""
    card = begun(program, qtbot)
    window, heights = program.window, set()
    for step in STEPS:
        qtbot.wait(1)  # the layout is done in the loop
        text = card.text
        metrics = text.fontMetrics()
        wraps = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft
        lines = metrics.boundingRect(QRect(0, 0, text.width(), 1000), wraps, text.text())
        assert abs(text.height() - lines.height()) < metrics.lineSpacing() / 2, step.title
        heights.add(card.height())
        gaps = {card.x(), window.width() - card.geometry().right() - 1}
        assert 16 in gaps, step.title
        target = program.tour._target(step.place)
        ring = card._ring.geometry()
        place = QRect(target.mapTo(window, QPoint(0, 0)), target.size())
        assert ring.contains(place) and window.rect().contains(ring), step.title
        if step.place in ("neurons", "rotations", "margins"):
            assert ring == place, "the heading above is not crossed"
        qtbot.mouseClick(card.next, LEFT)
    assert len(heights) > 1


def test_the_card_does_not_hide_what_it_speaks_of(
    program: Marginscope, figure_1_views: None, qtbot: QtBot
) -> None:
    card = begun(program, qtbot)
    for step in STEPS:
        target = program.tour._target(step.place)
        assert target is not None and target.isVisible()
        place = QRect(target.mapTo(program.window, QPoint(0, 0)), target.size())
        covered = place.intersected(card.geometry())
        share = covered.width() * covered.height() / (place.width() * place.height())
        assert covered.isEmpty() or share < 0.35, step.title
        qtbot.mouseClick(card.next, LEFT)


def test_keys_that_were_changed_are_the_ones_that_are_named(
    program: Marginscope, qtbot: QtBot
) -> None:
    program.actions["run"].setShortcut(QKeySequence("Ctrl+Alt+R"))
    program.actions["branch"].setShortcut(QKeySequence())
    card = begun(program, qtbot)
    texts = []
    for _ in STEPS:
        texts.append(card.text.text())
        qtbot.mouseClick(card.next, LEFT)
    assert any("Run (Ctrl+Alt+R) trains" in text for text in texts)
    assert any("A branch starts" in text for text in texts)
    assert not any("{" in text for text in texts)


def test_another_study_gives_way_to_figure_1(qtbot: QtBot, open_program: Opener, study) -> None:
    program = open_program(study)
    qtbot.waitUntil(lambda: trained(program))
    pick(qtbot, program.window, "Help", "Five-minute tour")

    def titles() -> set[str]:
        return {run.data.run.title for run in program.session if run.data is not None}

    qtbot.waitUntil(lambda: titles() == {"Telgarsky 2022, Figure 1"})
    assert program.tour.card is not None and program.tour.card.isVisible()


def test_escape_ends_the_tour_and_folds_what_it_unfolded(
    program: Marginscope, qtbot: QtBot
) -> None:
    program.actions["inspector"].setChecked(False)
    card = begun(program, qtbot)
    while STEPS[program.tour._number].place != "theory":
        qtbot.keyClick(card.next, Qt.Key.Key_Return)
    assert program.window.theory.isVisible()
    qtbot.keyClick(card.next, Qt.Key.Key_Escape)
    assert program.tour.step is None
    assert not program.actions["inspector"].isChecked()
    assert not card.isVisible()
    card = begun(program, qtbot)  # from the start
    assert card.title.text() == STEPS[0].title


def test_a_small_window_does_not_grow_for_the_tour(program: Marginscope, qtbot: QtBot) -> None:
    window = program.window
    window.resize(1024, 640)
    card = begun(program, qtbot)
    for step in STEPS:
        qtbot.wait(1)  # the layout is done in the loop
        assert window.width() == 1024, step.title
        assert window.theory.isVisible() == (step.place == "theory")
        assert window.form.isVisible() == (step.place == "form")
        qtbot.mouseClick(card.next, LEFT)
    assert program.drawers.open == ""


def test_the_nodes_of_the_current_run_are_pinned(program: Marginscope, qtbot: QtBot) -> None:
    """Those of the first run were, while the numbers beside them were of another one."""
    last = list(program.session)[-1]
    program.display.update_intent(current=last.key)
    begun(program, qtbot)
    program.tour._move([bool(step.pins) for step in STEPS].index(True))
    assert {key for key, _ in program.display.intent.pinned} == {last.key}
    panel = next(panel for panel in program.display.panels if panel.run is last)
    assert program.tour._target(panel.names[0]) is panel.view(panel.names[0])
    program.tour.stop()


def test_messages_wait_for_the_end_of_the_tour(program: Marginscope, qtbot: QtBot) -> None:
    card, bar = begun(program, qtbot), program.window.bar
    bar.show_message("The run has finished.")
    assert not bar.isVisible()
    qtbot.keyClick(card, Qt.Key.Key_Escape)
    assert not card.isVisible() and bar.isVisible()
    bar.clear()
