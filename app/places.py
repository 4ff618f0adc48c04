"""Where the window keeps things of its user: settings, recorded runs and the log."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import final

CLAIM_S = 60.0
MOST_LETTERS = 160  # file systems take 255 bytes, the moment and SQLite's neighbours included


@final
@dataclass(frozen=True, slots=True)
class Places:
    """A settings file, a folder of runs and a folder of logs; none of them need exist."""

    settings: Path
    runs: Path
    logs: Path

    @classmethod
    def in_folder(cls, folder: Path) -> Places:
        """All of them in one folder."""
        return cls(folder / "settings.json", folder / "runs", folder / "logs")

    @property
    def session(self) -> Path:
        """How the window was left."""
        return self.runs.parent / "session.json"

    @property
    def library(self) -> Path:
        """The index of the recorded runs."""
        return self.runs.parent / "library.sqlite"

    def new_run(self, name: str) -> Path:
        """Return a run file that does not exist yet: <name>__<time, UTC>.msrun."""
        # No colons: file systems of Windows refuse them.
        moment = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
        name = name[:MOST_LETTERS]
        path = self.runs / f"{name}__{moment}.msrun"
        number = 2
        while path.exists() or not _claim(path):
            path = self.runs / f"{name}__{moment}-{number}.msrun"
            number += 1
        return path

    def study_folder(self, study_id: str, size: str | None, text: str = "") -> Path:
        """Return the folder of a study's cells, always the same one.

        It depends on the study's size, and on the text of a study that is not a shipped one, so
        that studies of one name do not meet.
        """
        parts = [study_id[:MOST_LETTERS]]
        parts += [size] if size else []
        parts += [sha256(text.encode()).hexdigest()[:8]] if text else []
        return self.runs / "studies" / "__".join(parts)


def writable_places(places: Places) -> tuple[Places, str]:
    """Return places that can be written, and a sentence about what is not kept where it belongs.

    Runs, library and session are kept in a temporary folder if their own cannot be written: a
    read-only home must not keep the window from training.
    """
    data, said = places.runs.parent, []
    if not (_is_writable(places.runs) and _is_writable(data)):
        # Without a process in its name: no later program removes it.
        folder = Path(tempfile.mkdtemp(prefix="marginscope-runs-"))
        places = replace(places, runs=folder / "runs")
        said.append(
            f"Marginscope cannot write to {data}, so runs, library and session are in {folder} "
            f"for now. Make {data} writable, or copy what you need from there."
        )
    if not _is_writable(places.settings.parent):
        said.append(
            f"Settings are not remembered: Marginscope cannot write to {places.settings.parent}."
        )
    return places, " ".join(said)


def _is_writable(folder: Path) -> bool:
    """Return True if files can be made in a folder, which need not be there yet."""
    for place in (folder, *folder.parents):
        if os.path.lexists(place):
            with suppress(OSError):  # of a folder that cannot be entered
                return place.is_dir() and os.access(place, os.W_OK | os.X_OK)
    return False


def _claim(path: Path) -> bool:
    """Whether the name is now this program's, and not that of another one started this second.

    A hidden file stands for the name until the run file is there; it is of no use a minute later.
    """
    claim = path.with_name(f".{path.name}.claim")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob(".*.claim"):
            if time.time() - old.stat().st_mtime > CLAIM_S:
                old.unlink()
        # O_EXCL: of two programs that look at the same moment only one makes the file.
        os.close(os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    except OSError:  # a folder that cannot be written is complained of when the run begins
        return True
    return True


def user_places() -> Places:
    """Return the usual folders of this system's user."""
    from platformdirs import user_config_path, user_data_path, user_log_path

    return Places(
        user_config_path("marginscope") / "settings.json",
        user_data_path("marginscope") / "runs",
        user_log_path("marginscope"),
    )
