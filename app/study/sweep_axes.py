"""What the plot of a whole study shows: the axis, the column, and which of the other values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QWidget

from app.state.sweep_lines import first_axis, first_choice, first_column
from app.study.cell_table import short_key
from app.widgets.inputs import ChoiceBox, quiet_label
from app.widgets.layouts import filled, laid
from app.widgets.plain_text import plain_tip
from app.widgets.screen_text import shown_number
from core.studies.tables import value_text

ALL = "all"


@final
class SweepAxes(QWidget):
    """Choices in a line. changed: any of them; scaled: the axes' scales were chosen."""

    changed = Signal()
    scaled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._axes: Mapping[str, Sequence[Any]] = {}
        self._filters: dict[str, tuple[QLabel, ChoiceBox]] = {}
        self._line = laid(QHBoxLayout(self), (8, 8, 0, 0), 8)
        self.column = ChoiceBox(self, "Column", letters=14)
        self.axis = ChoiceBox(self, "Axis", letters=8)
        self.log_y = self._box("log", "A logarithmic vertical axis")
        self.log_x = self._box("log", "A logarithmic horizontal axis")
        over = quiet_label("over", self)
        filled(self._line, self.column, self.log_y, over, self.axis, self.log_x, 1)
        self.column.activated.connect(self.changed)
        self.axis.activated.connect(self._axis_chosen)

    def _box(self, text: str, tip: str) -> QCheckBox:
        box = QCheckBox(text, self)
        box.setToolTip(plain_tip(tip))
        box.setAccessibleName(tip)
        box.clicked.connect(self.scaled)
        return box

    # --------------------------------------------------------------------------------- showing

    def show_study(self, axes: Mapping[str, Sequence[Any]], columns: Sequence[str]) -> None:
        """Another grid; the axis and the column stay where it has them too."""
        before = self.axis_name, self.column_name
        self._axes = axes
        with QSignalBlocker(self.axis), QSignalBlocker(self.column):
            self.axis.clear()
            for key in axes:
                self.axis.addItem(short_key(key), key)
            self.column.clear()
            for name in columns:
                self.column.addItem(name.replace("_", " "), name)
            axis = before[0] if before[0] in axes else first_axis(axes)
            self.axis.setCurrentIndex(self.axis.findData(axis))
            column = before[1] if before[1] in columns else first_column(columns)
            self.column.setCurrentIndex(self.column.findData(column))
        self._rebuild()

    def show_scales(self, horizontal: bool, vertical: bool) -> None:
        """Which axes are logarithmic."""
        for box, shown in ((self.log_x, horizontal), (self.log_y, vertical)):
            with QSignalBlocker(box):
                box.setChecked(shown)

    def _rebuild(self) -> None:
        """A choice for each other axis with several values."""
        for parts in self._filters.values():
            for part in parts:
                part.hide()
                part.deleteLater()
        self._filters = {}
        first = first_choice(self._axes, self.axis_name)
        for key, values in self._axes.items():
            if key == self.axis_name or len(values) < 2 or key.endswith(".seed"):
                continue
            label = quiet_label(short_key(key), self)
            choice = ChoiceBox(self, f"Values of {short_key(key)}", letters=4)
            choice.addItem(ALL, None)
            for place, value in enumerate(values):
                text = shown_number(value) if isinstance(value, float) else value_text(value)
                choice.addItem(text.replace("_", " "), place)
            if key in first:
                choice.setCurrentIndex(1 + list(values).index(first[key]))
            choice.activated.connect(self.changed)
            for part in (label, choice):
                # Before the stretch at the end.
                self._line.insertWidget(self._line.count() - 1, part)
            self._filters[key] = label, choice

    # --------------------------------------------------------------------------------- reading

    @property
    def axis_name(self) -> str:
        """The axis across, by its key."""
        return str(self.axis.currentData() or "")

    @property
    def column_name(self) -> str:
        """The column up."""
        return str(self.column.currentData() or "")

    @property
    def chosen(self) -> dict[str, Any]:
        """The values that the other axes are to have; those that may have any are left out."""
        places = {key: choice.currentData() for key, (_, choice) in self._filters.items()}
        return {k: self._axes[k][place] for k, place in places.items() if place is not None}

    # --------------------------------------------------------------------------------- editing

    def _axis_chosen(self, _: int) -> None:
        self._rebuild()
        self.changed.emit()
