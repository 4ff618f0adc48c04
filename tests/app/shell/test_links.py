"""Runs side by side share the ranges of their axes and a zoom, unless it is switched off."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from pytestqt.qtbot import QtBot

from app.settings import load_settings
from app.shell.application import Marginscope
from app.widgets.plot_item import Plot
from tests.app.mouse import pick, wheel
from tests.app.shell.conftest import Opener
from tests.app.shell.shared_window import settle

NEAR = 1e-12  # a QRectF has a width in place of a right end
LINKED = ("rotations", "norms", "margins", "curves", "spectrum")


def plots(program: Marginscope, name: str) -> list[Plot]:
    return [panel.view(name).plot for panel in program.display.panels]


def alike(one: QRectF, other: QRectF) -> bool:
    ends = [(rect.left(), rect.right(), rect.top(), rect.bottom()) for rect in (one, other)]
    return ends[0] == pytest.approx(ends[1], rel=1e-12)


def holds(one: QRectF, other: Plot) -> bool:
    """Return True if a range holds what a plot shows of its own."""
    home = other.home
    across = one.left() - NEAR <= home.left < home.right <= one.right() + NEAR
    return across and one.top() - NEAR <= home.bottom < home.top <= one.bottom() + NEAR


@pytest.fixture
def wide(program: Marginscope, qtbot: QtBot) -> Marginscope:
    """Return all views that are linked, computed, of the two runs."""
    program.display.update_intent(views=LINKED, curves=("risk",))
    program.playback.seek_end()
    settle(program)
    qtbot.waitUntil(lambda: all(_is_drawn(program, name) for name in LINKED))
    return program


def _is_drawn(program: Marginscope, name: str) -> bool:
    frames = [run.frame for run in program.display.view.runs]
    views = [panel.view(name) for panel in program.display.panels]
    return [view.frame for view in views] == frames


def test_runs_share_one_range_that_holds_both(wide: Marginscope) -> None:
    differ = 0
    for name in LINKED:
        one, other = plots(wide, name)
        assert alike(one.visible_range(), other.visible_range()), name
        for plot in (one, other):
            assert holds(one.visible_range(), plot), name
        own = [panel.view(name).extents for panel in wide.display.panels]
        differ += one.home != other.home or own[0] != own[1]
    assert differ >= 3  # they would differ by themselves


def test_the_toggle_gives_each_run_its_own_range_and_back(wide: Marginscope, qtbot: QtBot) -> None:
    pick(qtbot, wide.window, "View", "Link axes of runs")
    assert not wide.display.view.wishes.linked
    one, other = plots(wide, "margins")
    assert one.home != other.home
    for plot in (one, other):
        home = plot.home
        own = QRectF(home.left, home.bottom, home.right - home.left, home.top - home.bottom)
        assert alike(plot.visible_range(), own)
    pick(qtbot, wide.window, "View", "Link axes of runs")
    assert alike(one.visible_range(), other.visible_range())


def test_a_zoom_goes_to_the_other_run_and_a_double_click_ends_both(
    wide: Marginscope, qtbot: QtBot
) -> None:
    one, other = plots(wide, "margins")
    before = one.visible_range()
    wheel(one, one.plot_area().center().toPoint(), 3)
    assert one.visible_range().width() < 0.9 * before.width()
    assert alike(one.visible_range(), other.visible_range())
    other.reset_range()
    other.zoomed.emit()
    assert alike(one.visible_range(), before)
    pick(qtbot, wide.window, "View", "Link axes of runs")
    own = other.visible_range()
    wheel(one, one.plot_area().center().toPoint(), 3)
    assert other.visible_range() == own


@pytest.mark.usefixtures("own_window")
def test_axes_that_show_something_else_are_left_alone(wide: Marginscope) -> None:
    one, other = plots(wide, "margins")
    other.side.set_label("something else")
    wide.display.panels[1].view("margins").range_changed.emit()
    assert one.visible_range().top() == pytest.approx(one.home.bottom)
    assert other.visible_range().top() == pytest.approx(other.home.bottom)
    assert (one.visible_range().left(), one.visible_range().right()) == pytest.approx(
        (other.visible_range().left(), other.visible_range().right())
    )
    # And one run alone has its own range.
    wide.display.panels[1].set_data(None, "")
    assert one.visible_range().top() == pytest.approx(one.home.bottom)
    assert (one.visible_range().left(), one.visible_range().right()) == pytest.approx(
        (one.home.left, one.home.right)
    )


def test_choices_are_remembered(program: Marginscope, open_program: Opener, qtbot: QtBot) -> None:
    assert program.settings.values.options.linked
    pick(qtbot, program.window, "View", "Link axes of runs")
    program.window.form.sections["data"].heading.click()
    program.shut_down()
    settings, words = load_settings(program.places.settings)
    assert (settings.options.linked, words) == (False, "")
    again = open_program()
    assert not again.actions["link"].isChecked()
    assert not again.display.intent.linked
    assert again.window.form.folded_sections == ("data", "recording")


def test_runs_share_the_axis_of_each_quantity(wide: Marginscope) -> None:
    wide.display.update_intent(views=("curves",), curves=("distance", "hard_margin"))
    views = [panel.view("curves") for panel in wide.display.panels]
    settle(wide)
    one, other = (view.strips for view in views)
    assert [(a.low, a.high) for a in one] == [(b.low, b.high) for b in other]
    wide.display.update_intent(linked=False)
    settle(wide)
    for view in views:
        for strip in view.strips:
            own = view.extents[strip.name]
            ends = np.array([own.low, own.high])
            low, high = np.log10(ends) if strip.takes_log else ends
            assert strip.low < low < high < strip.high
            assert strip.high - strip.low < 1.2 * (high - low)
    wide.display.update_intent(linked=True)
    settle(wide)
    assert [view.strips for view in views] == [one, other]
