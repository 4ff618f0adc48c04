"""The windows that ask for a film or for data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import final

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import (
    QCheckBox,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.export.export_dialog import WAITING, ExportDialog, too_many
from app.export.jobs import DataColumn, DataJob, ExportJob
from app.export.pictures import Exportable, FilmJob
from app.widgets.inputs import DecimalBox, ValueEdit, WholeBox, text_width
from app.widgets.labels import plain_tip, quiet_label
from app.widgets.layouts import add_all, space
from core.errors import InputError
from core.figures.names import (
    EVERY_PANEL,
    FILM_SIZES,
    LEAST_SIZE,
    MOST_SIZE,
    kinds_of,
    mp4_problem,
)
from core.figures.options import FigureOptions
from core.figures.palette import PALETTES
from core.numbers import duration_text
from core.problem.schedule import parse_time

FILM_FORMATS = {".gif": "GIF", ".webp": "WebP", ".mp4": "MP4"}
DATA_FORMATS = {".npz": "NPZ: also node by node", ".csv": "CSV: one row a frame"}
# As core.figures.film has them, which loads the numerical libraries: players slow down GIFs whose
# frames last less than 20 ms.
FASTEST = {".gif": 50, ".webp": 60, ".mp4": 60}
MOST_FILM_FRAMES = 6000
# Whether a film's range follows the nodes.
FILM_RANGES = {"the moment's": True, "the whole run's": False}
OPEN_VIEWS = "the open views"
PIXELS: dict[str, tuple[int, int] | None] = {
    "as the panels need": None,
    **{f"{name}: {w} \u00d7 {h}": (w, h) for name, (w, h) in FILM_SIZES.items()},
    "own size": (0, 0),
}
OWN = len(PIXELS) - 1
MEASURING = "The columns are being looked at ..."
NAME = Qt.ItemDataRole.UserRole


@final
class FilmDialog(ExportDialog):
    """A film: format, panel, interval, speed, size and colours."""

    def __init__(self, shown: Exportable, folder: Path, parent: QWidget | None = None) -> None:
        self._drawn = shown
        super().__init__("Save a film", FILM_FORMATS, shown.runs, folder, parent, names=shown.names)
        self.palette_choice.setCurrentIndex(list(PALETTES).index(shown.palette.name))
        self._offer_mp4(mp4_problem())

    def _offer_mp4(self, problem: str) -> None:
        """MP4 only where there is an encoder; else why not."""
        place = self._suffixes.index(".mp4")
        model = self.format.model()
        assert isinstance(model, QStandardItemModel)
        item = model.item(place)
        item.setEnabled(not problem)
        item.setToolTip(plain_tip(f"{problem[:1].upper()}{problem[1:]}." if problem else ""))
        self.encoder.setText(f"No MP4 here: {problem}." if problem else "")
        self.encoder.setVisible(bool(problem))

    def _add_options(self) -> None:
        self.encoder = quiet_label("", self, wrap=True)
        self._grid.addWidget(self.encoder, self._grid.rowCount(), 1)
        self.panel = self._choice_box("panel", (), 10)
        for name in (*EVERY_PANEL, "all"):
            self.panel.addItem(name, name)
        self.panel.addItem(OPEN_VIEWS, ",".join(self._drawn.panels))
        self.range = self._choice_box("range of the nodes", FILM_RANGES, 10)
        self._together("panel", self.panel, "range of the nodes", self.range)
        self._add_interval()
        self.seconds = DecimalBox(self, decimals=1)
        self._spin("seconds", self.seconds, 0.1, 600.0, 8.0)
        self.rate = WholeBox(self)
        self._spin("frames a second", self.rate, 1, 60, 20)
        self._together("length", self.seconds, "seconds,", self.rate, "frames a second")
        self.size_choice = self._choice_box("size", PIXELS, 16)
        self.wide, self.high = WholeBox(self), WholeBox(self)
        self._spin("width in pixels", self.wide, 0, 9999, 800)
        self._spin("height in pixels", self.high, 0, 9999, 600)
        self._together("size", self.size_choice, self.wide, "\u00d7", self.high, "pixels")
        self.captions, self.lines = self._boxes(
            "with", ["heading and clock", "theory's lines"], 2, columns=2
        )
        self._row("colours", self._add_palette())

    def _add_interval(self) -> None:
        self.since, self.until = ValueEdit(self), ValueEdit(self)
        for field, name in ((self.since, "begins at"), (self.until, "ends at")):
            field.setAccessibleName(name)
            field.textEdited.connect(self._on_changed)
        self.until.setPlaceholderText("the end")
        since, until = self._drawn.interval or (-math.inf, math.inf)
        self.since.setText(exact_time(since))
        self.until.setText(exact_time(until) if math.isfinite(until) else "")
        for field in (self.since, self.until):
            field.setFixedWidth(max(96, text_width(self.until)))
        self._together("time", "from t =", self.since, "to t =", self.until)

    def interval(self) -> tuple[float, float] | None:
        """The interval in log10 t; None for the whole run. Raises ValueError with what is wrong."""
        ends = []
        for field, whole in ((self.since, -math.inf), (self.until, math.inf)):
            text = field.text().strip()
            time = parse_time(text) if text else whole
            if time is None:
                raise ValueError(f"{text[:40]!r} is no time; give one such as 10^2.5, 300 or 0.")
            ends.append(time)
        if not ends[0] < ends[1]:
            raise ValueError("The interval is empty: a film begins before it ends.")
        return None if ends == [-math.inf, math.inf] else (ends[0], ends[1])

    def pixels(self) -> tuple[int, int] | None:
        """Pixels; None for as many as the panels need."""
        position = self.size_choice.currentIndex()
        return (
            (self.wide.value(), self.high.value())
            if position == OWN
            else list(PIXELS.values())[position]
        )

    def _problem(self, runs: tuple[Path, ...]) -> str:
        own = self.size_choice.currentIndex() == OWN
        for spin in (self.wide, self.high):
            spin.setEnabled(own)
        try:
            kinds = kinds_of(self.panel.currentData())
        except InputError as error:
            return error.sentence
        self.range.setEnabled("neurons" in kinds)
        fastest = FASTEST[self.suffix()]
        if self.suffix() == ".mp4" and (problem := mp4_problem()):
            return f"{problem[:1].upper()}{problem[1:]}."
        if self.rate.value() > fastest:
            return f"A {self.suffix()} film has at most {fastest} frames a second."
        count = round(self.seconds.value() * self.rate.value())
        if count > MOST_FILM_FRAMES:
            return f"{count} frames are too many; at most {MOST_FILM_FRAMES} are possible."
        try:
            self.interval()
        except ValueError as error:
            return str(error)
        wide, high = self.pixels() or LEAST_SIZE
        if not (LEAST_SIZE[0] <= wide <= MOST_SIZE[0] and LEAST_SIZE[1] <= high <= MOST_SIZE[1]):
            return (
                f"A film of {wide} \u00d7 {high} pixels: it is {LEAST_SIZE[0]} to {MOST_SIZE[0]} "
                f"wide and {LEAST_SIZE[1]} to {MOST_SIZE[1]} high."
            )
        return too_many(runs)

    def _job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        return FilmJob(
            runs,
            paths[0],
            self.panel.currentData(),
            self.seconds.value(),
            self.rate.value(),
            FigureOptions(self._palette(), self._drawn.plane, look=self._drawn.look),
            FILM_RANGES[self.range.currentText()],
            interval=self.interval(),
            size=self.pixels(),
            captions=self.captions.isChecked(),
            lines=self.lines.isChecked(),
        )


def exact_time(log10_time: float) -> str:
    """A time in a field, to be read again.

    >>> exact_time(-math.inf), exact_time(2.5), exact_time(2.51234567)
    ('0', '10^2.5', '10^2.5123')
    """
    return "0" if log10_time == -math.inf else f"10^{float(f'{log10_time:.4f}'):g}"


@final
class DataDialog(ExportDialog):
    """Data: format, columns, and whether the parameters go with them; one file a run."""

    def __init__(self, shown: Exportable, folder: Path, parent: QWidget | None = None) -> None:
        self._columns: tuple[DataColumn, ...] = ()
        super().__init__(
            "Save data",
            DATA_FORMATS,
            shown.runs,
            folder,
            parent,
            one_file_each=True,
            names=shown.names,
        )

    def _add_options(self) -> None:
        holder = QWidget(self)
        self.columns = QListWidget(holder)
        self.columns.setAccessibleName("columns")
        self.columns.setMinimumHeight(180)
        self.columns.addItem(QListWidgetItem(MEASURING))
        self.columns.itemChanged.connect(self._on_changed)
        self.sum = quiet_label("", holder, wrap=True)
        add_all(space(QVBoxLayout(holder), spacing=4), (self.columns, 1), self.sum)
        self._row("columns", holder)
        self.parameters = QCheckBox("the data set and the parameters of every frame", self)
        self._row("with", self.parameters)

    def show_preview(self, columns: Sequence[DataColumn]) -> None:
        """List the columns of the runs; costly ones are not ticked, and say how long they take."""
        self._columns = tuple(columns)
        with QSignalBlocker(self.columns):
            self.columns.clear()
            for column in sorted(columns, key=attrgetter("costly")):
                words = "" if column.scalar else ", node by node"
                cost = f" \u2013 about {duration_text(column.seconds)}" if column.costly else ""
                item = QListWidgetItem(f"{column.name}: {column.title}{words}{cost}")
                item.setData(NAME, column.name)
                ticked = Qt.CheckState.Unchecked if column.costly else Qt.CheckState.Checked
                item.setCheckState(ticked)
                self.columns.addItem(item)
        self._on_changed()

    def refuse(self, sentence: str) -> None:
        self.columns.clear()
        self.columns.addItem(QListWidgetItem(sentence))

    def chosen(self) -> tuple[DataColumn, ...]:
        """The columns that are ticked and that the format has room for."""
        items = [self.columns.item(row) for row in range(self.columns.count())]
        names = {item.data(NAME) for item in items if item.checkState() is Qt.CheckState.Checked}
        nodes = self.suffix() == ".npz"
        return tuple(c for c in self._columns if c.name in names and (c.scalar or nodes))

    def _problem(self, runs: tuple[Path, ...]) -> str:
        self.parameters.setEnabled(self.suffix() == ".npz")
        if not self._columns:
            self.sum.setText("")
            return WAITING
        for row in range(self.columns.count()):
            item = self.columns.item(row)
            column = next(one for one in self._columns if one.name == item.data(NAME))
            shown = column.scalar or self.suffix() == ".npz"
            self.columns.setRowHidden(row, not shown)
        chosen = self.chosen()
        seconds = sum(column.seconds for column in chosen)
        self.sum.setText(
            f"{len(chosen)} columns beside frame, step and time; about {duration_text(seconds)}."
        )
        return ""

    def _job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        # The box may have been ticked before the format was changed: CSV has a row a frame, and no
        # room for arrays.
        parameters = self.parameters.isChecked() and self.suffix() == ".npz"
        return DataJob(runs, paths, parameters, tuple(column.name for column in self.chosen()))
