"""What the window remembers between starts: read once, kept up, written at the end."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, final

from app.places import Places
from app.scenes.folding import Choice
from app.settings import load_settings, save_settings
from app.shell.main_window import MainWindow
from app.shell.system_theme import system_palette
from app.state.intent import Intent
from app.state.views import known

Panels = Mapping[Choice, bool]
# The setting of each choice of app.scenes.folding.
PANELS: Mapping[Choice, str] = {
    ("form", False): "form_shown",
    ("form", True): "form_small",
    ("inspector", False): "inspector_shown",
    ("inspector", True): "inspector_small",
    ("times", False): "times_shown",
    ("times", True): "times_small",
}


@final
class Memory:
    """Settings of the user, saved when the window closes.

    `warning`: sentences about what is not kept, and about a file that could not be read.
    """

    def __init__(self, places: Places, unkept: str = "") -> None:
        self._places = places
        self.settings, warning = load_settings(places.settings)
        self.warning = f"{unkept} {warning}".strip()

    def intent(self) -> Intent:
        """The wishes that the window opens with."""
        options = self.settings.options
        return (
            replace(options, palette=system_palette()) if self.settings.follows_system else options
        )

    def panels(self) -> dict[Choice, bool]:
        """Which panels were left open."""
        return {choice: getattr(self.settings, name) for choice, name in PANELS.items()}

    def note(self, **changes: Any) -> None:
        """Remember values of settings."""
        self.settings = self.settings.model_copy(update=changes)

    def note_file(self, name: str) -> None:
        """A file was opened."""
        self.settings = self.settings.with_recent(Path(name))

    def note_window(
        self, window: MainWindow, wishes: Intent, chosen: Mapping[Choice, bool]
    ) -> None:
        """How the window is left: its geometry, the wishes and the panels."""
        geometry = base64.b64encode(window.saveGeometry().data()).decode()
        panels = {name: chosen[choice] for choice, name in PANELS.items()}
        options = replace(wishes, views=known(wishes.views))
        self.note(**panels, options=options, geometry=geometry)

    def save(self) -> str:
        """Write the settings; return a sentence if the disk is full."""
        return save_settings(self._places.settings, self.settings)
