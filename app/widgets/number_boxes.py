"""Fields for numbers, whose decimal sign is a point (app.qt_application).

Qt takes a comma, or a point, for a sign between groups of digits and drops it: 8,5 becomes 85.
"""

from __future__ import annotations

from typing import final

from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

Answer = tuple[QValidator.State, str, int]


@final
class WholeBox(QSpinBox):
    """Field for a whole number; a text with a comma or a point is not taken."""

    def validate(self, text: str, position: int) -> Answer:
        if {",", "."} & set(text):
            # Not "invalid": the sign alone would be kept out, and 1,5 be 15.
            return QValidator.State.Intermediate, text, position
        answer: Answer = super().validate(text, position)
        return answer

    def fixup(self, text: str) -> str:
        return text  # Qt would take commas out


@final
class DecimalBox(QDoubleSpinBox):
    """Field for a number, with a decimal point or a comma; a text with both is not taken."""

    def validate(self, text: str, position: int) -> Answer:
        if text.count(",") + text.count(".") > 1:
            return QValidator.State.Intermediate, text, position
        answer: Answer = super().validate(text.replace(",", "."), position)
        return answer

    def fixup(self, text: str) -> str:
        return text

    def valueFromText(self, text: str) -> float:
        return super().valueFromText(text.replace(",", "."))
