"""The form's search, the marks of changed settings, folded sections, and kinds in words."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.training.experiment_form import NOTHING_FOUND, ExperimentForm
from app.training.field_row import ResetMark
from core.studies.study import parse_study
from core.study_file.experiment import KINDS
from tests.app.panels.test_experiment_form import choose, control, enter, form, row, study_of

Key, LEFT = Qt.Key, Qt.MouseButton.LeftButton
__all__ = ["form"]


def shown(form: ExperimentForm) -> list[str]:
    """Return the keys of the rows in sight."""
    rows = [row for section in form.sections.values() for row in section.rows]
    return [row.field.key for row in rows if row.control.isVisible()]


def search(form: ExperimentForm, text: str) -> None:
    form.search.line.clear()
    QTest.keyClicks(form.search.line, text)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("step", "recording.spacing"),
        ("network.seed", "network.seed"),
        ("extra frames", "recording"),
    ],
)
def test_rows_are_found_by_label_key_and_explanation(
    form: ExperimentForm, text: str, key: str
) -> None:
    before = shown(form)
    search(form, text)
    assert any(found.startswith(key) for found in shown(form))  # folded ones as well
    for found in shown(form):
        words = f"{row(form, found).field.label} {row(form, found).field.explanation}"
        assert all(word in words.lower() for word in text.split()), found
    QTest.keyClick(form.search.line, Key.Key_Return)
    assert control(form, shown(form)[0]).hasFocus()
    QTest.keyClick(form.search.line, Key.Key_Escape)
    assert shown(form) == before


def test_sections_without_a_match_are_hidden(form: ExperimentForm) -> None:
    search(form, "cross_entropy")
    assert [name for name, one in form.sections.items() if one.isVisible()] == ["loss"]
    search(form, "nothing of the kind")
    assert form.nothing.isVisible() and form.nothing.text() == NOTHING_FOUND
    search(form, "")
    assert not form.nothing.isVisible()


def test_changed_settings_alone_are_shown_and_reset_by_their_marks(form: ExperimentForm) -> None:
    before = study_of(form)
    assert not form.search.only.isEnabled()
    enter(form, "data.n", "128")
    choose(form, "dynamics.accuracy", "numbers")
    choose(form, "loss.kind", "logistic")
    assert form.search.only.text() == "Changed (3)"
    assert form.modified.text() == "3 settings changed"
    QTest.mouseClick(form.search.only, LEFT)
    assert shown(form) == ["data.n", "dynamics.accuracy"]
    assert form.sections["loss"].kinds.isVisible()
    assert not form.sections["network"].isVisible()
    QTest.mouseClick(row(form, "data.n").mark, LEFT)
    assert control(form, "data.n").text() == "64"
    mark = row(form, "dynamics.accuracy").mark
    mark.setFocus()
    QTest.keyClick(mark, Key.Key_Space)
    QTest.mouseClick(form.sections["loss"].mark, LEFT)
    assert study_of(form) == before
    assert form.modified.text() == "" and form.nothing.isVisible()
    QTest.mouseClick(form.search.only, LEFT)
    assert "data.n" in shown(form) and not form.search.only.isEnabled()


def test_a_mark_restores_what_the_shipped_study_says(form: ExperimentForm) -> None:
    seeded = study_of(form).with_value("run.seed", 5)
    form.set_study(seeded)
    assert row(form, "run.seed").mark.isVisible()
    QTest.mouseClick(row(form, "run.seed").mark, LEFT)
    assert control(form, "run.seed").text() == "0"
    assert form.modified.text() == ""


def test_marks_move_no_control(form: ExperimentForm) -> None:
    places = control(form, "network.m").geometry(), control(form, "network.kind").geometry()
    enter(form, "network.m", "8")
    choose(form, "network.kind", "scalar")
    kinds = control(form, "network.kind")
    assert (control(form, "network.m").geometry(), kinds.geometry()) == places


def places(form: ExperimentForm) -> dict[str, tuple[int, int, int, int]]:
    """Return the rectangle in the form of every visible control and label."""
    QApplication.processEvents()
    found = {}
    for number, widget in enumerate(form.findChildren(QWidget)):
        if isinstance(widget, QLineEdit | QComboBox | QPushButton | QLabel) and widget.isVisible():
            if widget in (form.scale, form.reset) or isinstance(widget, ResetMark):
                continue
            place = widget.mapTo(form, widget.rect().topLeft())
            found[f"{number} {widget.objectName()}"] = (
                place.x(),
                place.y(),
                widget.width(),
                widget.height(),
            )
    return found


@pytest.mark.parametrize(
    ("key", "text", "right"),
    [
        ("data.d", "x", "20"),
        ("network.m", "0", "16"),
        ("run.seed", "-1", "0"),
        ("data.n", "=", "64"),
    ],
)
def test_errors_move_no_control(form: ExperimentForm, key: str, text: str, right: str) -> None:
    """A sentence below the field moved every row below it."""
    form.show_size("About 2 MB on the disk; under a minute", ())
    before = places(form)
    assert len(before) > 20
    enter(form, key, text)
    assert form.problem.isVisible()
    assert places(form) == before
    enter(form, key, right)
    assert not form.problem.isVisible()
    assert places(form) == before


def test_errors_leave_the_values_of_formulas_in_place_but_dimmed(form: ExperimentForm) -> None:
    enter(form, "data.n", "= 3 * d")
    note = row(form, "data.n").note
    assert note.isVisible() and note.isEnabled() and note.text() == "= 60"
    before = places(form)
    enter(form, "data.d", "x")
    assert note.text() == "= 60" and not note.isEnabled()
    assert "60" not in control(form, "data.n").accessibleDescription()
    assert places(form) == before
    enter(form, "data.d", "20")
    assert note.isEnabled() and "= 60" in control(form, "data.n").accessibleDescription()
    assert places(form) == before


def test_the_sentence_leads_to_its_field_and_on_to_the_next(form: ExperimentForm) -> None:
    enter(form, "data.d", "x")
    enter(form, "run.seed", "-1")
    line = form.problem
    assert line.sentence() == row(form, "run.seed").problem  # of the focused field
    assert line.words() == f"2 wrong values. {line.sentence()}"
    assert line.accessibleName() == line.words() and line.words() in line.toolTip()
    form.search.line.setFocus()
    QTest.mouseClick(line, LEFT)
    assert QApplication.focusWidget() is control(form, "run.seed")
    QTest.mouseClick(line, LEFT)
    assert QApplication.focusWidget() is control(form, "data.d")
    assert line.sentence() == row(form, "data.d").problem
    line.setFocus()
    QTest.keyClick(line, Key.Key_Space)
    assert QApplication.focusWidget() is control(form, "data.d")


def test_a_long_sentence_is_cut_within_its_lines_and_whole_in_the_tip(
    form: ExperimentForm,
) -> None:
    path = "data/" + "a-long-folder/" * 12 + "points.csv"
    form.show_finding("data.d", "", f"{path} is missing.")
    lines = form.problem.shown_lines()
    assert len(lines) == 3 and lines[-1].endswith("\u2026")
    metrics = form.problem.fontMetrics()
    assert all(metrics.horizontalAdvance(one) <= form.problem.width() + 1 for one in lines)
    assert f"{path} is missing." in form.problem.toolTip()
    assert f"{path} is missing." in control(form, "data.d").toolTip()


def test_a_folded_section_is_summed_up_and_hides_nothing_changed_or_wrong(
    form: ExperimentForm,
) -> None:
    data = form.sections["data"]
    QTest.mouseClick(data.heading, LEFT)
    assert not [key for key in shown(form) if key.startswith("data.")]
    assert data.summary.isVisible() and not data.kinds.isVisible()
    assert data.summary.text().startswith("Parity, d 20, n 64")
    enter(form, "data.n", "128")
    enter(form, "data.d", "none")
    assert [key for key in shown(form) if key.startswith("data.")] == ["data.d", "data.n"]
    QTest.keyClick(data.heading, Key.Key_Space)
    assert data.kinds.isVisible() and "data.seed" in shown(form)


def test_data_of_a_file_can_be_shown_from_the_form(form: ExperimentForm, qtbot: QtBot) -> None:
    data = form.sections["data"]
    assert not data.preview.isVisible()
    choose(form, "data.kind", "file")
    assert [row(form, key).text() for key in ("data.d", "data.n")] == ["", ""]
    with qtbot.waitSignal(form.preview_requested):
        QTest.mouseClick(data.preview, LEFT)


def test_kinds_are_listed_in_words_and_named_in_tips(form: ExperimentForm) -> None:
    for section, kinds in KINDS.items():
        box = control(form, f"{section}.kind")
        box.choices_needed.emit()
        assert [box.itemData(place) for place in range(box.count())] == list(kinds)
        for place, (kind, cls) in enumerate(kinds.items()):
            assert "_" not in box.itemText(place) and box.itemText(place)[0].isupper()
            tip = box.itemData(place, Qt.ItemDataRole.ToolTipRole)
            assert f"{section}.kind = {kind}" in tip
            assert cls.title.partition("<")[0] in tip
    assert control(form, "loss.kind").itemText(3) == "Least-squares"


def test_a_kind_that_goes_with_nothing_chosen_is_disabled_with_the_reason(
    form: ExperimentForm,
) -> None:
    form.set_study(
        parse_study('[loss]\nl23 = 1e-4\n[dynamics]\nkind = "gd"\n[network]\nm = 8', "mine")
    )
    box = control(form, "dynamics.kind")
    box.setFocus()
    flow, adam = box.findData("flow"), box.findData("adam")
    assert not box.model().item(flow).isEnabled() and box.model().item(adam).isEnabled()
    assert "l23" in box.itemData(flow, Qt.ItemDataRole.ToolTipRole)
    enter(form, "loss.l23", "0")
    box.setFocus()
    assert box.model().item(flow).isEnabled()


@pytest.mark.parametrize(
    ("section", "kind", "other", "needed"),
    [
        ("network", "multiclass", "loss", "cross_entropy"),
        ("loss", "cross_entropy", "network", "multiclass"),
        ("loss", "squared", "dynamics", "gd"),
        ("dynamics", "mirror", "network", "scalar"),
    ],
)
def test_a_kind_brings_the_one_it_needs_and_takes_it_away_again(
    form: ExperimentForm, section: str, kind: str, other: str, needed: str
) -> None:
    before = study_of(form)
    usual = before.tables[section]["kind"]
    choose(form, f"{section}.kind", kind)
    assert study_of(form).tables[other]["kind"] == needed
    assert form.sections[other].mark.isVisible()
    assert form.sections[other].note.text() == f"chosen to go with the {section}"
    choose(form, f"{section}.kind", usual)
    assert study_of(form) == before
    assert not form.sections[other].note.isVisible()
