"""Curves are searched for and ticked in a picker, which stays open."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.shell.curve_picker import NO_RUN, USER
from app.state.intent import FIRST_CURVES
from app.state.views import FIGURE_1
from core.observables.groups import GROUPS, group_of
from core.observables.observable import Shape
from core.observables.registry import OBSERVABLES, of_shape, scalars_of
from tests.app.curves import open_picker, tick
from tests.app.mouse import choose, view_menu
from tests.app.shell.conftest import Opener


def test_each_scalar_is_in_one_group() -> None:
    names = [name for known in GROUPS.values() for name in known]
    assert len(set(names)) == len(names)
    assert set(names) <= {item.name for item in of_shape(Shape.SCALAR)}
    assert group_of("stability") == "Sharpness"
    assert all(group_of(name) != "From the loop" for name in OBSERVABLES)


def test_curves_are_chosen_from_what_the_run_has(program: Marginscope, qtbot: QtBot) -> None:
    program.display.update_intent(views=FIGURE_1, curves=FIRST_CURVES)
    picker = open_picker(program, qtbot)
    run = next(iter(program.session)).data.run
    items = {item.data(USER): item for item in picker._items()}
    assert set(items) == {item.name for item in scalars_of(run)}
    ticked = {name for name, item in items.items() if item.checkState() is Qt.CheckState.Checked}
    assert ticked == set(FIRST_CURVES) & set(items)
    tick(picker, "stable rank")
    assert picker.isVisible()
    (item,) = [one for one in picker._items() if one.data(USER) == "stable_rank"]
    assert item.checkState() is Qt.CheckState.Checked
    assert program.display.view.wishes.curves == (*FIRST_CURVES, "stable_rank")
    assert program.display.view.wishes.views == (*FIGURE_1, "curves")
    tick(picker, "stable rank")
    assert program.display.view.wishes.curves == FIRST_CURVES
    picker.close()


def test_the_picker_lies_within_the_window(program: Marginscope, qtbot: QtBot) -> None:
    window = program.window
    corner = window.mapToGlobal(window.rect().bottomRight())
    program.curve_choice.show_picker_at(corner)
    picker = program.curve_choice.picker
    assert picker is not None
    qtbot.waitUntil(picker.isVisible)
    inside = QRect(window.mapToGlobal(QPoint(0, 0)), window.size())
    assert inside.contains(picker.geometry())
    picker.close()


def test_curves_are_found_and_ticked_by_the_keyboard(program: Marginscope, qtbot: QtBot) -> None:
    picker = open_picker(program, qtbot)
    qtbot.keyClicks(picker.line, "second sing")
    assert picker._items()[0].data(USER) == "sigma_2"
    qtbot.keyClick(picker.line, Qt.Key.Key_Return)
    assert program.display.intent.shown_curves[-1] == "sigma_2"
    picker.line.clear()
    qtbot.keyClicks(picker.line, "spectrum")  # a group
    names = [item.data(USER) for item in picker._items()]
    assert {"stable_rank", "sigma_1", "sigma_2"} <= set(names)
    chosen = picker.list.currentItem().data(USER)
    qtbot.keyClick(picker.line, Qt.Key.Key_Down)
    assert picker.list.currentItem().data(USER) == names[(names.index(chosen) + 1) % len(names)]
    QTest.mouseClick(picker.study, Qt.MouseButton.LeftButton)
    assert program.display.intent.curves is None
    qtbot.keyClick(picker.line, Qt.Key.Key_Escape)
    assert not picker.isVisible()


def test_headings_of_groups_cannot_be_ticked(program: Marginscope, qtbot: QtBot) -> None:
    picker = open_picker(program, qtbot)
    first = picker.list.item(0)
    assert first.text() == next(iter(GROUPS))
    before = program.display.intent.shown_curves
    picker._toggle(first)
    assert program.display.intent.shown_curves == before
    picker.close()


def test_the_view_of_curves_offers_the_picker(program: Marginscope, qtbot: QtBot) -> None:
    program.display.update_intent(views=("curves",))
    menu = view_menu(program, program.display.panels[0].view("curves").plot.viewport())
    choose(menu, "Choose curves ...")
    picker = program.curve_choice.picker
    assert picker is not None and picker.isVisible()
    assert program.window.geometry().contains(picker.geometry())
    picker.close()


def test_without_a_run_there_is_no_curve_to_choose(open_program: Opener, qtbot: QtBot) -> None:
    program = open_program("nonsense")
    qtbot.waitUntil(lambda: program.display.panels != ())
    picker = open_picker(program, qtbot)
    assert picker.list.count() == 0
    assert picker.note.text() == NO_RUN
    picker.close()
