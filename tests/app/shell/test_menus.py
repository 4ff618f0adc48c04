"""The menus: ticks, what there is nothing to do for, recent runs, and small dialogs."""

from __future__ import annotations

import re
from collections import Counter

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QInputDialog, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.actions import ROWS, disabled_reason
from app.shell.application import Marginscope
from app.state.views import ADDITION
from app.widgets.layouts import AROUND_TITLE

MNEMONIC = re.compile(r"&(\w)")


def test_no_icon_stands_in_place_of_a_tick(program: Marginscope) -> None:
    both = [row.key for row in ROWS if row.icon and row.checkable]
    assert both
    assert not any(program.actions[key].isIconVisibleInMenu() for key in both)


def test_each_letter_leads_to_one_entry_of_a_menu(program: Marginscope) -> None:
    wrong = {}
    for title in program.window.menuBar().actions():
        menu = title.menu()
        assert isinstance(menu, QMenu)
        letters = [MNEMONIC.findall(action.text().lower()) for action in menu.actions()]
        counts = Counter(letter for found in letters for letter in found)
        wrong[title.text()] = [letter for letter, count in counts.items() if count > 1]
    assert len(wrong) == 6 and not any(wrong.values()), wrong


def test_what_has_nothing_to_do_is_disabled_with_a_reason(
    program: Marginscope, qtbot: QtBot
) -> None:
    keys = ("name", "loop_all", "margins_again", "margins_stop")
    qtbot.waitUntil(lambda: not program.theory.busy)
    program.theory._show_results()
    assert not any(program.actions[key].isEnabled() for key in keys)
    assert len({disabled_reason(key) for key in keys}) == 4
    (first, *_) = program.session
    program.display.update_intent(pinned=frozenset({(first.key, 0)}), interval=(0.0, 1.0))
    assert program.actions["name"].isEnabled() and program.actions["loop_all"].isEnabled()
    program.theory.cancel()
    assert program.actions["margins_again"].isEnabled()
    program.theory.resume()
    assert program.actions["margins_stop"].isEnabled()
    qtbot.waitUntil(lambda: not program.theory.busy)
    program.theory._show_results()


def entry(program: Marginscope, view: str) -> QAction:
    actions = program.window.view_choice.actions()
    return next(action for action in actions if action.data() == view)


def test_views_that_would_be_empty_are_disabled_with_the_reason(program: Marginscope) -> None:
    for view in ("waves", "phases"):
        assert not entry(program, view).isEnabled()
        assert entry(program, view).toolTip() == ADDITION
    assert entry(program, "curves").isEnabled()
    assert program.window.view_choice.toolTipsVisible()


def test_the_last_runs_of_the_library_are_recent_files(program: Marginscope, qtbot: QtBot) -> None:
    window = program.window
    window.set_recent(())
    program.library.librarian.list()
    paths = {str(run.path) for run in program.session}
    qtbot.waitUntil(lambda: paths <= {action.data() for action in window.recent.actions()})
    assert window.recent.isEnabled()
    window.set_recent(("/nowhere/own.toml",))
    assert window.recent.actions()[0].data() == "/nowhere/own.toml"


def test_a_small_dialog_shows_its_title_and_no_stock_icons(program: Marginscope) -> None:
    program.layouts.request_name()
    dialog = program.window.findChild(QInputDialog)
    title = dialog.fontMetrics().horizontalAdvance(dialog.windowTitle())
    assert dialog.width() >= title + AROUND_TITLE
    buttons = dialog.findChildren(QPushButton)
    assert buttons and all(button.icon().isNull() for button in buttons)
    dialog.reject()


def test_escape_and_a_cross_leave_the_welcome_page(program: Marginscope) -> None:
    welcome = program.window.welcome
    program.actions["welcome"].trigger()
    assert welcome.isVisible() and welcome.close_button.isVisible()
    program.window.activateWindow()
    QTest.keyClick(program.window, Qt.Key.Key_Escape)
    assert not welcome.isVisible() and not program.actions["welcome"].isChecked()
    program.actions["welcome"].trigger()
    QTest.mouseClick(welcome.close_button, Qt.MouseButton.LeftButton)
    assert not welcome.isVisible()
    program.files.replace(())
    assert not welcome.close_button.isVisible()


def test_what_a_bare_letter_has_set_is_said(program: Marginscope, qtbot: QtBot) -> None:
    window = program.window
    window.activateWindow()
    before = program.display.intent.loop
    QTest.keyClick(window.transport.slider, Qt.Key.Key_L)
    assert program.display.intent.loop is not before
    assert window.bar.text == f"Loop is {'off' if before else 'on'}. Press L to change it back."
    program.display.update_intent(cursor=0.5)
    QTest.keyClick(window.transport.slider, Qt.Key.Key_I)
    assert program.display.intent.interval is not None
    assert window.bar.text.startswith("Loop from here (I).")
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    program.scenes.undo()
    assert program.display.intent.interval is None
    window.bar.clear()
    QTest.keyClick(window.transport.slider, Qt.Key.Key_Home)  # no letter
    assert window.bar.text == ""
