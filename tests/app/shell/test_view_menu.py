"""One view alone, views in another order, and the menu of each view."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.export.figure_form import FigureForm
from app.export.form import checked_names
from app.shell.application import Marginscope
from app.shell.view_menu import NUMBERS_COPIED, ViewMenu
from app.state.views import VIEWS
from app.views.run_panel import RunPanel
from tests.app.mouse import LEFT, NONE, choose, entry, pull, view_menu

FOUR = ("neurons", "rotations", "norms", "margins")


@pytest.fixture
def shown(program: Marginscope) -> Iterator[Marginscope]:
    """Yield a window with two runs, four views each, at the last frame."""
    program.display.update_intent(views=FOUR, playing=False)
    program.playback.seek_end()
    yield program
    QGuiApplication.clipboard().clear()


def panels(program: Marginscope) -> list[RunPanel]:
    return [panel for panel in program.display.panels if panel.isVisible()]


def names(program: Marginscope) -> set[tuple[str, ...]]:
    return {panel.names for panel in panels(program)}


def drag(header: QWidget, target: QPoint) -> None:
    """Press a header, pull it to a place on the screen, and release it."""
    start = header.mapToGlobal(header.rect().center())
    kinds = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove, QEvent.Type.MouseButtonRelease)
    for kind, place in zip(kinds, (start, target, target), strict=True):
        held = Qt.MouseButton.NoButton if kind is kinds[2] else LEFT
        here = QPointF(header.mapFromGlobal(place))
        event = QMouseEvent(kind, here, QPointF(place), LEFT, held, NONE)
        QApplication.sendEvent(header, event)


# --------------------------------------------------------------------------------- one view


def test_a_click_on_a_title_fills_the_window_and_escape_leaves(
    shown: Marginscope, qtbot: QtBot
) -> None:
    panel = panels(shown)[0]
    qtbot.mouseClick(panel.view("norms").header, LEFT)
    assert names(shown) == {("norms",)}
    assert shown.display.view.wishes.views == FOUR
    qtbot.mouseClick(panel.view("norms").header, LEFT)
    assert names(shown) == {FOUR}
    qtbot.mouseMove(shown.window.menuBar())
    shown.actions["fill"].trigger()  # the pointer is at none
    assert names(shown) == {("neurons",)}
    pinned = frozenset({(panel.run.key, 1)}) if panel.run is not None else frozenset()
    shown.display.update_intent(pinned=pinned)
    shown.actions["unpin"].trigger()
    assert names(shown) == {FOUR}
    assert shown.display.intent.pinned == pinned  # one thing at a time
    shown.actions["unpin"].trigger()
    assert not shown.display.intent.pinned


def test_a_zoom_outlives_the_time_that_another_view_is_alone(shown: Marginscope) -> None:
    view = panels(shown)[0].view("margins")
    zoom = view.plot.visible_range().adjusted(0.1, 0.0, -0.1, 0.0)
    view.plot.set_zoom(zoom)
    for name in ("norms", "norms"):
        shown.view_menu.toggle_fill(name)
    assert view.plot.zoom == zoom
    view.plot.set_zoom(None)


def test_views_that_are_chosen_without_it_end_it(shown: Marginscope) -> None:
    shown.view_menu.toggle_fill("norms")
    shown.display.update_intent(views=("neurons", "margins"))
    assert names(shown) == {("neurons", "margins")}
    shown.display.update_intent(views=FOUR)
    assert names(shown) == {FOUR}


def test_it_is_no_step_of_undo(shown: Marginscope) -> None:
    before = shown.actions["undo"].text()
    shown.view_menu.toggle_fill("norms")
    assert shown.actions["undo"].text() == before


# -------------------------------------------------------------------------------- the order


def test_a_title_is_dragged_to_another_place(program: Marginscope, qtbot: QtBot) -> None:
    panel = panels(program)[0]
    before = program.display.view.wishes.views
    assert before == ("neurons", "margins")
    target = panel.view("neurons").plot
    drag(panel.view("margins").header, target.mapToGlobal(target.rect().center()))
    assert names(program) == {("margins", "neurons")}

    def is_in_order() -> bool:
        lefts = [view.mapTo(program.window, QPoint(0, 0)).x() for view in panel.views]
        return lefts == sorted(lefts)

    qtbot.waitUntil(is_in_order)
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    assert program.scenes.history.past[-1].words == "Reorder views"
    program.actions["undo"].trigger()
    assert names(program) == {before}
    drag(panel.view("margins").header, program.window.mapToGlobal(QPoint(2, 2)))
    assert names(program) == {before}


def test_a_view_that_is_chosen_comes_last(shown: Marginscope) -> None:
    shown.display.update_intent(views=("norms", "neurons"))
    action = next(one for one in shown.window.view_choice.actions() if one.data() == "rotations")
    action.trigger()
    assert names(shown) == {("norms", "neurons", "rotations")}


# --------------------------------------------------------------------------------- the menu


@pytest.mark.parametrize("name", ["neurons", "margins"])
def test_the_menu_of_a_view(shown: Marginscope, name: str) -> None:
    view = panels(shown)[0].view(name)
    menu = view_menu(shown, view.plot.viewport())
    texts = [one.text().replace("&", "") for one in menu.actions() if not one.isSeparator()]
    menus = {"neurons": ["Neurons"], "margins": ["Reference margins", "Curves against"]}[name]
    first = ["Only this view", "Export this view ...", "Copy picture", "Copy numbers"]
    if name in ("margins", "curves"):
        first.append("Add note here ...")
    assert texts == [*first, *menus, "Hide this view", "What is this?"]
    choose(menu, "Only this view")
    assert names(shown) == {(name,)}
    choose(view_menu(shown, view.header), "Show all views")
    choose(view_menu(shown, view.header), "Hide this view")
    assert names(shown) == {tuple(one for one in FOUR if one != name)}


def test_a_pull_with_the_right_button_opens_no_menu(shown: Marginscope) -> None:
    plot = panels(shown)[0].view("margins").plot
    middle = plot.plot_area().center().toPoint()
    pull(plot, middle, middle + QPoint(20, 5), Qt.MouseButton.RightButton)
    assert not shown.window.findChildren(ViewMenu)
    assert plot.zoom is not None
    plot.set_zoom(None)


@pytest.mark.parametrize("by", ["menu key", "shift"])
def test_keys_open_the_menu(shown: Marginscope, qtbot: QtBot, by: str) -> None:
    plot = panels(shown)[0].view("margins").plot
    if by == "shift":
        qtbot.keyClick(plot, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    else:
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint())
        QApplication.sendEvent(plot, event)
    (menu,) = [one for one in shown.window.findChildren(ViewMenu) if one.isVisible()]
    menu.close()


def test_the_logarithmic_axis_is_of_curves(shown: Marginscope) -> None:
    shown.display.update_intent(views=("curves",))
    view = panels(shown)[0].view("curves")
    menu = view_menu(shown, view.header)
    assert not entry(menu, "Logarithmic axis").isChecked()
    assert not entry(menu, "Hide this view").isEnabled()
    assert not entry(menu, "Only this view").isEnabled()
    choose(menu, "Logarithmic axis")
    assert shown.display.intent.log_curves
    menu = view_menu(shown, view.header)
    assert entry(menu, "Logarithmic axis").isChecked()
    menu.close()


def test_this_view_alone_is_exported(shown: Marginscope, qtbot: QtBot) -> None:
    choose(view_menu(shown, panels(shown)[1].view("norms").header), "Export this view ...")
    dialog = shown.export.dialog
    assert isinstance(dialog.form, FigureForm)
    assert checked_names(dialog.form.panels) == ("norms",)
    dialog.reject()


def test_the_button_opens_the_dialog_at_the_last_tab(shown: Marginscope, qtbot: QtBot) -> None:
    shown.actions["page"].trigger()
    shown.export.dialog.reject()
    qtbot.mouseClick(shown.window.top.export, LEFT, pos=QPoint(8, 8))
    assert shown.export.dialog.tab == "page"
    shown.export.dialog.reject()
    kept = shown.settings.values.export_tab
    shown._collect_settings()
    assert kept != "page" and shown.settings.values.export_tab == "page"


def test_the_picture_of_a_view_has_its_title_in_every_row(shown: Marginscope) -> None:
    upper, lower = (panel.view("norms") for panel in panels(shown))
    choose(view_menu(shown, lower.header), "Copy picture")
    picture = QGuiApplication.clipboard().pixmap()
    assert picture.width() >= 3 * lower.width() - 3
    assert not lower.header._titled and not upper.plot.bottom.titled  # as before
    image, title = picture.toImage(), lower.render_picture(1.0).toImage()
    inked = [y for y in range(18) if len({title.pixel(x, y) for x in range(8, 60)}) > 1]
    assert inked and not image.isNull()


def numbers_of(program: Marginscope, name: str) -> tuple[list[str], np.ndarray]:
    choose(view_menu(program, panels(program)[0].view(name).header), "Copy numbers")
    head, *lines = QGuiApplication.clipboard().text().splitlines()
    rows = [[float(cell) if cell else np.nan for cell in line.split("\t")] for line in lines]
    return head.split("\t"), np.array(rows)


def test_the_numbers_are_those_drawn_at_the_cursor(shown: Marginscope, qtbot: QtBot) -> None:
    panel = panels(shown)[0]
    run = panel.run
    assert run is not None and run.data is not None
    data, frame = run.data, panel.frame
    said: list[str] = []
    shown.view_menu.status.connect(said.append)
    head, rows = numbers_of(shown, "margins")
    assert said == [NUMBERS_COPIED]
    assert head == ["t", "hard", "smoothed", "\u2113\u2081/2"]
    assert len(rows) == frame + 1
    np.testing.assert_allclose(rows[-1, 0], 10.0 ** data.log10_time[frame], rtol=1e-9)
    np.testing.assert_allclose(rows[:, 1], data.margins[: frame + 1, 0], rtol=1e-9)
    head, rows = numbers_of(shown, "norms")
    assert head == ["rank", "relative norm", "neuron"]
    np.testing.assert_allclose(rows[:, 1], np.sort(data.values("relative_norm", frame)), rtol=1e-6)
    head, rows = numbers_of(shown, "neurons")
    assert head == ["neuron", "coordinate 1", "coordinate 2"]
    np.testing.assert_allclose(rows[:, 1:], data.positions(np.array([frame]))[0], rtol=1e-5)


def test_every_view_has_numbers(shown: Marginscope, qtbot: QtBot) -> None:
    data = [run.data for run in shown.session if run.data is not None]
    useful = tuple(kind.name for kind in VIEWS.values() if kind.fits(data[0]))
    shown.display.update_intent(views=useful)
    panel = panels(shown)[0]

    def is_known(name: str) -> bool:
        numbers = panel.view(name).numbers()
        return bool(numbers) and len({len(values) for _, values in numbers}) == 1

    for name in useful:
        qtbot.waitUntil(partial(is_known, name))


# -------------------------------------------------------------------------- what is done besides


def test_zooms_outlive_a_view_that_fills_the_window(shown: Marginscope, qtbot: QtBot) -> None:
    """They are no step of undo either, and a moved run keeps its own."""
    first = panels(shown)[0]
    zoom = QRectF(-0.5, -0.5, 1.0, 1.0)
    first.view("neurons").plot.set_zoom(zoom)
    shown.display.zoomed.emit()
    qtbot.waitUntil(lambda: not shown.scenes.has_pending_change)
    before = shown.actions["undo"].text()
    shown.view_menu.toggle_fill("margins")
    shown.scenes.commit()
    assert shown.actions["undo"].text() == before
    run = first.run
    shown.display.move_run(run.key, 1)
    shown.view_menu.toggle_fill("margins")
    (moved,) = shown.display.panels_of(run)
    assert dict(moved.zooms()) == {"neurons": zoom}


def test_other_views_end_a_filled_one_and_a_single_view_fills_nothing(shown: Marginscope) -> None:
    shown.view_menu.toggle_fill("margins")
    shown.display.update_intent(views=("margins", "curves"))
    assert names(shown) == {("margins", "curves")}
    shown.display.update_intent(views=("margins",))
    shown.view_menu.toggle_fill("margins")
    assert shown.display.intent.filled == ""
