"""The page of all keys: shown by ?, searched, and changed with conflicts named."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QKeySequenceEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.actions import MENUS, ROWS
from app.places import Places
from app.scenes.scene_texts import study_link
from app.settings import Settings, load_settings, save_settings
from app.shell.application import Marginscope
from app.shell.shortcut_dialog import KEYS, SPOKEN, ShortcutDialog, fixed_keys
from app.widgets.inputs import ChoiceBox
from tests.app.mouse import keys, pick
from tests.app.shell.conftest import Opener

Key, CTRL = Qt.Key, Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton
NATIVE = QKeySequence.SequenceFormat.NativeText


@pytest.fixture
def page(program: Marginscope, qtbot: QtBot) -> ShortcutDialog:
    return open_page(program, qtbot)


def open_page(program: Marginscope, qtbot: QtBot) -> ShortcutDialog:
    program.window.transport.slider.setFocus()
    keys(qtbot, program.window, Key.Key_Question, Qt.KeyboardModifier.NoModifier)
    dialog = program.shortcuts.dialog
    assert dialog is not None
    qtbot.waitUntil(dialog.isActiveWindow)
    return dialog


def press(page: ShortcutDialog, action: str, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
    """Click the keys of an action, and press others."""
    page.tree.scrollToItem(page.rows[action])
    place = page.tree.visualItemRect(page.rows[action])
    place.moveLeft(page.tree.columnViewportPosition(KEYS))
    QTest.mouseClick(page.tree.viewport(), LEFT, pos=place.topLeft() + QPoint(9, 9))
    QTest.keyClick(editor(page), key, modifiers)


def editor(page: ShortcutDialog) -> QKeySequenceEdit:
    found = page.focusWidget()
    assert isinstance(found, QKeySequenceEdit)
    return found


def keys_of(page: ShortcutDialog, action: str) -> str:
    return page.rows[action].text(KEYS)


def push(page: ShortcutDialog, action: str, button: QPushButton) -> None:
    page.tree.setCurrentItem(page.rows[action])
    QTest.mouseClick(button, LEFT)


def headings(page: ShortcutDialog) -> list[str]:
    return [title for title, row in page.headings.items() if not row.isHidden()]


def test_it_shows_all_keys_by_menu(page: ShortcutDialog, program: Marginscope) -> None:
    assert page.search.hasFocus()
    assert set(headings(page)) == {menu.replace("&", "") for menu in MENUS} | set(fixed_keys())
    for row in ROWS:
        assert not page.rows[row.key].isHidden()
        native = program.actions[row.key].shortcut().toString(NATIVE)
        assert keys_of(page, row.key) == native
    spoken = [page.rows[key].data(KEYS, SPOKEN) for key in ("figure", "cite")]
    assert spoken == ["Shortcut of Export figure: Ctrl+E", "Shortcut of Copy BibTeX: none"]
    assert not page.reset_all.isEnabled()


def test_it_is_searched_by_names_and_keys(page: ShortcutDialog) -> None:
    for text, there, gone in (
        ("film", "film", "quit"),
        ("ctrl+q", "quit", "film"),
        ("clipboard", "copy_figure", "quit"),
    ):
        page.search.clear()
        page.tree.setCurrentItem(page.rows["quit"])
        assert page.clear.isEnabled()
        QTest.keyClicks(page.search, text)
        assert not page.rows[there].isHidden()
        assert page.rows[gone].isHidden()
        assert page.clear.isEnabled() == (gone != "quit")  # a button changes no hidden action
    assert "Help" not in headings(page)
    QTest.keyClicks(page.search, "zzzzz")
    assert page.nothing.isVisibleTo(page)


@pytest.mark.usefixtures("own_window")
def test_keys_of_parts_stand_there_too(program: Marginscope, qtbot: QtBot) -> None:
    """Where the library has the focus, a question mark that is typed is typed."""
    keys(qtbot, program.window, Key.Key_L, CTRL)
    library = program.library.panel
    QTest.keyClicks(library.search, "?")
    assert library.search.text() == "?"
    assert program.shortcuts.dialog is None
    page = open_page(program, qtbot)
    shown = {
        (title, row.child(place).text(0), row.child(place).text(KEYS))
        for title, row in page.headings.items()
        for place in range(row.childCount())
    }
    assert ("In the library of runs", "Rename", "F2") in shown
    assert ("In the Draw data window", "Undo", "Ctrl+Z") in shown
    for name, action in library.run_actions.items():  # those that the library really has
        keys_there = action.shortcut().toString(action.shortcut().SequenceFormat.NativeText)
        words = action.text().replace("&", "").removesuffix(" ...")
        if keys_there:
            assert ("In the library of runs", words, keys_there) in shown, name
    QTest.keyClicks(page.search, "library rename")
    assert [row.text(0) for row in page.rows.values() if not row.isHidden()] == ["Rename"]
    assert headings(page) == ["In the library of runs"]


def test_keys_are_changed_and_do_it_then(
    page: ShortcutDialog, program: Marginscope, open_program: Opener, qtbot: QtBot
) -> None:
    press(page, "loop", Key.Key_F4, CTRL)
    assert "Ctrl+F4 is the shortcut of Loop." in page.hint.text()
    action = program.actions["loop"]
    assert action.shortcut().toString() == "Ctrl+F4"
    assert action.toolTip().endswith("(Ctrl+F4)")
    page.accept()
    keys(qtbot, program.window, Key.Key_F4, CTRL)
    assert action.isChecked()
    keys(qtbot, program.window, Key.Key_L, Qt.KeyboardModifier.NoModifier)
    assert action.isChecked()  # the keys from before do nothing
    program.shut_down()
    assert load_settings(program.places.settings)[0].shortcuts == {"loop": "Ctrl+F4"}
    again = open_program()
    assert again.actions["loop"].shortcut().toString() == "Ctrl+F4"
    assert again.actions["loop"].toolTip().endswith("(Ctrl+F4)")


def test_a_conflict_is_named_and_refused_or_moved(
    page: ShortcutDialog, program: Marginscope
) -> None:
    save, copy = program.actions["save_study"], program.actions["copy_figure"]
    press(page, "copy_figure", Key.Key_S, CTRL)
    words = "Ctrl+S is the shortcut of Save study, so Copy figure keeps Ctrl+Shift+C."
    assert page.hint.text() == words
    assert [one.shortcut().toString() for one in (save, copy)] == ["Ctrl+S", "Ctrl+Shift+C"]
    assert keys_of(page, "copy_figure") == "Ctrl+Shift+C"
    QTest.mouseClick(page.move_button, LEFT)
    assert [one.shortcut().toString() for one in (save, copy)] == ["", "Ctrl+S"]
    assert not page.move_button.isVisible()
    assert save.toolTip() == "Save the current settings as a study file"
    assert program.shortcuts.own == {"save_study": "", "copy_figure": "Ctrl+S"}
    # Its usual keys are another's now, and so it cannot have them back without a word.
    assert page.tree.currentItem() is page.rows["copy_figure"] and page.tree.hasFocus()
    push(page, "save_study", page.reset)
    assert page.hint.text().startswith("Ctrl+S is the shortcut of Copy figure")
    assert save.shortcut().isEmpty()


def test_keys_of_the_library_are_refused(page: ShortcutDialog, program: Marginscope) -> None:
    before = program.actions["film"].shortcut()
    press(page, "film", Key.Key_F2, Qt.KeyboardModifier.NoModifier)
    assert "In the library of runs F2 is the shortcut of Rename" in page.hint.text()
    assert program.actions["film"].shortcut() == before
    assert keys_of(page, "film") == before.toString(NATIVE)
    assert not page.move_button.isVisibleTo(page)


def test_an_action_whose_own_keys_are_moved_has_its_usual_ones(
    page: ShortcutDialog, program: Marginscope
) -> None:
    press(page, "film", Key.Key_F4, CTRL)
    press(page, "data", Key.Key_F4, CTRL)
    QTest.mouseClick(page.move_button, LEFT)
    film, data = program.actions["film"], program.actions["data"]
    assert [one.shortcut().toString() for one in (film, data)] == ["Ctrl+Shift+E", "Ctrl+F4"]
    assert (
        page.hint.text()
        == "Ctrl+F4 is now the shortcut of Export data; Export film has Ctrl+Shift+E."
    )
    assert program.shortcuts.own == {"data": "Ctrl+F4"}


def test_a_clash_in_the_settings_is_told(open_program: Opener, tmp_path: Path) -> None:
    own = {"film": "Ctrl+S", "data": "Ctrl+S"}
    save_settings(Places.in_folder(tmp_path / "user").settings, Settings(shortcuts=own))
    program = open_program(study_link("wei19-figure-5"))
    assert program.actions["film"].shortcut().toString() == "Ctrl+S"
    assert program.actions["data"].shortcut().toString() == "Ctrl+Alt+E"
    assert program.window.bar.text == (
        "Ctrl+S was assigned more than once and now belongs to Export film: Export data has "
        "Ctrl+Alt+E, Save study has no shortcut. Change shortcuts in Help, Keyboard shortcuts."
    )


def test_one_is_reset_and_all_are(page: ShortcutDialog, program: Marginscope) -> None:
    press(page, "film", Key.Key_F4, CTRL)
    push(page, "data", page.clear)
    assert program.shortcuts.own == {"film": "Ctrl+F4", "data": ""}
    assert page.hint.text() == "Export data has no shortcut."
    push(page, "film", page.reset)
    assert program.shortcuts.own == {"data": ""}
    QTest.mouseClick(page.reset_all, LEFT)
    assert program.shortcuts.own == {}
    assert program.actions["data"].shortcut().toString() == "Ctrl+Alt+E"
    assert not page.reset_all.isEnabled()


def test_keys_are_changed_without_a_mouse(page: ShortcutDialog, program: Marginscope) -> None:
    """Tab goes on and is no action's key; Return, Escape and arrows may be."""
    QTest.keyClick(page.search, Key.Key_Tab)
    assert page.focusWidget() is page.tree
    for _ in range(2):
        QTest.keyClick(page.tree, Key.Key_Down)
    assert page.tree.currentItem() is page.rows["open_beside"]
    assert page.clear.accessibleName() == "Remove the shortcut of Open beside"
    QTest.keyClick(page.tree, Key.Key_Return)
    field = editor(page)
    assert field.hasFocus() and page.isVisible()
    assert field.accessibleName() == "Shortcut of Open beside"
    QTest.keyClick(field, Key.Key_Tab)
    assert page.focusWidget() is page.tree
    assert program.shortcuts.own == {}
    for key, text in ((Key.Key_Return, "Return"), (Key.Key_Escape, "Esc"), (Key.Key_Down, "Down")):
        QTest.keyClick(page.tree, Key.Key_F2)
        QTest.keyClick(editor(page), key, CTRL)
        assert program.shortcuts.own == {"open_beside": f"Ctrl+{text}"}
        assert page.focusWidget() is page.tree
    for button in (page.clear, page.reset, page.reset_all):
        QTest.keyClick(page.focusWidget(), Key.Key_Tab)
        assert page.focusWidget() is button


def test_the_page_is_in_the_menu(program: Marginscope, qtbot: QtBot) -> None:
    pick(qtbot, program.window, "Help", "Keyboard shortcuts ...")
    assert program.shortcuts.dialog is not None and program.shortcuts.dialog.isVisible()
    program.shortcuts.dialog.accept()


@pytest.mark.drawer("form")
def test_letters_choose_in_a_box_with_the_focus(program: Marginscope, qtbot: QtBot) -> None:
    window, loop = program.window, program.actions["loop"]
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    loss = next(
        one for one in window.form.findChildren(ChoiceBox) if one.accessibleName() == "Loss: kind"
    )
    before = loss.currentText()
    loss.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClicks(loss, "lo")
    assert loss.currentText() == "Logistic" != before
    assert not loop.isChecked()
