"""Which views are shown, and which curves: chosen from menus, computed beside, remembered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from app.settings import load_settings
from app.shell.application import Marginscope
from app.state.background_values import SPECTRUM
from app.state.intent import NEURON_POINTS
from app.state.views import FIGURE_1, VIEWS
from app.style import LEAST_PLOT
from core.observables.planes import PLANES, NodePlane
from tests.app.mouse import close_menus, entry, opened, pick
from tests.app.shell.conftest import FIGURE_1_STUDY, Opener, trained
from tests.app.shell.shared_window import defer_painting


def choose_view(qtbot: QtBot, program: Marginscope, title: str) -> None:
    pick(qtbot, program.window, "View", "Views", title)


def drawn(program: Marginscope, qtbot: QtBot) -> None:
    """Wait until all panels have drawn what they owe."""
    panels = list(program.display.panels)
    qtbot.waitUntil(lambda: not any(panel.pending for panel in panels))


def computed(program: Marginscope, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not program.display.calculator.busy)
    qtbot.wait(50)
    drawn(program, qtbot)


def check_the_papers_figure_comes_first(program: Marginscope, qtbot: QtBot) -> None:
    for panel in program.display.panels:
        assert panel.names == FIGURE_1
    marked = [a.data() for a in program.window.view_choice.actions() if a.isChecked()]
    assert marked == list(FIGURE_1)
    assert program.display.calculator._worker._thread is None  # nothing takes long


def check_views_are_added_and_taken_away(program: Marginscope, qtbot: QtBot) -> None:
    program.action_state.enable_views()  # as it is done when the menu opens
    actions = [one for one in program.window.view_choice.actions() if one.isCheckable()]
    fitting = tuple(one.data() for one in actions if one.isEnabled())
    assert set(VIEWS) - set(fitting) == {"waves", "phases"}
    for name in fitting:
        if name not in FIGURE_1:
            choose_view(qtbot, program, VIEWS[name].title)
    assert program.display.view.wishes.views == fitting
    for panel in program.display.panels:
        assert panel.names == fitting
        assert all(panel.view(name).isVisibleTo(panel) for name in fitting)
    program.playback.seek_end()
    computed(program, qtbot)
    for panel, run in zip(program.display.panels, program.session, strict=True):
        assert np.isfinite(run.data.background.trace(SPECTRUM, run.data.frames)[:, 0]).all()
        assert run.data.background.answer.question.frame == run.data.frames - 1
        assert panel.view("curves").plot.overlay.note == ""
        assert "f = 0" in panel.view("predictor").header.text
    choose_view(qtbot, program, "Neurons")
    assert "neurons" not in program.display.view.wishes.views
    choose_view(qtbot, program, "The study's views")
    assert program.display.view.wishes.views == FIGURE_1
    marked = [a.data() for a in program.window.view_choice.actions() if a.isChecked()]
    assert marked == list(FIGURE_1)


def check_a_window_does_not_grow_with_its_views(program: Marginscope, qtbot: QtBot) -> None:
    window, before = program.window, program.display.view.wishes.views
    size, least = window.size(), window.minimumSizeHint()
    program.display.update_intent(views=tuple(VIEWS))
    panel = program.display.panels[0]
    qtbot.waitUntil(lambda: all(view.plot.height() >= LEAST_PLOT[1] for view in panel.views))
    assert (window.size(), window.minimumSizeHint()) == (size, least)
    program.display.update_intent(views=before)


def check_the_picture_of_the_neurons_is_chosen(program: Marginscope, qtbot: QtBot) -> None:
    window, panel = program.window, program.display.panels[0]
    view = panel.view("neurons")
    assert entry(opened(qtbot, window, "View", "Neurons"), "This moment").isChecked()
    close_menus()
    pick(qtbot, window, "View", "Neurons", "Whole run, signed square roots")
    assert "signed roots" in view.header.text
    pick(qtbot, window, "View", "Neurons", NEURON_POINTS["directions"])
    assert view.header.text.startswith("directions")
    menu = opened(qtbot, window, "View", "Neurons")
    chosen = [action.data() for action in menu.actions() if action.isChecked()]
    assert chosen[:2] == [("neuron_range", "root"), ("neuron_points", "directions")]
    assert chosen[2:] == [("plane", "coordinates")]
    close_menus()


CHECKS = (
    check_the_papers_figure_comes_first,
    check_views_are_added_and_taken_away,
    check_a_window_does_not_grow_with_its_views,
    check_the_picture_of_the_neurons_is_chosen,
)


def test_views_are_chosen_and_remembered(
    open_program: Opener, tmp_path: Path, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    """Settings that name no view show the paper's figure again."""
    study = tmp_path / "figure_1.toml"
    study.write_text(FIGURE_1_STUDY)
    program = open_program(study)
    qtbot.waitUntil(lambda: trained(program))
    for check in CHECKS:
        with subtests.test(check.__name__):
            check(program, qtbot)
    choose_view(qtbot, program, VIEWS["spectrum"].title)
    program.display.update_intent(curves=("risk", "atoms"))
    program.window.close()
    path = program.places.settings
    settings, warning = load_settings(path)
    assert warning == ""
    assert settings.options.views == (*FIGURE_1, "spectrum")
    assert settings.options.curves == ("risk", "atoms")
    assert (settings.options.neuron_range, settings.options.neuron_points) == ("root", "directions")
    path.write_text('{"views": ["nothing", "like it"], "curves": ["no curve"]}')
    again = open_program(study)
    qtbot.waitUntil(lambda: trained(again))
    assert again.display.panels[0].names == FIGURE_1
    choose_view(qtbot, again, "Curves")
    note = again.display.panels[0].view("curves").plot.overlay.note
    assert note.startswith("choose curves")


def test_the_last_view_stays(program: Marginscope, figure_1_views: None, qtbot: QtBot) -> None:
    for name in FIGURE_1:
        choose_view(qtbot, program, VIEWS[name].title)
    assert program.display.view.wishes.views == ("margins",)
    assert entry(program.window.view_choice, "Margins").isChecked()


def test_new_runs_take_over_the_chosen_views(program: Marginscope, qtbot: QtBot) -> None:
    with defer_painting(program.window):
        check_new_runs(program, qtbot)


def check_new_runs(program: Marginscope, qtbot: QtBot) -> None:
    program.display.update_intent(views=("curves", "predictor"))
    computed(program, qtbot)
    qtbot.keyClick(program.window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: trained(program))
    computed(program, qtbot)
    for panel, run in zip(program.display.panels, program.session, strict=True):
        assert panel.names == ("curves", "predictor")
        assert run.data.run.experiment.run.seed == 1
        assert np.isfinite(run.data.background.trace("distance", run.data.frames)).all()


def test_the_heading_names_what_was_run_by_what(program: Marginscope) -> None:
    words = program.display.panels[0].details.text()
    for part in ("standard network", "gradient flow", "n = 12", "d = 6", "m = 8", "compiled"):
        assert part in words


def test_the_menu_stays_open_while_views_are_ticked(program: Marginscope, qtbot: QtBot) -> None:
    """Three views by four clicks; Space ticks as well."""
    program.display.update_intent(views=("margins",))
    menu = opened(qtbot, program.window, "View", "Views")
    for title in ("Curves", "Spectrum"):
        action = entry(menu, title)
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
        assert menu.isVisible() and action.isChecked()
    menu.setActiveAction(entry(menu, "Predictor"))
    QTest.keyClick(menu, Qt.Key.Key_Space)
    assert menu.isVisible()
    close_menus()
    assert program.display.view.wishes.views == ("margins", "curves", "spectrum", "predictor")


def test_the_tool_bar_has_the_menu_of_views(program: Marginscope) -> None:
    buttons = program.window.top.findChildren(QToolButton)
    assert any(button.menu() is program.window.view_choice for button in buttons)


def test_the_plane_of_the_neurons_is_chosen(program: Marginscope, qtbot: QtBot) -> None:
    window, display = program.window, program.display
    view = display.panels[0].view("neurons")
    program.playback.seek_end()
    qtbot.waitUntil(lambda: not display.panels[0].pending)
    pick(qtbot, window, "View", "Neurons", PLANES["motion"].title)
    assert view.plot.bottom.labelText == "motion 1"
    # Two nodes are needed for their span; what cannot be had is not marked either.
    pick(qtbot, window, "View", "Neurons", PLANES["nodes"].title)
    assert "Pin two neurons" in window.bar.text
    assert display.view.wishes.plane == NodePlane("motion", ())
    assert not entry(window.neuron_choice, PLANES["nodes"].title).isChecked()
    key = display.view.runs[0].key
    display.update_intent(pinned=frozenset({(key, 4), (key, 1)}))
    pick(qtbot, window, "View", "Neurons", PLANES["nodes"].title)
    assert display.view.wishes.plane == NodePlane("nodes", (1, 4, display.view.runs[0].frame))
    assert view.plot.bottom.labelText == "along v of neuron 1"
    assert entry(window.neuron_choice, PLANES["nodes"].title).isChecked()


def test_a_plane_that_a_run_does_not_have_is_said(program: Marginscope, qtbot: QtBot) -> None:
    display = program.display
    view = display.panels[0].view("neurons")
    program.playback.seek_end()
    drawn(program, qtbot)
    before = view.nodes.points.copy()
    display.update_intent(plane=NodePlane("nodes", (0, 5000, 0)))
    qtbot.waitUntil(lambda: not display.panels[0].pending)
    (words,) = view.plot.overlay.corner
    assert words.startswith("Neurons 0 and 5000: choose two of 0 to")
    np.testing.assert_array_equal(view.nodes.points, before)
    display.update_intent(plane=NodePlane())
    assert view.plot.overlay.corner == ()
