"""The theorem time line: on the slider's axis, true to the verdicts, reached by mouse and keys."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.playback.time_slider import MIDDLE, TimeSlider
from app.settings import load_settings
from app.shell.application import Marginscope
from app.state.resolve import TimeSpan
from app.theory.statement_lines import (
    StatementLine,
    Stretch,
    count_holding,
    hue_of_stretch,
    make_statement_lines,
    paint_stretch,
)
from app.theory.theorem_times import MOST_ROWS, NO_LINES, NO_RUN, TheoremTimes
from app.theory.time_rows import TimeRows
from core.figures.palette import LIGHT
from core.problem.schedule import coordinate
from core.theorems.statement import Assessment, Comparison, Verdict
from core.theorems.states import State
from core.theorems.timing import make_timing
from tests.app.mouse import keys, pick
from tests.app.shell.conftest import Opener
from tests.app.shell.shared_window import skip_style_sheet
from tests.app.shell.test_theory import settled
from tests.support import theory_stand_ins as stand_ins

LEFT = Qt.MouseButton.LeftButton

pytestmark = pytest.mark.drawer("times")


@pytest.fixture
def judged(program: Marginscope, qtbot: QtBot) -> Marginscope:
    """Return the window with the small study, its runs judged, held at the start."""
    qtbot.waitUntil(lambda: settled(program))
    program.display.update_intent(playing=False)
    qtbot.waitUntil(lambda: bool(rows_of(program).lines))
    return program


def rows_of(program: Marginscope) -> TimeRows:
    return program.window.times.rows


def times_of(program: Marginscope) -> np.ndarray:
    """Return log10 t of the frames of the run whose theory is shown: the one at the right."""
    run = list(program.session)[-1]
    return run.data.log10_time


def middle(rows: TimeRows, row: int, upper: bool, number: int) -> QPoint:
    return (
        rows.box_of(row, upper, rows.lines[row].stretches_of_lane(upper)[number]).center().toPoint()
    )


# ------------------------------------------------------------------------------ what is shown


def test_statements_that_say_when_have_a_row(judged: Marginscope) -> None:
    """Every other one of the stand-ins has states, and those without have no row."""
    rows = rows_of(judged)
    assert [line.verdict for line in rows.lines] == [verdict.value for verdict in [*Verdict][::2]]
    for line in rows.lines:
        assert [one.state for one in line.conclusion] == ["SILENT", "FAILS", "HOLDS"]
        assert [one.state for one in line.premises] == ["FAILS", "HOLDS"]
    assert rows.lines[0].conclusion[1].promised  # it fails although the hypotheses hold
    assert "of m = 12" in judged.window.times.heading.text()


@pytest.mark.parametrize("points", [9.0, 11.0, 14.0, 18.0])
def test_a_verdict_leaves_the_line_above_the_rows_as_high_as_it_was(
    qtbot: QtBot, points: float
) -> None:
    """The key comes in the place of words, whose heights differ: the views would be resized."""
    holder = QWidget()
    qtbot.addWidget(holder)
    font = holder.font()
    font.setPointSizeF(points)
    holder.setFont(font)
    times = TheoremTimes(LIGHT, TimeSlider(LIGHT, holder), holder)
    holder.show()
    lines = [StatementLine("a", "a", "a", "holds", (), ())] * MOST_ROWS
    heights = []
    for judged in (None, lines, None):
        times.show_lines("", judged, True)
        times.adjustSize()
        heights.append(times.sizeHint().height())
        assert times.legend.isHidden() is (judged is None)
    assert len(set(heights)) == 1


def test_it_lies_on_the_axis_of_the_slider(judged: Marginscope, qtbot: QtBot) -> None:
    """At the same pixel of the window, at any size of it."""
    window, slider, rows = judged.window, judged.window.transport.slider, rows_of(judged)
    times = times_of(judged)
    begins = float(coordinate(times[stand_ins.BEGINS]))
    assert rows.lines[0].conclusion[2].start == begins
    for width in (1280, 1150):
        window.resize(width, 760)
        qtbot.waitUntil(lambda width=width: window.width() == width)
        for moment in (begins, float(coordinate(times[-1])), -math.inf):
            there = slider.mapTo(window, QPointF(slider.position_of(moment), 0.0))
            here = rows.mapTo(window, QPointF(rows.x_of(moment), 0.0))
            assert here.x() == there.x()


# -------------------------------------------------------------------------- mouse and keyboard


def test_a_click_goes_to_the_clicked_time(judged: Marginscope, qtbot: QtBot) -> None:
    rows = rows_of(judged)
    for place in (middle(rows, 0, False, 2), middle(rows, 1, True, 1)):
        qtbot.mouseClick(rows, LEFT, pos=place)
        assert judged.display.view.cursor == rows.moment_at(place.x())
        assert rows.x_of(judged.display.view.cursor) == pytest.approx(place.x(), abs=1e-6)


def test_a_double_click_goes_to_where_a_stretch_begins(judged: Marginscope, qtbot: QtBot) -> None:
    rows, times = rows_of(judged), times_of(judged)
    qtbot.mouseDClick(rows, LEFT, pos=middle(rows, 0, False, 2))
    assert judged.display.view.cursor == float(coordinate(times[stand_ins.BEGINS]))
    qtbot.mouseDClick(rows, LEFT, pos=middle(rows, 1, True, 1))
    assert judged.display.view.cursor == float(coordinate(times[stand_ins.FITS]))
    qtbot.mouseDClick(rows, LEFT, pos=middle(rows, 1, True, 0))
    assert judged.display.view.runs[-1].frame == 0
    before = judged.display.view.cursor
    qtbot.mouseClick(rows, LEFT, pos=QPoint(20, 8))  # its name, which is no time
    assert judged.display.view.cursor == before


def test_the_pointer_reads_state_and_times(judged: Marginscope, qtbot: QtBot) -> None:
    rows = rows_of(judged)
    qtbot.mouseMove(rows, middle(rows, 0, False, 1))
    qtbot.waitUntil(lambda: "does not hold from t = " in QToolTip.text())
    assert "the conclusion" in QToolTip.text()
    assert "telgarsky22 Theorem 1" in QToolTip.text()
    qtbot.mouseMove(rows, middle(rows, 0, True, 1))
    qtbot.waitUntil(lambda: "the hypotheses hold" in QToolTip.text())
    qtbot.mouseMove(rows, QPoint(40, 8))
    qtbot.waitUntil(lambda: "constant share" in QToolTip.text())
    QToolTip.hideText()


def test_the_keyboard_reaches_every_stretch(judged: Marginscope, qtbot: QtBot) -> None:
    """The arrows go through lanes and stretches and not through frames, as they do elsewhere."""
    rows, times = rows_of(judged), times_of(judged)
    judged.window.activateWindow()
    rows.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(rows.hasFocus)
    frame = judged.display.view.runs[-1].frame
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right):
        QTest.keyClick(rows, key)
    assert rows.place == (0, False, 2)
    assert "the conclusion holds from" in rows.accessibleDescription()
    assert judged.display.view.runs[-1].frame == frame
    QTest.keyClick(rows, Qt.Key.Key_Return)
    assert judged.display.view.cursor == float(coordinate(times[stand_ins.BEGINS]))
    QTest.keyClick(rows, Qt.Key.Key_Down)
    QTest.keyClick(rows, Qt.Key.Key_Right)
    assert rows.place == (1, True, 1)
    QTest.keyClick(rows, Qt.Key.Key_Space)
    assert judged.display.view.cursor == float(coordinate(times[stand_ins.FITS]))
    assert not judged.display.intent.playing
    for _ in range(9):
        QTest.keyClick(rows, Qt.Key.Key_Up)
    assert rows.place == (0, True, 0)
    QToolTip.hideText()


# ------------------------------------------------------------------------------- shown or not


def check_that_another_run_of_the_panel_has_its_own(judged: Marginscope, qtbot: QtBot) -> None:
    panel, first = judged.window.theory, next(iter(judged.session))
    judged.display.set_current(first.key)
    judged.actions["inspector"].setChecked(True)
    qtbot.waitUntil(lambda: not judged.scenes.has_pending_change)
    assert panel.run.text() == "m = 8" and panel.run.isVisible()
    assert "of m = 8" in judged.window.times.heading.text()
    begins = float(coordinate(first.data.log10_time[stand_ins.BEGINS]))
    assert rows_of(judged).lines[0].conclusion[2].start == begins


def check_that_what_the_cursor_moves_over_is_not_painted_anew(
    judged: Marginscope, qtbot: QtBot
) -> None:
    """So that it costs nothing while a run plays; another verdict is another picture."""
    rows = rows_of(judged)
    rows.repaint()
    before = rows._picture
    assert before is not None
    for moment in np.linspace(*_ends(judged), 9):
        judged.playback.seek(float(moment))
        rows.repaint()
        assert rows._picture is before
        assert rows._cursor == round(rows.x_of(judged.display.view.cursor))
    rows.show_lines(rows.lines[:1])
    rows.repaint()
    assert rows._picture is not before


def _ends(program: Marginscope) -> tuple[float, float]:
    span = program.display.view.span
    return span.low, span.high


def check_that_it_is_shown_by_its_action_and_undone(judged: Marginscope, qtbot: QtBot) -> None:
    window = judged.window
    assert window.times.isVisible()
    pick(qtbot, window, "View", "Theorem timeline")
    assert not window.times.isVisible()
    qtbot.waitUntil(lambda: not judged.scenes.has_pending_change)
    assert "theorem timeline" in judged.actions["undo"].text()
    keys(qtbot, window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.times.isVisible()
    with skip_style_sheet():
        judged.actions["lecture"].trigger()
        assert not window.times.isVisible()
        judged.actions["lecture"].trigger()
    assert window.times.isVisible()


def check_that_a_run_without_such_statements_says_so(judged: Marginscope, qtbot: QtBot) -> None:
    judged.window.times.show_lines("", (), any_run=True)
    assert judged.window.times.note.text() == NO_LINES
    assert judged.window.times.note.isVisible()
    assert rows_of(judged).height() <= 2 * rows_of(judged).row_height()


CHECKS = (
    check_that_another_run_of_the_panel_has_its_own,
    check_that_what_the_cursor_moves_over_is_not_painted_anew,
    check_that_it_is_shown_by_its_action_and_undone,
    check_that_a_run_without_such_statements_says_so,
)


@pytest.mark.usefixtures("own_window")
def test_rows_in_a_window_of_their_own(
    judged: Marginscope, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    """The last check takes the rows away."""
    judged.display.update_intent(views=("margins",))  # another look of fewer views takes less time
    qtbot.waitUntil(lambda: not judged.scenes.has_pending_change)
    for check in CHECKS:
        with subtests.test(check.__name__):
            check(judged, qtbot)


def test_the_counts_open_it_and_it_stays_open(open_program: Opener, qtbot: QtBot) -> None:
    program = open_program()
    window = program.window
    assert window.times.isVisible() and window.times.note.text() == NO_RUN
    for shown in (False, True):
        qtbot.mouseClick(window.status.line, LEFT)
        assert window.times.isVisible() == shown
    program.shut_down()
    settings, _ = load_settings(program.places.settings)
    assert settings.times_open


# ------------------------------------------------------------------------------------- lines


def assessed(states: list[int], premises: list[int], verdict: Verdict) -> Assessment:
    comparison = Comparison(">=", 0.0, 1.0, True, states=np.array(states, dtype=np.int8))
    statement = stand_ins.statement("Theorem 1", "telgarsky22, Section 2")
    return Assessment(
        statement,
        (),
        comparison,
        verdict,
        make_timing(comparison.states, None, np.zeros(len(states))),
        np.array(premises, dtype=np.int8),
    )


def test_stretches_cover_the_run_without_gaps() -> None:
    times = np.array([-np.inf, 0.0, 1.0, 2.0, 3.0])
    S = State
    one = assessed(
        [S.SILENT, S.FAILS, S.FAILS, S.HOLDS, S.HOLDS],
        [S.FAILS, S.FAILS, S.HOLDS, S.HOLDS, S.OPEN],
        Verdict.VIOLATED,
    )
    (line,) = make_statement_lines([one], times)
    for lane in (line.premises, line.conclusion):
        assert lane[0].start == -math.inf
        assert lane[-1].end == float(coordinate(3.0))
        assert all(a.end == b.start for a, b in pairwise(lane))
    # Failing is cut where the hypotheses begin to hold: from there on it is a violation.
    assert [part.state for part in line.conclusion] == ["SILENT", "FAILS", "FAILS", "HOLDS"]
    assert [part.promised for part in line.conclusion[1:3]] == [False, True]
    assert line.conclusion[2].words == "the conclusion does not hold from t = 10 to t = 100"
    assert line.premises[0].words == "the hypotheses do not hold from t = 0 to t = 10"


def test_a_statement_that_never_says_anything_has_no_line() -> None:
    S = State
    times = np.arange(3.0)
    silent = assessed([S.SILENT] * 3, [S.FAILS] * 3, Verdict.UNDECIDED)
    begins = assessed([S.SILENT] * 3, [S.FAILS, S.HOLDS, S.HOLDS], Verdict.UNDECIDED)
    assert make_statement_lines([silent], times) == ()
    assert len(make_statement_lines([begins], times)) == 1


@pytest.mark.parametrize("holds", [True, False, None])
def test_what_is_decided_at_the_end_alone_says_so(holds: bool | None) -> None:
    """A KKT point is one of the limit: its row is open but for the last frame."""
    S, times = State, np.array([-np.inf, 0.0, 1.0, 2.0])
    known = assessed([S.OPEN] * 4, [S.OPEN, S.OPEN, S.OPEN, S.HOLDS], Verdict.UNDECIDED)
    comparison = replace(known.comparison, states=None, frame=-1, holds=holds)
    (line,) = make_statement_lines([replace(known, comparison=comparison)], times)
    assert line.text == f"At the end only: {known.statement.text}"
    states = {True: ["OPEN", "HOLDS"], False: ["OPEN", "FAILS"], None: ["OPEN"]}[holds]
    assert [part.state for part in line.conclusion] == states
    assert line.conclusion[0].words.startswith("the conclusion concerns the end of the run only")
    assert line.conclusion[0].end == float(coordinate(2.0))
    # What is of no frame, such as a bound on the data, still has no row.
    nowhen = replace(known, comparison=replace(comparison, frame=None))
    assert make_statement_lines([nowhen], times) == ()


def drawn(state: str, upper: bool) -> bytes:
    picture = QImage(60, 14, QImage.Format.Format_Grayscale8)
    picture.fill(255)
    painter = QPainter(picture)
    paint_stretch(painter, QRectF(2, 2, 56, 10), state, QColor("black"), upper)
    painter.end()
    return bytes(picture.constBits())


@pytest.mark.parametrize("upper", [True, False])
def test_each_state_has_a_shape_of_its_own(upper: bool) -> None:
    """Told apart without any colour."""
    shapes = {drawn(state.name, upper) for state in State}
    assert len(shapes) == len(State)
    assert drawn("SILENT", upper) == bytes([255]) * len(drawn("SILENT", upper))


def test_failing_is_grave_only_where_it_is_promised_not_to() -> None:
    hues = [hue_of_stretch(Stretch("FAILS", 0.0, 1.0, "", promised), False) for promised in (1, 0)]
    assert hues == ["negative", "warning"]
    line = StatementLine("k", "n", "t", "holds", (), ())
    assert line.stretches_of_lane(True) == line.stretches_of_lane(False) == ()


def test_the_counts_are_those_of_the_frames() -> None:
    """Random states: between two frames those of the first one hold."""
    generator = np.random.default_rng(0)
    times = np.concatenate([[-np.inf], np.sort(generator.normal(size=9))])
    kinds = np.array([State.HOLDS, State.FAILS, State.OPEN, State.SILENT], dtype=np.int8)
    states, premises = generator.choice(kinds, (2, 6, 10))
    drawn = [
        assessed(list(one), list(two), Verdict.HOLDS)
        for one, two in zip(states, premises, strict=True)
    ]
    lines = make_statement_lines(drawn, times)
    assert len(lines) == 6
    counts = count_holding(lines)
    assert all(a[1] == b[0] for a, b in pairwise(counts))
    for frame, (begin, end) in enumerate(pairwise(times[1:])):
        moment = float(coordinate(0.5 * (begin + end)))
        (found,) = [one for one in counts if one[0] <= moment < one[1]]
        met = premises[:, frame + 1] == State.HOLDS
        assert found[2] == np.sum(met & (states[:, frame + 1] == State.HOLDS))
        assert found[3] == np.any(met & (states[:, frame + 1] == State.FAILS))
    assert count_holding(()) == ()


def test_the_track_is_stronger_where_more_hold_and_red_where_one_is_violated(
    qtbot: QtBot,
) -> None:
    slider = TimeSlider(LIGHT)
    qtbot.addWidget(slider)
    slider.resize(432, 40)
    slider.set_empty(False)
    slider.set_span(TimeSpan(0.0, 4.0, 4.0, False))
    slider.set_theorems([(0.0, 1.0, 0, False), (1.0, 2.0, 1, False), (2.0, 3.0, 4, False)])
    slider.set_value(4.0)

    def colour(moment: float) -> QColor:
        image = slider.grab().toImage()
        return image.pixelColor(round(slider.position_of(moment)), int(MIDDLE))

    bare, one, four, later = (colour(moment) for moment in (0.5, 1.5, 2.5, 3.5))
    assert bare == later and four == QColor(LIGHT.positive)
    assert bare != one and one != four
    slider.set_theorems([(0.0, 1.0, 3, True)])
    assert colour(0.5) == QColor(LIGHT.negative)
