"""The view of curves on a logarithmic axis, asked for by the key."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.scenes.scene import Scene
from app.scenes.scene_texts import link_of, parse_link
from app.shell.application import Marginscope
from app.views.curves import CurvesView
from core.observables.registry import OBSERVABLES
from tests.app.mouse import keys, move, pick

KEY = Qt.Key.Key_L
HELD = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


@pytest.fixture
def view(program: Marginscope, qtbot: QtBot) -> CurvesView:
    """Return the curves of the second run, all of whose values are known."""
    program.display.update_intent(
        playing=False, views=("curves",), curves=("distance", "log10_risk", "smoothed_margin")
    )
    shown = program.display.panels[1].view("curves")
    assert isinstance(shown, CurvesView) and shown.data is not None
    later = shown.data.background
    qtbot.waitUntil(lambda: not later.pending and shown._traced == later.traced)
    return shown


def test_what_is_positive_is_shown_by_its_logarithm(
    program: Marginscope, qtbot: QtBot, view: CurvesView
) -> None:
    assert not all(strip.shows == "log" for strip in view.strips)
    before = [line.values.copy() for line in view._lines]
    keys(qtbot, program.window, KEY, HELD)
    assert program.actions["log_curves"].isChecked() and program.display.intent.log_curves
    assert {strip.name: (strip.shows, strip.takes_log) for strip in view.strips} == {
        "distance": ("log", True),
        "log10_risk": ("log", False),  # a logarithm already
        "smoothed_margin": ("log", True),
    }
    data, run = view.data, view.data.run if view.data is not None else None
    assert data is not None and run is not None
    for strip, line in zip(view.strips, view._lines, strict=True):
        values = OBSERVABLES[strip.name].trace(run)
        np.testing.assert_allclose(line.values, strip.heights(values), atol=1e-9)
    # Under the pointer stand the values themselves.
    frame, distance = data.frames - 2, view._lines[0].values
    move(qtbot, view.plot, float(view.places[frame]), float(distance[frame]))
    pointed = view.plot.overlay.pointed
    assert pointed is not None and pointed.text.startswith("distance ")
    told = float(pointed.text.split("\n")[0].removeprefix("distance "))
    assert told == pytest.approx(float(OBSERVABLES["distance"].value_at(run, frame)), rel=0.05)
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    assert program.actions["undo"].text() == "&Undo Logarithmic curves"
    keys(qtbot, program.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not program.actions["log_curves"].isChecked()
    after = [line.values for line in view._lines]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_has_no_logarithm_stays_linear_and_says_so(
    program: Marginscope, qtbot: QtBot, view: CurvesView
) -> None:
    pick(qtbot, program.window, "View", "Logarithmic curves")
    program.display.update_intent(curves=("distance", "train_error"))
    later = view.data.background
    qtbot.waitUntil(lambda: not later.pending and view._traced == later.traced)
    error = view._values[1]
    titles = view.plot.overlay.titles
    assert ("not positive" in titles[1].number) == (not (error > 0.0).any())
    program.display.update_intent(curves=("log10_risk",))
    qtbot.waitUntil(lambda: not later.pending and view._traced == later.traced)
    (title,) = view.plot.overlay.titles
    assert title.text == OBSERVABLES["risk"].title
    value = 10.0 ** float(view._values[0][view.frame])
    assert float(title.number) == pytest.approx(value, rel=5e-3)


def test_a_link_brings_the_axis_back(program: Marginscope, view: CurvesView) -> None:
    program.actions["log_curves"].trigger()
    link = link_of(program.scenes.shareable_scene())
    assert "log=yes" in link
    assert parse_link(link, Scene()).intent.log_curves
