"""Apply options to a single panel, as the display does to all."""

from __future__ import annotations

from dataclasses import replace

from app.views.run_panel import RunPanel


def set_options(panel: RunPanel, **options: object) -> None:
    panel.set_options(replace(panel.options, **options))


def show_frame(panel: RunPanel, index: int) -> None:
    for view in panel.set_frame(index):
        view.show_frame(panel.frame)


def mark_nodes(panel: RunPanel, hovered: int, pinned: frozenset[int]) -> None:
    for view in panel.set_marked(hovered, pinned):
        view.set_marked(hovered, pinned)
