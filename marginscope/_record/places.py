"""Checkpoint files by a folder or a pattern, in natural order, and the steps in their names."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

from core.errors import InputError
from core.numbers import whole_text
from core.run_files.schema import MAX_FRAMES

SUFFIXES = (".pt", ".pth", ".ckpt", ".bin", ".tar", ".npz", ".safetensors", ".pkl", "")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
MOST_DIGITS = 18
# What a number in a name counts: "epoch=3-step=120" is step 120.
STEP = re.compile(r"(?:step|iter|iteration)s?[=_\- ]*(\d+(?:\.\d+)?)", re.IGNORECASE)


def natural_key(text: str) -> list[tuple[int, str]]:
    """Return a key by which ckpt-9 is before ckpt-10.

    >>> sorted(["ckpt-10", "ckpt-9", "a"], key=natural_key)
    ['a', 'ckpt-9', 'ckpt-10']
    """
    parts = re.split(r"(\d{1,18})", text)
    return [(int(part), part) if k % 2 else (-1, part) for k, part in enumerate(parts)]


def files_at(place: str | os.PathLike[str]) -> list[Path]:
    """Return the checkpoint files of a path: itself, those of a folder, or of a pattern.

    Raises
    ------
    InputError
        The folder holds none, nothing matches, or more files than a run has frames.
    """
    path = Path(place)
    if path.is_dir():
        found = [one for one in path.iterdir() if one.suffix.lower() in SUFFIXES and one.is_file()]
        found = [one for one in found if not one.name.startswith(".")]
        nothing = (
            f"The folder {path} holds no checkpoints ({', '.join(SUFFIXES[:-1])}); for those in "
            f'folders of their own give a pattern, as "{path}/*/model.safetensors".'
        )
    elif glob.has_magic(str(place)) and not path.exists():
        root = Path(path.anchor)
        try:
            found = [one for one in root.glob(str(path.relative_to(root))) if one.is_file()]
        except ValueError as error:
            raise InputError(f"The pattern {place} cannot be used ({error}).") from error
        nothing = f"No file is named {place}; check the pattern and the folder."
    else:
        return [path]
    if not found:
        raise InputError(nothing)
    if len(found) > MAX_FRAMES:
        raise InputError(
            f"{place} are {whole_text(len(found))} files, and a run has at most "
            f"{whole_text(MAX_FRAMES)} frames; give a list of some of them."
        )
    return sorted(found, key=lambda one: natural_key(str(one)))


def steps_in(names: Sequence[str]) -> list[float] | None:
    """Return the step in each name, or None if the names do not have one each.

    That is the number after "step" or "iter", else the last number in which all names differ.

    >>> steps_in(["ckpt-0010", "ckpt-9"]), steps_in(["epoch=1-step=50", "epoch=1-step=60"])
    ([10, 9], [50, 60])
    >>> steps_in(["last", "ckpt-9"]), steps_in(["t=0.5", "t=0.25"])
    (None, [0.5, 0.25])
    """
    columns = [[match[1] for match in STEP.finditer(name)][-1:] for name in names]
    if all(columns):
        return _distinct([column[0] for column in columns])
    numbers = [NUMBER.findall(name)[::-1] for name in names]
    for place in range(min(map(len, numbers), default=0)):
        found = _distinct([row[place] for row in numbers])
        if found is not None:
            return found
    return None


def _distinct(texts: Sequence[str]) -> list[float] | None:
    if any(len(text) > MOST_DIGITS for text in texts):
        return None
    steps = [float(text) if "." in text else int(text) for text in texts]
    return steps if len(set(steps)) == len(steps) else None


def steps_of_files(paths: Sequence[Path]) -> list[float] | None:
    """Return the steps in the names of files, or of their folders, or None."""
    steps = steps_in([_stem(path) for path in paths])
    # One folder alone says nothing: any number may be in its name.
    folders = [str(path.parent) for path in paths]
    return steps_in(folders) if steps is None and len(paths) > 1 else steps


def unnumbered(paths: Sequence[Path]) -> str:
    """Return why the names of files have no step each."""
    for path in paths:
        if not NUMBER.search(_stem(path)):
            return f"{path} has no number in its name"
    return f"no number is another one in each name ({', '.join(path.name for path in paths[:3])})"


def _stem(path: Path) -> str:
    """Return a file's name without the suffixes of checkpoints (".pth.tar")."""
    while path.suffix and path.suffix.lower() in SUFFIXES:
        path = path.with_suffix("")
    return path.name
