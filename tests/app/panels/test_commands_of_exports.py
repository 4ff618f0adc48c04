"""What dialogs copy as commands writes the same files; BibTeX of what is shown."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.export.commands import command_of
from app.export.controller import COPIED, ExportController
from app.export.data_form import NAME, DataForm
from app.export.export_dialog import ExportDialog
from app.export.export_progress import ProgressWindow
from app.export.jobs import DataJob, ExportJob, open_run_files
from app.export.pictures import Exportable, FigureJob, FilmJob, PageJob, complete_job
from core.cli.main import main
from core.cli.view_arguments import promises_of
from core.figures.film import save_film
from core.figures.names import EVERY_PANEL, PAGE_PANELS, PageSize
from core.figures.options import FigureOptions, ViewOptions
from core.figures.palette import DARK
from core.library.entry import MomentNote
from core.library.run_notes import change_about
from core.observables.node_sets import NodeSet
from core.observables.planes import NodePlane
from core.runs import open_run
from core.studies.papers import PAPERS, bibtex, escape_tex
from tests.recording import recorded
from tests.support.made_up_runs import run_file

Left = Qt.MouseButton.LeftButton


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> tuple[Path, ...]:
    """Return two recorded runs in a folder whose name a shell would split."""
    folder = tmp_path_factory.mktemp("runs of 'mine' & $HOME")
    return tuple(run_file(folder / f"study__m={m}.msrun", f"network.m={m}") for m in (6, 9))


def drawn_of(runs: tuple[Path, ...]) -> Exportable:
    return Exportable(
        runs,
        NodePlane("coordinates", (1, 2)),
        DARK,
        selected=(None, NodeSet("", frozenset({1, 2, 5}))),
        panels=EVERY_PANEL,
        view=ViewOptions(("hard_margin",), True, "step", roots=True),
        pinned=(frozenset({0, 3}),),
        ranges=((("norms", (0.1, 0.7 / 3.0, -0.0001, 0.9)),),),
        moment=1.0 / 3.0 + 1e-6,
        interval=(-0.5, 2.0 / 3.0),
    )


def made(job: ExportJob) -> Path:
    """Do a job, and return its file.

    A film is drawn by this process; tests.figures.test_render_process and
    tests.app.shell.test_films_beside compare its bytes with those of a process of its own.
    """
    if isinstance(job, FilmJob):
        with open_run_files(job.runs) as runs:
            assert save_film(runs, job.path, job.options, **job.film_arguments())
    else:
        assert job.work(lambda done, total: None, bool) == f"Saved {job.path}."
    return job.path


def run_command(line: str, new: Path) -> Path:
    """Do what a command says, with another file to write; it is given back."""
    words = shlex.split(line)
    assert words[:3] == ["python", "-m", "core"]
    place = words.index("--out") + 1
    assert Path(words[place]).is_absolute()
    words[place] = str(new / Path(words[place]).name)
    assert main([*words[3:], "--quiet"]) == 0
    return Path(words[place])


def check_command(job: ExportJob, shown: Exportable, folder: Path) -> ExportJob:
    """Check that the command of a job writes the job's bytes; return the job with all it shows."""
    whole = complete_job(job, shown)
    path = made(whole)
    (folder / "again").mkdir()
    other = run_command(command_of(whole, shown), folder / "again")
    assert other.read_bytes() == path.read_bytes()
    return whole


# Every panel of one run, and some of two; a PDF's fonts take as long as its panels.
DRAWN = [(".pdf", 1, ("norms",)), (".svg", 1, EVERY_PANEL)]
DRAWN += [(".png", 2, ("margins", "neurons", "norms"))]


@pytest.mark.parametrize(("suffix", "count", "panels"), DRAWN)
def test_a_figures_command_draws_the_same_bytes(
    runs, tmp_path: Path, suffix: str, count: int, panels: tuple[str, ...]
) -> None:
    shown = drawn_of(runs)
    options = FigureOptions(
        DARK, shown.plane, view=shown.view, sheet=PageSize(180.0, None, 6.5, "serif")
    )
    job = FigureJob(
        runs[:count], tmp_path / f"it's{suffix}", panels, 70, options, shown.moment, ranges=True,
        rest=suffix != ".pdf", notes=suffix == ".svg",
    )  # fmt: skip
    if suffix == ".svg":
        change_about(runs[0], lambda about: replace(about, moments=(MomentNote(-0.5, "here"),)))
    check_command(job, shown, tmp_path)


def test_a_films_command_writes_the_same_bytes(runs, tmp_path: Path) -> None:
    shown = drawn_of(runs)
    options = FigureOptions(DARK, shown.plane, view=shown.view)
    job = FilmJob(
        runs, tmp_path / "film.gif", "norms", 0.2, 10, options, False, interval=shown.interval,
        size=(320, 240), captions=False,
    )  # fmt: skip
    check_command(job, shown, tmp_path)


def test_the_command_of_a_film_of_the_open_views(runs, tmp_path: Path) -> None:
    shown = drawn_of(runs)
    options = FigureOptions(view=shown.view)
    job = FilmJob(runs[:1], tmp_path / "film.gif", "margins,curves,norms", 0.2, 10, options)
    check_command(job, shown, tmp_path)


@pytest.mark.parametrize("name", ["", "--on dashes, 'quotes' & </script>"])
def test_a_pages_command_writes_the_same_bytes(runs, tmp_path: Path, name: str) -> None:
    shown = drawn_of(runs)
    options = FigureOptions(plane=shown.plane, view=shown.view)
    job = PageJob(
        runs, tmp_path / "page.html", PAGE_PANELS, 7 if name else 400, name,
        "dark" if name else "system", options, ranges=bool(name), notes=bool(name),
    )  # fmt: skip
    if name:
        change_about(runs[0], lambda about: replace(about, moments=(MomentNote(0.0, "here"),)))
    whole = check_command(job, shown, tmp_path)
    assert whole.work(lambda done, total: None, lambda: True) == ""


def test_the_command_of_shares_draws_the_same_bytes(tmp_path: Path) -> None:
    """In a figure against |W|^2, without and with lines of theory, and in a film."""
    path = tmp_path / "run.msrun"
    recorded(path, "recording.frames=20", "dynamics.until_log10_time=3", "data.n=16", "data.d=6")
    with open_run(path) as run:
        (promised,) = promises_of([run], quiet=True)
    assert promised.margin is not None
    shown = Exportable(
        (path,), promises=(promised,), view=ViewOptions(against="norm_squared"),
        references=((promised.margin,),),
    )  # fmt: skip
    given = {"options": FigureOptions(view=shown.view)}
    jobs = [
        FigureJob((path,), tmp_path / "a.svg", ("margins",), **given, lines=False),
        FigureJob((path,), tmp_path / "b.svg", ("margins",), **given),
        FilmJob((path,), tmp_path / "c.gif", "margins", 0.2, 10, **given, size=(320, 240)),
    ]
    (tmp_path / "again").mkdir()
    for job in jobs:
        whole = complete_job(job, shown)
        made(whole)
        line = command_of(whole, shown)
        assert "--share" in shlex.split(line)
        assert run_command(line, tmp_path / "again").read_bytes() == job.path.read_bytes()
    plain = complete_job(jobs[0], Exportable((path,)))
    assert "--share" not in command_of(plain, Exportable((path,)))


def test_the_commands_of_data_write_the_same_columns(runs, tmp_path: Path) -> None:
    paths = tuple(tmp_path / f"{k}.npz" for k in range(2))
    job = DataJob(runs, paths, columns=("risk", "rotation"))
    job.work(lambda done, total: None, bool)
    lines = command_of(job, Exportable(runs)).splitlines()
    (tmp_path / "again").mkdir()
    for line, path in zip(lines, paths, strict=True):
        with np.load(path) as one, np.load(run_command(line, tmp_path / "again")) as two:
            assert set(one) == set(two) == {"frame", "step", "log10_time", "risk", "rotation"}
            assert all((one[name] == two[name]).all() for name in one)


@pytest.fixture
def controller(qtbot, tmp_path, monkeypatch, runs):
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda place: str(tmp_path))
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    shown = drawn_of(runs)
    controller = ExportController(window, lambda: shown)
    yield controller
    controller.close()


@pytest.mark.parametrize("kind", ["figure", "film", "page", "data"])
def test_each_window_copies_its_command(qtbot, controller: ExportController, kind: str) -> None:
    getattr(controller, kind)()
    dialog = controller.dialog
    if isinstance(dialog.form, DataForm):
        qtbot.waitUntil(lambda: dialog.copy.isEnabled())
    QTest.mouseClick(dialog.copy, Left)
    words = shlex.split(QGuiApplication.clipboard().text().splitlines()[0])
    commands = {"figure": "figure", "film": "movie", "page": "page", "data": "table"}
    assert words[3] == commands[kind]
    assert dialog.note.text() == COPIED and dialog.note.isVisible()
    QGuiApplication.clipboard().clear()


def test_a_preview_is_drawn_after_each_change_and_says_its_size(
    qtbot, controller: ExportController
) -> None:
    controller.figure()
    dialog = controller.dialog
    for box in (*list(dialog.form.panels.values())[1:], dialog.form.caption):
        QTest.keyClick(box, Qt.Key.Key_Space)
    for steps, said in ((1, "85 \u00d7"), (5, "600 \u00d7")):  # custom sizes start from the poster
        dialog.form.size_choice.setFocus()
        for _ in range(steps):
            QTest.keyClick(dialog.form.size_choice, Qt.Key.Key_Down)
        qtbot.waitUntil(partial(_measures, dialog, said))
        image = dialog.preview.image
        width, height = (float(x) for x in re.findall(r"[\d.]+", dialog.measures.text()))
        assert image.width() / image.height() == pytest.approx(width / height, rel=0.02)
    dialog.form.high.setFocus()
    dialog.form.high.selectAll()
    QTest.keyClicks(dialog.form.high, "30")
    QTest.keyClick(dialog.form.high, Qt.Key.Key_Tab)
    qtbot.waitUntil(lambda: "make it at least" in dialog.preview.words)


def _measures(dialog: ExportDialog, said: str) -> bool:
    return dialog.measures.text().startswith(said)


def test_a_size_of_0_is_said_in_the_window_and_in_the_preview(
    qtbot, controller: ExportController
) -> None:
    controller.figure()
    dialog = controller.dialog
    dialog.form.size_choice.setCurrentIndex(dialog.form.size_choice.count() - 1)
    dialog.form.wide.setFocus()
    dialog.form.wide.selectAll()
    QTest.keyClicks(dialog.form.wide, "0")
    QTest.keyClick(dialog.form.wide, Qt.Key.Key_Tab)
    assert "0 mm wide" in dialog.problem.text() and not dialog.save.isEnabled()
    assert not dialog.copy.isEnabled()
    qtbot.waitUntil(lambda: "0 mm wide" in dialog.preview.words)


def test_a_folder_that_cannot_be_written_is_said_before_saving(
    controller: ExportController, monkeypatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    controller.film()
    dialog = controller.dialog
    assert "You cannot write to the folder" in dialog.problem.text()
    assert not dialog.save.isEnabled()


def test_the_time_left_is_told_beside_the_bar(qtbot) -> None:
    clock = [0.0]
    window = ProgressWindow("Writing data", now=lambda: clock[0])
    qtbot.addWidget(window)
    assert window.bar.maximum() == 0
    window.show_progress(0, 100)
    assert (window.bar.maximum(), window.left.text()) == (100, "")
    clock[0] = 20.0
    window.show_progress(25, 100)
    assert (window.bar.value(), window.left.text()) == (25, "about 60 s left")
    clock[0] = 20.1  # no words that jump
    window.show_progress(60, 100)
    assert window.left.text() == "about 60 s left"
    window.show_progress(100, 100)
    assert window.left.text() == ""


def test_the_interval_of_the_loop_is_that_of_the_film(qtbot, controller, tmp_path) -> None:
    controller.film()
    dialog = controller.dialog
    assert dialog.form.interval() == pytest.approx((-0.5, 2.0 / 3.0), abs=1e-4)
    for text, said in (("soon", "is not a time"), ("10^-3", "before the end")):
        dialog.form.until.setFocus()
        dialog.form.until.selectAll()
        QTest.keyClicks(dialog.form.until, text)
        assert said in dialog.problem.text() and not dialog.save.isEnabled()
    dialog.form.until.selectAll()
    QTest.keyClick(dialog.form.until, Qt.Key.Key_Delete)
    since, until = dialog.form.interval() or (0.0, 0.0)
    assert (since, until) == (-0.5, np.inf) and dialog.save.isEnabled()
    dialog.form.size_choice.setCurrentIndex(dialog.form.size_choice.count() - 1)
    dialog.form.wide.setValue(0)
    assert "0 \u00d7 600 pixels" in dialog.problem.text()


@pytest.mark.parametrize("there", [False, True])
def test_mp4_is_possible_where_there_is_an_encoder(
    qtbot, controller, monkeypatch, there: bool
) -> None:
    said = "" if there else "an .mp4 needs ffmpeg"
    monkeypatch.setattr("app.export.film_form.mp4_problem", lambda: said)
    controller.film()
    dialog = controller.dialog
    dialog.form.format.setFocus()
    for _ in range(3):
        QTest.keyClick(dialog.form.format, Qt.Key.Key_Down)
    assert dialog.form.suffix() == ".mp4"
    assert dialog.save.isEnabled() == there
    assert dialog.problem.text() == ("" if there else "An .mp4 needs ffmpeg.")


def test_costly_columns_are_not_ticked_and_say_what_they_take(
    qtbot, controller: ExportController
) -> None:
    controller.data()
    dialog = controller.dialog
    assert isinstance(dialog.form, DataForm)
    qtbot.waitUntil(lambda: dialog.save.isEnabled())
    items = {
        item.data(NAME): item
        for item in (dialog.form.columns.item(row) for row in range(dialog.form.columns.count()))
    }
    assert items["test_error"].text().endswith(" s") and items["risk"].text() == "risk (risk)"
    chosen = [column.name for column in dialog.form.chosen()]
    assert "risk" in chosen and "rotation" in chosen and "test_error" not in chosen
    dialog.form.columns.setCurrentItem(items["test_error"])
    QTest.keyClick(dialog.form.columns, Qt.Key.Key_Space)
    assert "test_error" in [column.name for column in dialog.form.chosen()]
    dialog.form.format.setCurrentIndex(1)
    assert "rotation" not in [column.name for column in dialog.form.chosen()]
    assert dialog.form.columns.isRowHidden(dialog.form.columns.row(items["rotation"]))


# ------------------------------------------------------------------------------------ BibTeX


def parsed(text: str) -> dict[str, dict[str, str]]:
    """Return entries by key, read one character after another, braces counted."""
    entries: dict[str, dict[str, str]] = {}
    place = 0
    while (found := re.compile(r"\s*@(\w+)\{([^,\s]+),").match(text, place)) is not None:
        fields, place = {"kind": found[1]}, found.end()
        while (field := re.compile(r"\s*(\w+) = \{").match(text, place)) is not None:
            depth, place = 1, field.end()
            begun = place
            while depth:
                step = text[place]
                if step == "\\":
                    place += 1
                else:
                    depth += {"{": 1, "}": -1}.get(step, 0)
                place += 1
            fields[field[1]] = text[begun : place - 1]
            assert text[place] == ","
            place += 1
        end = re.compile(r"\s*\}").match(text, place)
        place = end.end()
        entries[found[2]] = fields
    assert not text[place:].strip()
    return entries


def test_every_paper_has_an_entry_that_can_be_read() -> None:
    entries = parsed(bibtex(PAPERS))
    assert list(entries) == ["marginscope", *PAPERS]
    for name, paper in PAPERS.items():
        fields = entries[name]
        assert fields["title"].replace("{", "").replace("}", "") == escape_tex(paper.title)
        assert fields.get("year", "") == paper.year
        if not paper.authors.startswith("anonymous"):
            assert fields["author"].split(" and ") == paper.authors.split(", ")
    assert list(parsed(bibtex(["an own study"]))) == ["marginscope"]


def test_what_tex_reads_as_its_own_is_escaped() -> None:
    text = "50% of {a}_1 & b^2 # ~ \\ $"
    entry = parsed("@misc{x,\n  title = {" + escape_tex(text) + "},\n}")["x"]["title"]
    back = entry.replace(r"\textbackslash{}", "\\").replace(r"\textasciitilde{}", "~")
    back = back.replace(r"\textasciicircum{}", "^")
    assert re.sub(r"\\([{}&%$#_])", r"\1", back) == text


def test_the_command_cites_studies_and_runs(runs, capsys) -> None:
    assert main(["cite", "telgarsky22-figure-1", str(runs[0])]) == 0
    entries = parsed(capsys.readouterr().out)
    assert {"marginscope", "telgarsky22"} <= set(entries)
    assert main(["cite", "nothing.msrun"]) == 2
    assert "nothing.msrun" in capsys.readouterr().err


def test_one_run_after_another_is_open_for_citations(runs, capsys, monkeypatch) -> None:
    """A folder may hold more runs than a process can have open."""
    opened = []

    def open_alone(path: Path) -> Any:
        for run in opened:
            with pytest.raises(ValueError, match="is closed"):
                run.events()
        opened.append(open_run(path))
        return opened[-1]

    monkeypatch.setattr("core.cli.reading.open_run", open_alone)
    assert main(["cite", str(runs[0]), str(runs[0])]) == 0
    assert len(opened) == 2 and "telgarsky22" in capsys.readouterr().out
