"""Files of stories (.story.json): read strictly, since they may come from anyone; never markup."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, final

from pydantic import BaseModel, ConfigDict, Strict, ValidationError

from core.errors import InputError, MarginscopeError
from core.files import is_there, read_text, write_whole
from core.stories.story import Story, StoryMoment, StoryRun, check_story

if TYPE_CHECKING:  # loads the numerical libraries
    from core.runs import Run

SUFFIX = ".story.json"
MOST_BYTES = 500_000
VERSION = 1
MOST_SEARCHED = 1_000  # run files of a folder among which a moved run is sought
KIND: Literal["marginscope story"] = "marginscope story"
STRICT = ConfigDict(strict=True, allow_inf_nan=False, extra="forbid")

Names = list[str]


@final
class _Run(BaseModel):
    model_config = STRICT
    path: str
    name: str = ""


@final
class _Moment(BaseModel):
    """JSON has no infinity: the time of t = 0 is null."""

    model_config = STRICT
    log10_time: float | None
    sentence: str = ""
    views: Names = []
    enlarged: str = ""


@final
class _Fields(BaseModel):
    model_config = STRICT
    kind: Literal["marginscope story"]
    version: Annotated[int, Strict()]
    title: str = ""
    study: str = ""
    runs: list[_Run] = []
    curves: Names = []
    moments: list[_Moment] = []


def is_story_file(name: str) -> bool:
    """Return True for the name of a file of a story.

    >>> is_story_file("a/talk.story.json"), is_story_file("a/talk.json")
    (True, False)
    """
    return name.lower().endswith(SUFFIX)


def parse_story(text: str, where: object = "the story") -> Story:
    """Return the story of a text.

    Parameters
    ----------
    text : str
        Content of a file.
    where : object
        File that errors name.

    Returns
    -------
    Story

    Raises
    ------
    InputError
        The text is not a story, or a part of it is not allowed.
    """
    try:
        fields = _Fields.model_validate(json.loads(text))
    except RecursionError as error:
        raise InputError("the file is nested too deeply to be a story.", where=where) from error
    except ValidationError as error:
        raise InputError(_first_error(error), where=where) from error
    except ValueError as error:
        raise InputError("the file is not a story: it is not valid JSON.", where=where) from error
    if fields.version != VERSION:
        raise InputError(
            f"the story has format {str(fields.version)[:20]}, but this program reads format "
            f"{VERSION}; update Marginscope.",
            where=where,
        )
    story = Story(
        fields.title,
        tuple(
            StoryMoment(
                -math.inf if one.log10_time is None else one.log10_time,
                one.sentence,
                tuple(one.views),
                one.enlarged,
            )
            for one in fields.moments
        ),
        tuple(StoryRun(one.path, one.name) for one in fields.runs),
        fields.study,
        tuple(fields.curves),
    )
    try:
        return check_story(story)
    except InputError as error:
        raise InputError(error.text, where=where) from error


def _first_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part)[:40] for part in first["loc"][:4]) or "the file"
    words = str(first["msg"])[:200]
    return f"{place} is not valid in a story: {words[:1].lower()}{words[1:]}."


def story_text(story: Story) -> str:
    """Return the text of a story's file. Raises InputError for a part that is not allowed."""
    story = check_story(story)
    fields: dict[str, Any] = {"kind": KIND, "version": VERSION, "title": story.title}
    if story.study:
        fields["study"] = story.study
    if story.runs:
        fields["runs"] = [{"path": run.path, "name": run.name} for run in story.runs]
    if story.curves:
        fields["curves"] = list(story.curves)
    fields["moments"] = [_moment_fields(one) for one in story.moments]
    return json.dumps(fields, indent=2) + "\n"


def _moment_fields(one: StoryMoment) -> dict[str, Any]:
    time = one.log10_time if math.isfinite(one.log10_time) else None
    fields: dict[str, Any] = {"log10_time": time, "sentence": one.sentence}
    if one.views:
        fields["views"] = list(one.views)
    if one.enlarged:
        fields["enlarged"] = one.enlarged
    return fields


def load_story(path: Path) -> Story:
    """Return the story of a file. Raises InputError."""
    return parse_story(read_text(path, MOST_BYTES, "Story"), path.name)


def save_story(story: Story, path: Path) -> None:
    """Write a story, completely or not at all. Raises InputError, and DiskError."""
    if not is_story_file(path.name):
        raise InputError(f"{path} must end in {SUFFIX}.")
    write_whole(path, story_text(story).encode())


# --------------------------------------------------------------------------------------- runs


def relative_run(path: Path, folder: Path, name: str = "") -> StoryRun:
    """Return a run as a story in a folder names it.

    Parameters
    ----------
    path : Path
        Run file.
    folder : Path
        Folder of the story.
    name : str
        Random name of the run.

    Returns
    -------
    StoryRun
        Its path has forward slashes, and is absolute only on another drive.
    """
    try:
        relative = Path(os.path.relpath(path.absolute(), folder.absolute()))
    except ValueError:  # another drive of Windows
        relative = path.absolute()
    return StoryRun(relative.as_posix(), name)


def find_runs(story: Story, folder: Path) -> list[Path]:
    """Return the run files of a story in a folder; a run that was moved is found by its name.

    Raises InputError for a run that is missing.
    """
    paths = []
    for run in story.runs:
        path = folder / run.path
        if not is_there(path):
            path = _find_moved(run, folder) or path
        if not is_there(path):
            raise InputError(
                f"The story's run {run.path} does not exist, and no run in {folder} has its name; "
                "copy the run beside the story."
            )
        paths.append(path)
    return paths


def _find_moved(run: StoryRun, folder: Path) -> Path | None:
    """Return the run file in a folder that has a run's random name."""
    neighbour = folder / Path(run.path).name
    if is_there(neighbour):
        return neighbour
    if not run.name:
        return None
    from core.runs import open_run

    for path in sorted(folder.glob("*.msrun"))[:MOST_SEARCHED]:
        try:
            with open_run(path) as candidate:
                if candidate.name == run.name:
                    return path
        except MarginscopeError:  # not a run, or one with code that is not trusted
            continue
    return None


def check_run_names(story: Story, runs: list[Run]) -> None:
    """Raise InputError if a file now has another run than the one that the story was made of."""
    for named, run in zip(story.runs, runs, strict=True):
        if named.name and run.name and named.name != run.name:
            raise InputError(
                f"The file {named.path} now contains another run than the story is about; restore "
                "the run, or make the story again."
            )
