"""Branches in the window: by the form, by one click, cancelled, refused; and what is seen."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QWidget
from pytestqt.qtbot import QtBot

from app.library.columns import COLUMNS
from app.shell.application import Marginscope
from app.state import frame_reading
from app.state.intent import Intent
from app.state.resolve import resolve, span_of
from app.state.session import RunSnapshot, Snapshot
from app.training.field_row import FieldRow
from app.training.step_dialog import StepDialog
from app.views.margins import MarginsView
from core.numbers import number_text
from core.runs import open_run
from tests.app.mouse import click_on, pick
from tests.app.shell.conftest import SLOW, Opener, trained
from tests.app.shell.shared_window import defer_painting
from tests.continuation.test_branches import branched_at
from tests.support.run_files import tamper

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
Key = Qt.Key
NOT_OF_ONE_FIELD = ("nothing is changed",)
DESCENT = """
title = "Descent"
[data]
d = 6
n = 12
[network]
m = 8
[dynamics]
kind = "gd"
step = 0.125
until_log10_time = 2.0
[recording]
frames = 40
[window]
views = ["neurons", "margins"]
"""


pytestmark = pytest.mark.drawer("form")


@pytest.fixture
def descent(tmp_path: Path) -> Path:
    path = tmp_path / "descent.toml"
    path.write_text(DESCENT)
    return path


def show_parent(program: Marginscope, parent: Path, qtbot: QtBot) -> None:
    """Open the run of descent or train it, and hold it at t = 10."""
    before = list(program.session)
    program.files.open_files([str(parent)])
    qtbot.waitUntil(lambda: list(program.session) != before and trained(program))
    program.window.activateWindow()  # as a window manager does when a menu is gone
    qtbot.waitUntil(program.window.isActiveWindow)
    go_to(program, qtbot, "10")


def go_to(program: Marginscope, qtbot: QtBot, time: str) -> None:
    qtbot.keyClick(program.window, Key.Key_J, CONTROL)
    field = program.window.transport.time
    qtbot.waitUntil(field.hasFocus)
    qtbot.keyClicks(field, time)
    qtbot.keyClick(field, Key.Key_Return)


def frame(program: Marginscope, place: int = 0) -> int:
    return program.display.view.runs[place].frame


def control(program: Marginscope, key: str) -> QWidget:
    rows = [row for one in program.window.form.sections.values() for row in one.rows]
    return next(row.control for row in rows if row.field.key == key)


def type_into(program: Marginscope, qtbot: QtBot, key: str, text: str) -> None:
    field = control(program, key)
    program.window.form._scroll.ensureWidgetVisible(field)
    QTest.mouseClick(field, Qt.MouseButton.LeftButton)
    field.selectAll()
    qtbot.keyClicks(field, text)


def text_of(program: Marginscope, key: str) -> str:
    field = control(program, key)
    return field.text()


def row_of(program: Marginscope, key: str) -> FieldRow:
    rows = program.window.form.sections[key.partition(".")[0]].rows
    return next(row for row in rows if row.field.key == key)


def branched(program: Marginscope, count: int = 2) -> bool:
    return len(program.session) == count and trained(program)


def rewind(program: Marginscope, qtbot: QtBot) -> None:
    click_on(program, "rewind")
    dialog = program.branches.dialog
    qtbot.waitUntil(dialog.isVisible)
    assert dialog.answer.text() == "step size = .0625"
    qtbot.keyClick(dialog.line, Key.Key_Return)
    qtbot.waitUntil(lambda: not program.window.findChildren(StepDialog))
    qtbot.waitUntil(lambda: branched(program))
    program.window.activateWindow()  # as a window manager does when a dialog is gone
    qtbot.waitUntil(program.window.isActiveWindow)


def assert_beside(program: Marginscope, at: int, step: float) -> None:
    """Assert that the parent is at the left, its child with another step at the right."""
    one, two = program.session
    before, after = one.data.run, two.data.run
    assert np.array_equal(after.parameters(0), before.parameters(at))
    assert after.log10_time[0] == before.log10_time[at]
    assert after.experiment.dynamics.step == step
    assert (after.continues or {})["run"] == before.name
    assert (after.continues or {})["frame"] == at
    assert two.heading == f"step {number_text(step)} from t = {10 ** before.log10_time[at]:.3g}"
    assert [panel.run for panel in program.display.panels] == [one, two]
    assert program.display.intent.cursor >= one.data.coordinate[at] - 1e-9


def test_branches_are_made_in_one_window(
    open_program: Opener, descent: Path, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    """Each case begins with the run of descent, and is painted once it is over."""
    program = open_program(descent)
    qtbot.waitUntil(lambda: trained(program))
    program.display.update_intent(views=("margins",))
    parent = next(iter(program.session)).path
    go_to(program, qtbot, "10")
    for check in CASES:
        with subtests.test(check.__name__), defer_painting(program.window):
            if check is not CASES[0]:
                show_parent(program, parent, qtbot)
            check(program, descent, qtbot)


# ---------------------------------------------------------------------------------- in the form


def check_branch_by_the_form(parent: Marginscope, descent: Path, qtbot: QtBot) -> None:
    """Ctrl+B, another step, Ctrl+R: the child plays beside its parent, from that moment on."""
    show_parent(parent, descent, qtbot)  # a run that is trained here is called by its title
    program, line = parent, parent.window.form.branch
    at, (run,) = frame(parent), parent.session
    assert 0 < at < run.data.frames - 1
    assert not line.isVisible()
    qtbot.keyClick(program.window, Key.Key_B, CONTROL)
    assert line.isVisible()
    time = 10.0 ** float(run.data.log10_time[at])
    shown = line.words.text().replace("\u00a0", " ")
    assert shown == f"Branch of Descent at t = {time:.3g}"
    type_into(program, qtbot, "dynamics.step", "0.0625")
    qtbot.keyClick(program.window, Key.Key_R, CONTROL)
    qtbot.waitUntil(lambda: branched(program))
    assert program.window.bar.text == ""
    assert next(iter(program.session)) is run
    assert_beside(program, at, 0.0625)
    assert not line.isVisible()
    assert text_of(program, "dynamics.step") == "0.0625"
    # Before the branch begins the time is that of its parent.
    program.playback.seek_start()
    assert program.window.transport.time.text() == "t = 0"
    program.playback.seek_end()
    qtbot.keyClick(program.window, Key.Key_R, CONTROL)  # from the start again, as ever
    qtbot.waitUntil(lambda: branched(program, 1))
    (again,) = program.session
    assert again.data.run.continues is None


def check_cancel_returns_the_form(parent: Marginscope, descent: Path, qtbot: QtBot) -> None:
    """With what was typed into it before, though it was not trained."""
    program, form = parent, parent.window.form
    type_into(program, qtbot, "data.n", "14")
    pick(qtbot, program.window, "Experiment", "Branch here ...")
    assert text_of(program, "data.n") == "12"  # the parent's
    type_into(program, qtbot, "dynamics.step", "0.5")
    QTest.mouseClick(form.branch.cancel, Qt.MouseButton.LeftButton)
    assert not form.branch.isVisible()
    assert text_of(program, "data.n") == "14"
    assert text_of(program, "dynamics.step") == "0.125"
    assert len(program.session) == 1
    qtbot.keyClick(program.window, Key.Key_R, CONTROL)
    qtbot.waitUntil(lambda: branched(program, 1))
    (run,) = program.session
    assert run.data.run.dataset.n == 14


def check_another_study_is_no_branch(parent: Marginscope, descent: Path, qtbot: QtBot) -> None:
    qtbot.keyClick(parent.window, Key.Key_B, CONTROL)
    assert parent.window.form.branch.isVisible()
    (run,) = parent.session
    parent.files.open_files([str(descent)])
    qtbot.waitUntil(lambda: next(iter(parent.session)) is not run and trained(parent))
    assert not parent.window.form.branch.isVisible()


def check_wrong_values_are_named_and_nothing_is_lost(
    parent: Marginscope, descent: Path, qtbot: QtBot
) -> None:
    program, bar = parent, parent.window.bar
    (run,) = program.session
    qtbot.keyClick(program.window, Key.Key_B, CONTROL)
    for key, text, words in (
        ("dynamics.step", "0.125", "nothing is changed"),
        ("dynamics.step", "0.1, 0.2", "A branch is a single run"),
        ("data.n", "13", "gives other points"),
        ("network.m", "9", "sets the initialisation"),
        ("dynamics.until_log10_time", "0.5", "is before the frame's"),
    ):
        before = text_of(program, key)
        type_into(program, qtbot, key, text)
        qtbot.keyClick(program.window, Key.Key_R, CONTROL)
        assert words in bar.text, (key, bar.text)
        assert str(run.path) not in bar.text
        assert bar.text.startswith(run.heading) == (words in NOT_OF_ONE_FIELD)
        assert key not in bar.text  # the form's words for it
        row = row_of(program, key)
        assert bool(row.problem) == (words not in NOT_OF_ONE_FIELD)
        assert not row.problem or row.problem == bar.text
        assert not row.problem or row.control.hasFocus()
        assert list(program.session) == [run]
        assert program.window.form.branch.isVisible()
        assert text_of(program, key) == text
        type_into(program, qtbot, key, before)
        assert not row.problem
    type_into(program, qtbot, "dynamics.step", "0.5")
    run.path.rename(run.path.with_suffix(".gone"))
    qtbot.keyClick(program.window, Key.Key_R, CONTROL)
    assert bar.text == (
        f"{run.heading}: its file {run.path.name} no longer exists. Open another run to branch "
        "from."
    )
    assert list(program.session) == [run]
    run.path.with_suffix(".gone").rename(run.path)
    qtbot.keyClick(program.window, Key.Key_R, CONTROL)  # all that was typed is still there
    qtbot.waitUntil(lambda: branched(program))
    assert bar.text == ""


def check_nothing_to_branch_from(program: Marginscope, descent: Path, qtbot: QtBot) -> None:
    (run,) = program.session
    run.stands_in = True
    program.branches.offer()
    assert "watching a shipped recording" in program.window.bar.text
    run.stands_in = False
    qtbot.keyClick(program.window, Key.Key_W, CONTROL)
    assert not program.actions["branch"].isEnabled()
    assert not program.actions["rewind"].isEnabled()
    program.branches.offer()
    assert "No run to branch from" in program.window.bar.text
    assert not program.window.form.branch.isVisible()


def check_the_run_of_the_pinned_node(program: Marginscope, descent: Path, qtbot: QtBot) -> None:
    """Of two runs the one whose node is pinned: it moves to the left, and the other one is closed;
    a branch of a branch, too."""
    two = descent.with_name("two.toml")
    two.write_text(DESCENT.replace("m = 8", "") + '[axes]\n"network.m" = [8, 9]\n')
    program.files.open_files([str(two)])
    qtbot.waitUntil(lambda: branched(program))
    first, second = program.session
    go_to(program, qtbot, "10")
    program.display.update_intent(pinned=frozenset({(second.key, 3)}))
    qtbot.keyClick(program.window, Key.Key_B, CONTROL)
    assert "m = 9" in program.window.form.branch.words.text()
    at = frame(program, 1)
    type_into(program, qtbot, "dynamics.step", "0.25")
    qtbot.keyClick(program.window, Key.Key_R, CONTROL)
    qtbot.waitUntil(lambda: branched(program) and next(iter(program.session)) is second)
    assert first.data is None
    assert_beside(program, at, 0.25)
    child = list(program.session)[1]
    go_to(program, qtbot, "50")
    program.display.update_intent(pinned=frozenset({(child.key, 3)}))
    qtbot.keyClick(program.window, Key.Key_B, CONTROL)
    at = frame(program, 1)
    assert at > 0
    type_into(program, qtbot, "dynamics.step", "0.5")
    qtbot.keyClick(program.window, Key.Key_R, CONTROL)
    qtbot.waitUntil(lambda: branched(program) and next(iter(program.session)) is child)
    assert_beside(program, at, 0.5)


def check_branch_of_a_run_that_is_still_trained(
    program: Marginscope, descent: Path, qtbot: QtBot
) -> None:
    """Both go on side by side; the parent is not held up."""
    slow = descent.with_name("slow.toml")
    slow.write_text(SLOW)
    before = list(program.session)
    program.files.open_files([str(slow)])
    qtbot.waitUntil(lambda: list(program.session) != before and bool(program.session.live))
    (run,) = program.session
    qtbot.waitUntil(lambda: frames(program)[0] > 4)
    qtbot.keyClick(program.window, Key.Key_B, CONTROL)
    type_into(program, qtbot, "dynamics.step", "2e-5")
    qtbot.keyClick(program.window, Key.Key_R, CONTROL)
    qtbot.waitUntil(lambda: len(frames(program)) == 2 and frames(program)[1] > 2)
    assert run.live
    shown = frames(program)
    qtbot.waitUntil(lambda: all(a > b for a, b in zip(frames(program), shown, strict=True)))
    one, two = program.session
    assert one is run
    at = (two.data.run.continues or {})["frame"]
    assert np.array_equal(two.data.run.parameters(0), one.data.run.parameters(at))


def frames(program: Marginscope) -> list[int]:
    return [0 if one.data is None else one.data.frames for one in program.session]


# -------------------------------------------------------------------------------- by one click


def check_rewind_with_half_the_step(parent: Marginscope, descent: Path, qtbot: QtBot) -> None:
    program, at = parent, frame(parent)
    rewind(program, qtbot)
    assert_beside(program, at, 0.0625)
    assert text_of(program, "dynamics.step") == "0.0625"
    assert not program.window.form.branch.isVisible()


def test_a_branch_is_undone_and_made_again(
    open_program: Opener, descent: Path, qtbot: QtBot
) -> None:
    """Undo shows the parent alone, redo both; an offered branch goes with its form.

    The window is a new one: its history has no steps before those of the branch.
    """
    program = open_program(descent)
    qtbot.waitUntil(lambda: trained(program))
    go_to(program, qtbot, "10")
    with defer_painting(program.window):
        undo_and_redo_a_branch(program, qtbot)


def undo_and_redo_a_branch(program: Marginscope, qtbot: QtBot) -> None:
    line = program.window.form.branch
    (one,) = program.session
    rewind(program, qtbot)
    paths = [run.path for run in program.session]
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    for _ in range(4):  # the form, and the runs
        if len(program.session) == 2:
            qtbot.keyClick(program.window, Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: branched(program, 1))
    assert [run.path for run in program.session] == paths[:1] == [one.path]
    for _ in range(4):
        if len(program.session) == 1:
            qtbot.keyClick(program.window, Key.Key_Z, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: branched(program))
    assert [run.path for run in program.session] == paths
    assert [run.heading[:10] for run in program.session][1] == "step .0625"
    qtbot.keyClick(program.window, Key.Key_B, CONTROL)
    assert line.isVisible()
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    before = text_of(program, "dynamics.step")
    qtbot.keyClick(program.window, Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: text_of(program, "dynamics.step") != before or not line.isVisible())
    assert not line.isVisible()


def check_rewind_with_any_step(parent: Marginscope, descent: Path, qtbot: QtBot) -> None:
    """A factor or a value; what is none cannot be trained, and Escape leaves all as it was."""
    program = parent
    go_to(program, qtbot, "0")
    qtbot.keyClick(program.window, Key.Key_B, CONTROL | SHIFT)
    dialog = program.branches.dialog
    qtbot.waitUntil(dialog.isVisible)
    train = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    for text, enabled in (("half", False), ("0.125", False), ("/ 0", False), ("* 4", True)):
        dialog.line.selectAll()
        qtbot.keyClicks(dialog.line, text)
        assert train.isEnabled() == enabled, text
    qtbot.keyClick(dialog, Key.Key_Escape)
    qtbot.waitUntil(lambda: not program.window.findChildren(StepDialog))
    assert len(program.session) == 1
    pick(qtbot, program.window, "Experiment", "Retrain from here with a new step ...")
    dialog = program.branches.dialog
    qtbot.waitUntil(dialog.isVisible)
    qtbot.keyClicks(dialog.line, "0.25")
    QTest.mouseClick(
        dialog.buttons.button(QDialogButtonBox.StandardButton.Ok), Qt.MouseButton.LeftButton
    )
    qtbot.waitUntil(lambda: branched(program))
    one, two = program.session
    assert np.array_equal(two.data.run.parameters(0), one.data.run.parameters(0))
    assert two.heading == "step .25 from t = 0"
    assert not two.data.past.has_unread
    assert not two.data.past.is_complete


def test_a_flow_has_no_step(program: Marginscope, qtbot: QtBot) -> None:
    qtbot.keyClick(program.window, Key.Key_B, CONTROL | SHIFT)
    assert program.branches.dialog is None
    assert "have no step size" in program.window.bar.text


# ------------------------------------------------------------------------------------ to be seen


def check_margins_of_the_parent(parent: Marginscope, descent: Path, qtbot: QtBot) -> None:
    """Dimmed in the plot of the child: the parent's own curve, joined to the child's."""
    program, at = parent, frame(parent)
    rewind(program, qtbot)
    one, two = program.session
    known = two.data.past
    assert known.is_complete
    assert np.array_equal(known.margins, one.data.margins[:at])
    assert np.array_equal(known.log10_time, one.data.log10_time[:at])
    assert np.array_equal(known.steps, one.data.steps[:at])
    assert np.allclose(known.log10_norm_squared, one.data.log10_norm_squared[:at], rtol=1e-14)
    shown = [view for panel in program.display.panels for view in panel.views]
    views = [view for view in shown if isinstance(view, MarginsView)]
    assert [len(view.past.curves) for view in views] == [0, 3]
    path = views[1].past.curves[0][0]
    last = path.elementAt(path.elementCount() - 1)
    own = views[1].places[0], float(two.data.margins[0, 0])
    assert (last.x, last.y) == pytest.approx(own)
    first = path.elementAt(0)
    theirs = float(views[0].places[1]), float(one.data.margins[1, 0])
    assert (first.x, first.y) == pytest.approx(theirs)
    # Labels keep off the past, too.
    assert views[1]._obstacles.values.shape[1] == at + two.data.frames
    # Both views have one range, so that the same is seen at the same place.
    qtbot.waitUntil(lambda: ranges(views[0]) == pytest.approx(ranges(views[1])))
    for axis in ("step", "norm_squared", "log10_time"):
        program.display.update_intent(margin_axis=axis)
        path = views[1].past.curves[0][0]
        points = [path.elementAt(k) for k in range(path.elementCount())]
        assert len(points) >= at
        assert all(math.isfinite(point.x) and math.isfinite(point.y) for point in points)


def ranges(view: MarginsView) -> list[float]:
    return [end for ends in view.plot.view.viewRange() for end in ends]


def check_child_that_is_opened_alone(parent: Marginscope, descent: Path, qtbot: QtBot) -> None:
    """Its heading says what it is, and its past comes from its own file."""
    (run,) = parent.session
    branched_at(descent.parent / "child.msrun", run.path, 12, "dynamics.step=0.25")
    branched_at(descent.parent / "other.msrun", run.path, 12, "data.k=3")
    parent.files.open_files(
        [str(descent.parent / "child.msrun"), str(descent.parent / "other.msrun")]
    )
    qtbot.waitUntil(lambda: branched(parent))
    child, other = parent.session
    with open_run(run.path) as before:
        time = 10 ** float(before.log10_time[12])
    assert child.heading == f"step .25 from t = {time:.3g}"
    assert other.heading == f"k = 3 from t = {time:.3g}"
    assert child.data.past.is_complete
    assert child.data.past.margins.shape == (12, 3)
    assert not other.data.past.is_complete  # other labels are another problem, which has no past
    assert not other.data.past.has_unread


def check_long_or_damaged_past(parent: Marginscope, descent: Path, qtbot: QtBot) -> None:
    """The run itself is shown all the same."""
    (run,) = parent.session
    for name in ("long", "damaged"):
        branched_at(descent.parent / f"{name}.msrun", run.path, 12, "dynamics.step=0.25")
    sql = "UPDATE array SET crc32 = crc32 + 1 WHERE name = 'history_parameters'"
    tamper(descent.parent / "damaged.msrun", sql)
    parent.files.open_files([str(descent.parent / "damaged.msrun")])
    qtbot.waitUntil(lambda: branched(parent, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame_reading, "MOST_BYTES", 1000)
        parent.files.open_files([str(descent.parent / "long.msrun")], add=True)
        qtbot.waitUntil(lambda: branched(parent))
    for one in parent.session:
        assert one.failure == ""
        assert one.data.frames > 10
        assert not one.data.past.is_complete
    assert parent.window.bar.text == ""
    # What is missing of the long one is said where it would be.
    damaged, long = (panel.view("margins").plot for panel in parent.display.panels)
    qtbot.waitUntil(lambda: long.overlay.corner == frame_reading.TOO_LONG)
    assert damaged.overlay.corner != frame_reading.TOO_LONG


def check_the_library_shows_the_tree(parent: Marginscope, descent: Path, qtbot: QtBot) -> None:
    """The child below its parent, with a mark; sorted by a number the list is flat."""
    program = parent
    rewind(program, qtbot)
    qtbot.keyClick(program.window, Key.Key_L, CONTROL)
    panel = program.library.panel
    qtbot.waitUntil(lambda: len(panel.model.entries) == 2)
    qtbot.waitUntil(lambda: all(one.readable for one in panel.model.entries))
    one, two = program.session
    assert [entry.path for entry in panel.model.entries] == [one.path, two.path]
    name = panel.model.index(1, 1)
    shown = str(panel.model.data(name))
    assert shown.startswith("\u21b3 step .0625, branched at t = ")
    assert not str(panel.model.data(panel.model.index(0, 1))).startswith("\u21b3")
    tip = str(panel.model.data(name, Qt.ItemDataRole.ToolTipRole))
    lineage = f"branched from {one.path.name} at t = "
    assert lineage in tip
    assert "step .0625" in tip
    spoken = panel.model.data(name, Qt.ItemDataRole.AccessibleTextRole)
    assert lineage in str(spoken)
    panel.search.setFocus()
    qtbot.keyClicks(panel.search, f'parent == "{one.path.name}" and step < .1')
    qtbot.waitUntil(lambda: [entry.path for entry in panel.model.entries] == [two.path])
    panel.search.clear()
    qtbot.waitUntil(lambda: len(panel.model.entries) == 2)
    header = panel.table.horizontalHeader()
    size = next(place for place, column in enumerate(COLUMNS) if column.name == "size")
    for _ in range(2):  # by size either way: whoever is larger stands first, parent or not
        here = QPoint(header.sectionViewportPosition(size) + 10, header.height() // 2)
        QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=here)
        sizes = [entry.size for entry in panel.model.entries]
        assert sizes in (sorted(sizes), sorted(sizes, reverse=True))
    program.actions["library"].setChecked(False)


# The library first, while the user has no other runs; last what leaves a run in training.
CASES = (
    check_the_library_shows_the_tree,
    check_branch_by_the_form,
    check_cancel_returns_the_form,
    check_another_study_is_no_branch,
    check_wrong_values_are_named_and_nothing_is_lost,
    check_rewind_with_half_the_step,
    check_rewind_with_any_step,
    check_margins_of_the_parent,
    check_child_that_is_opened_alone,
    check_long_or_damaged_past,
    check_nothing_to_branch_from,
    check_the_run_of_the_pinned_node,
    check_branch_of_a_run_that_is_still_trained,
)


def test_the_cursor_waits_at_the_branch_until_there_are_frames() -> None:
    """Of a child that has none, or only its first, the edge is the moment at which it begins."""
    own = RunSnapshot(1, np.linspace(-1.0, 3.0, 9), 3.0, False, 4)
    intent = Intent(cursor=2.0, playing=True)
    for known in (np.empty(0), np.array([2.0])):
        child = RunSnapshot(2, known, 3.0, True, 0 if not known.size else 4, 2.0)
        both = Snapshot((own, child))
        assert span_of(both).edge == 2.0
        assert resolve(intent, both).cursor == 2.0
    fresh = RunSnapshot(2, np.empty(0), 3.0, True, 0)
    assert span_of(Snapshot((own, fresh))).edge == -1.0
