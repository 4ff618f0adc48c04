"""Numbers that a recorded loop passed: curves of a group of their own, explained and compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.shell.curve_picker import USER
from app.shell.help import explanations_of
from core.observables.groups import FROM_LOOP
from core.settings import NOT_RECORDED
from tests.app.curves import open_picker, pick_curve
from tests.app.shell.comparing import choose_observables, view
from tests.app.shell.conftest import Opener, trained
from tests.python.test_loop_numbers import NAMES, STEPS, with_numbers

SGD = {"kind": "<b>SGD</b>", "momentum": 0.9}


def test_numbers_of_a_loop_in_the_window(
    tmp_path: Path, open_program: Opener, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    paths = [
        str(with_numbers(tmp_path / f"{name}.msrun", optimizer={**SGD, "lr": lr}))
        for name, lr in (("one", 0.5), ("other", 0.25))
    ]
    program = open_program(paths[0])
    qtbot.waitUntil(lambda: trained(program))
    with subtests.test("settings"):
        check_settings(program)
    with subtests.test("curves"):
        check_curves(program, qtbot)
    with subtests.test("compared"):
        program.files.open_files([paths[1]], True)
        qtbot.waitUntil(lambda: len(program.session) == 2 and trained(program))
        check_comparison(program, qtbot)


def check_settings(program: Marginscope) -> None:
    """The optimizer's settings as text, and no defaults."""
    sections = program.window.form.sections
    words = "<b>SGD</b>, momentum 0.9, lr 0.5"
    assert sections["dynamics"].note.text() == f"recorded with {words}"
    assert sections["dynamics"].note.textFormat() == Qt.TextFormat.PlainText
    rows = {row.field.key: row.control for row in sections["loss"].rows + sections["run"].rows}
    for key in ("loss.l2", "run.seed"):
        assert (rows[key].text(), rows[key].placeholderText()) == ("", NOT_RECORDED)
    assert rows["run.device"].currentText() == NOT_RECORDED
    facts = {fact.name: fact.value for fact in program.window.inspector.run.facts()}
    assert (facts["optimizer"], facts["seed"]) == (words, NOT_RECORDED)


def check_curves(program: Marginscope, qtbot: QtBot) -> None:
    pick_curve(program, qtbot, "train/loss", "risk, passed by the loop")
    picker = open_picker(program, qtbot)
    texts = [picker.list.item(row).text() for row in range(picker.list.count())]
    assert tuple(item.data(USER) for item in picker._items()[-len(NAMES) :]) == NAMES
    assert texts[-len(NAMES) - 1] == FROM_LOOP
    ticked = [one for one in picker._items() if one.checkState() is Qt.CheckState.Checked]
    assert {"train/loss", "loop.risk"} <= {one.data(USER) for one in ticked}
    picker.close()
    program.playback.seek_end()
    program.display.update_intent(views=("curves",), curves=("train/loss", "loop.risk", "val_acc"))
    view = program.display.panels[0].view("curves")
    data = view.data
    qtbot.waitUntil(lambda: not data.background.pending and view._traced == data.background.traced)
    for text in ("train/loss", "risk, passed by the loop (7)", "val acc"):
        assert text in view.header.text, view.header.text
    assert np.array_equal(
        data.background.trace("train/loss", STEPS + 1)[1:, 0], 1 / np.arange(1, 13.0)
    )
    titles = [one.title for one in explanations_of(view.help_topics())]
    assert titles[1:] == ["risk, passed by the loop", "val acc, passed by the loop"]
    palette = [one for one in program.commands._curves() if one.key == "curve:val_acc"]
    assert len(palette) == 1 and not palette[0].reason


def check_comparison(program: Marginscope, qtbot: QtBot) -> None:
    program.actions["compare"].trigger()
    qtbot.waitUntil(lambda: program.display.intent.compared is not None)
    choose_observables(program, qtbot, "val_acc")
    qtbot.waitUntil(lambda: program.display.intent.compared.question.observable == "val_acc")
    table = program.compare.page.table
    titles = [table.horizontalHeaderItem(k).text() for k in range(table.columnCount())]
    assert "lr" in titles and "loss.l2" not in titles
    shown = view(program)
    qtbot.waitUntil(lambda: shown.question.observable == "val_acc")
    assert "val acc" in shown.header.title
    assert [one.title for one in explanations_of(shown.help_topics())] == [
        "val acc, passed by the loop"
    ]
