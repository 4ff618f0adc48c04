"""How files are read on beside the screen: a little in each tick, and by several threads where
somebody waits for a moment that lies further on."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from app.one_core import limit_to_one_core
from app.state.intent import Intent
from app.state.session import OpenRun
from core.problem.schedule import coordinate

if TYPE_CHECKING:
    from app.state.display import DisplayData

# A quarter of a tick: an opened file of thousands of frames comes in over several.
READ_SECONDS = 0.008
LONG_READ = 0.1
# Two read a gigabyte twice as fast; more than four wait for the file.
HANDS = min(os.cpu_count() or 1, 4)


def awaits(run: OpenRun, intent: Intent) -> bool:
    """Whether somebody waits for a moment that is in a file and not read yet, as with a link, while
    nothing is trained or played. For any thread."""
    data = run.data
    if data is None or run.live or run.failure or intent.playing or intent.follow:
        return False
    # By the file's own times: those that were read belong to the thread of the window.
    read, times = data.frames, data.run.log10_time
    return 0 < read < len(times) and intent.cursor > float(coordinate(times[read - 1]))


def _awaited(data: DisplayData, intent: Intent) -> int:
    """How many frames of a file there are up to the moment of the cursor, with the frame after."""
    import numpy as np  # loaded with the first run, and not with the window

    return int(np.searchsorted(coordinate(data.run.log10_time), intent.cursor)) + 1


def read_on(run: OpenRun, data: DisplayData, intent: Intent) -> int:
    """Read on in a file; how many frames are read.

    Raises RunFileError for a file that is no longer a run.
    """
    if not awaits(run, intent):
        return data.update(READ_SECONDS)
    most = _awaited(data, intent)
    if HANDS == 1:
        return data.update(LONG_READ, most=most)
    with (
        limit_to_one_core(),
        ThreadPoolExecutor(HANDS, "marginscope-reading") as hands,
    ):
        return data.update(LONG_READ, hands, most)
