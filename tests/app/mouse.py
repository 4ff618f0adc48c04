"""Mouse and key events for tests: in plots, menus and dialogs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QAction, QContextMenuEvent, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QMainWindow,
    QMenu,
    QMenuBar,
    QMessageBox,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.shell.view_menu import ViewMenu
from app.widgets.menus import TickMenu
from app.widgets.plot_item import Plot

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def pixel(plot: Plot, x: float, y: float) -> QPoint:
    """Return the viewport position of a point of the axes."""
    return QPointF(*plot.pixels(np.array([[x, y]]))[0]).toPoint()


def move(qtbot: QtBot, plot: Plot, x: float, y: float) -> None:
    qtbot.mouseMove(plot.viewport(), QPoint(1, 1))
    qtbot.mouseMove(plot.viewport(), pixel(plot, x, y))


def pull(plot: Plot, start: QPoint, end: QPoint, button: Qt.MouseButton = LEFT) -> None:
    """Press, move in steps, and release."""
    kinds = [(QEvent.Type.MouseButtonPress, start, button, button)]
    for share in (0.3, 0.7, 1.0):
        here = start + (end - start) * share
        kinds.append((QEvent.Type.MouseMove, here, Qt.MouseButton.NoButton, button))
    kinds.append((QEvent.Type.MouseButtonRelease, end, button, Qt.MouseButton.NoButton))
    viewport = plot.viewport()
    for kind, here, cause, held in kinds:
        there = QPointF(viewport.mapToGlobal(here))
        QApplication.sendEvent(viewport, QMouseEvent(kind, QPointF(here), there, cause, held, NONE))


def wheel(plot: Plot, here: QPoint, notches: int) -> None:
    there = QPointF(plot.viewport().mapToGlobal(here))
    turn = QPoint(0, 120 * notches)
    nothing = Qt.MouseButton.NoButton, NONE, Qt.ScrollPhase.NoScrollPhase, False
    event = QWheelEvent(QPointF(here), there, QPoint(), turn, *nothing)
    QApplication.sendEvent(plot.viewport(), event)


def entry(menu: QMenuBar | QMenu, text: str) -> QAction:
    """Return a menu's entry by its text, without the mnemonic."""
    return next(one for one in menu.actions() if one.text().replace("&", "") == text)


def activate(qtbot: QtBot, window: QWidget) -> None:
    """Activate a window, also if a dialog over it was closed just before.

    The window of such a dialog is deactivated by an event that is still to come, and Qt closes all
    menus then: a test would wait for a submenu of a menu that has gone.
    """
    QApplication.processEvents()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)


def opened(qtbot: QtBot, window: QMainWindow, *texts: str) -> QMenu:
    """Return a menu after opening it by clicks on a title of the menu bar and on submenus."""
    close_menus()  # as a click beside an open menu does, which a widget of a test would not notice
    activate(qtbot, window)
    place: QMenuBar | QMenu = window.menuBar()
    for text in texts:
        action = entry(place, text)
        QTest.mouseClick(place, LEFT, pos=place.actionGeometry(action).center())
        menu = action.menu()
        assert isinstance(menu, QMenu), text
        qtbot.waitUntil(menu.isVisible)
        place = menu
    assert isinstance(place, QMenu)
    return place


def pick(qtbot: QtBot, window: QMainWindow, *texts: str) -> QAction:
    """Choose a menu entry with the mouse, by the titles on the way to it and its text."""
    menu = opened(qtbot, window, *texts[:-1])
    action = entry(menu, texts[-1])
    click(qtbot, menu, action)
    return action


def click(qtbot: QtBot, menu: QMenu, action: QAction) -> None:
    """Click an entry of an open menu, and wait until the menu is closed."""
    assert action.isEnabled(), action.text()
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(action).center())
    if isinstance(menu, TickMenu) and action.isCheckable():
        close_menus()
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is None)


def keys(qtbot: QtBot, window: QMainWindow, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
    """Press a shortcut, after waiting for the window to be active."""
    activate(qtbot, window)
    QTest.keyClick(window, key, modifiers)


def close_menus() -> None:
    while (popup := QApplication.activePopupWidget()) is not None:
        QTest.keyClick(popup, Qt.Key.Key_Escape)


def click_on(program: Marginscope, key: str) -> None:
    """Click the button of an action, or choose the action in a menu of the top bar."""
    action, window = program.actions[key], program.window
    buttons = [one for one in window.findChildren(QToolButton) if one.defaultAction() is action]
    seen = [one for one in buttons if one.isVisible()]
    if seen:
        QTest.mouseClick(seen[0], LEFT)
        return
    menus = [window.top.export.menu(), window.top.more.menu()]
    assert any(action in menu.actions() for menu in menus), key
    action.trigger()


def when_open(kind: type[QDialog], act: Callable[[QDialog], None], tries: int = 1500) -> None:
    """Call `act` with the next modal dialog of a class; close the dialog if `act` fails.

    Call this before the dialog opens: until it closes, nothing after it runs.
    """

    def look(left: int) -> None:
        dialog = QApplication.activeModalWidget()
        if not (isinstance(dialog, kind) and dialog.isVisible()):
            assert left, f"no {kind.__name__} has opened"
            QTimer.singleShot(20, partial(look, left - 1))
            return
        try:
            act(dialog)
        except BaseException:
            dialog.reject()
            raise

    QTimer.singleShot(20, partial(look, tries))


def press_in_box(words: str) -> None:
    """Press the button with this text in the next message box."""

    def press(box: QDialog) -> None:
        assert isinstance(box, QMessageBox)
        button = next(one for one in box.buttons() if words in one.text())
        QTest.mouseClick(button, LEFT)

    when_open(QMessageBox, press)


def view_menu(program: Marginscope, part: QWidget) -> ViewMenu:
    """Open a view's menu by a right click on its header, or on the viewport of its plot."""
    here = part.rect().center()
    QTest.mouseClick(part, Qt.MouseButton.RightButton, NONE, here)
    by_mouse = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(part, QContextMenuEvent(by_mouse, here, part.mapToGlobal(here)))
    (menu,) = [one for one in program.window.findChildren(ViewMenu) if one.isVisible()]
    return menu


def choose(menu: QMenu, text: str) -> None:
    """Choose an entry of an open menu, which closes first, as with the mouse."""
    action = entry(menu, text)
    assert action.isEnabled(), text
    menu.close()
    action.trigger()
