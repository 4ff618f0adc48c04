"""Dialog of every export: tabs of options, the runs, a large preview, and where to save.

It is opened without a loop of its own and ends with `accepted`; `job()` is what was chosen.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from app.export.data_form import DataForm
from app.export.figure_form import ComparisonTableForm, FigureForm
from app.export.film_form import FilmForm, PageForm
from app.export.form import PREPARING, ExportForm, label_width
from app.export.jobs import DataColumn, ExportJob, Preview, data_paths
from app.export.pictures import Exportable
from app.widgets.inputs import ValueEdit, push_button
from app.widgets.labels import menu_text, plain_tip, problem_label, quiet_label
from app.widgets.layouts import ScrolledColumn, add_all, space
from app.widgets.screen_room import resize_on_screen
from app.widgets.study_picture import StudyPicture
from core.figures.names import MOST_ROWS

COPY_TIP = "Copy the command line that writes the same file"
TABS = {"figure": "&Figure", "film": "Fil&m", "page": "&Page", "data": "&Data"}
# Tabs for a comparison, which has a table, and for a whole study.
TABS_COMPARED, TABS_STUDY = ("figure", "data"), ("figure",)
SIZE = QSize(1120, 640)
LEFT = 424  # pixels of the options; leaves half of the smallest window to the preview
NAME_WIDTH = 300  # greatest width in pixels of a run's name


@final
class ExportDialog(QDialog):
    """Options of a figure, film, page or data at the left, the preview at the right."""

    command_requested = Signal()
    """Copy the command that writes the same files."""
    changed = Signal()
    """An option or the tab changed."""

    def __init__(
        self,
        exportable: Exportable,
        folder: Path,
        tab: str = "figure",
        preset: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export")
        self._shown, self._folder, self._preset = exportable, folder, preset
        self._path_edited = False
        self.wrong = ""  # reason why saving is impossible
        self.drawn_pixels = 1  # width of the last preview
        self._runs = exportable.runs
        names = tuple(TABS)
        if exportable.study is not None:
            self._runs, names = (), TABS_STUDY
        elif exportable.compared is not None:
            self._runs = tuple(Path(name).absolute() for name in exportable.compared.runs)
            names = TABS_COMPARED
        self._forms: dict[str, ExportForm] = {}
        self.tabs = QTabBar(self, drawBase=False, expanding=False)
        self.tabs.setObjectName("side")
        self.tabs.setAccessibleName("Kind of export")
        for name in names:
            self.tabs.setTabData(self.tabs.addTab(TABS[name]), name)
        self.tabs.setVisible(len(names) > 1)
        self.tabs.setCurrentIndex(names.index(tab) if tab in names else 0)
        self._arrange()
        self._show_form()
        self.tabs.currentChanged.connect(self._on_tab_changed)
        resize_on_screen(self, SIZE)
        self.form.format.setFocus()

    # ------------------------------------------------------------------------------ building

    def _arrange(self) -> None:
        content = QWidget(self)
        self._column = space(QVBoxLayout(content), (0, 0, 8, 0), 8)
        self.run_boxes = self._add_runs(content)
        add_all(self._column, 1)
        self._scroll = ScrolledColumn(content, self)
        self.note = quiet_label("", self, wrap=True)
        self.problem = problem_label(self)
        form_column = QWidget(self)
        column = space(QVBoxLayout(form_column), spacing=12)
        add_all(column, self.tabs, (self._scroll, 1), self._path_row(form_column))
        add_all(column, self.note, self.problem, self._button_row())
        self._left = form_column
        # Set the page off from its surroundings.
        palette = self._shown.palette
        self.preview = StudyPicture(replace(palette, background=palette.grid), self)
        self.preview.setAccessibleName("Preview")
        self.measures = quiet_label("", self, wrap=True)
        self.measures.setAlignment(Qt.AlignmentFlag.AlignCenter)
        picture = QWidget(self)
        add_all(space(QVBoxLayout(picture), spacing=8), (self.preview, 1), self.measures)
        self._sides = QStackedWidget(self)
        self._sides.addWidget(picture)
        self._picture = picture
        add_all(space(QHBoxLayout(self), (24, 16, 24, 16), 24), form_column, (self._sides, 1))

    def _add_runs(self, content: QWidget) -> list[QCheckBox]:
        """Add a box for each of several runs."""
        if len(self._runs) < 2 or self._shown.compared is not None:
            return []
        names = self._shown.names or [path.stem for path in self._runs]
        boxes = []
        for position, (path, name) in enumerate(zip(self._runs, names, strict=True)):
            short = self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, NAME_WIDTH)
            label = quiet_label("runs" if position == 0 else "", content)
            label.setFixedWidth(label_width(self))
            box = QCheckBox(menu_text(short), content)
            box.setChecked(position < MOST_ROWS)
            box.setToolTip(plain_tip(f"{name}\n{path}"))
            box.toggled.connect(self._on_changed)
            add_all(self._column, add_all(space(QHBoxLayout(), spacing=12), label, (box, 1)))
            boxes.append(box)
        return boxes

    def _path_row(self, parent: QWidget) -> QHBoxLayout:
        self.path = ValueEdit(parent)
        self.path.setAccessibleName("Path to save to")
        self.path.textEdited.connect(self._on_path_edited)
        self.browse = push_button("Browse ...", parent)
        self.browse.clicked.connect(self._on_browse)
        label = quiet_label("save as", parent)
        label.setFixedWidth(label_width(self))
        return add_all(space(QHBoxLayout(), spacing=12), label, (self.path, 1), self.browse)

    def _button_row(self) -> QHBoxLayout:
        cancel = push_button("Cancel", self)
        cancel.clicked.connect(self.reject)
        self.save = QPushButton("Save", self, default=True)
        self.save.setProperty("primary", True)
        self.save.clicked.connect(self.accept)
        self.copy = push_button("Copy as command", self, COPY_TIP)
        self.copy.clicked.connect(self.command_requested)
        return add_all(space(QHBoxLayout(), spacing=8), self.copy, 1, cancel, self.save)

    def _make_form(self) -> ExportForm:
        parent = self._scroll.widget()
        match self.tab:
            case "film":
                return FilmForm(self._shown, parent)
            case "page":
                return PageForm(self._shown, parent)
            case "data" if self._shown.compared is not None:
                return ComparisonTableForm(self._shown, parent)
            case "data":
                return DataForm(self._shown, parent)
        form = FigureForm(self._shown, parent)
        form.choose_preset(self._preset)
        return form

    # ---------------------------------------------------------------------------------- tabs

    @property
    def tab(self) -> str:
        """Name of the tab in front, one of TABS."""
        return str(self.tabs.tabData(self.tabs.currentIndex()))

    @property
    def form(self) -> ExportForm:
        """Options of the tab in front."""
        return self._forms[self.tab]

    @property
    def preset(self) -> str:
        """Preset of the figure, "" for a custom size."""
        figure = self._forms.get("figure")
        return figure.preset if isinstance(figure, FigureForm) else self._preset

    def _show_form(self) -> None:
        if self.tab not in self._forms:
            form = self._forms[self.tab] = self._make_form()
            form.changed.connect(self._on_changed)
            self._column.insertWidget(self._column.count() - 1, form)
            if form.side is not None:
                self._sides.addWidget(form.side)
        for name, form in self._forms.items():
            form.setVisible(name == self.tab)
        self._sides.setCurrentWidget(self.form.side or self._picture)
        self.preview.show_words("Drawing the preview ...")
        self.measures.setText("")
        self._left.setFixedWidth(max(LEFT, self._scroll.minimumSizeHint().width()))
        self._on_changed()

    def _on_tab_changed(self) -> None:
        self._show_form()

    # ------------------------------------------------------------------------------- reading

    def chosen_runs(self) -> tuple[Path, ...]:
        """Return the checked runs; all if there are no boxes."""
        if not self.run_boxes:
            return self._runs
        # By position: a file may be open twice.
        pairs = zip(self._runs, self.run_boxes, strict=True)
        return tuple(path for path, box in pairs if box.isChecked())

    def job(self) -> ExportJob:
        """Return the job that was chosen."""
        return self.form.job(self.chosen_runs(), self.targets())

    def targets(self) -> tuple[Path, ...]:
        """Return the files that will be written."""
        place = Path(self.path.text().strip())
        if self._into_folder():
            return data_paths(self.chosen_runs(), place, self.form.suffix())
        return (place,)

    def pixels(self) -> int:
        """Return how many pixels wide the preview may be."""
        return max(self.preview.pixels_wide(), 100)

    def _into_folder(self) -> bool:
        return self.form.one_file_each and len(self.chosen_runs()) > 1

    def _default_path(self) -> Path:
        """Return where to save by default: named like the run, or the runs' study."""
        exportable, runs = self._shown, self.chosen_runs() or self._runs
        if self._into_folder():
            return self._folder
        if exportable.study is not None:
            stem = exportable.study.stem
        elif exportable.compared is not None:
            stem = f"comparison-{exportable.compared.question.observable}"
        else:
            stem = runs[0].stem if len(runs) == 1 else runs[0].stem.partition("__")[0]
        return self._folder / f"{stem}{self.form.suffix()}"

    # ------------------------------------------------------------------------------- editing

    def _on_path_edited(self) -> None:
        self._path_edited = True
        self._check()

    def _on_changed(self) -> None:
        typed = Path(self.path.text().strip())
        suffixes = {suffix for form in self._forms.values() for suffix in form.formats}
        if self._path_edited and typed.suffix.lower() in suffixes and not self._into_folder():
            self.path.setText(str(typed.with_suffix(self.form.suffix())))
        elif not self._path_edited or not self._is_typed_for_this(typed):
            if self._path_edited:  # switch between a file and a folder
                self._folder = typed if typed.is_dir() else typed.parent
                self._path_edited = False
            self.path.setText(str(self._default_path()))
            self.path.setCursorPosition(len(self.path.text()))
        self._check()

    def _is_typed_for_this(self, typed: Path) -> bool:
        """Return True if a typed path can be meant for the tab: a folder, or no folder."""
        return typed.is_dir() == self._into_folder()

    def _check(self) -> None:
        runs = self.chosen_runs()
        wrong = "" if runs or self._shown.study is not None else "Choose at least one run."
        wrong = wrong or self.form.problem(runs) or self._path_problem()
        self.problem.setText(wrong)
        self.problem.setVisible(bool(wrong) and wrong != PREPARING)
        self.wrong = wrong
        self.save.setEnabled(not wrong)
        self.copy.setEnabled(not wrong)
        # Announced here, so that Save needs no further question.
        existing = [] if wrong else [path for path in self.targets() if path.exists()]
        names = ", ".join(path.name for path in existing[:3])
        remainder = f" and {len(existing) - 3} more" if len(existing) > 3 else ""
        self.note.setText(f"Replaces {names}{remainder}." if existing else "")
        self.note.setVisible(bool(existing))
        self.changed.emit()

    def _path_problem(self) -> str:
        path, suffix = Path(self.path.text().strip()), self.form.suffix()
        folder = path if self._into_folder() else path.parent
        if folder == path.parent and path.suffix.lower() != suffix:
            return f"The file name must end in {suffix}."
        # A relative path would start at the working directory, which the window does not show.
        if not path.is_absolute():
            return "Enter the full path, or choose a folder with Browse."
        if not folder.is_dir():
            return f"The folder {folder} does not exist. Choose another folder."
        if not os.access(folder, os.W_OK):
            return f"You cannot write to the folder {folder}. Choose another folder."
        return ""

    def _on_browse(self) -> None:
        title, before, suffix = self.windowTitle(), self.path.text(), self.form.suffix()
        if self._into_folder():
            path = QFileDialog.getExistingDirectory(self, title, before)
        else:
            # The note below the path announces replaced files, typed paths included.
            quietly = QFileDialog.Option.DontConfirmOverwrite
            path, _ = QFileDialog.getSaveFileName(
                self, title, before, f"*{suffix}", options=quietly
            )
            if path and Path(path).suffix.lower() != suffix:
                path += suffix
        if path:
            self.path.setText(path)
            self._on_path_edited()

    # ------------------------------------------------------------------------------- showing

    def show_preview(self, preview: Preview | list[DataColumn]) -> None:
        """Show the picture, or the columns, that the preview thread has made."""
        if isinstance(preview, Preview):
            self.preview.show_png(preview.png)
            self.measures.setText(preview.words)
        elif isinstance(self.form, DataForm):
            self.form.show_columns(preview)

    def show_error(self, sentence: str) -> None:
        """Show why the export has no preview."""
        if isinstance(self.form, DataForm):
            self.form.show_error(sentence)
        else:
            self.preview.show_words(sentence)
            self.measures.setText("")

    def show_note(self, words: str) -> None:
        """Show a confirmation below the path."""
        self.note.setText(words)
        self.note.show()
