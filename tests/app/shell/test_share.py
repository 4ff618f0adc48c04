"""The view of margins as shares of what is promised: by its menu, with bracket, time and undo."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from core.reference.margin import Bracket
from core.reference.share import first_reach
from tests.app.mouse import keys, pick
from tests.app.shell.conftest import Opener, trained
from tests.app.shell.test_theory import margins_view, settled
from tests.support import theory_stand_ins as stand_ins

SHARE = "Margins as share of \u03b3_gl / 2"


def asked(program: Marginscope, qtbot: QtBot) -> None:
    """Choose shares in the menu, and look at the end."""
    pick(qtbot, program.window, "View", "Curves against", SHARE)
    program.display.update_intent(playing=False)
    program.playback.seek_end()


def facts_of_run(program: Marginscope) -> dict[str, str]:
    return {fact.name: fact.value for fact in program.window.inspector.run.facts()}


def test_margins_are_divided_by_what_is_promised(program: Marginscope, qtbot: QtBot) -> None:
    """gamma_gl / 2 = .0406 of the stand-in, its bracket .0400 to .04065 around 1."""
    qtbot.waitUntil(lambda: settled(program))
    view = margins_view(program)
    data = view.data
    assert data is not None
    plain = view.lines(data)[0].values.copy()
    asked(program, qtbot)
    np.testing.assert_allclose(view.lines(data)[0].values, plain / 0.0406)
    line = next(one for one in view.plot.overlay.levels if one.label == "gamma_gl / 2")
    assert (line.value, line.low, line.high) == pytest.approx(
        (1.0, 0.0400 / 0.0406, 0.04065 / 0.0406)
    )
    assert view.plot.visible_range().bottom() > line.high  # the whole is in the picture
    assert view.reach is None
    assert any("90 % of" in text and "not reached" in text for text in view.plot.overlay.corner)
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    assert program.actions["undo"].text() == f"&Undo {SHARE}"
    keys(qtbot, program.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    np.testing.assert_allclose(view.lines(data)[0].values, plain)
    assert view.plot.overlay.corner == ()


def test_the_time_is_marked_on_the_curve(
    open_program: Opener, study: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = stand_ins.MadeUp("gamma_gl", 0.5, Bracket(0.004, 0.004, 0.004, True, ""))
    monkeypatch.setattr(stand_ins, "references_of", lambda problem: (small,))
    program = open_program(study)
    qtbot.waitUntil(lambda: trained(program))
    qtbot.waitUntil(lambda: all(program.theory.results(run.key).margins for run in program.session))
    asked(program, qtbot)
    view = margins_view(program, 1)
    data = view.data
    reach = first_reach(data.margins[:, 0] / 0.002, data.log10_time)
    assert view.reach == reach
    (mark,) = view.plot.overlay.marks
    assert mark.label.startswith("90 % at t = ")
    assert mark.y == pytest.approx(0.9)
    assert view.places[reach.frame - 1] <= mark.x <= view.places[reach.frame]
    # The numbers and the panel of theory name the same time, also while margins are plain.
    pick(qtbot, program.window, "View", "Curves against", "Plain margins")
    when = mark.label.removeprefix("90 % ")
    qtbot.waitUntil(lambda: facts_of_run(program).get("90 % of \u03b3_gl / 2") == when)
    assert program.window.theory.reach.text() == f"90 % of \u03b3<sub>gl</sub> / 2: {when}"


def test_what_is_not_computed_yet_is_waited_for(
    open_program: Opener, study: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain margins meanwhile, and the view says why."""
    go = threading.Event()
    slow = stand_ins.MadeUp("gamma_gl", 0.5, Bracket(0.08, 0.08, 0.08, True, ""), go)
    monkeypatch.setattr(stand_ins, "references_of", lambda problem: (stand_ins.NARROW, slow))
    program = open_program(study)
    qtbot.waitUntil(slow.begun.is_set)
    qtbot.waitUntil(lambda: trained(program))
    asked(program, qtbot)
    view = margins_view(program)
    waits = "time to 90 %: waiting for \u03b3<sub>gl</sub>"
    qtbot.waitUntil(lambda: program.window.theory.reach.text() == waits)
    qtbot.waitUntil(lambda: facts_of_run(program).get("time to 90 %") == "waiting for \u03b3_gl")
    qtbot.waitUntil(lambda: any("not computed yet" in one for one in view.plot.overlay.corner))
    assert view.scale == 1.0
    assert np.isfinite(view.lines(view.data)[0].values).any()
    go.set()
    qtbot.waitUntil(lambda: view.scale == 25.0)
    assert "not computed" not in " ".join(view.plot.overlay.corner)
    said = "90 % of \u03b3<sub>gl</sub> / 2: "
    qtbot.waitUntil(lambda: program.window.theory.reach.text().startswith(said))


def test_figures_show_what_the_window_shows(program: Marginscope, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: settled(program))
    run = next(iter(program.session))
    assert program.theory.curves.promise_of(run.key) is None
    asked(program, qtbot)
    shown = program.export._snapshot()
    promised = shown.promises[0]
    assert promised.largest_margin == pytest.approx(0.0406)
