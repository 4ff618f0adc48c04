"""Window that shows data before training: points on a plane, classes, norms, pictures."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from app.training.fields import in_words
from app.widgets.inputs import ChoiceBox, WholeBox
from app.widgets.items import Markers, Style, Symbol
from app.widgets.keyboard import PlotFocus
from app.widgets.labels import heading_label, plain_label, problem_label, quiet_label
from app.widgets.layouts import add_all, space
from app.widgets.plot_item import Home, Plot
from app.widgets.screen_room import resize_on_screen
from app.widgets.screen_text import shown_number
from core.data.dataset import UNDERSTOOD
from core.data.preview import Plane, Preview
from core.figures.palette import Palette

COORDINATES = "coordinates"
WAITING = "Sampling the data ..."
MARKER, SWATCH = 7.0, 16
PICTURE, PICTURE_GAP = 48, 8
MOST_CLASSES = 12  # in the list of counts
SYMBOLS = (Symbol.DISC, Symbol.CROSS, Symbol.RING, Symbol.PLUS)


def class_styles(count: int, palette: Palette) -> list[Style]:
    """Return a marker for each class: vermilion and blue for two, else colours, then shapes."""
    colours = [palette.negative, palette.positive]
    if count == 1:
        colours = [palette.positive]
    elif count > 2:
        colours += palette.references
    return [
        Style(
            colours[number % len(colours)],
            MARKER,
            SYMBOLS[number // len(colours) % len(SYMBOLS)],
            palette.background,
        )
        for number in range(count)
    ]


@final
class PreviewDialog(QDialog):
    """Window that remains open beside the main window while settings are edited."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Data before training")
        self.setModal(False)
        resize_on_screen(self, QSize(720, 520))
        self._palette = palette
        self._preview: Preview | None = None
        self._note = self._chosen = ""
        self.problem, self.caution = problem_label(self), problem_label(self)
        self.note = quiet_label("", self)
        self.chooser = ChoiceBox(self, "Plane", letters=20)
        self.chooser.setObjectName("plane")
        self.chooser.textActivated.connect(self._on_chosen)
        self.boxes = (self._box("First coordinate"), self._box("Second coordinate"))
        self.plot = Plot(palette, horizontal=" ", vertical=" ", equal=True, parent=self)
        self.plot.setAccessibleName("Data on a plane")
        PlotFocus(self.plot)  # the plot owns it
        self.markers = self.plot.add(Markers())
        self.facts = quiet_label("", self)
        self.understood = quiet_label("", self, wrap=True)
        self.counts = space(QGridLayout(), spacing=(8, 4))
        self.counts.setColumnStretch(2, 1)
        self.strip = plain_label(parent=self)
        self.strip.setAccessibleName("Images of the training set")
        self._arrange()

    def _box(self, name: str) -> WholeBox:
        box = WholeBox(self)
        box.setAccessibleName(name)
        box.setRange(1, 1)
        box.valueChanged.connect(self._show_plane)
        return box

    def _arrange(self) -> None:
        choice = add_all(space(QHBoxLayout(), spacing=8), self.chooser, *self.boxes, 1, self.note)
        plot_column = add_all(space(QVBoxLayout(), spacing=8), choice, (self.plot, 1))
        data, classes = heading_label("Training set", self), heading_label("Classes", self)
        right = space(QVBoxLayout(), spacing=8)
        add_all(right, data, self.facts, classes, self.counts, 1)
        self.sides = QWidget(self)
        add_all(space(QHBoxLayout(self.sides), spacing=16), (plot_column, 1), right)
        layout = space(QVBoxLayout(self), (16, 16, 16, 16), 8)
        add_all(layout, self.problem, self.caution, self.understood, (self.sides, 1), self.strip)

    # ------------------------------------------------------------------------------- showing

    @property
    def preview(self) -> Preview | None:
        """Shown preview; None without data."""
        return self._preview

    def show_waiting(self, note: str) -> None:
        """Announce that new data are being read; the present ones remain visible."""
        self._note = note
        self.note.setText(WAITING)
        if self._preview is None and self.problem.isHidden():
            self.sides.show()

    def show_problem(self, sentence: str) -> None:
        """Show in place of the data why there are none."""
        self._preview = None
        self.problem.setText(in_words(sentence))
        self.problem.show()
        self.caution.hide()
        self.strip.hide()
        self.sides.hide()
        self.understood.hide()

    def show_preview(self, preview: Preview) -> None:
        """Show a preview; the chosen plane is kept if the data have it."""
        self._preview = preview
        self.problem.hide()
        self.caution.setText(in_words(preview.caution))
        self.caution.setVisible(bool(preview.caution))
        self.sides.show()
        chosen = self._chosen
        names = [*(plane.title for plane in preview.planes), COORDINATES]
        self.chooser.clear()
        self.chooser.addItems(names)
        self.chooser.setCurrentText(chosen if chosen in names else self._best(preview, names))
        for box, value in zip(self.boxes, (1, 2), strict=True):
            fresh = box.maximum() == 1  # the user cannot have chosen a value yet
            box.setMaximum(max(preview.dataset.d, 1))
            if fresh:
                box.setValue(value)
        self._show_facts(preview)
        self._show_plane()
        self.set_colours(self._palette)

    @staticmethod
    def _best(preview: Preview, names: list[str]) -> str:
        """Return the most telling plane: known directions or components, else coordinates."""
        useful = len(names) > 2 or preview.pictures is not None
        return names[0] if useful else COORDINATES

    def _show_facts(self, preview: Preview) -> None:
        data = preview.dataset
        tests = 0 if data.y_test is None else data.y_test.size
        low, high = (shown_number(norm, 4) for norm in (preview.shortest, preview.longest))
        norms = f"|x| = {low}" if low == high else f"{low} \u2264 |x| \u2264 {high}"
        lines = [f"n = {data.n}", f"d = {data.d}", norms]
        lines += [f"{tests} test examples"] if tests else []
        if data.n > preview.which.size:
            lines.append(f"showing the first {preview.which.size}")
        self.facts.setText("\n".join(lines))
        self.understood.setText(data.note and f"{UNDERSTOOD} {data.note}")
        self.understood.setVisible(bool(data.note))

    def set_colours(self, palette: Palette) -> None:
        """Set the palette."""
        self._palette = palette
        self.plot.set_colours(palette)
        if self._preview is None:
            return
        styles = class_styles(len(self._preview.counts), palette)
        self.markers.set_styles(*styles)
        self._show_counts(self._preview, styles)
        pictures = self._preview.pictures
        self.strip.setVisible(pictures is not None)
        if pictures is not None:
            self.strip.setPixmap(picture_strip(pictures, self.devicePixelRatioF()))

    def _show_counts(self, preview: Preview, styles: list[Style]) -> None:
        while self.counts.count():
            item = self.counts.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                # deleteLater leaves the widget visible until the next turn of the event loop.
                widget.hide()
                widget.deleteLater()
        for row, ((label, count), style) in enumerate(zip(preview.counts, styles, strict=True)):
            if row == MOST_CLASSES:
                n_unlisted = len(preview.counts) - MOST_CLASSES
                self.counts.addWidget(quiet_label(f"and {n_unlisted} more", self), row, 1, 1, 2)
                return
            swatch = plain_label(parent=self)
            swatch.setPixmap(self._swatch(style))
            self.counts.addWidget(swatch, row, 0)
            self.counts.addWidget(plain_label(label.replace("-", "\u2212"), self), row, 1)
            number = quiet_label(str(count), self)
            number.setAlignment(Qt.AlignmentFlag.AlignRight)
            self.counts.addWidget(number, row, 2)

    def _swatch(self, style: Style) -> QPixmap:
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap(round(SWATCH * ratio), round(SWATCH * ratio))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        style.draw(painter, QPointF(SWATCH / 2, SWATCH / 2))
        painter.end()
        return pixmap

    # --------------------------------------------------------------------------------- plane

    def _on_chosen(self, title: str) -> None:
        self._chosen = title
        self._show_plane()

    def _show_plane(self) -> None:
        preview = self._preview
        if preview is None:
            return
        by_hand = self.chooser.currentText() == COORDINATES
        for box in self.boxes:
            box.setVisible(by_hand and preview.dataset.d > 1)
        plane = self._plane(preview)
        self.plot.bottom.set_label(plane.horizontal)
        self.plot.side.set_label(plane.vertical)
        self.markers.show_at(plane.points, preview.which)
        self.note.setText(" ".join(filter(None, [self._note, _places(plane.points)])))
        self.plot.reset_range()
        self.plot.set_home(_room(plane.points))
        self.plot.set_colours(self._palette)

    def _plane(self, preview: Preview) -> Plane:
        for plane in preview.planes:
            if plane.title == self.chooser.currentText():
                return plane
        first, second = (min(box.value(), preview.dataset.d) - 1 for box in self.boxes)
        return preview.coordinates(first, second)


def _places(points: NDArray[np.float64]) -> str:
    """Say how many points are distinct, if some coincide, as corners of a cube do."""
    # Rounded: a projection may give equal examples different last digits.
    distinct = np.unique(points.round(9), axis=0).shape[0]
    count = points.shape[0]
    places = "1 place" if distinct == 1 else f"{distinct} places"
    return f"{count} points at {places}." if distinct < count else ""


def _room(points: NDArray[np.float64]) -> Home:
    """Return a range with all points inside, and some room around them."""
    low, high = points.min(axis=0), points.max(axis=0)
    # Points on a line or all in one place still need a range with some width.
    room = np.where(high > low, 0.08 * (high - low), np.maximum(0.1 * np.abs(high), 1e-3))
    low, high = low - room, high + room
    return Home(float(low[0]), float(high[0]), float(low[1]), float(high[1]))


def picture_strip(pictures: NDArray[Any], ratio: float = 1.0) -> QPixmap:
    """Paint grey (p, h, w) or coloured (p, h, w, 3) bytes side by side, each 48 pixels high."""
    count, height, width = pictures.shape[:3]
    across = max(1, round(PICTURE * width / height))
    strip = QPixmap(
        round((count * (across + PICTURE_GAP) - PICTURE_GAP) * ratio), round(PICTURE * ratio)
    )
    strip.setDevicePixelRatio(ratio)
    strip.fill(Qt.GlobalColor.transparent)
    painter = QPainter(strip)
    for place, picture in enumerate(pictures):
        painter.drawImage(
            QRect(place * (across + PICTURE_GAP), 0, across, PICTURE), _image(picture)
        )
    painter.end()
    return strip


def _image(picture: NDArray[Any]) -> QImage:
    picture = np.ascontiguousarray(picture)
    height, width = picture.shape[:2]
    grey = picture.ndim == 2
    form = QImage.Format.Format_Grayscale8 if grey else QImage.Format.Format_RGB888
    # QImage only borrows the array's bytes; the copy owns its own.
    return QImage(picture.data, width, height, width * (1 if grey else 3), form).copy()
