"""Settings of the user: read once, updated, and saved when the window closes."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any, final

from app.places import Places
from app.settings import load_settings, save_settings
from app.shell.appearance import system_palette
from app.shell.main_window import MainWindow
from app.state.intent import Intent
from app.state.views import known_views


@final
class SettingsController:
    """Settings of the user: `values`.

    `is_new`: the window was never closed before, so that there is no file. `warning`: sentences
    about what is not saved, and about a file that could not be read.
    """

    def __init__(self, places: Places, unkept: str = "") -> None:
        self._places = places
        self.is_new = not places.settings.exists()
        self.values, warning = load_settings(places.settings)
        self.warning = f"{unkept} {warning}".strip()

    def intent(self) -> Intent:
        """Return the intent that the window opens with."""
        options = self.values.options
        return replace(options, palette=system_palette()) if self.values.follows_system else options

    def update(self, **changes: Any) -> None:
        """Change values of settings."""
        self.values = self.values.model_copy(update=changes)

    def add_recent(self, name: str) -> None:
        """Put a file that was opened first among the recent ones."""
        self.values = self.values.with_recent(Path(name))

    def update_window(self, window: MainWindow, wishes: Intent) -> None:
        """Take geometry, drawers and options from the window."""
        geometry = base64.b64encode(window.saveGeometry().data()).decode()
        columns = window.columns
        options = replace(wishes, views=known_views(wishes.views))
        self.update(
            options=options,
            geometry=geometry,
            drawer=columns.open_drawer,
            drawer_widths=dict(columns.widths),
            folded_sections=window.form.folded_sections,
            times_open=not window.times.isHidden(),
        )

    def save(self) -> str:
        """Write the settings; return a sentence if the disk is full."""
        return save_settings(self._places.settings, self.values)
