"""Story of some runs as a frozen value: ordered moments with sentences (docs/decisions/0061)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import final

from core.errors import InputError
from core.numbers import whole_text
from core.run_files.schema import is_time

MOST_MOMENTS, MOST_RUNS, MOST_NAMES = 60, 10, 12
LONGEST_SENTENCE, LONGEST_TITLE, LONGEST_PATH, LONGEST_ID = 500, 200, 1_000, 100
NAME = re.compile(r"[a-z][a-z0-9_]{0,60}")
ENTRY = re.compile(r"[a-z0-9][a-z0-9.-]{0,80}")  # name of a shipped study


@final
@dataclass(frozen=True, slots=True)
class StoryRun:
    """Run of a story: its path relative to the story's folder, and its random name, "" if unknown.

    A run that was moved is found by its name in the story's folder.
    """

    path: str
    name: str = ""


@final
@dataclass(frozen=True, slots=True)
class StoryMoment:
    """Moment of a story: log10 t (-inf for t = 0) and a sentence.

    `views` are shown from this moment on, () for those of the runs; `enlarged` is the only one of
    them that is shown, "" for all.
    """

    log10_time: float
    sentence: str
    views: tuple[str, ...] = ()
    enlarged: str = ""


@final
@dataclass(frozen=True, slots=True)
class Story:
    """Title and moments of some runs, or of the runs that a shipped `study` shows first.

    `curves` are the observables of the view of curves, () for the usual ones.
    """

    title: str = ""
    moments: tuple[StoryMoment, ...] = ()
    runs: tuple[StoryRun, ...] = ()
    study: str = ""
    curves: tuple[str, ...] = ()


def check_story(story: Story) -> Story:
    """Return a story with texts on one line. Raises InputError for a part that is not allowed."""
    _check_count("moments", len(story.moments), MOST_MOMENTS)
    _check_count("runs", len(story.runs), MOST_RUNS)
    if bool(story.runs) == bool(story.study):
        raise InputError("A story is about runs or about a shipped study; name one of the two.")
    if story.study and not ENTRY.fullmatch(story.study):
        raise InputError(f"{story.study[:60]!r} is not the name of a shipped study.")
    for run in story.runs:
        if not run.path or len(run.path) > LONGEST_PATH or "\0" in run.path:
            raise InputError(
                f"The path of a run in a story has 1 to {whole_text(LONGEST_PATH)} characters."
            )
        if len(run.name) > LONGEST_ID:
            raise InputError(f"The name of a run has at most {LONGEST_ID} characters.")
    _check_names("curves", story.curves)
    title = _check_text("The title of a story", story.title, LONGEST_TITLE)
    return replace(story, title=title, moments=tuple(map(_check_moment, story.moments)))


def _check_moment(moment: StoryMoment) -> StoryMoment:
    if not is_time(0, moment.log10_time):
        raise InputError(
            "The time of a moment is log10 t, a finite number of a run, or null for t = 0."
        )
    _check_names("views", moment.views)
    if moment.enlarged:
        _check_names("the enlarged view", (moment.enlarged,))
        if moment.views and moment.enlarged not in moment.views:
            raise InputError(
                f"A moment enlarges {moment.enlarged}, which is not among its views; add the view."
            )
    text = _check_text("The sentence of a moment", moment.sentence, LONGEST_SENTENCE)
    return replace(moment, sentence=text)


def _check_count(subject: str, count: int, limit: int) -> None:
    if count > limit:
        raise InputError(f"A story has at most {limit} {subject}, but this one has {count}.")


def _check_names(subject: str, names: tuple[str, ...]) -> None:
    """Raise InputError unless names are plain words, each once; front ends know which exist."""
    _check_count(subject, len(names), MOST_NAMES)
    wrong = [name for name in names if not NAME.fullmatch(name)]
    if wrong or len(set(names)) < len(names):
        name = wrong[0] if wrong else next(one for one in names if names.count(one) > 1)
        raise InputError(f"{subject} of a story: {name[:60]!r} is not a name, or occurs twice.")


def _check_text(subject: str, text: str, limit: int) -> str:
    text = " ".join(text.split())
    if len(text) > limit:
        raise InputError(
            f"{subject} has at most {limit} characters, but this one has {whole_text(len(text))}; "
            "shorten the text."
        )
    return text


# ------------------------------------------------------------------------------------ editing


def move_moment(story: Story, place: int, target: int) -> Story:
    """Return a story with one moment at another place of the order.

    Parameters
    ----------
    story : Story
        Story, which stays unchanged.
    place : int
        Position of the moment, from 0.
    target : int
        Position of the moment in the returned story.

    Returns
    -------
    Story

    Examples
    --------
    >>> one, two = StoryMoment(0.0, "one"), StoryMoment(1.0, "two")
    >>> [moment.sentence for moment in move_moment(Story(moments=(one, two)), 1, 0).moments]
    ['two', 'one']
    """
    moments = list(story.moments)
    moments.insert(target, moments.pop(place))
    return replace(story, moments=tuple(moments))


def drop_moment(story: Story, place: int) -> Story:
    """Return a story without the moment at a place."""
    return replace(story, moments=story.moments[:place] + story.moments[place + 1 :])


def insert_moment(story: Story, place: int, moment: StoryMoment) -> Story:
    """Return a story with a further moment at a place of the order.

    Parameters
    ----------
    story : Story
        Story, which stays unchanged.
    place : int
        Position of the new moment, from 0; the number of moments to append it.
    moment : StoryMoment
        New moment.

    Returns
    -------
    Story
    """
    before, after = story.moments[:place], story.moments[place:]
    return replace(story, moments=(*before, moment, *after))


def replace_moment(story: Story, place: int, moment: StoryMoment) -> Story:
    """Return a story with another moment at a place.

    Parameters
    ----------
    story : Story
        Story, which stays unchanged.
    place : int
        Position of the moment that is left out, from 0.
    moment : StoryMoment
        Moment in its place.

    Returns
    -------
    Story
    """
    return insert_moment(drop_moment(story, place), place, moment)
