"""Reference margins and verdicts in the window: computed beside it, shown as they come."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QCursor
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.shell.help import HelpCard
from app.theory.controller import WHILE_TRAINING
from app.theory.judge import Case, Judge, Judgement
from app.theory.margin_worker import MarginWorker
from app.theory.panel import COMPUTING, JUDGING, NO_STATEMENT, STOPPED
from app.theory.statement_buttons import INDENT, STRIPE
from app.views.margins import MarginsView
from app.widgets.levels import level_at
from app.widgets.verdict_mark import hue_of
from core.numbers import raise_powers, time_text
from core.problem.problem import Problem
from core.problem.schedule import coordinate
from core.reference.cancel_token import CancelToken
from core.reference.margin import Reference, ReferenceMargin, exact_bracket
from core.reference.registry import REFERENCES
from core.runs import open_run
from core.theorems.statement import Assessment
from tests.app.mouse import choose, click, opened, pick, view_menu
from tests.app.shell.conftest import Opener
from tests.recording import recorded
from tests.support import theory_stand_ins as stand_ins

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


pytestmark = pytest.mark.drawer("inspector")


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    path = tmp_path_factory.mktemp("theory") / "run.msrun"
    recorded(path, "recording.frames=10", "dynamics.until_log10_time=1", "data.n=16", "data.d=6")
    with open_run(path) as run:
        return run.problem


@pytest.fixture
def judged(program: Marginscope, qtbot: QtBot) -> Marginscope:
    """Return the window with the small study, its margins computed and its runs judged by them."""
    qtbot.waitUntil(lambda: settled(program))
    return program


def settled(program: Marginscope) -> bool:
    theory = program.theory
    runs = list(program.session)
    return not theory.busy and all(
        len(theory.results(run.key).margins) == 5
        and theory.results(run.key).judgement is not None
        and theory.results(run.key).mark[1] == 5
        for run in runs
    )


def margins_view(program: Marginscope, place: int = 0) -> MarginsView:
    view = program.display.panels[place].view("margins")
    assert isinstance(view, MarginsView)
    return view


# ------------------------------------------------------------------------------- the worker


def answers(worker: MarginWorker) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    worker.result.connect(lambda key, one: found.append((key, one.reference.name)))
    return found


def test_a_margin_is_computed_once_for_runs_of_the_same_problem(
    qtbot: QtBot, problem: Problem
) -> None:
    made = stand_ins.MadeUp("gamma", 1.0, exact_bracket(1.0, ""))
    worker = MarginWorker(None, lambda _: (made,), stand_ins.compute)
    found = answers(worker)
    worker.request({1: problem, 2: problem})
    qtbot.waitUntil(lambda: len(found) == 2)
    worker.close()
    assert sorted(found) == [(1, "gamma"), (2, "gamma")]
    assert made.computed == 1


def test_a_shared_margin_is_comparable_by_the_run_that_asks(qtbot: QtBot, problem: Problem) -> None:
    """A leaky network has the gamma_linear of a ReLU network, which does not bound its margin."""
    other = replace(problem, title="another")

    class OfOne(stand_ins.MadeUp):
        def is_comparable(self, asking: Problem) -> bool:
            return asking is problem

    made = OfOne("gamma", 1.0, exact_bracket(1.0, ""))
    worker = MarginWorker(None, lambda _: (made,), stand_ins.compute)
    found: dict[int, bool] = {}
    worker.result.connect(lambda key, one: found.update({key: one.is_comparable}))
    for first, second in ((problem, other), (other, problem)):
        worker.request({})
        found.clear()
        worker.request({1: first, 2: second})
        qtbot.waitUntil(lambda: len(found) == 2)
        assert found == {1: first is problem, 2: second is problem}
    worker.close()
    assert made.computed == 1


def test_cheap_margins_of_all_runs_come_before_dear_ones(qtbot: QtBot, problem: Problem) -> None:
    worker = MarginWorker(None, stand_ins.references_of, stand_ins.compute)
    found = answers(worker)
    worker.request({1: problem, 2: problem})
    qtbot.waitUntil(lambda: len(found) == 10)
    worker.close()
    ranks = [[one.name for one in stand_ins.references_of(problem)].index(n) for _, n in found]
    assert ranks == sorted(ranks)


def test_cheap_margins_of_another_run_do_not_wait_for_a_dear_one(
    qtbot: QtBot, problem: Problem
) -> None:
    go = threading.Event()
    dear = stand_ins.MadeUp("dear", 1.0, exact_bracket(1.0, ""), go)
    worker = MarginWorker(None, lambda _: (stand_ins.TANGENT, dear), stand_ins.compute)
    found = answers(worker)
    worker.request({1: problem})
    qtbot.waitUntil(dear.begun.is_set)
    worker.request({1: problem, 2: problem})
    qtbot.waitUntil(lambda: (2, "gamma_ntk") in found)
    go.set()
    qtbot.waitUntil(lambda: (2, "dear") in found)
    worker.close()
    assert dear.computed == 1


def test_answers_about_runs_that_were_closed_are_dropped(qtbot: QtBot, problem: Problem) -> None:
    slow = stand_ins.MadeUp("slow", 1.0, exact_bracket(1.0, ""), threading.Event())
    quick = stand_ins.MadeUp("quick", 1.0, exact_bracket(1.0, ""))
    worker = MarginWorker(
        None, lambda asked: (quick,) if asked is problem else (slow,), stand_ins.compute
    )
    other = Problem(problem.experiment, problem.dataset, problem.network, problem.start, "another")
    found = answers(worker)
    worker.request({1: other})
    qtbot.waitUntil(slow.begun.is_set)
    worker.request({2: problem})
    qtbot.waitUntil(lambda: bool(found))
    qtbot.waitUntil(lambda: not worker.busy)
    worker.close()
    assert found == [(2, "quick")]


def test_closing_ends_a_slow_computation(qtbot: QtBot, problem: Problem) -> None:
    others = set(threading.enumerate())  # of another window of this process
    slow = stand_ins.MadeUp("slow", 1.0, exact_bracket(1.0, ""), threading.Event())
    worker = MarginWorker(None, lambda _: (slow,), stand_ins.compute)
    worker.request({1: problem})
    qtbot.waitUntil(slow.begun.is_set)
    worker.close()
    left = set(threading.enumerate()) - others
    assert not any(thread.name == "margins" for thread in left)


# ------------------------------------------------------------------------------- the window


def test_a_slow_margin_is_named_and_cancelled_from_the_status_line(
    open_program: Opener,
    study: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    go = threading.Event()
    slow = stand_ins.MadeUp("gamma_gl", 0.5, exact_bracket(0.08, ""), go)
    references = (stand_ins.TANGENT, stand_ins.NARROW, slow)
    monkeypatch.setattr(stand_ins, "references_of", lambda problem: references)
    program = open_program(study)
    button = program.window.status.cancel
    qtbot.waitUntil(lambda: "\u03b3_gl" in button.accessibleName())
    listed = program.window.theory.margins
    first = ("gamma_ntk", ".0511", "gap 0.2 %")
    qtbot.waitUntil(lambda: first in listed.texts())
    qtbot.waitUntil(lambda: listed.texts()[1][2] == "heuristic")
    qtbot.waitUntil(lambda: listed.texts()[2] == ("gamma_gl", "\u2013", COMPUTING))
    qtbot.mouseClick(button, LEFT)
    qtbot.waitUntil(lambda: not program.theory.margins.busy)
    qtbot.waitUntil(button.isHidden)
    assert listed.texts()[2] == ("gamma_gl", "\u2013", STOPPED)
    # Another run gets its margins; those of the first stay cancelled, and can be resumed.
    first_run = program.display.current
    assert first_run is not None
    another = tmp_path / "another.msrun"
    recorded(another, "data.n=8", "data.d=4", "dynamics.until_log10_time=1", "recording.frames=10")
    program.files.open_files([str(another)], add=True)
    qtbot.waitUntil(lambda: len(program.session) == 3)
    qtbot.waitUntil(lambda: program.display.current is not first_run)
    qtbot.waitUntil(lambda: listed.texts()[2:] == [("gamma_gl", "\u2013", COMPUTING)])
    program.display.set_current(first_run.key)
    qtbot.waitUntil(lambda: listed.texts()[2:] == [("gamma_gl", "\u2013", STOPPED)])
    go.set()
    pick(qtbot, program.window, "Experiment", "Compute reference margins")
    qtbot.waitUntil(lambda: listed.texts()[2][1] == ".08")
    assert listed.texts()[2][2] == "cert."


def test_margins_and_verdicts_are_listed_for_the_chosen_run(judged: Marginscope) -> None:
    panel = judged.window.theory
    assert ("gamma_gl", ".081", "gap 1.6 %") in panel.margins.texts()
    assert ("gamma_linear", "\u2013", "none") in panel.margins.texts()
    assert ("gamma_l1", ".083", "heuristic") in panel.margins.texts()
    assert panel.run.text() == "m = 12"
    words = [panel.row(name).line.word for name in panel.names]
    assert len(set(words)) == len(words) == 7


def test_decided_statements_come_first_and_the_others_are_folded(
    judged: Marginscope, qtbot: QtBot
) -> None:
    panel = judged.window.theory
    by_number = [int(name.rpartition(" ")[2]) for name in panel.names]
    assert by_number == [4, 6, 1, 2, 3, 5, 7]  # violated ... undecided
    assert panel.summary.isVisible() and panel.summary.text() == (
        "7 apply: 1 is violated, 1 fails as printed, 1 holds, 1 holds beyond its hypotheses, 1 "
        "fails outside its hypotheses, 1 states no constant, 1 undecided"
    )
    assert panel.fold.text() == "Show 2 undecided"
    rows = [panel.row(name) for name in panel.names]
    assert [row.isVisible() for row in rows] == [True] * 5 + [False] * 2
    panel.fold.setFocus()
    qtbot.keyClick(panel.fold, Qt.Key.Key_Space)
    assert all(row.isVisible() for row in rows) and panel.fold.text().startswith("Hide")
    heights = [part.mapTo(panel, QPoint(0, 0)).y() for part in (*rows[:5], panel.fold, *rows[5:])]
    qtbot.waitUntil(lambda: not judged.theory.busy)
    assert heights == sorted(heights)
    qtbot.mouseClick(panel.fold, LEFT)
    assert not rows[6].isVisible()


def test_rows_do_not_change_places_in_use(judged: Marginscope, qtbot: QtBot) -> None:
    panel = judged.window.theory
    before = panel.names
    run = next(iter(judged.session))
    known = judged.theory.results(run.key).judgement
    assert known is not None
    reversed_ = [
        replace(one, verdict=other.verdict)
        for one, other in zip(known.assessments, reversed(known.assessments), strict=True)
    ]
    row = panel.row(before[0])
    row.line.setFocus()
    panel.show_assessments(reversed_, frozenset(), live=True)
    assert panel.names == before and row.line.hasFocus()
    judged.window.transport.slider.setFocus()
    QApplication.sendEvent(panel, QEvent(QEvent.Type.Leave))
    assert panel.names != before and set(panel.names) == set(before)
    assert panel.row(before[0]) is row
    # For the next test.
    panel.show_assessments(known.assessments, frozenset(), live=True, lines=known.lines)
    QApplication.sendEvent(panel, QEvent(QEvent.Type.Leave))


def test_reference_lines_lie_at_factor_times_value(judged: Marginscope, qtbot: QtBot) -> None:
    view = margins_view(judged)

    def heights() -> list[float]:
        return [view.plot.place(0.0, one.height)[1] for one in view.plot.drawn_levels]

    # Lines are drawn with the range of their frame, which follows what comes in.
    qtbot.waitUntil(lambda: any(abs(height - 0.0406) < 1e-9 for height in heights()))
    qtbot.waitUntil(lambda: len(view.plot.drawn_levels) == 3)
    by_label = {one.level.label: one for one in view.plot.drawn_levels}
    line = by_label["gamma_gl / 2"]
    assert (line.level.value, line.level.low) == (0.0406, 0.04)
    assert view.plot.place(0.0, line.height)[1] == pytest.approx(0.0406, abs=1e-9)
    boxes = [one.box for one in view.plot.drawn_levels]
    assert not any(a.intersects(b) for k, a in enumerate(boxes) for b in boxes[:k])
    assert all(view.plot.plot_area().contains(box) for box in boxes)
    assert by_label["gamma_nc"].height < view.plot.plot_area().top()
    found = level_at(view.plot.drawn_levels, *line.box.center().toTuple())
    assert found is line.level
    assert "branch and bound" in line.level.tip
    assert "certified" in line.level.tip


def test_lines_are_chosen_from_the_menu(judged: Marginscope, qtbot: QtBot) -> None:
    menu = opened(qtbot, judged.window, "View", "Reference margins")
    actions = {action.data(): action for action in menu.actions()}
    assert set(actions) == {"gamma_gl", "gamma_l1", "gamma_nc"}
    click(qtbot, menu, actions["gamma_gl"])
    first, second = (level.label for level in margins_view(judged).plot.overlay.levels)
    assert first in ("gamma_l1 (heuristic)", "gamma_l1 / 2 (heuristic)")
    assert second == "gamma_nc"
    run = next(iter(judged.session))
    assert [one.reference.name for one in judged.theory.curves.drawn_margins_of(run.key)] == [
        "gamma_l1",
        "gamma_nc",
    ]


def test_a_row_says_what_is_stated_since_when_and_by_how_much(
    judged: Marginscope, qtbot: QtBot
) -> None:
    """Slack and ratio of .0318 >= .0203, from the frame at which the stand-in begins to hold."""
    panel = judged.window.theory
    row = panel.row("telgarsky22 Theorem 1")
    run = list(judged.session)[-1]
    begins = raise_powers(time_text(float(run.data.log10_time[stand_ins.BEGINS])))
    assert row.line.timing == f"From {begins} on, least slack .0115 (ratio 1.57) at {begins}"
    assert row.line.sentence.startswith(
        "Telgarsky 2022: The normalised margin reaches a constant share of \u03b3"
    )
    assert row.line.timing in row.line.accessibleDescription()
    # Where in the run it holds is a stripe, as in the theorem time line.
    lines = {line.key: line for line in judged.window.times.rows.lines}
    assert row.line.stripe == lines["telgarsky22 Theorem 1"]
    colour = QColor(hue_of("positive", row.line._palette))
    picture, ratio = row.line.grab().toImage(), row.line.devicePixelRatioF()
    bottom = round(ratio * (row.line.height() - 0.5 * STRIPE - 4.0))
    reds = [picture.pixelColor(x, bottom) == colour for x in range(picture.width())]
    held = reds.count(True) / (row.line.width() - INDENT)
    assert 0.1 < held < 0.95 and reds.index(True) > INDENT + 10
    # All of it is seen, at any width of the panel: a narrow one has more lines.
    qtbot.waitUntil(lambda: row.line.height() == row.line.heightForWidth(row.line.width()))
    assert row.line.heightForWidth(160) > row.line.heightForWidth(400)


def test_another_delta_judges_anew(judged: Marginscope, qtbot: QtBot) -> None:
    before = stand_ins.STATEMENTS.asked
    judged.window.theory.delta.setValue(0.2)
    qtbot.waitUntil(lambda: stand_ins.STATEMENTS.asked >= before + 2)


def test_what_changes_while_the_judge_is_at_work_is_judged_afterwards(
    judged: Marginscope, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else asks again: the verdict at work may be told while its judge is still busy."""
    looks, before = [], stand_ins.STATEMENTS.asked

    def busy(judge: Judge) -> bool:
        looks.append(judge)
        return len(looks) <= 2

    monkeypatch.setattr(Judge, "busy", property(busy))
    judged.window.theory.delta.setValue(0.3)
    qtbot.waitUntil(lambda: stand_ins.STATEMENTS.asked >= before + 2)


def test_alarms_are_marked_on_the_slider_and_jumped_to(judged: Marginscope, qtbot: QtBot) -> None:
    slider = judged.window.transport.slider
    run = next(iter(judged.session))
    known = judged.theory.results(run.key).judgement
    assert known is not None
    moment = float(coordinate(known.alarms[0].log10_time))
    place = QPoint(round(slider.position_of(moment)), 5)
    found = slider.alarm_at(place.x())
    assert found is not None
    assert "The smoothed margin falls." in found[1]
    assert f"step {known.alarms[0].step}" in found[1].replace("\u202f", "")
    qtbot.mouseClick(slider, LEFT, pos=place + QPoint(3, 0))
    assert judged.display.intent.cursor == pytest.approx(moment, abs=1e-12)


def check_that_a_statement_opens_with_the_keyboard_and_shows_its_bound(
    judged: Marginscope, qtbot: QtBot
) -> None:
    panel = judged.window.theory
    row = panel.row("telgarsky22 Theorem 1")
    row.line.setFocus()
    qtbot.keyClick(row.line, Qt.Key.Key_Space)
    assert row.formula.isVisible()
    assert row.formula.readable
    assert "not met" in row.hypotheses.text()
    assert "Here: m = 12" in row.hypotheses.text()
    assert ".0318" in row.comparison.text()
    assert ".0203" in row.comparison.text()
    assert "evaluated is" in row.slip.text()
    assert row.citation.text() == (
        "Telgarsky. Feature selection with gradient descent on two-layer networks in low-rotation "
        "regimes. 2022. Theorem 1, Section 2."
    )
    qtbot.mouseClick(row.bound, LEFT, pos=QPoint(8, row.bound.height() // 2))
    view = margins_view(judged)
    assert "Thm 1" in [level.label for level in view.plot.overlay.levels]
    qtbot.waitUntil(judged.actions["undo"].isEnabled)
    judged.actions["undo"].trigger()
    assert not row.bound.isChecked()
    assert "Thm 1" not in [level.label for level in view.plot.overlay.levels]
    judged.actions["redo"].trigger()
    assert row.bound.isChecked()
    qtbot.keyClick(row.bound, Qt.Key.Key_Space)
    assert "Thm 1" not in [level.label for level in view.plot.overlay.levels]
    qtbot.keyClick(row.line, Qt.Key.Key_Space)
    assert not row.formula.isVisible()


def check_that_a_bound_on_an_observable_brings_up_its_curve(
    judged: Marginscope, qtbot: QtBot
) -> None:
    panel = judged.window.theory
    row = panel.row("telgarsky22 Theorem 2")
    qtbot.mouseClick(row.line, LEFT)
    qtbot.keyClick(row.bound, Qt.Key.Key_Space)
    assert "curves" in judged.display.view.wishes.views
    assert "distance" in judged.display.view.wishes.curves
    view = judged.display.panels[0].view("curves")
    assert [level.label for level in view.plot.overlay.levels] == ["Thm 2"]


def check_that_what_is_only_worth_knowing_is_marked_in_grey(
    judged: Marginscope, qtbot: QtBot
) -> None:
    """As the edge of stability is; an alarm at the same moment is louder."""
    slider = judged.window.transport.slider
    run = next(iter(judged.session))
    known = judged.theory.results(run.key).judgement
    one = known.alarms[0]
    calm = replace(one, text="The run is at the edge of stability.", calm=True)
    place = QPoint(round(slider.position_of(float(coordinate(one.log10_time)))), 4)
    seen = []
    for alarms in ((one,), (calm,), (calm, one)):
        slider.set_alarms(alarms)
        seen.append(slider.grab().toImage().pixelColor(place * slider.devicePixelRatioF()).name())
    loud, grey, both = seen
    assert grey == slider._palette.muted != loud
    assert both == loud
    slider.set_alarms((calm,))
    assert "edge of stability" in str(slider.alarm_at(place.x()))


def check_that_a_run_without_frames_is_still_being_checked(
    judged: Marginscope, qtbot: QtBot
) -> None:
    """A judgement of no frames is empty, and says nothing about which theorems apply."""
    theory, run = judged.theory, judged.display.current
    assert run is not None
    before = theory.results(run.key).judgement
    for frames, text in ((0, JUDGING), (3, NO_STATEMENT)):
        theory.results(run.key).judgement = Judgement(run.key, frames)
        theory._show_results()
        assert judged.window.theory.note.text() == text
    theory.results(run.key).judgement = before
    theory._show_results()


CHECKS = (
    check_that_a_statement_opens_with_the_keyboard_and_shows_its_bound,
    check_that_a_bound_on_an_observable_brings_up_its_curve,
    check_that_what_is_only_worth_knowing_is_marked_in_grey,
    check_that_a_run_without_frames_is_still_being_checked,
)


@pytest.mark.usefixtures("own_window")
def test_rows_and_alarms_in_a_window_of_their_own(
    judged: Marginscope, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    """A row that was opened remembers it, and the slider's alarms are replaced by others."""
    for check in CHECKS:
        with subtests.test(check.__name__):
            check(judged, qtbot)


def cards() -> list[HelpCard]:
    return [one for one in QApplication.topLevelWidgets() if isinstance(one, HelpCard)]


@pytest.mark.parametrize("how", ["plot", "header", "keys"])
def test_what_is_this_explains_a_view(judged: Marginscope, qtbot: QtBot, how: str) -> None:
    view = margins_view(judged)
    if how == "keys":
        view.plot.setFocus()
        QCursor.setPos(judged.window.frameGeometry().bottomRight() + QPoint(50, 50))  # at nothing
        qtbot.keyClick(judged.window, Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)
    else:
        part = view.header if how == "header" else view.plot.viewport()
        choose(view_menu(judged, part), "What is this?")
    (card,) = cards()
    (hard,) = (one for one in card.explanations if one.title == "hard margin")
    assert hard.normalisation == "divided by |W|^2, W = (a, V)"  # and not of all networks
    assert all(one.source for one in card.explanations)
    qtbot.keyClick(card, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not cards())


def test_without_a_run_the_panel_says_what_to_do(judged: Marginscope, qtbot: QtBot) -> None:
    qtbot.keyClick(judged.window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    panel = judged.window.theory
    assert panel.margins.texts() == []
    assert panel.margins.hint.text().startswith("Reference margins and theorems appear here")
    assert panel.names == ()


# ------------------------------------------------------------------------------- beside training


def test_theory_takes_little_while_something_is_trained(
    open_program: Opener, slow_study: Path, qtbot: QtBot
) -> None:
    program = open_program(slow_study)
    qtbot.waitUntil(lambda: any(run.has_started for run in program.session))
    assert program.theory.cpu_share() == WHILE_TRAINING
    program.training.pause(True)
    qtbot.waitUntil(lambda: program.theory.cpu_share() == 1.0)
    program.training.pause(False)
    qtbot.waitUntil(lambda: program.theory.cpu_share() == WHILE_TRAINING)
    program.training.stop()
    qtbot.waitUntil(lambda: program.theory.cpu_share() == 1.0)


def test_margins_and_verdicts_keep_to_their_share(problem: Problem, qtbot: QtBot) -> None:
    """Each is computed with a watch that asks for the share."""
    asked: list[str] = []
    watches: list[CancelToken] = []

    def share() -> float:
        asked.append(threading.current_thread().name)
        return 1.0

    def compute(reference: Reference, problem: Problem, watch: CancelToken) -> ReferenceMargin:
        watches.append(watch)
        watch.check()
        return stand_ins.compute(reference, problem, watch)

    worker = MarginWorker(None, stand_ins.references_of, compute)
    worker.set_cpu_share(share)
    worker.request({1: problem})
    qtbot.waitUntil(lambda: not worker.busy)
    worker.close()
    assert len(asked) == len(watches) == 5


@pytest.mark.parametrize("part", ["file", "alarms", "statements"])
def test_an_error_of_the_judge_is_a_judgement_that_failed(
    part: str, problem: Problem, qtbot: QtBot, tmp_path: Path
) -> None:
    """Otherwise the panel would say for ever that theorems are being checked."""

    def fail(*parts: object) -> tuple[Assessment, ...]:
        raise RuntimeError(part)

    def find_none(*parts: object) -> tuple[Assessment, ...]:
        return ()

    path = tmp_path / "run.msrun"
    if part != "file":
        recorded(
            path, "recording.frames=10", "dynamics.until_log10_time=1", "data.n=16", "data.d=6"
        )
    judge = Judge(
        None, fail if part == "statements" else find_none, fail if part == "alarms" else find_none
    )
    found: list[Judgement] = []
    judge.worker.result.connect(found.append)
    judge.request(Case(1, path, {}, 0.1))
    qtbot.waitUntil(lambda: bool(found))
    judge.close()
    assert [(one.key, one.failed, one.assessments) for one in found] == [(1, True, ())]


def test_a_card_says_each_formula_once(qtbot: QtBot) -> None:
    from app.shell.help import explanations_of
    from app.theory.formula import FormulaLabel

    parent = QWidget()
    qtbot.addWidget(parent)
    for names in (("rotations", "rotation"), ("norms", "relative_norm"), ("risk", "risk")):
        explained = explanations_of(names)
        card = HelpCard(explained, parent)
        assert len(explained) == 2
        assert explained[0].tex == explained[1].tex
        assert len(card.findChildren(FormulaLabel)) == 1
        shown = [label.text() for label in card.findChildren(QLabel)]
        assert len(shown) > 4
        assert explained[1].formula not in shown or names[0] == "norms"
    # Beside a drawn formula there is no line of the same.
    card = HelpCard(explanations_of(("risk",)), parent)
    assert not [label for label in card.findChildren(QLabel) if "sum_i" in label.text()]
    (drawn,) = card.findChildren(FormulaLabel)
    assert "sum_i l(p_i)" in drawn.accessibleDescription()


def test_a_card_says_once_what_its_margins_are_divided_by(qtbot: QtBot) -> None:
    from app.shell.help import explanations_of

    owner = QWidget()
    qtbot.addWidget(owner)
    card = HelpCard(explanations_of(("hard_margin", "smoothed_margin", "hard_margin")), owner)
    texts = [label.text() for label in card.findChildren(QLabel)]
    assert sum("divided by |W|^L" in text for text in texts) == 1
    assert "Normalisation: as above; the sum of the losses, without 1/n" in texts


def test_the_status_names_margins_in_words(program: Marginscope) -> None:
    """It said "computing gamma_ntk ...", with an underscore for the index."""
    words: list[str] = []
    program.theory.status.connect(words.append)
    for name in ("gamma_gl", "gamma_ntk"):
        program.theory.margins.margin_started.emit(0, REFERENCES[name])
    program.theory.margins.margin_started.emit(0, None)
    assert words == [
        "computing the global margin ...",
        "computing the tangent margin ...",
        "",
    ]
