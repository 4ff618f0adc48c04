"""Options of a panel, changed one by one."""

from __future__ import annotations

from dataclasses import replace

from app.views.run_panel import RunPanel


def set_options(panel: RunPanel, **options: object) -> None:
    """Change some options of a panel."""
    panel.set_options(replace(panel.options, **options))
