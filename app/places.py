"""Where the window keeps things of its user: settings, recorded runs and the log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import final

MOST_LETTERS = 160  # file systems take 255 bytes, the moment and SQLite's neighbours included


@final
@dataclass(frozen=True, slots=True)
class Places:
    """A settings file, a folder of runs and a folder of logs; none of them need exist."""

    settings: Path
    runs: Path
    logs: Path

    @classmethod
    def under(cls, folder: Path) -> Places:
        """All of them in one folder."""
        return cls(folder / "settings.json", folder / "runs", folder / "logs")

    def new_run(self, name: str) -> Path:
        """A run file that does not exist yet: <name>__<time, UTC>.msrun."""
        moment = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
        name = name[:MOST_LETTERS]
        path = self.runs / f"{name}__{moment}.msrun"
        number = 2
        while path.exists():
            path = self.runs / f"{name}__{moment}-{number}.msrun"
            number += 1
        return path

    def study_folder(self, study_id: str, size: str | None, text: str = "") -> Path:
        """Where the cells of a study go, the same one each time: by its size, and by its text where
        it is not a shipped one, so that studies of one name do not meet.
        """
        parts = [study_id[:MOST_LETTERS]]
        parts += [size] if size else []
        parts += [sha256(text.encode()).hexdigest()[:8]] if text else []
        return self.runs / "studies" / "__".join(parts)


def user_places() -> Places:
    """The usual folders of this system's user."""
    from platformdirs import user_config_path, user_data_path, user_log_path

    return Places(
        user_config_path("marginscope") / "settings.json",
        user_data_path("marginscope") / "runs",
        user_log_path("marginscope"),
    )
