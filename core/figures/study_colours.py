"""Colours of the panels that show data and functions."""

from __future__ import annotations

from collections.abc import Sequence

from core.figures.palette import Palette
from core.studies.panel_lines import LABELS, Line


def coloured(lines: Sequence[Line], palette: Palette) -> list[str]:
    """Examples in the colours of their labels, functions in those of text and references."""
    labels = {LABELS[1.0]: palette.positive, LABELS[-1.0]: palette.negative}
    curves = iter((palette.foreground, *palette.references))
    return [labels[line.value] if not line.joined else next(curves) for line in lines]
