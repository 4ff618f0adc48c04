"""Places of the user's files: settings, recorded runs and the log."""

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
# Of 255 bytes that file systems allow; the rest is for the time and SQLite's suffixes.
MOST_LETTERS = 160


@final
@dataclass(frozen=True, slots=True)
class Places:
    """Settings file, folder of runs and folder of logs; none of them need exist."""

    settings: Path
    runs: Path
    logs: Path

    @classmethod
    def in_folder(cls, folder: Path) -> Places:
        """Return places that are all in one folder."""
        return cls(folder / "settings.json", folder / "runs", folder / "logs")

    @property
    def session(self) -> Path:
        """File of the last session."""
        return self.runs.parent / "session.json"

    @property
    def library(self) -> Path:
        """File of the index of recorded runs."""
        return self.runs.parent / "library.sqlite"

    def new_run(self, name: str) -> Path:
        """Return a run file that does not exist yet: <name>__<time, UTC>.msrun."""
        # No colons: Windows forbids them in file names.
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
    """Return writable places, and a sentence about files stored elsewhere than usual.

    Runs, library and session are kept in a temporary folder if their own cannot be written: a
    read-only home must not keep the window from training.
    """
    data, sentences = places.runs.parent, []
    if not (_is_writable(places.runs) and _is_writable(data)):
        # The name contains no process id, so that no later program deletes the folder.
        folder = Path(tempfile.mkdtemp(prefix="marginscope-runs-"))
        places = replace(places, runs=folder / "runs")
        sentences.append(
            f"Marginscope cannot write to {data}, so runs, library and session are in {folder} "
            f"for now. Make {data} writable, or copy what you need from there."
        )
    if not _is_writable(places.settings.parent):
        sentences.append(
            f"Settings are not remembered: Marginscope cannot write to {places.settings.parent}."
        )
    return places, " ".join(sentences)


def _is_writable(folder: Path) -> bool:
    """Return True if files can be made in a folder, which need not exist yet."""
    for place in (folder, *folder.parents):
        if os.path.lexists(place):
            with suppress(OSError):  # the folder may be unreadable
                return place.is_dir() and os.access(place, os.W_OK | os.X_OK)
    return False


def _claim(path: Path) -> bool:
    """Return True if this program has claimed the name before another one did.

    A hidden file reserves the name until the run file exists, for at most a minute.
    """
    claim = path.with_name(f".{path.name}.claim")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for stale in path.parent.glob(".*.claim"):
            if time.time() - stale.stat().st_mtime > CLAIM_S:
                stale.unlink()
        # O_EXCL: of two programs that check at the same time, one creates the file.
        os.close(os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    except OSError:  # an unwritable folder is reported when training starts
        return True
    return True


def user_places() -> Places:
    """Return the usual folders of the user on this system."""
    from platformdirs import user_config_path, user_data_path, user_log_path

    return Places(
        user_config_path("marginscope") / "settings.json",
        user_data_path("marginscope") / "runs",
        user_log_path("marginscope"),
    )
