"""Tabs of films and pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, final

from app.export.form import ExportForm, checked_names, too_many
from app.export.jobs import ExportJob
from app.export.pictures import FilmJob, PageJob
from app.widgets.inputs import DecimalBox, ValueEdit, WholeBox, text_width
from core.errors import InputError
from core.figures.names import (
    EVERY_PANEL,
    FEWEST_FRAMES,
    FILM_SIZES,
    LEAST_SIZE,
    MOST_FRAMES,
    MOST_SIZE,
    PAGE_COLOURS,
    PAGE_FRAMES,
    PAGE_PANELS,
    PANELS,
    kinds_of,
    mp4_problem,
)
from core.figures.options import FigureOptions
from core.problem.schedule import parse_time

# As in core.figures.film, whose import loads the numerical libraries. Players slow down GIFs with
# frames shorter than 20 ms.
FASTEST = {".gif": 50, ".webp": 60, ".mp4": 60}
MOST_FILM_FRAMES = 6000
# True if a film's range follows the neurons.
FILM_RANGES = {"follow the neurons": True, "show the whole run": False}
OPEN_VIEWS = "the open views"
PIXELS: dict[str, tuple[int, int] | None] = {
    "Automatic": None,
    **{f"{name}: {w} \u00d7 {h}": (w, h) for name, (w, h) in FILM_SIZES.items()},
    "Custom size": (0, 0),
}
OWN = len(PIXELS) - 1
COLOUR_TITLES = {"system": "match reader's theme", "light": "light", "dark": "dark"}


@final
class FilmForm(ExportForm):
    """Views, interval, speed, size and colours of a film."""

    formats: ClassVar[Mapping[str, str]] = {".gif": "GIF", ".webp": "WebP", ".mp4": "MP4"}

    def _add_rows(self) -> None:
        self.panel = self._choice_box("views", (), 14)
        for name in (*EVERY_PANEL, "all"):
            self.panel.addItem(name, name)
        self.panel.addItem(OPEN_VIEWS, ",".join(self.shown.panels))
        self.row("views", self.panel)
        self.size_choice = self._choice_box("size", PIXELS, 16)
        self.row("size", self.size_choice)
        self.wide, self.high = WholeBox(self), WholeBox(self)
        self._spin("width in pixels", self.wide, 0, 9999, 800)
        self._spin("height in pixels", self.high, 0, 9999, 600)
        self._own_size = self._add_row("custom", self.wide, "\u00d7", self.high, "pixels")
        self._add_interval()
        self.seconds = DecimalBox(self, decimals=1)
        self._spin("seconds", self.seconds, 0.1, 600.0, 8.0)
        self.rate = WholeBox(self)
        self._spin("frames per second", self.rate, 1, 60, 20)
        self._add_row("length", self.seconds, "s at", self.rate, "frames/s")
        self.range = self._choice_box("axes of the neurons", FILM_RANGES, 12)
        self.row("axes", self.range)
        self.range.setToolTip("Axes of the neurons")
        texts = ["heading and clock", "reference lines"]
        self.captions, self.lines = self.boxes("include", texts, 2)
        self.row("colours", self._palette_box(self.shown.palette))

    def _add_interval(self) -> None:
        self.since, self.until = ValueEdit(self), ValueEdit(self)
        for field, name in ((self.since, "start"), (self.until, "end")):
            field.setAccessibleName(name)
            field.textEdited.connect(self._on_changed)
        self.until.setPlaceholderText("the end")
        since, until = self.shown.interval or (-math.inf, math.inf)
        self.since.setText(exact_time(since))
        self.until.setText(exact_time(until) if math.isfinite(until) else "")
        for field in (self.since, self.until):
            field.setFixedWidth(max(88, text_width(self.until)))
        self._add_row("time", "t =", self.since, "to", self.until)

    def interval(self) -> tuple[float, float] | None:
        """Return the interval in log10 t, None for the whole run. Raises ValueError."""
        ends = []
        for field, default in ((self.since, -math.inf), (self.until, math.inf)):
            text = field.text().strip()
            time = parse_time(text) if text else default
            if time is None:
                raise ValueError(f"{text[:40]!r} is not a time. Try 300, 10^2.5 or 0.")
            ends.append(time)
        if not ends[0] < ends[1]:
            raise ValueError("The start must come before the end.")
        return None if ends == [-math.inf, math.inf] else (ends[0], ends[1])

    def pixels(self) -> tuple[int, int] | None:
        """Return the pixels; None for as many as the panels need."""
        if self.size_choice.currentIndex() == OWN:
            return self.wide.value(), self.high.value()
        return list(PIXELS.values())[self.size_choice.currentIndex()]

    def problem(self, runs: tuple[Path, ...]) -> str:
        for part in self._own_size:
            part.setVisible(self.size_choice.currentIndex() == OWN)
        try:
            self.range.setEnabled("neurons" in kinds_of(self.panel.currentData()))
            self.interval()
        except InputError as error:
            return error.sentence
        except ValueError as error:
            return str(error)
        if self.suffix() == ".mp4" and (wrong := mp4_problem()):
            return f"{wrong[:1].upper()}{wrong[1:]}."
        fastest = FASTEST[self.suffix()]
        if self.rate.value() > fastest:
            return f"A {self.suffix()} film can have at most {fastest} frames per second."
        count = round(self.seconds.value() * self.rate.value())
        if count > MOST_FILM_FRAMES:
            return (
                f"{count} frames are too many: a film can have at most {MOST_FILM_FRAMES}. "
                "Choose a shorter length or a lower rate."
            )
        wide, high = self.pixels() or LEAST_SIZE
        if not (LEAST_SIZE[0] <= wide <= MOST_SIZE[0] and LEAST_SIZE[1] <= high <= MOST_SIZE[1]):
            return (
                f"{wide} \u00d7 {high} pixels are not possible. Enter a width between "
                f"{LEAST_SIZE[0]} and {MOST_SIZE[0]} and a height between {LEAST_SIZE[1]} and "
                f"{MOST_SIZE[1]}."
            )
        return too_many(runs)

    def job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        return FilmJob(
            runs,
            paths[0],
            self.panel.currentData(),
            self.seconds.value(),
            self.rate.value(),
            FigureOptions(self.chosen_palette(), self.shown.plane, view=self.shown.view),
            FILM_RANGES[self.range.currentText()],
            interval=self.interval(),
            size=self.pixels(),
            captions=self.captions.isChecked(),
            lines=self.lines.isChecked(),
        )


def exact_time(log10_time: float) -> str:
    """Return a time for a field, which reads it again.

    >>> exact_time(-math.inf), exact_time(2.5), exact_time(2.51234567)
    ('0', '10^2.5', '10^2.5123')
    """
    return "0" if log10_time == -math.inf else f"10^{float(f'{log10_time:.4f}'):g}"


@final
class PageForm(ExportForm):
    """Views, frames, title and colours of an interactive page."""

    formats: ClassVar[Mapping[str, str]] = {".html": "HTML, for any browser"}

    def _add_rows(self) -> None:
        exportable = self.shown
        views = [name for name in exportable.panels if name in PAGE_PANELS] or list(PANELS)
        self.panels = self._view_boxes(PAGE_PANELS, views)
        self.frames = WholeBox(self)
        self._spin("frames", self.frames, FEWEST_FRAMES, MOST_FRAMES, PAGE_FRAMES)
        self.frames.setToolTip("Keep evenly spaced frames of longer runs")
        self._add_row("length", "up to", self.frames, "frames")
        self.name = ValueEdit(self)
        self.name.setAccessibleName("title")
        self.name.setPlaceholderText("title of the study")
        self.name.textEdited.connect(self._on_changed)
        self.row("title", self.name)
        names = ["reference lines", "current zoom", "notes"]
        self.lines, self.ranges, self.notes = self.boxes("include", names, 1)
        self.ranges.setEnabled(bool(exportable.ranges))
        self.ranges.setToolTip("Use the axis ranges shown in the window")
        self.notes.setToolTip("List the notes at moments; each leads to its moment")
        titles = [COLOUR_TITLES[name] for name in PAGE_COLOURS]
        self.colours = self._choice_box("colours", titles, 18)
        self.colours.setToolTip("Readers of the page can switch between light and dark")
        self.row("colours", self.colours)

    def problem(self, runs: tuple[Path, ...]) -> str:
        return too_many(runs) if checked_names(self.panels) else "Choose at least one view."

    def job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        return PageJob(
            runs,
            paths[0],
            checked_names(self.panels),
            self.frames.value(),
            self.name.text().strip(),
            PAGE_COLOURS[self.colours.currentIndex()],
            FigureOptions(plane=self.shown.plane, view=self.shown.view),
            lines=self.lines.isChecked(),
            ranges=self.ranges.isChecked(),
            notes=self.notes.isChecked(),
        )
