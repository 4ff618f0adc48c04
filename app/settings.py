"""What the window remembers: its geometry, palette, recent files and display.

A settings file that cannot be read or has been meddled with never stops the start: it is set aside
beside itself and the defaults are used.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from pathlib import Path
from typing import Any, Literal, final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from app.state.intent import FIGURE_1, FIRST_CURVES
from app.state.layouts import MOST_LAYOUTS
from core.errors import DiskError, MarginscopeError
from core.files import read_whole, set_aside, write_whole

MOST_RECENT = 10
# Ours has a few kilobytes; another file under its name must not be read whole at every start.
MOST_BYTES = 1_000_000


@final
class Settings(BaseModel):
    """The remembered values. `geometry` is Qt's, in base64; unknown keys are left out."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    geometry: str = Field("", max_length=10_000)
    palette: Literal["light", "dark"] = "light"
    follows_system: bool = True  # whether the palette is the system's
    pace: float = Field(1.0, ge=0.01, le=100.0)
    loop: bool = False
    linked: bool = True
    form_shown: bool = True
    inspector_shown: bool = True
    form_small: bool = False  # the same, of a window that is too small for it
    inspector_small: bool = False
    times_shown: bool = True
    times_small: bool = False
    equal: bool = False
    neuron_range: Literal["moment", "run", "root"] = "moment"
    neuron_points: Literal["", "weights", "directions"] = ""  # empty: the study's
    views: tuple[str, ...] = Field((), max_length=20)  # chosen by the user; empty: the study's
    curves: tuple[str, ...] | None = Field(None, max_length=20)  # the same; None: the study's
    recent: tuple[str, ...] = ()  # at most MOST_RECENT
    library_shown: bool = False
    shortcuts: dict[str, str] = Field({}, max_length=500)  # by actions, where they are not usual
    commands: tuple[str, ...] = Field((), max_length=100)  # of the palette, the latest first
    restores: bool = True  # whether the window opens with what was open when it was closed
    layouts: dict[str, dict[str, tuple[str, ...]]] = Field({}, max_length=MOST_LAYOUTS)
    library_columns: tuple[str, ...] = Field((), max_length=100)
    first_starts_mb: float = Field(200.0, ge=0.0)  # what the runs of first starts may take
    cluster: str = Field("", max_length=1000)  # the address of a Dask scheduler
    jobs: int = Field(0, ge=0, le=512)  # processes of a whole study; 0: as many as cores

    @model_validator(mode="before")
    @classmethod
    def _chosen_by_hand(cls, values: Any) -> Any:
        """A palette was chosen by hand while nothing else could be."""
        if isinstance(values, dict) and "palette" in values:
            return {"follows_system": False, **values}
        return values

    @field_validator("recent")
    @classmethod
    def _latest(cls, recent: tuple[str, ...]) -> tuple[str, ...]:
        """Each has a line in a menu, which thousands would hold up for minutes."""
        return recent[:MOST_RECENT]

    @field_validator("views")
    @classmethod
    def _chosen(cls, views: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the paper's figure are what is shown while nobody has chosen any."""
        return () if views == FIGURE_1 else views

    @field_validator("neuron_points")
    @classmethod
    def _chosen_points(cls, points: str) -> str:
        """The same of what stands for a node."""
        return "" if points == "weights" else points

    @field_validator("curves")
    @classmethod
    def _chosen_curves(cls, curves: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """The same of curves."""
        return None if curves == FIRST_CURVES else curves

    def with_recent(self, path: Path) -> Settings:
        """A file put first among the recent ones."""
        text = str(path.absolute())
        others = [one for one in self.recent if one != text]
        return self.model_copy(update={"recent": (text, *others)[:MOST_RECENT]})

    @property
    def geometry_bytes(self) -> bytes:
        """The window's geometry as Qt wants it; empty where there is none."""
        try:
            # Validated: without it b64decode passes over what is no base64, and Qt would get other
            # bytes.
            return base64.b64decode(self.geometry, validate=True)
        except (binascii.Error, ValueError):
            return b""


def load_settings(path: Path) -> tuple[Settings, str]:
    """The settings of a file, and a sentence if the file had to be set aside (else empty)."""
    try:
        if not os.path.lexists(path):
            return Settings.model_validate({}), ""
        # By Python's own JSON: names of files that are no text are surrogates in it.
        content = json.loads(read_whole(path, MOST_BYTES, "settings"))
        return Settings.model_validate(content), ""
    except (MarginscopeError, OSError, ValidationError, ValueError, RecursionError):
        return Settings.model_validate({}), _set_aside(path)


def _set_aside(path: Path) -> str:
    aside = set_aside(path)
    if aside is None:
        return f"The settings in {path} could not be read; the defaults are used."
    return f"The settings could not be read and lie in {aside} now; the defaults are used."


def save_settings(path: Path, settings: Settings) -> str:
    """Write the settings; return a sentence if the disk is full.

    The start already reported a folder that cannot be written (app.places).
    """
    try:
        write_whole(path, json.dumps(settings.model_dump(), indent=2).encode())
    except DiskError as error:
        return error.sentence
    except (MarginscopeError, OSError):
        pass
    return ""
