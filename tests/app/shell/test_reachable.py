"""Everything is reached and pressed by keys alone, in an order that one would guess."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.application import Marginscope
from app.panels.field_row import FieldRow

Key = Qt.Key


def round_by_tab(program: Marginscope) -> list[QWidget]:
    """What has the focus as Tab is pressed, from the time line until it comes there again."""
    slider = program.window.transport.slider
    slider.setFocus()
    found: list[QWidget] = []
    for _ in range(300):
        focused = QApplication.focusWidget()
        assert focused is not None
        QTest.keyClick(focused, Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        found.append(focused)
        if focused is slider:
            break
    return found


def test_tab_goes_through_tool_bar_form_views_and_theory(program: Marginscope) -> None:
    program.window.resize(1280, 800)
    program.window.activateWindow()
    found = round_by_tab(program)
    assert found[-1] is program.window.transport.slider
    assert len(set(found)) == len(found)
    window = program.window
    tools = [window.tools.widgetForAction(program.actions[key]) for key in ("run", "figure")]
    rows: list[FieldRow] = window.form.sections["data"].rows
    first = found.index(rows[0].control)
    for button in tools:
        assert isinstance(button, QWidget)
        assert found.index(button) < first
    assert first < 20
    theory = [place for place, one in enumerate(found) if window.side.isAncestorOf(one)]
    assert first < min(theory)
    # The form's fields follow one another.
    form = [place for place, one in enumerate(found) if window.form.isAncestorOf(one)]
    assert form == list(range(form[0], form[0] + len(form)))


def test_buttons_with_the_focus_are_pressed_by_space_and_return(
    program: Marginscope, qtbot: QtBot
) -> None:
    program.window.activateWindow()
    qtbot.waitUntil(program.window.isActiveWindow)
    program.display.ask(playing=False)
    button = program.window.tools.widgetForAction(program.actions["dark"])
    assert isinstance(button, QToolButton)
    for key, palette in ((Key.Key_Space, "dark"), (Key.Key_Return, "light")):
        button.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(button, key)
        assert program.display.intent.palette == palette
        assert not program.display.intent.playing
    # Elsewhere Space plays.
    program.window.transport.slider.setFocus()
    QTest.keyClick(program.window.transport.slider, Key.Key_Space)
    assert program.display.intent.playing


def test_no_name_for_readers_of_the_screen_has_the_mark_of_a_key(program: Marginscope) -> None:
    buttons = program.window.findChildren(QAbstractButton)
    assert [one.accessibleName() for one in buttons if "&" in one.accessibleName()] == []
    for slot in program.display.slots:
        for view in slot.panel.views:
            assert view.plot.accessibleName() or view.accessibleName()
