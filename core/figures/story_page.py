"""Story in a page: the moments at which it stops, their views, and their sentences as texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.figures.numbers import sentence_words
from core.figures.page_encoding import Piece, pieces
from core.figures.scene import choose_panels, last_frame
from core.numbers import time_text
from core.runs import Run
from core.stories.story import Story, StoryMoment

Frames = NDArray[np.int64]
LATE = 1e-6  # log10 t by which a moment may lie after the last frame, for rounding


def sentence_pieces(text: str) -> list[Piece]:
    r"""Return a plain sentence as pieces with its powers, indices and Greek letters typeset.

    >>> sentence_pieces("<b> 10^2 $, 10^1.5")
    [('<b> 10', ''), ('2', '^'), (' $, 10', ''), ('1.5', '^')]
    """
    return pieces(sentence_words(text))


def story_panels(story: Story, runs: Sequence[Run], usual: Sequence[str]) -> tuple[str, ...]:
    """Return all panels of a story's page.

    Parameters
    ----------
    story : Story
        Story with at least one moment.
    runs : sequence of Run
        Runs of the story.
    usual : sequence of str
        Panels of moments without views.

    Returns
    -------
    tuple of str

    Raises
    ------
    InputError
        The story has no moment, or a moment after the end of the runs.
    """
    if not story.moments:
        raise InputError("The story has no moments; add one, then export the story.")
    end = max(float(run.log10_time[run.frames - 1]) for run in runs if run.frames)
    steps = all(run.counts_steps for run in runs)
    for number, moment in enumerate(story.moments, 1):
        if moment.log10_time > end + LATE:
            raise InputError(
                f"Moment {number} of the story is at {time_text(moment.log10_time, steps)}, after "
                f"the end of the runs at {time_text(end, steps)}; train the runs for longer, or "
                "move the moment."
            )
    names = [name for one in story.moments for name in panels_at(one, runs, usual)]
    return tuple(dict.fromkeys(name for name in (*usual, *names) if name in names))


def panels_at(moment: StoryMoment, runs: Sequence[Run], usual: Sequence[str]) -> tuple[str, ...]:
    """Return the panels that a moment of a story shows.

    Parameters
    ----------
    moment : StoryMoment
        Moment of a story.
    runs : sequence of Run
        Runs of the story.
    usual : sequence of str
        Panels of moments without views.

    Returns
    -------
    tuple of str
    """
    names = (moment.enlarged,) if moment.enlarged else moment.views or tuple(usual)
    return choose_panels(names, runs)


def frames_at(log10_time: float, runs: Sequence[Run]) -> list[int]:
    """Return the frame of each run at a time."""
    return [last_frame(run, float(log10_time)) for run in runs]


def add_frames_at(
    times: Sequence[float], runs: Sequence[Run], frames: tuple[Frames, ...]
) -> tuple[Frames, ...]:
    """Return the moments of a page with those at some times among them.

    Parameters
    ----------
    times : sequence of float
        log10 t of moments of a story, and of notes.
    runs : sequence of Run
        Runs of the page.
    frames : tuple of array (moments,)
        Frame of each run at each moment of the page.

    Returns
    -------
    tuple of array (moments,)
    """
    if not times:
        return frames
    extra = np.array([frames_at(time, runs) for time in times], dtype=np.int64).T
    # Frames of all runs grow with time, so the order of columns is that of time.
    columns = np.unique(np.concatenate([np.array(frames), extra], axis=1), axis=1)
    return tuple(columns)


def story_content(
    story: Story, runs: Sequence[Run], frames: tuple[Frames, ...], usual: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the moments of a story as a page holds them.

    Parameters
    ----------
    story : Story
        Story of the runs.
    runs : sequence of Run
        Runs of the page.
    frames : tuple of array (moments,)
        Frame of each run at each moment of the page, as of `add_frames_at`.
    usual : sequence of str
        Panels of moments without views.

    Returns
    -------
    list of dict
        Index of the page's moment, sentence in pieces, and names of panels.
    """
    columns = np.array(frames)
    result = []
    for moment in story.moments:
        story_frames = np.array(frames_at(moment.log10_time, runs))[:, None]
        place = int(np.flatnonzero((columns == story_frames).all(axis=0))[0])
        kinds = list(panels_at(moment, runs, usual))
        result.append({"at": place, "text": sentence_pieces(moment.sentence), "kinds": kinds})
    return result
