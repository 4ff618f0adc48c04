"""Remembered settings of the window: geometry, palette, recent files and display.

An unreadable or invalid settings file never stops the start: it is renamed, and the defaults are
used.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from pathlib import Path
from typing import Annotated, Any, final

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetPydanticSchema,
    SerializerFunctionWrapHandler,
    ValidationError,
    create_model,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core.core_schema import CoreSchema, any_schema

from app.state.intent import AT_REST, VIEW_OPTIONS, Intent
from core.errors import DiskError, MarginscopeError
from core.files import read_whole, set_aside, write_whole

MOST_RECENT = 10
MOST_PIXELS = 10_000  # greatest width of a drawer
MOST_LAYOUTS = 50
FOLDED = ("recording",)  # sections of the form that start folded
# Ours has a few kilobytes; a larger file of that name must not be read at every start.
MOST_BYTES = 1_000_000

REMEMBERED = {name: option for name, option in VIEW_OPTIONS.items() if option.remembered}
DEFINITIONS: dict[str, Any] = {
    name: (option.kind.stored, option.default) for name, option in REMEMBERED.items()
}
Remembered = create_model("Remembered", **DEFINITIONS)


def _read_options(values: dict[str, Any]) -> Intent:
    """Return the options of a settings file. Raises ValidationError."""
    options = Remembered.model_validate(values).model_dump()
    for name, option in REMEMBERED.items():
        # Show the proposed value until the user chooses one.
        if option.proposal and options[name] == getattr(AT_REST, option.proposal):
            options[name] = option.default
    return Intent(**options)


def _as_given(source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
    # `_read_options` checks the values: building a schema of Intent takes 40 ms at each start.
    return any_schema()


@final
class Settings(BaseModel):
    """Remembered values. `geometry` is Qt's, in base64; unknown keys are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    options: Annotated[Intent, GetPydanticSchema(_as_given)] = AT_REST  # values of REMEMBERED only
    geometry: str = Field("", max_length=10_000)
    follows_system: bool = True  # True if the window's palette follows the system's
    drawer: str = Field("", max_length=20)  # action key of the open drawer
    drawer_widths: dict[str, int] = Field({}, max_length=20)
    times_open: bool = False  # True if the theorem timeline is open
    recent: tuple[str, ...] = ()  # recent files, at most MOST_RECENT
    shortcuts: dict[str, str] = Field({}, max_length=500)  # changed shortcuts, by action key
    # Commands used in the palette, latest first.
    commands: tuple[str, ...] = Field((), max_length=100)
    restores: bool = True  # True to restore the last session at the start
    layouts: dict[str, dict[str, tuple[str, ...]]] = Field({}, max_length=MOST_LAYOUTS)
    library_columns: tuple[str, ...] = Field((), max_length=100)
    export_tab: str = Field("", max_length=20)  # tab used last
    export_preset: str = Field("", max_length=100)  # one of core.figures.names.PRESETS
    first_starts_mb: float = Field(200.0, ge=0.0)  # disk space for the runs of first starts
    cluster: str = Field("", max_length=1000)  # address of a Dask scheduler
    folded_sections: tuple[str, ...] = Field(FOLDED, max_length=20)  # sections of the form
    jobs: int = Field(0, ge=0, le=512)  # processes for a whole study; 0: one per core

    @model_validator(mode="before")
    @classmethod
    def _read_options(cls, values: Any) -> Any:
        """Read the options, which the file stores by name among the other settings."""
        if not isinstance(values, dict):
            return values
        # Files of older versions hold a palette only if the user chose one.
        by_hand = {"follows_system": False} if "palette" in values else {}
        return {**by_hand, **values, "options": _read_options(values)}

    @model_serializer(mode="wrap")
    def _write_options(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = write(self)
        options = values.pop("options")
        return {**{name: options[name] for name in REMEMBERED}, **values}

    @field_validator("drawer_widths", mode="before")
    @classmethod
    def _possible(cls, widths: Any) -> Any:
        """Drop impossible widths of drawers: one of them must not invalidate all settings."""
        if not isinstance(widths, dict):
            return {}
        return {key: width for key, width in widths.items() if width in range(MOST_PIXELS)}

    @field_validator("recent")
    @classmethod
    def _latest(cls, recent: tuple[str, ...]) -> tuple[str, ...]:
        """Limit the recent files: each has a line in a menu, and thousands would take minutes."""
        return recent[:MOST_RECENT]

    def with_recent(self, path: Path) -> Settings:
        """Return settings with a file as the first of the recent ones."""
        text = str(path.absolute())
        earlier = [one for one in self.recent if one != text]
        return self.model_copy(update={"recent": (text, *earlier)[:MOST_RECENT]})

    @property
    def geometry_bytes(self) -> bytes:
        """Geometry of the window in Qt's format; empty if unknown."""
        try:
            # Without `validate` b64decode skips invalid characters, and Qt would get wrong bytes.
            return base64.b64decode(self.geometry, validate=True)
        except (binascii.Error, ValueError):
            return b""


def load_settings(path: Path) -> tuple[Settings, str]:
    """Return the settings of a file, and a sentence if the file had to be set aside (else "")."""
    try:
        if not os.path.lexists(path):
            return Settings.model_validate({}), ""
        # Python's json, since file names that are not UTF-8 are stored with surrogates.
        content = json.loads(read_whole(path, MOST_BYTES, "settings"))
        return Settings.model_validate(content), ""
    except (MarginscopeError, OSError, ValidationError, ValueError, RecursionError):
        return Settings.model_validate({}), _set_aside(path)


def _set_aside(path: Path) -> str:
    backup = set_aside(path)
    if backup is None:
        return f"The settings in {path} could not be read. Marginscope uses the defaults."
    return (
        f"The settings could not be read and were moved to {backup}. Marginscope uses the defaults."
    )


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
