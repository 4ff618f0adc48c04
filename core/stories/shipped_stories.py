"""Stories of shipped studies: files in resources/stories, each named by its study."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from core.errors import InputError, nearest_names
from core.program import RESOURCES
from core.stories.story import Story
from core.stories.story_file import SUFFIX, load_story
from core.studies.cell_selection import worth_seeing
from core.studies.study import Study
from core.studies.tables import Cell

FEW, SOME = 4, 2  # cells of a study that a window trains: all of a few, else so many


@cache
def shipped_stories() -> dict[str, Story]:
    """Return the shipped stories by the id of their study."""
    paths = sorted(Path(str(RESOURCES / "stories")).glob(f"*{SUFFIX}"))
    return {path.name.removesuffix(SUFFIX): load_story(path) for path in paths}


def story_of_study(name: str) -> Story:
    """Return the story of a shipped study. Raises InputError if the study has none."""
    stories = shipped_stories()
    if name not in stories:
        hint = nearest_names(name[:60], tuple(stories))
        raise InputError(f"{name[:60]!r} is neither a story file nor a study with a story; {hint}")
    return stories[name]


def cells_shown(study: Study) -> tuple[Cell, ...]:
    """Return the cells of a study that a window trains first, which its story is about."""
    few = study.count <= FEW and not study.opens_with.cells
    return worth_seeing(study, study.count if few else SOME)
