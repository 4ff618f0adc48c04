"""Dialog for another step: its value, or a factor of the present one."""

from __future__ import annotations

import math
import re
from typing import final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget

from app.training.fields import LABELS
from app.widgets.labels import quiet_label
from app.widgets.layouts import add_all, space, widen_for_title
from core.numbers import number_text
from core.problem.schedule import NUMBER

LETTERS, SIDE = 60, 16  # width in average characters; margin in pixels
HALF = "/ 2"
DIVIDED = re.compile(rf"^[/\u00f7]\s*({NUMBER})$", re.IGNORECASE)
TIMES = re.compile(rf"^[*x\u00d7]\s*({NUMBER})$", re.IGNORECASE)
VALUE = re.compile(rf"^({NUMBER})$", re.IGNORECASE)
HINT = "Enter a step size such as 0.01, or a factor such as / 2 or * 3."


def step_of(text: str, step: float) -> float | None:
    """Return the step that a text means; None if it is not above 0, or the same.

    >>> step_of("/ 2", 0.5), step_of("* 3", 0.5), step_of("0.1", 0.5), step_of("x 1.5", 2.0)
    (0.25, 1.5, 0.1, 3.0)
    >>> step_of("0.5", 0.5), step_of("half", 0.5), step_of("/ 0", 0.5), step_of("-1", 0.5)
    (None, None, None, None)
    """
    text = text.strip()
    value = 0.0
    if match := DIVIDED.match(text):
        divisor = float(match[1])
        value = step / divisor if divisor else 0.0
    elif match := TIMES.match(text):
        value = step * float(match[1])
    elif match := VALUE.match(text):
        value = float(match[1])
    return value if 0.0 < value < math.inf and value != step else None


@final
class StepDialog(QDialog):
    """Dialog whose `step` is the chosen one, None while the text is no other step."""

    def __init__(self, where: str, step: float, parent: QWidget) -> None:
        super().__init__(parent)
        self._now = step
        self.setWindowTitle("Retrain with a new step size")
        widen_for_title(self)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        question = QLabel(
            (
                f"Continue from the weights of {where} with a new step size. Current step size: "
                f"{number_text(step)}"
            ),
            self,
            textFormat=Qt.TextFormat.PlainText,
            wordWrap=True,
        )
        self.line = QLineEdit(HALF, self)
        self.line.setAccessibleName("Step size or factor")
        self.line.selectAll()
        self.answer = quiet_label(HINT, self, wrap=True)
        width = LETTERS * self.fontMetrics().averageCharWidth()
        # Room for the longer answer, so that the dialog does not resize.
        self.answer.setMinimumHeight(self.answer.heightForWidth(width - 2 * SIDE))
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self
        )
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setText("Train")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column = space(QVBoxLayout(self), (SIDE, SIDE, SIDE, SIDE), 8)
        add_all(column, question, self.line, self.answer, self.buttons)
        self.setMinimumWidth(width)
        self.line.textChanged.connect(self._show)
        self._show()
        self.line.setFocus()

    @property
    def step(self) -> float | None:
        """Typed step."""
        return step_of(self.line.text(), self._now)

    def _show(self) -> None:
        step = self.step
        self.answer.setText(HINT if step is None else f"{LABELS['step']} = {number_text(step)}")
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(step is not None)
