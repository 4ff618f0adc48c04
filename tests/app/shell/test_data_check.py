"""A data file in the form: read while it is typed, and before the open runs are closed."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.training.data_check import CLASSES, PATH, DataFileCheck
from app.training.field_row import FieldRow

pytestmark = pytest.mark.drawer("form")

GOOD = "x1,x2,class\n1,2,1\n3,4,-1\n2,2,1\n5,1,-1\n"
BAD = GOOD + "3,zz,-1\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with a good table and a bad one."""
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "bad.csv").write_text(BAD)
    return tmp_path


def choose_file(program: Marginscope, path: Path) -> FieldRow:
    """Choose data of a file in the form; return the row of the path."""
    form = program.window.form
    form.sections["data"].kind_chosen.emit("data", "file")
    row = next(row for row in form.sections["data"].rows if row.field.key == PATH)
    row.text_edited.emit(PATH, str(path))
    return row


def test_what_was_read_of_a_file_is_said_in_one_line(
    program: Marginscope, files: Path, qtbot: QtBot
) -> None:
    row = choose_file(program, files / "good.csv")
    qtbot.waitUntil(row.note.isVisible)
    said = "4 rows, 2 coordinates; separated by commas; label column 'class' (last)."
    assert row.note.text() == said
    assert not row.problem


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("bad.csv", "path: line 6 of {}"), ("missing.csv", "path: {} does not exist")],
)
def test_a_wrong_file_is_marked_as_it_is_typed_and_leaves_the_open_runs_alone(
    program: Marginscope, files: Path, qtbot: QtBot, name: str, sentence: str
) -> None:
    runs = [run.key for run in program.session]
    row = choose_file(program, files / name)
    qtbot.waitUntil(lambda: bool(row.problem))
    wrong = row.problem
    assert wrong.startswith(sentence.format(files / name))
    assert row.control.property("wrong")
    said: list[str] = []
    program.training.message.connect(said.append)
    program.training.run()
    assert [run.key for run in program.session] == runs
    assert said == [wrong]
    program.training.message.disconnect(said.append)
    # Once the file is right, the next edit reads it again.
    (files / name).write_text(GOOD)
    row.text_edited.emit("data.label", "class")
    qtbot.waitUntil(row.note.isVisible)
    assert not row.problem


def test_run_waits_until_the_file_was_read(program: Marginscope, files: Path, qtbot: QtBot) -> None:
    runs = [run.key for run in program.session]
    row = choose_file(program, files / "bad.csv")
    program.training.run()  # before the form has asked for anything
    qtbot.waitUntil(lambda: bool(row.problem))
    assert [run.key for run in program.session] == runs
    choose_file(program, files / "good.csv")
    program.training.run()
    qtbot.waitUntil(lambda: [run.key for run in program.session] != runs)


def test_an_empty_path_is_wrong_only_once_run_is_pressed(
    program: Marginscope, qtbot: QtBot
) -> None:
    runs = [run.key for run in program.session]
    form = program.window.form
    form.sections["data"].kind_chosen.emit("data", "file")
    row = next(row for row in form.sections["data"].rows if row.field.key == PATH)
    check = program.training.findChild(DataFileCheck)
    qtbot.waitUntil(lambda: bool(check._findings))
    assert not row.problem
    program.training.run()
    assert "missing" in row.problem
    assert [run.key for run in program.session] == runs


def test_more_classes_than_the_network_has_are_named_before_run(
    program: Marginscope, files: Path, qtbot: QtBot
) -> None:
    """They were named only once Run had closed the open runs."""
    (files / "three.csv").write_text("x1,x2,class\n1,2,0\n3,4,1\n2,2,2\n5,1,0\n6,3,1\n2,7,2\n")
    row = choose_file(program, files / "three.csv")
    qtbot.waitUntil(lambda: bool(row.problem))
    assert row.problem == (
        "The label column 'class' has 3 values, and the network Standard needs 2. Choose the "
        "network Multi-class with the loss Cross-entropy, or data of two classes."
    )
    runs, said = [run.key for run in program.session], list[str]()
    program.training.message.connect(said.append)
    program.training.run()
    assert said == [row.problem] and [run.key for run in program.session] == runs
    program.training.message.disconnect(said.append)
    form = program.window.form
    form.sections["network"].kind_chosen.emit("network", "multiclass")  # and so is the loss
    row = next(row for row in form.sections["data"].rows if row.field.key == PATH)
    qtbot.waitUntil(row.note.isVisible)
    assert not row.problem
    form.sections["data"].kind_chosen.emit("data", "digits")  # of the classes 3 and 8
    row = next(row for row in form.sections["data"].rows if row.field.key == CLASSES)
    qtbot.waitUntil(lambda: bool(row.problem))
    assert row.problem.startswith("The labels have 2 values, and the network Multi-class")


def test_what_was_read_has_the_width_of_the_form(
    program: Marginscope, files: Path, qtbot: QtBot
) -> None:
    row = choose_file(program, files / "good.csv")
    qtbot.waitUntil(row.note.isVisible)
    qtbot.waitUntil(lambda: row.note.width() > row.label.width() + row.control.width())
    assert row.note.geometry().left() == row.label.geometry().left()
