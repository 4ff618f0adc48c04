"""The window asks before a network's Python code runs, and runs exactly what was shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.scenes.scene_texts import view_text
from app.shell.application import Marginscope
from app.training.run_questions import CANCEL, TRUST, CodeDialog
from core import trust
from core.extremes.question import Question
from core.studies.study import load_study
from tests.app.mouse import LEFT, when_open
from tests.app.shell.conftest import Opener
from tests.app.shell.shared_window import trained

CODE = """open({canary!r}, "a").close()

def initial(generator, m, d, k):
    return {{"V": generator.standard_normal((m, d))}}


def outputs(parameters, x):
    return (x @ parameters["V"].T).sum(dim=1)
"""
STUDY = """
title = "{title}"
[data]
d = 4
n = 6
[network]
kind = "custom"
m = 3
path = "net.py"
[dynamics]
kind = "gd"
step = 0.1
until_log10_time = 1.0
[recording]
frames = 6
[window]
views = ["margins"]
"""
HOSTILE = "<img src=x> &amp; Fran"


class Stranger:
    """Files of a stranger: a study, its Python file, and the canary that the code creates."""

    def __init__(self, folder: Path) -> None:
        self.study, self.code = folder / "stranger.toml", folder / "net.py"
        self.canary = folder / "ran"
        self.source = CODE.format(canary=str(self.canary))
        self.study.write_text(STUDY.format(title=HOSTILE))
        self.code.write_text(self.source)


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stranger:
    monkeypatch.setattr(trust, "trust_folder", lambda: tmp_path / "trusted")
    folder = tmp_path / "unpacked"
    folder.mkdir()
    return Stranger(folder)


def press(dialog: QDialog, words: str) -> None:
    button = next(one for one in dialog.findChildren(QPushButton) if one.text() == words)
    QTest.mouseClick(button, LEFT)


def trust_it(dialog: QDialog) -> None:
    press(dialog, TRUST)


def cancel_it(dialog: QDialog) -> None:
    press(dialog, CANCEL)


def questions(program: Marginscope) -> list[CodeDialog]:
    """Return the questions that are open, or were not deleted."""
    return program.window.findChildren(CodeDialog)


def answered(program: Marginscope, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not questions(program))


def test_a_dropped_study_runs_once_its_code_was_shown_and_trusted(
    program: Marginscope, stranger: Stranger, qtbot: QtBot
) -> None:
    seen: list[str] = []

    def read_and_trust(dialog: QDialog) -> None:
        assert dialog.code.isReadOnly()
        assert dialog.code.font().fixedPitch()
        seen.append(dialog.code.toPlainText())
        names = [dialog.names.itemAt(row).widget() for row in range(dialog.names.count())]
        seen.append(" ".join(name.accessibleName() for name in names))
        trust_it(dialog)

    when_open(CodeDialog, read_and_trust)
    program.window.dropped.emit([str(stranger.study)], False)
    assert "core trust" in program.window.bar.text
    assert len(questions(program)) == 1
    assert not stranger.canary.exists()
    qtbot.waitUntil(lambda: trained(program) and stranger.canary.exists())
    assert seen[0] == stranger.source
    assert str(stranger.study) in seen[1]
    assert str(stranger.code) in seen[1]
    assert program.window.bar.text == ""
    assert str(stranger.study) in program.settings.values.recent
    answered(program, qtbot)
    folder = trust.trust_folder()
    assert [one.name for one in folder.iterdir()] == [trust.digest_of(stranger.source)]


@pytest.mark.parametrize("key", [None, Qt.Key.Key_Escape, Qt.Key.Key_Return])
def test_cancel_return_and_escape_run_nothing(
    program: Marginscope, stranger: Stranger, qtbot: QtBot, key: Qt.Key | None
) -> None:
    before = program.training.paths

    def refuse(dialog: QDialog) -> None:
        if key is None:
            cancel_it(dialog)
        else:
            QTest.keyClick(dialog.focusWidget(), key)

    when_open(CodeDialog, refuse)
    program.files.open_files([str(stranger.study)])
    answered(program, qtbot)
    assert "core trust" in program.window.bar.text
    assert program.training.paths == before
    assert not stranger.canary.exists()
    assert not trust.trust_folder().exists()


def test_a_file_that_changes_while_it_is_read_is_asked_about_again(
    program: Marginscope, stranger: Stranger, qtbot: QtBot
) -> None:
    shown: list[str] = []

    def change_and_trust(dialog: QDialog) -> None:
        shown.append(dialog.code.toPlainText())
        if len(shown) == 1:
            stranger.code.write_text(stranger.source + "# changed\n")
            when_open(CodeDialog, change_and_trust)
            trust_it(dialog)
        else:
            cancel_it(dialog)

    when_open(CodeDialog, change_and_trust)
    program.files.open_files([str(stranger.study)])
    qtbot.waitUntil(lambda: len(shown) == 2)
    answered(program, qtbot)
    assert shown == [stranger.source, stranger.source + "# changed\n"]
    assert not stranger.canary.exists()
    assert trust.is_trusted(stranger.source)
    assert not trust.is_trusted(shown[1])


def test_the_training_thread_has_the_window_ask(
    program: Marginscope, stranger: Stranger, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file changes after the window's own check: the thread refuses, in another thread."""
    monkeypatch.setattr("app.training.controller.check_code", lambda *_: None)
    monkeypatch.setattr("app.training.controller.check_experiments", lambda *_: None)
    when_open(CodeDialog, trust_it)
    program.files.open_files([str(stranger.study)])
    qtbot.waitUntil(lambda: trained(program) and stranger.canary.exists())
    answered(program, qtbot)
    assert program.window.bar.text == ""


def test_several_refusals_are_one_question(
    program: Marginscope, stranger: Stranger, qtbot: QtBot
) -> None:
    for _ in range(3):
        program.files.open_files([str(stranger.study)])
    assert len(questions(program)) == 1
    cancel_it(questions(program)[0])
    answered(program, qtbot)


def test_code_that_cannot_be_shown_as_it_runs_gets_only_a_sentence(
    program: Marginscope, stranger: Stranger
) -> None:
    stranger.code.write_text(stranger.source + "# \u202e hidden\n")
    program.files.open_files([str(stranger.study)])
    assert questions(program) == []
    assert "line 9 of the Python code" in program.window.bar.text
    assert "must be plain readable text" in program.window.bar.text
    assert not stranger.canary.exists()


def test_the_form_asks_about_an_edited_file(
    program: Marginscope, stranger: Stranger, qtbot: QtBot
) -> None:
    trust.trust(stranger.source)
    program.files.open_files([str(stranger.study)])
    qtbot.waitUntil(lambda: trained(program) and stranger.canary.exists())
    edited = stranger.canary.with_name("edited ran")  # workers may still run what was trusted
    stranger.code.write_text(CODE.format(canary=str(edited)))
    titles: list[str] = []

    def read_and_cancel(dialog: QDialog) -> None:
        titles.append(dialog.names.itemAt(1).widget().accessibleName())
        cancel_it(dialog)

    when_open(CodeDialog, read_and_cancel)
    paths = program.training.paths
    program.training.restart()
    answered(program, qtbot)
    assert titles == [f"Study: {HOSTILE}"]
    assert program.training.paths == paths
    assert not edited.exists()
    when_open(CodeDialog, trust_it)
    program.training.run()
    qtbot.waitUntil(lambda: program.training.paths != paths)
    qtbot.waitUntil(lambda: trained(program) and edited.exists())
    answered(program, qtbot)


def test_a_run_file_with_code_opens_once_trusted_and_goes_on(
    program: Marginscope, stranger: Stranger, qtbot: QtBot
) -> None:
    trust.trust(stranger.source)
    program.files.open_files([str(stranger.study)])
    qtbot.waitUntil(lambda: trained(program) and stranger.canary.exists())
    (path,) = program.training.paths
    program.training.close_runs()
    digest = trust.trust_folder() / trust.digest_of(stranger.source)
    digest.unlink()
    stranger.canary.unlink()
    when_open(CodeDialog, cancel_it)
    program.files.open_files([str(path)])
    answered(program, qtbot)
    assert program.training.paths == ()
    assert not stranger.canary.exists()
    when_open(CodeDialog, trust_it)
    program.files.open_files([str(path)])
    qtbot.waitUntil(lambda: program.training.paths == (path,))
    assert stranger.canary.exists()
    answered(program, qtbot)
    digest.unlink()
    when_open(CodeDialog, trust_it)  # refused by the training thread
    program.branches.continue_runs()
    qtbot.waitUntil(digest.exists)
    qtbot.waitUntil(lambda: trained(program))
    answered(program, qtbot)
    (more,) = program.training.paths
    assert more != path
    digest.unlink()
    when_open(CodeDialog, trust_it)
    program.compare.compare([str(path), str(more)])
    qtbot.waitUntil(lambda: len(program.compare.model.runs) == 2)
    answered(program, qtbot)
    program.compare.leave()
    digest.unlink()
    program.branches.rewind()
    steps = program.branches.dialog
    when_open(CodeDialog, trust_it)
    steps.accept()
    qtbot.waitUntil(digest.exists)
    qtbot.waitUntil(lambda: len(program.training.paths) == 2)
    qtbot.waitUntil(lambda: trained(program))
    answered(program, qtbot)


def test_a_window_that_closes_answers_no(
    open_program: Opener, study: Path, stranger: Stranger, qtbot: QtBot
) -> None:
    program = open_program(study)
    qtbot.waitUntil(lambda: trained(program))
    program.files.open_files([str(stranger.study)])
    assert len(questions(program)) == 1
    program.window.close()
    answered(program, qtbot)
    assert not stranger.canary.exists()
    assert not trust.trust_folder().exists()


def test_trust_that_cannot_be_saved_runs_nothing(
    program: Marginscope, stranger: Stranger, qtbot: QtBot
) -> None:
    trust.trust_folder().parent.mkdir(exist_ok=True)
    trust.trust_folder().write_text("in the way")
    when_open(CodeDialog, trust_it)
    program.files.open_files([str(stranger.study)])
    answered(program, qtbot)
    assert "cannot be written" in program.window.bar.text
    assert not stranger.canary.exists()


def test_the_whole_study_asks_before_it_runs_or_hunts(
    show_files: Opener, stranger: Stranger, qtbot: QtBot
) -> None:
    program = show_files()
    program.studies.show_window()
    runner = program.studies.runner
    runner.adopt(load_study(str(stranger.study)))
    qtbot.waitUntil(lambda: bool(runner.shown.runs.cells))
    asking = (runner.run, runner._estimate, runner.hunting.start)
    runner.window.hunt.show_question(Question("last(loss)"), None)
    for act in asking:
        act()
        (dialog,) = runner.window.findChildren(CodeDialog)
        cancel_it(dialog)
        qtbot.waitUntil(lambda: not runner.window.findChildren(CodeDialog))
        assert not runner.busy
        assert not runner.cost.busy
    assert not stranger.canary.exists()
    when_open(CodeDialog, trust_it)
    runner.run()
    qtbot.waitUntil(lambda: len(runner.shown.runs.done) == 1)
    assert stranger.canary.exists()
    assert runner.window.bar.text == ""


def test_a_view_of_a_run_with_code_is_shown_once_trusted(
    program: Marginscope, stranger: Stranger, tmp_path: Path, qtbot: QtBot
) -> None:
    trust.trust(stranger.source)
    program.files.open_files([str(stranger.study)])
    qtbot.waitUntil(lambda: trained(program) and stranger.canary.exists())
    picture = program.scenes.shareable_scene()
    (path,) = picture.runs
    view = tmp_path / "one.msview"
    view.write_text(view_text(picture, tmp_path))
    program.training.close_runs()
    (trust.trust_folder() / trust.digest_of(stranger.source)).unlink()
    when_open(CodeDialog, cancel_it)
    program.files.open_files([str(view)])
    answered(program, qtbot)
    assert program.training.paths == ()
    when_open(CodeDialog, trust_it)
    program.files.open_files([str(view)])
    qtbot.waitUntil(lambda: program.training.paths == (path,))
    answered(program, qtbot)
    assert program.display.intent.views == picture.intent.views
