"""The preview of the data: opened from the keyboard, up to date with the form, never in the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.data.preview import OUR_ERROR, WRONG, make_preview
from app.data.preview_dialog import PreviewDialog, class_styles
from app.shell.application import Marginscope
from app.worker import Worker
from core.data.points import PointsData
from core.data.preview import Preview, preview
from core.figures.palette import DARK, LIGHT, PALETTES
from core.studies.study import load_study
from core.study_file.experiment import KINDS
from tests.app.mouse import click_on
from tests.app.shell.shared_window import skip_style_sheet


@pytest.fixture
def dialog(program: Marginscope, qtbot: QtBot) -> PreviewDialog:
    QTest.keyClick(program.window, Qt.Key.Key_F8)
    found = program.preview.dialog
    assert found is not None
    qtbot.waitUntil(lambda: found.preview is not None)
    return found


def type_into(program: Marginscope, key: str, text: str) -> None:
    section, _ = key.split(".")
    (row,) = [row for row in program.window.form.sections[section].rows if row.field.key == key]
    row.control.setFocus()
    row.control.selectAll()
    QTest.keyClicks(row.control, text)


def test_it_shows_the_data_that_are_trained_on(program: Marginscope, dialog: PreviewDialog) -> None:
    assert dialog.isVisible()
    (first, *_) = program.session
    assert np.array_equal(dialog.preview.dataset.x, first.data.run.dataset.x)
    assert dialog.facts.text() == "n = 12\nd = 6\n|x| = 1"
    assert dialog.note.text() == "12 points at 4 places."


def test_lengths_are_written_as_everywhere(program: Marginscope, dialog: PreviewDialog) -> None:
    """It said "0.8977", beside ".04" on the axes."""
    assert dialog.preview is not None
    shown = replace(dialog.preview, shortest=0.25, longest=0.5)
    dialog.show_preview(shown)
    assert ".25 \u2264 |x| \u2264 .5" in dialog.facts.text()
    assert "0." not in dialog.facts.text()


def test_it_follows_the_form(program: Marginscope, dialog: PreviewDialog, qtbot: QtBot) -> None:
    type_into(program, "data.n", "30")
    qtbot.waitUntil(lambda: dialog.preview is not None and dialog.preview.dataset.n == 30)
    type_into(program, "data.k", "99")
    qtbot.waitUntil(lambda: dialog.problem.isVisible())
    assert dialog.problem.text() == WRONG
    assert not dialog.plot.isVisible()
    type_into(program, "data.k", "1")
    qtbot.waitUntil(lambda: dialog.preview is not None)
    assert not dialog.problem.isVisible()
    assert dialog.plot.isVisible()
    type_into(program, "data.n", "1")
    qtbot.waitUntil(lambda: dialog.problem.isVisible())
    assert "a study needs both classes" in dialog.problem.text()


def test_coordinates_are_chosen(dialog: PreviewDialog) -> None:
    dialog.boxes[1].setFocus()
    QTest.keyClick(dialog.boxes[1], Qt.Key.Key_Up)
    assert dialog.plot.side.labelText == "coordinate 3"
    assert np.array_equal(dialog.markers.points, dialog.preview.dataset.x[:, [0, 2]])


def test_it_and_the_window_to_draw_in_take_the_palette(
    program: Marginscope, dialog: PreviewDialog
) -> None:
    program.drawing.show()
    drawing = program.drawing.window
    assert drawing is not None
    for name in ("dark", "light"):
        with skip_style_sheet():
            click_on(program, "dark")
        palette = PALETTES[name]
        assert dialog.plot.palette_of_plot is drawing.canvas.plot.palette_of_plot is palette
        colour = dialog.plot.grab().toImage().pixelColor(2, 2)
        assert colour == QColor(palette.background)
        colours = [style.colour for style in drawing.canvas.markers.styles]
        assert colours == [palette.negative, palette.positive]


def test_other_data_have_other_planes_and_pictures(qtbot: QtBot) -> None:
    dialog = PreviewDialog(LIGHT)
    qtbot.addWidget(dialog)
    dialog.show()
    for kind, plane, pictures in (
        ("gaussian_mixture", "known directions", False),
        ("digits", "principal components", True),
        ("intervals", "coordinates", False),
    ):
        dialog.show_preview(preview(KINDS["data"][kind](), 0, None))
        assert dialog.chooser.currentText() == plane
        assert dialog.strip.isVisible() is pictures
    assert not dialog.boxes[0].isVisible()  # one dimension leaves nothing to choose


def test_data_of_an_unsuitable_scale_are_said_to_be(qtbot: QtBot) -> None:
    dialog = PreviewDialog(LIGHT)
    qtbot.addWidget(dialog)
    dialog.show()
    far = PointsData(points=((1e3, 1.0), (-1e3, -1.0)))
    dialog.show_preview(preview(far, 0, None))
    assert "reach 1000" in dialog.caution.text()
    assert dialog.caution.isVisible()
    dialog.show_preview(preview(KINDS["data"]["intervals"](), 0, None))
    assert not dialog.caution.isVisible()


def test_classes_can_be_told_apart_without_colour_where_colours_run_out() -> None:
    for palette in (LIGHT, DARK):
        two = class_styles(2, palette)
        assert [style.colour for style in two] == [palette.negative, palette.positive]
        many = {(style.colour, style.symbol) for style in class_styles(10, palette)}
        assert len(many) == 10
        assert len({colour for colour, _ in many}) == 6


def test_of_several_requests_the_last_counts(qtbot: QtBot) -> None:
    worker = Worker("preview", make_preview, our_error=OUR_ERROR)
    made: list[Preview] = []
    worker.result.connect(made.append)
    for n in (50, 60, 70):
        worker.request(KINDS["data"]["parity"](n=n), 0, None)
    qtbot.waitUntil(lambda: bool(made) and not worker.busy)
    assert [found.dataset.n for found in made] == [70]
    worker.close()
    worker.request(KINDS["data"]["parity"](), 0, None)
    assert not worker.busy


def test_an_error_of_ours_is_a_sentence(qtbot: QtBot) -> None:
    worker = Worker("preview", make_preview, our_error=OUR_ERROR)
    with qtbot.waitSignal(worker.error) as signal:
        worker.request(object(), 0, None)
    assert signal.args == [OUR_ERROR]
    worker.close()


def test_axes_over_the_data_are_said_so(
    program: Marginscope, dialog: PreviewDialog, qtbot: QtBot
) -> None:
    study = load_study("telgarsky22-figure-1").with_settings(["data.d=[3, 4]", "network.m=4"])
    program.window.form.set_study(study)
    program.preview.refresh()
    qtbot.waitUntil(lambda: dialog.preview is not None and dialog.preview.dataset.d == 3)
    assert dialog.note.text().startswith("Data of the first of 2 runs.")


def test_a_data_file_is_offered_as_a_study_with_what_was_understood(
    program: Marginscope, qtbot: QtBot, tmp_path: Path
) -> None:
    """Dropping a data file said that it is no run, and the preview not how a file is read."""
    path = tmp_path / "cats.tsv"
    path.write_text("0,5\t1,25\tcat\n0,25\t-0,75\tdog\n")
    runs = [run.path for run in program.session]
    program.files.open_files([str(path), "b.npz"])
    assert program.window.bar.text == "A study has one data file; b.npz was not opened."
    study = program.window.form.study()
    assert next(study.iter_cells()).experiment.data.path == str(path)
    assert [run.path for run in program.session] == runs
    found = program.preview.dialog
    qtbot.waitUntil(lambda: found.preview is not None)
    assert found.understood.isVisible()
    assert found.understood.text() == (
        "Understood: decimal commas; no header; label column 3 (last); cat is \u22121, dog is +1."
    )
    path.write_text("x1\ty\n1\t1\n<b>2\t-1\n")
    program.preview.show()
    qtbot.waitUntil(found.problem.isVisible)
    assert "line 3 of" in found.problem.text()
    assert "has '<b>2' where a number is needed" in found.problem.text()
    assert found.problem.textFormat() == Qt.TextFormat.PlainText
    assert not found.understood.isVisible()
