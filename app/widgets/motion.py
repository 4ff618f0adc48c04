"""Preference of the user's system for less motion."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QStyle


def is_motion_reduced() -> bool:
    """Return True if the system animates no widgets."""
    hint = QStyle.StyleHint.SH_Widget_Animation_Duration
    return QApplication.style().styleHint(hint) == 0
