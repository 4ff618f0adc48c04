"""Figures, films and data: asked for in windows, made in one thread, cancelled without a trace."""

from __future__ import annotations

import csv
import threading
import time
from pathlib import Path
from typing import final

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QDialog, QFileDialog, QWidget

from app.export import pictures
from app.export.controller import BUSY, CANCELLED, NO_RUNS, ExportController
from app.export.data_form import DataForm
from app.export.export_dialog import ExportDialog
from app.export.figure_form import FigureForm
from app.export.film_form import FilmForm, PageForm
from app.export.jobs import (
    Cancelled,
    CompareJob,
    DataJob,
    ExportJob,
    PreviewedJob,
    Progress,
    data_paths,
    draw_here,
    scene_preview,
)
from app.export.pictures import Exportable, FigureJob, FilmJob, PageJob
from app.state.session import MOST_RUNS
from core.figures.export import Draw
from core.figures.names import MOST_ROWS, PANELS, PRESETS, PageSize
from core.figures.options import FigureOptions
from core.figures.palette import DARK, LIGHT
from core.figures.primitives import FigureScene
from core.library.entry import MomentNote, RunNotes
from core.observables.planes import NodePlane
from core.runs import open_run
from tests.support.made_up_runs import run_file

Left = Qt.MouseButton.LeftButton


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("runs")
    return [run_file(folder / f"study__m={m}.msrun", f"network.m={m}") for m in (6, 9)]


@pytest.fixture
def window(qtbot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    return window


class Shown:
    """Stands for a window that shows some runs."""

    def __init__(self) -> None:
        self.runs: list[Path] = []
        self.options: dict[str, object] = {}

    def exportable(self) -> Exportable:
        return Exportable(tuple(self.runs), **self.options)


@pytest.fixture
def shown() -> Shown:
    return Shown()


@pytest.fixture
def controller(window, shown: Shown, tmp_path, monkeypatch):
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda place: str(tmp_path))
    controller = ExportController(window, shown.exportable)
    yield controller
    controller.close()


def finished(qtbot, controller: ExportController, request) -> str:
    """Return the sentence with which a request ends well."""
    with (
        qtbot.assertNotEmitted(controller.error),
        qtbot.waitSignal(controller.finished) as signal,
    ):
        request()
    assert not controller.busy
    return signal.args[0]


def set_path(dialog, path: Path) -> None:
    dialog.path.setFocus()
    dialog.path.selectAll()
    QTest.keyClicks(dialog.path, str(path))


def views_of(dialog: ExportDialog) -> list[QCheckBox]:
    return list(dialog.form.panels.values())


def known(qtbot, dialog: ExportDialog) -> None:
    qtbot.waitUntil(lambda: dialog.save.isEnabled())


# ------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("suffix", [".pdf", ".svg", ".png"])
def test_a_figure_is_saved_by_its_window(
    qtbot, controller: ExportController, shown: Shown, runs, tmp_path, suffix: str
) -> None:
    shown.runs = runs[:1]

    def ask() -> None:
        controller.figure()
        dialog = controller.dialog
        assert isinstance(dialog.form, FigureForm) and dialog.isVisible()
        assert dialog.path.text() == str(tmp_path / "study__m=6.pdf")
        dialog.form.format.setFocus()
        QTest.keyClick(dialog.form.format, Qt.Key.Key_Home)
        for _ in range([".pdf", ".svg", ".png"].index(suffix)):
            QTest.keyClick(dialog.form.format, Qt.Key.Key_Down)
        assert dialog.form.dpi.isEnabled() == (suffix == ".png")
        for box in views_of(dialog)[1:4]:
            box.setFocus()
            QTest.keyClick(box, Qt.Key.Key_Space)
        dialog.form.dpi.setValue(50)
        QTest.mouseClick(dialog.save, Left)

    target = tmp_path / f"study__m=6{suffix}"
    assert finished(qtbot, controller, ask) == f"Saved {target}."
    head = target.read_bytes()[:300]
    assert {".pdf": b"%PDF", ".svg": b"<svg", ".png": b"\x89PNG"}[suffix] in head
    assert list(tmp_path.iterdir()) == [target]


def test_a_page_is_saved_by_its_window_which_says_how_large_it_is(
    qtbot, controller: ExportController, shown: Shown, runs, tmp_path, monkeypatch
) -> None:
    shown.runs = runs[:1]
    target = tmp_path / "study__m=6.html"
    note = MomentNote(0.0, "the margin turns")
    monkeypatch.setattr(pictures, "read_about", lambda _: RunNotes(moments=(note,)))

    def ask() -> None:
        controller.page()
        dialog = controller.dialog
        assert isinstance(dialog.form, PageForm) and dialog.isVisible()
        assert dialog.path.text() == str(target)
        qtbot.waitUntil(lambda: "MB" in dialog.measures.text())
        assert not dialog.preview.image.isNull()
        for box in views_of(dialog)[:3]:
            QTest.keyClick(box, Qt.Key.Key_Space)
        dialog.form.name.setFocus()
        QTest.keyClicks(dialog.form.name, "<b>mine</b>")
        dialog.form.frames.setValue(5)
        dialog.form.colours.setCurrentIndex(2)
        assert not dialog.form.notes.isChecked()
        QTest.keyClick(dialog.form.notes, Qt.Key.Key_Space)
        job = dialog.job()
        assert isinstance(job, PageJob)
        assert (job.panels, job.frames, job.colours) == (("margins",), 5, "dark")
        QTest.mouseClick(dialog.save, Left)

    assert finished(qtbot, controller, ask) == f"Saved {target}."
    text = target.read_text(encoding="utf-8")
    assert "<title>&lt;b&gt;mine&lt;/b&gt;</title>" in text and "the margin turns" in text
    assert list(tmp_path.iterdir()) == [target]


def test_what_no_page_can_be_of_is_said_in_its_window(
    qtbot, controller: ExportController, shown: Shown, runs, monkeypatch
) -> None:
    monkeypatch.setattr("core.figures.page.MOST_NUMBERS", 500)
    shown.runs = runs
    controller.page()
    dialog = controller.dialog
    assert isinstance(dialog.form, PageForm)
    qtbot.waitUntil(lambda: "too many neurons for a page" in dialog.preview.words)
    for box in views_of(dialog)[:3]:
        QTest.keyClick(box, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "MB" in dialog.measures.text())
    QTest.keyClick(views_of(dialog)[3], Qt.Key.Key_Space)
    assert "at least one view" in dialog.problem.text() and not dialog.save.isEnabled()


def test_what_the_figure_window_asks_for(qtbot, runs, tmp_path) -> None:
    dialog = ExportDialog(Exportable(tuple(runs), NodePlane("coordinates", (2, 3))), tmp_path)
    qtbot.addWidget(dialog)
    dialog.show()
    first, second = dialog.run_boxes
    qtbot.mouseClick(first, Left, pos=first.rect().center() * 0.1)
    assert not first.isChecked()
    with qtbot.waitSignal(dialog.changed):  # the preview has other colours
        dialog.form.palette_choice.setCurrentIndex(1)
    path = tmp_path / "study__m=9.pdf"
    assert dialog.path.text() == str(path)
    options = FigureOptions(DARK, NodePlane("coordinates", (2, 3)))
    expected = FigureJob((runs[1],), path, PANELS, 300, options)
    assert dialog.job() == expected
    second.setChecked(False)
    assert "at least one run" in dialog.problem.text() and not dialog.save.isEnabled()
    second.setChecked(True)
    for box in views_of(dialog):
        box.setChecked(False)
    assert "at least one view" in dialog.problem.text()


def test_a_place_that_cannot_be_or_is_taken_is_said_before_saving(qtbot, runs, tmp_path) -> None:
    dialog = ExportDialog(Exportable((runs[0],)), tmp_path)
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.problem.isVisible() and not dialog.note.isVisible()
    for text, said in {
        str(tmp_path / "missing" / "a.pdf"): "does not exist",
        str(tmp_path / "a.txt"): "must end in .pdf",
        "a.pdf": "Enter the full path",
    }.items():
        set_path(dialog, Path(text))
        assert said in dialog.problem.text() and not dialog.save.isEnabled()
    (tmp_path / "old.pdf").touch()
    set_path(dialog, tmp_path / "old.pdf")
    assert dialog.note.text() == "Replaces old.pdf." and dialog.save.isEnabled()
    dialog.form.format.setCurrentIndex(1)
    assert dialog.path.text() == str(tmp_path / "old.svg") and not dialog.note.isVisible()


def test_browsing_adds_the_ending(qtbot, runs, tmp_path, monkeypatch) -> None:
    dialog = ExportDialog(Exportable((runs[0],)), tmp_path)
    qtbot.addWidget(dialog)
    answer = (str(tmp_path / "chosen"), "")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given, **named: answer)
    qtbot.mouseClick(dialog.browse, Left)
    assert dialog.path.text() == str(tmp_path / "chosen.pdf") and dialog.save.isEnabled()


def test_a_film_is_saved(qtbot, controller: ExportController, shown: Shown, runs, tmp_path) -> None:
    shown.runs, shown.options = runs[:1], {"palette": DARK}
    target = tmp_path / "study__m=6.webp"

    def ask() -> None:
        controller.film()
        dialog = controller.dialog
        assert isinstance(dialog.form, FilmForm)
        dialog.form.seconds.setValue(0.2)
        dialog.form.rate.setValue(10)
        for index, path in enumerate((target.with_suffix(".gif"), target)):
            dialog.form.format.setCurrentIndex(index)
            assert dialog.job() == FilmJob(
                (runs[0],), path, "neurons", 0.2, 10, FigureOptions(DARK)
            )
        QTest.keyClick(dialog, Qt.Key.Key_Return)

    assert finished(qtbot, controller, ask) == f"Saved {target}."
    with Image.open(target) as film:
        assert getattr(film, "n_frames", 1) >= 2


def test_films_that_cannot_be_made_are_refused_in_the_window(qtbot, runs, tmp_path) -> None:
    dialog = ExportDialog(Exportable(tuple(runs)), tmp_path, "film")
    qtbot.addWidget(dialog)
    dialog.form.rate.setValue(55)
    assert "at most 50 frames per second" in dialog.problem.text()
    dialog.form.format.setCurrentIndex(1)
    assert dialog.problem.text() == ""
    dialog.form.seconds.setValue(500.0)
    assert "too many" in dialog.problem.text()


def test_data_of_several_runs_are_one_file_each(
    qtbot, controller: ExportController, shown: Shown, runs, tmp_path
) -> None:
    shown.runs = runs

    def ask() -> None:
        controller.data()
        dialog = controller.dialog
        assert isinstance(dialog.form, DataForm)
        assert dialog.path.text() == str(tmp_path)
        known(qtbot, dialog)
        QTest.mouseClick(
            dialog.form.parameters, Left, pos=dialog.form.parameters.rect().center() * 0.1
        )
        assert dialog.form.parameters.isChecked()
        QTest.mouseClick(dialog.save, Left)

    assert finished(qtbot, controller, ask) == f"Saved 2 files in {tmp_path}."
    for run, m in zip(runs, (6, 9), strict=True):
        with np.load(tmp_path / f"{run.stem}.npz") as table:
            assert table["V"].shape == (12, m, 4) and "hard_margin" in table


def test_data_as_csv_are_the_scalars(
    qtbot, controller: ExportController, shown: Shown, runs, tmp_path
) -> None:
    shown.runs = runs[:1]

    def ask() -> None:
        controller.data()
        known(qtbot, controller.dialog)
        controller.dialog.form.parameters.setChecked(True)
        controller.dialog.form.format.setCurrentIndex(1)
        assert not controller.dialog.form.parameters.isEnabled()
        QTest.mouseClick(controller.dialog.save, Left)

    finished(qtbot, controller, ask)
    with (tmp_path / "study__m=6.csv").open() as file:
        rows = list(csv.DictReader(file))
    with open_run(runs[0]) as run:
        assert len(rows) == run.frames
        assert [float(row["log10_time"]) for row in rows] == run.log10_time.tolist()


def test_jobs_of_others_ask_nothing(qtbot, controller, runs, tmp_path) -> None:
    one, svg, table = (runs[0],), tmp_path / "a.svg", tmp_path / "a.csv"
    figure = FigureJob(one, svg, ("margins",))
    for job, path in ((figure, svg), (DataJob(one, (table,)), table)):
        finished(qtbot, controller, lambda: controller.start(job))  # noqa: B023
        assert path.stat().st_size > 0
    assert controller.dialog is None


def test_runs_of_one_name_do_not_overwrite_each_other(tmp_path) -> None:
    same = [tmp_path / "a" / "x.msrun", tmp_path / "b" / "x.msrun", tmp_path / "x-2.msrun"]
    assert len(set(data_paths(same, tmp_path, ".npz"))) == 3


def test_a_figure_is_copied_as_pixels_and_as_vectors(
    qtbot, controller, shown: Shown, runs, monkeypatch
) -> None:
    monkeypatch.setattr("app.export.jobs.COPY_DPI", 150.0)
    plane = NodePlane("coordinates", (1, 2))
    shown.runs, shown.options = runs[:1], {"plane": plane, "panels": ("neurons", "margins")}
    said = finished(qtbot, controller, controller.copy_figure)
    assert said == "Figure copied."
    data = QGuiApplication.clipboard().mimeData()
    assert data.hasImage() and data.imageData().width() > 700
    assert b"<svg" in data.data("image/svg+xml").data()
    assert data.data("application/pdf").data().startswith(b"%PDF")
    QGuiApplication.clipboard().clear()


# ------------------------------------------------------------------------- stopping, failing


@final
class Endless(ExportJob):
    """A job that works until it is cancelled. Films, which end a process then, have own tests."""

    @property
    def title(self) -> str:
        return "Working"

    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        progress(1, 6000)
        while not cancelled():
            time.sleep(0.001)
        return ""


@pytest.mark.parametrize("stop", ["button", "escape", "close"])
def test_the_progress_window_cancels(qtbot, controller, stop: str) -> None:
    with qtbot.waitSignal(controller.worker.progress):
        controller.start(Endless())
    qtbot.waitUntil(lambda: controller.progress.isVisible())
    assert controller.progress.bar.maximum() == 6000
    with qtbot.waitSignal(controller.finished) as signal:
        if stop == "button":
            qtbot.mouseClick(controller.progress.cancel, Left)
        elif stop == "escape":
            qtbot.keyClick(controller.progress, Qt.Key.Key_Escape)
        else:
            controller.progress.close()
    assert signal.args == [CANCELLED]
    assert controller.progress is None and not controller.busy


def test_cancelled_data_leave_no_file(qtbot, controller, runs, tmp_path) -> None:
    job = DataJob((runs[0],), (tmp_path / "a.npz",))
    assert job.work(lambda done, total: None, lambda: True) == ""
    assert list(tmp_path.iterdir()) == []


def test_closing_cancels_and_joins(qtbot, controller) -> None:
    with qtbot.waitSignal(controller.worker.progress):
        controller.start(Endless())
    with qtbot.assertNotEmitted(controller.finished, wait=50):
        controller.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "export"]
    assert not controller.busy


def test_one_export_at_a_time_and_none_without_runs(qtbot, controller, shown: Shown, runs) -> None:
    with qtbot.waitSignal(controller.error) as signal:
        controller.figure()
    assert signal.args == [NO_RUNS]
    shown.runs = runs
    controller.start(Endless())
    with qtbot.waitSignal(controller.export_refused) as signal:
        controller.copy_figure()
    assert signal.args == [BUSY]


def test_a_window_that_is_left_writes_nothing(
    qtbot, controller, shown: Shown, runs, tmp_path
) -> None:
    shown.runs = runs
    controller.figure()
    dialog = controller.dialog
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.result() == QDialog.DialogCode.Rejected and controller.dialog is None
    assert not controller.busy and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (lambda run, folder: FigureJob((folder / "none.msrun",), folder / "a.pdf"), "none.msrun"),
        (
            lambda run, folder: FigureJob((run,), folder / "a.pdf", dpi=1.0),
            "The resolution cannot be 1",
        ),
        (
            lambda run, folder: FigureJob((run,), run / "a.svg", ("margins",)),
            "choose another place.",
        ),
        (lambda run, folder: FigureJob((run,) * 11, folder / "a.pdf"), "at most 10 runs"),
        (lambda run, folder: DataJob((run,), (folder / "a.csv",), True), "NPZ for the parameters"),
    ],
)
def test_failures_are_sentences_of_a_window(
    qtbot, controller, runs, tmp_path, job, said: str
) -> None:
    with qtbot.waitSignal(controller.error) as signal:
        controller.start(job(runs[0], tmp_path))
    sentence = signal.args[0]
    assert said in sentence and "--" not in sentence and sentence.endswith(".")
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_program_is_a_sentence_too(
    qtbot, controller, shown: Shown, runs, tmp_path, monkeypatch, caplog
) -> None:
    def broken(*given, **named) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("core.figures.scene.build_scene", broken)
    shown.runs = runs
    with qtbot.waitSignal(controller.error) as signal:
        controller.copy_figure()
    assert "internal error" in signal.args[0]
    assert "ZeroDivisionError" in caplog.text


# ------------------------------------------------------------------------- one dialog for all


def test_tabs_share_runs_and_place(qtbot, runs, tmp_path) -> None:
    """Each tab keeps its options; a typed name keeps its stem."""
    dialog = ExportDialog(Exportable(tuple(runs)), tmp_path)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.run_boxes[0].setChecked(False)
    set_path(dialog, tmp_path / "mine.pdf")
    dialog.form.format.setCurrentIndex(1)
    for key, place in (("film", "mine.gif"), ("page", "mine.html"), ("figure", "mine.svg")):
        show_tab(dialog, key)
        assert dialog.chosen_runs() == (runs[1],)
        assert dialog.path.text() == str(tmp_path / place) and dialog.save.isEnabled()
    show_tab(dialog, "data")
    assert dialog.path.text() == str(tmp_path / "mine.npz")
    dialog.run_boxes[0].setChecked(True)  # a file for each
    assert dialog.path.text() == str(tmp_path)
    show_tab(dialog, "film")
    assert dialog.path.text() == str(tmp_path / "study.gif")


def show_tab(dialog: ExportDialog, tab: str) -> None:
    names = [dialog.tabs.tabData(place) for place in range(dialog.tabs.count())]
    dialog.tabs.setFocus()
    while dialog.tab != tab:
        forward = names.index(dialog.tab) < names.index(tab)
        QTest.keyClick(dialog.tabs, Qt.Key.Key_Right if forward else Qt.Key.Key_Left)


@pytest.mark.parametrize("tab", ["figure", "film", "page", "data"])
def test_the_preview_has_half_of_the_dialog(qtbot, runs, tmp_path, tab: str) -> None:
    dialog = ExportDialog(Exportable(tuple(runs)), tmp_path, tab)
    qtbot.addWidget(dialog)
    dialog.show()
    for width, height in ((1120, 640), (1024, 600)):
        dialog.resize(width, height)
        assert dialog.size().toTuple() == (width, height)
        side = dialog.form.side or dialog.preview
        qtbot.waitUntil(lambda side=side: 2 * side.width() >= dialog.width() - 24)
        assert 3 * side.height() >= 2 * height


def test_a_high_figure_has_a_sharp_preview_and_a_warning() -> None:
    """A sheet of one column was 94 pixels wide, and was shown four times as large."""
    drawn: list[float] = []

    def draw(scene: FigureScene, suffix: str, dpi: float) -> bytes:
        drawn.append(dpi * scene.width_mm / 25.4)
        return b""

    size = (7.0, "A title", LIGHT, (), ())
    words = [
        scene_preview(FigureScene(85.0, height, *size), 376, draw).words for height in (340.0, 85.0)
    ]
    assert drawn == pytest.approx([376.0, 376.0])
    assert words[0].startswith("85 \u00d7 340 mm: higher than a page of text (240 mm).")
    assert words[1] == "85 \u00d7 85 mm"
    scene_preview(FigureScene(85.0, 8500.0, *size), 376, draw)
    assert drawn[-1] < 20.0, "no picture of endless height"


def test_a_preset_is_paper_and_letters(qtbot, runs, tmp_path) -> None:
    dialog = ExportDialog(Exportable((runs[0],)), tmp_path)
    qtbot.addWidget(dialog)
    assert dialog.job().options.sheet == PageSize()
    for place, sheet in enumerate(PRESETS.values()):
        dialog.form.size_choice.setCurrentIndex(place)
        assert dialog.job().options.sheet == sheet
    dialog.form.size_choice.setCurrentIndex(len(PRESETS))
    # It was 120 mm wide with the poster's letters, and two metres high.
    assert dialog.job().options.sheet == PRESETS["poster"]
    dialog.form.wide.setValue(100.0)
    assert dialog.job().options.sheet == PageSize(100.0, None, 24.0)
    dialog.form.high.setValue(80.0)
    assert dialog.job().options.sheet == PageSize(100.0, 80.0, 24.0)


def test_tab_and_preset_are_remembered(controller: ExportController, shown: Shown, runs) -> None:
    shown.runs = runs[:1]
    controller.figure()
    controller.dialog.form.choose_preset("slide 16:9")
    controller.dialog.reject()
    controller.film()
    controller.dialog.reject()
    controller.show()
    assert controller.dialog.tab == "film"
    show_tab(controller.dialog, "figure")
    assert controller.dialog.form.preset == "slide 16:9"
    controller.dialog.reject()
    assert (controller.tab, controller.preset) == ("figure", "slide 16:9")


def test_a_film_has_a_preview_of_its_last_frame(
    qtbot, controller: ExportController, shown: Shown, runs
) -> None:
    shown.runs = runs[:1]
    controller.film()
    dialog = controller.dialog
    qtbot.waitUntil(lambda: not dialog.preview.image.isNull())
    assert dialog.measures.text() == "Last of 160 frames, 800 \u00d7 600 pixels"
    ratio = dialog.preview.image.width() / dialog.preview.image.height()
    assert ratio == pytest.approx(4.0 / 3.0, rel=0.01)


def test_as_many_runs_are_offered_as_a_window_shows(qtbot, runs, tmp_path) -> None:
    assert MOST_ROWS == MOST_RUNS
    many = tuple(tmp_path / f"study__seed={seed}.msrun" for seed in (0, *range(MOST_ROWS)))
    dialog = ExportDialog(Exportable(many), tmp_path)
    qtbot.addWidget(dialog)
    assert dialog.chosen_runs() == many[:MOST_ROWS] and dialog.save.isEnabled()
    dialog.run_boxes[-1].setChecked(True)
    assert "at most 10 runs" in dialog.problem.text() and not dialog.save.isEnabled()


def test_only_jobs_of_pictures_have_previews() -> None:
    """Those of tables had one that raised NotImplementedError."""
    assert not hasattr(ExportJob, "preview") and not hasattr(DataJob, "preview")
    assert all(issubclass(job, PreviewedJob) for job in (FigureJob, FilmJob, PageJob, CompareJob))
