"""Data drawn by hand, between the window for that and the form: trained as they are, and kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.data.drawing import FIX_FIRST, WAITS, points_of, with_points
from app.data.drawing_window import DrawingWindow
from app.scenes.session_keeper import LastSession, parse_session, session_text
from app.shell.application import Marginscope
from app.training.field_row import FieldRow
from app.training.fields import text_of
from app.training.study_edits import Edits, StudyEdits
from core.data.points import ISLAND, MAX_POINTS, PointsData
from core.errors import InputError
from core.library.run_notes import change_about
from core.problem.problem import resolve_problem
from core.runs import Recorder, open_run
from core.studies.study import load_study, parse_study
from core.training.trajectory import run
from tests.app.drawing import FOUR, begin_with_four, click, drag, press, steps_of
from tests.app.mouse import keys, pick
from tests.app.shell.conftest import STUDY, Opener, trained
from tests.app.shell.shared_window import defer_painting

Key, Button = Qt.Key, Qt.MouseButton
NONE, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def window(program: Marginscope, qtbot: QtBot) -> Iterator[DrawingWindow]:
    """Yield the window to draw in, opened by its keys, with four points; it alone is painted."""
    keys(qtbot, program.window, Key.Key_F8, SHIFT)
    found = program.drawing.window
    qtbot.waitUntil(found.isVisible)
    assert found.sketch.points == ISLAND
    begin_with_four(found)
    with defer_painting(program.window):
        yield found


def test_keys_do_what_the_mouse_does(window: DrawingWindow) -> None:
    press(window, Key.Key_Insert)
    assert window.sketch.points[4] == (0.0, 0.0, 1.0)
    press(window, Key.Key_Right)
    press(window, Key.Key_Up, SHIFT)
    x, y, _ = window.sketch.points[4]
    assert (x, y) == (0.05, 0.5)
    press(window, Key.Key_F)
    assert window.sketch.points[4] == (0.05, 0.5, -1.0)
    press(window, Key.Key_A, CONTROL)
    assert window.sketch.selected == set(range(5))
    press(window, Key.Key_Delete)
    assert window.sketch.points == ()
    words = steps_of(window)
    assert words == ["Add a point", "Move 1 point", "Flip 1 point", "Delete 5 points"]
    assert window.actions_of["undo"].toolTip() == "Undo: Delete 5 points (Ctrl+Z)"
    for _ in words:
        press(window, Key.Key_Z, CONTROL)
    assert window.sketch.points == FOUR
    assert not window.actions_of["undo"].isEnabled()
    for _ in words:
        press(window, Key.Key_Z, CONTROL | SHIFT)
    assert window.sketch.points == ()
    assert not window.train.isEnabled()
    assert window.train.toolTip() == f"0 points are given; give 2 to {MAX_POINTS}."


# ------------------------------------------------------------------------------------- to train


def runs_of(program: Marginscope) -> list[Path]:
    return [run.path for run in program.session]


def points_in(program: Marginscope) -> object:
    """Return the points that the form would train on; None for other data."""
    study = program.window.form.study()
    return getattr(next(study.iter_cells()).experiment.data, "points", None)


def test_the_run_is_trained_on_exactly_the_points(
    program: Marginscope, window: DrawingWindow, qtbot: QtBot
) -> None:
    button = program.window.form.sections["data"].draw
    assert not button.isVisible()
    click(window, 0.3, 0.7)
    drag(window, (0.5, 0.0), (0.8, 0.4))
    window.biases.click()
    points, before = window.sketch.points, runs_of(program)
    QTest.mouseClick(window.train, Button.LeftButton)
    qtbot.waitUntil(lambda: runs_of(program) != before and trained(program))
    for path in runs_of(program):
        with open_run(path) as made:
            assert made.dataset.x.tolist() == [list(row[:2]) for row in points]
            assert made.dataset.y.tolist() == [row[2] for row in points]
            assert made.experiment.network.kind == "bias"
            assert made.title.startswith("5 drawn points, bias network \u00b7 after ")
    assert {"neurons", "predictor"} <= set(program.display.view.wishes.views)
    # The library's words find it, and a session keeps it.
    edits = program.window.form.edits
    assert edits is not None
    kept = parse_session(session_text(LastSession(program.scenes.scene)))
    assert kept.scene.form == edits
    # The data are a step by name.
    words = [step.words for step in program.scenes.history.past]
    assert words[:2] == ["network = Bias", "Draw the data"]
    keys(qtbot, program.window, Key.Key_Z, CONTROL)
    keys(qtbot, program.window, Key.Key_Z, CONTROL)
    assert points_in(program) is None
    assert window.sketch.points == points  # what was drawn is still there
    keys(qtbot, program.window, Key.Key_Z, CONTROL | SHIFT)
    assert points_in(program) == points
    # The form leads back to the window.
    window.close()
    QTest.mouseClick(button, Button.LeftButton)
    assert window.isVisible()


def test_what_is_drawn_is_in_the_form_when_the_window_is_left(
    program: Marginscope, window: DrawingWindow, qtbot: QtBot
) -> None:
    click(window, 0.3, 0.7)
    points = window.sketch.points
    window.close()
    assert points_in(program) == points
    assert [step.words for step in program.scenes.history.past] == ["Draw the data"]
    # What is no data waits, and is there again.
    pick(qtbot, program.window, "Experiment", "Draw data ...")
    assert window.isVisible()
    for row in (0, 3):
        click(window, *points[row][:2], Button.RightButton)
    window.close()
    assert program.window.bar.text.startswith(WAITS.partition("{")[0])
    assert "all points have the label +1" in program.window.bar.text
    assert window.sketch.count(1.0) == 5
    assert len(program.scenes.history.past) == 1
    assert points_in(program) == points


@pytest.mark.usefixtures("own_window")
def test_a_session_keeps_what_is_drawn(program: Marginscope, window: DrawingWindow) -> None:
    click(window, 0.3, 0.7)
    points = window.sketch.points
    program.window.close()
    assert program.drawing.window is None
    form = parse_session(program.places.session.read_text()).scene.form
    assert dict(form.kinds)["data"] == "points"
    assert dict(form.texts)["data.points"] == text_of(points)


def test_the_points_of_the_form_are_shown(
    program: Marginscope, window: DrawingWindow, qtbot: QtBot
) -> None:
    click(window, 0.3, 0.7)
    window.close()
    program.drawing.show()
    rows: list[FieldRow] = program.window.form.sections["data"].rows
    (row,) = [row for row in rows if row.field.key == "data.points"]
    control = row.control
    program.window.activateWindow()
    control.setFocus()
    control.selectAll()
    QTest.keyClicks(control, "0.5, 1; -0.5, -1")
    assert window.sketch.points == ((0.5, 1.0), (-0.5, -1.0))
    assert window.history.undoText() == "Use points from Settings"
    QTest.keyClicks(control, "; 3")
    text = "point 3 has 1 number and point 1 has 2 numbers"
    assert text in program.window.form.problems()["data.points"]
    QTest.mouseClick(window.train, Button.LeftButton)  # the window's points are right
    qtbot.waitUntil(lambda: trained(program))
    assert not program.window.form.problems()


def test_a_wrong_value_of_the_form_is_said(
    program: Marginscope, window: DrawingWindow, qtbot: QtBot
) -> None:
    (row,) = [r for r in program.window.form.sections["network"].rows if r.field.name == "m"]
    row.control.setFocus()
    row.control.selectAll()
    QTest.keyClicks(row.control, "wide")
    before = runs_of(program)
    QTest.mouseClick(window.train, Button.LeftButton)
    assert window.bar.text.startswith(FIX_FIRST)
    assert window.bar.text.endswith("m = 'wide': a number is needed.")
    assert runs_of(program) == before


def test_a_recorded_run_gives_its_points(show_files: Opener, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "drawn.msrun"
    study = (
        StudyEdits.from_edits(with_points(Edits(parse_study(STUDY, "small")), FOUR)).outcome().study
    )
    run(resolve_problem(next(study.iter_cells()).experiment), partial(Recorder, path))
    program = show_files(path)
    qtbot.waitUntil(lambda: runs_of(program) == [path] and trained(program))
    program.drawing.show()
    window = program.drawing.window
    assert window.sketch.points == FOUR
    # Another point in the points of a run, whose settings say how many there were.
    click(window, -0.7, 0.7)
    QTest.mouseClick(window.train, Button.LeftButton)
    qtbot.waitUntil(lambda: runs_of(program) != [path] and trained(program))
    with open_run(runs_of(program)[0]) as again:
        assert again.dataset.n == len(FOUR) + 1


def test_training_follows_the_drawing(
    program: Marginscope, window: DrawingWindow, qtbot: QtBot
) -> None:
    """The last runs stay, and one step.

    Runs between go to the trash, unless they are tagged, a later run continues them, or a step of
    their own brings them back.
    """
    program.display.update_intent(views=("neurons", "predictor"))
    program.scenes.clear_history()
    first = runs_of(program)
    QTest.mouseClick(window.always, Button.LeftButton, pos=QPoint(8, 8))
    assert window.always.isChecked()
    every: list[list[Path]] = []

    def draw(x: float, y: float) -> None:
        before = runs_of(program)
        click(window, x, y)
        qtbot.waitUntil(lambda: runs_of(program) not in ([], before))
        qtbot.waitUntil(lambda: trained(program))
        every.append(runs_of(program))

    draw(0.3, 0.7)
    change_about(every[0][0], lambda about: replace(about, tags=("talk",)))
    draw(-0.7, 0.7)
    draw(0.9, 0.1)
    with open_run(every[2][0]) as last:
        assert last.dataset.n == len(window.sketch.points) == len(FOUR) + 3
    gone = [every[0][1], *every[1]]
    qtbot.waitUntil(lambda: not any(path.exists() for path in gone))
    assert all(path.exists() for path in (*first, every[0][0], *every[2]))
    trash = program.places.runs / ".trash"
    assert {path.name for path in trash.rglob("*.msrun")} == {path.name for path in gone}
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    assert [step.words for step in program.scenes.history.past] == ["Draw and train"]
    points = window.sketch.points
    keys(qtbot, program.window, Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: runs_of(program) == first)
    assert points_in(program) is None
    keys(qtbot, program.window, Key.Key_Z, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: runs_of(program) == every[2])
    assert points_in(program) == points
    # After something else was done the runs are those of another step, to which undo leads back.
    pick(qtbot, program.window, "View", "Curves against", "step")
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    draw(0.1, 0.4)
    draw(-0.3, -0.8)
    qtbot.waitUntil(lambda: not any(path.exists() for path in every[3]))
    qtbot.waitUntil(lambda: not program.library.librarian.busy)
    assert all(path.exists() for path in every[2])
    words = [step.words for step in program.scenes.history.past]
    assert words == ["Draw and train", "Curves against step", "Draw and train"]
    keys(qtbot, program.window, Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: runs_of(program) == every[2])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("homogeneity-odd-parity", ""),
        ("frei23-figure-1", "2"),  # its variants name d
        ("wei19-theorem-2-1", "2"),  # its formulas do
    ],
)
def test_studies_of_other_data_take_points(name: str, said: str) -> None:
    edits = with_points(Edits(load_study(name)), FOUR)
    outcome = StudyEdits.from_edits(edits).outcome()
    assert outcome.study is not None
    cell = next(outcome.study.iter_cells())
    assert cell.experiment.data == PointsData(points=FOUR)
    assert dict(edits.texts)["data.d"] == said


UNSUITED = (
    ("frei23-figure-2", "batch = 128 is larger than n = 12", "batch", "12"),
    ("telgarsky22-theorem-2-1", "fresh = true needs a distribution", "fresh", "false"),
)


def test_studies_that_points_do_not_suit_say_why_and_what_to_change(
    program: Marginscope, window: DrawingWindow, subtests: pytest.Subtests
) -> None:
    """A batch of more points than there are, and fresh examples of a distribution that is not
    there: neither can be trained. What the sentence says to change helps."""
    window.replace(ISLAND, "twelve")
    for name, said, key, text in UNSUITED:
        with subtests.test(name):
            words = refused(program, window, name)
            assert words.startswith(FIX_FIRST)
            assert said in words
            edits = program.window.form.edits
            assert edits is not None
            mended = replace(edits, texts=(*edits.texts, (f"dynamics.{key}", text)))
            outcome = StudyEdits.from_edits(mended).outcome()
            assert outcome.study is not None, outcome.problems
            assert next(outcome.study.iter_cells()).experiment.data.kind == "points"
    with subtests.test("variants that need a distribution"):
        # The form has no field for what variants say: no value of it would help.
        words = refused(program, window, "telgarsky22-table-1")
        assert "its variants SGD, lazy SGD" in words
        assert words.endswith("Choose another study.")


def refused(program: Marginscope, window: DrawingWindow, name: str) -> str:
    """Ask to train a study on the points; return what is said in place of that."""
    program.training.offer(name)
    window.bar.clear()
    before = runs_of(program)
    QTest.mouseClick(window.train, Button.LeftButton)
    assert runs_of(program) == before
    return window.bar.text


# ---------------------------------------------------------------------------------- files, looks


def test_points_of_files_are_opened(
    program: Marginscope, window: DrawingWindow, tmp_path: Path
) -> None:
    x, y = np.array([[0.1], [0.1 + 0.2]]), np.array([0, 1])
    np.savez(tmp_path / "a.npz", x=x, y=y)
    program.drawing.open(tmp_path / "a.npz")
    assert window.sketch.points == ((0.1, -1.0), (0.1 + 0.2, 1.0))
    assert window.history.undoText() == "Open a.npz"
    np.savez(tmp_path / "b.npz", x=np.eye(3), y=[0, 1, 1])
    program.drawing.open(tmp_path / "b.npz")
    assert window.bar.text.startswith("b.npz has n = 3 points, d = 3 coordinates and 2 classes")
    program.drawing.open(tmp_path / "c.npz")
    assert window.bar.text.endswith("does not exist; check the path.")
    assert "c.npz" in window.bar.text
    (tmp_path / "e.csv").write_text("")
    program.drawing.open(tmp_path / "e.csv")
    assert window.bar.text == (
        f"{tmp_path / 'e.csv'} is empty; write a line of names, such as x1,x2,y, and a "
        "line for each example."
    )
    np.savez_compressed(tmp_path / "d.npz", x=np.zeros((10_000, 2)), y=np.zeros(10_000))
    with pytest.raises(InputError, match="too large to edit"):
        points_of(tmp_path / "d.npz")
    assert len(window.sketch.points) == 2


def test_many_points_are_in_the_form_whole(program: Marginscope, window: DrawingWindow) -> None:
    generator = np.random.default_rng(3)
    rows = generator.standard_normal((MAX_POINTS, 2)).tolist()
    points = tuple((*row, (-1.0) ** k) for k, row in enumerate(rows))
    window.replace(points, "Many")
    window.close()
    assert points_in(program) == points
    study = program.window.form.study()
    again = next(parse_study(study.to_toml(), "t").iter_cells())
    assert again.experiment.data == PointsData(points=points)
    (row,) = [r for r in program.window.form.sections["data"].rows if r.field.rows]
    assert row.text().count(";") == MAX_POINTS - 1
    kept = parse_session(session_text(LastSession(program.scenes.scene)))
    assert kept.scene.form == program.window.form.edits
