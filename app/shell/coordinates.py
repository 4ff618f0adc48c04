"""Which two input coordinates the neurons are drawn on: counted from 1, as in the papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QWidget

from app.widgets.number_boxes import WholeBox


@final
class CoordinatesDialog(QDialog):
    """Two numbers from 1 to d."""

    def __init__(
        self, present: Sequence[int], dimension: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Coordinates")
        layout = QFormLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        self._boxes = (WholeBox(self), WholeBox(self))
        for box, name, value in zip(
            self._boxes, ("&Horizontal", "&Vertical"), present, strict=True
        ):
            # Counted from 1, as the papers do; `chosen` counts from 0, as the arrays.
            box.setRange(1, max(dimension, 1))
            box.setValue(value + 1)
            layout.addRow(f"{name}, 1 to {dimension}", box)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout.addRow(buttons)

    def chosen(self) -> tuple[int, int]:
        """The two coordinates, counted from 0."""
        return self._boxes[0].value() - 1, self._boxes[1].value() - 1
