"""Draws and describes data beside the window."""

from __future__ import annotations

from pathlib import Path
from typing import Any, final

from app.workers.latest import LatestWorker


@final
class PreviewWorker(LatestWorker):
    """A request is a data section, run.seed and the folder of the study; the answer a Preview."""

    NAME = "preview"
    NO_MEMORY = "There is not enough memory for these data; choose a smaller n or d."
    OUR_ERROR = "The data cannot be shown because of an error in the program; the log says more."

    def compute(self, *request: Any) -> object:
        """Draw the data."""
        section, seed, folder = request
        return self._drawn(section, seed, folder)

    @staticmethod
    def _drawn(section: Any, seed: int, folder: Path | None) -> object:
        from core.data.preview import preview  # loads readers of files, which a window need not

        return preview(section, seed, folder)
