"""Checkpoints of an earlier training: their files, read and recorded into a run file."""

from __future__ import annotations

import glob
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, final

from core.errors import InputError
from core.numbers import natural_key, whole_text
from core.run_files.schema import MAX_FRAMES
from marginscope._record.api import record
from marginscope._record.frames import warn_user
from marginscope._record.state_arrays import (
    PARTS,
    Name,
    Sizes,
    find_layers,
    find_name,
    select_array,
    unnamed_arrays,
    unnamed_text,
)
from marginscope._record.state_files import open_state
from marginscope._record.state_series import split_states, step_of

# ------------------------------------------------------------------------------- files and steps

SUFFIXES = (".pt", ".pth", ".ckpt", ".bin", ".tar", ".npz", ".safetensors", ".pkl", "")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
MOST_DIGITS = 18
# Units of numbers in names: "epoch=3-step=120" is step 120.
STEP = re.compile(r"(?:step|iter|iteration)s?[=_\- ]*(\d+(?:\.\d+)?)", re.IGNORECASE)


def files_at(place: str | os.PathLike[str]) -> list[Path]:
    """Return the checkpoint files of a path: itself, those of a folder, or of a pattern.

    Raises
    ------
    InputError
        The folder holds none, nothing matches, or more files than a run has frames.
    """
    path = Path(place)
    if path.is_dir():
        files = [one for one in path.iterdir() if one.suffix.lower() in SUFFIXES and one.is_file()]
        files = [one for one in files if not one.name.startswith(".")]
        refusal = (
            f"The folder {path} holds no checkpoints ({', '.join(SUFFIXES[:-1])}); for those in "
            f'folders of their own give a pattern, as "{path}/*/model.safetensors".'
        )
    elif glob.has_magic(str(place)) and not path.exists():
        root = Path(path.anchor)
        try:
            files = [one for one in root.glob(str(path.relative_to(root))) if one.is_file()]
        except ValueError as error:
            raise InputError(f"The pattern {place} cannot be used ({error}).") from error
        refusal = f"No file is named {place}; check the pattern and the folder."
    else:
        return [path]
    if not files:
        raise InputError(refusal)
    if len(files) > MAX_FRAMES:
        raise InputError(
            f"{place}: {whole_text(len(files))} files, but a run has at most "
            f"{whole_text(MAX_FRAMES)} frames; give a list of fewer files."
        )
    return sorted(files, key=lambda one: natural_key(str(one)))


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
        steps = _distinct([row[place] for row in numbers])
        if steps is not None:
            return steps
    return None


def _distinct(texts: Sequence[str]) -> list[float] | None:
    """Return texts of digits as numbers; None if two are equal or one is too long."""
    if any(len(text) > MOST_DIGITS for text in texts):
        return None
    steps = [float(text) if "." in text else int(text) for text in texts]
    return steps if len(set(steps)) == len(steps) else None


def steps_of_files(paths: Sequence[Path]) -> list[float] | None:
    """Return the steps in the names of files, or of their folders, or None."""
    steps = steps_in([_stem(path) for path in paths])
    # A single folder is ambiguous: its name may contain any number.
    folders = [str(path.parent) for path in paths]
    return steps_in(folders) if steps is None and len(paths) > 1 else steps


def why_unnumbered(paths: Sequence[Path]) -> str:
    """Return why the names of files have no step each."""
    for path in paths:
        if not NUMBER.search(_stem(path)):
            return f"{path} has no number in its name"
    return f"no number differs in all names ({', '.join(path.name for path in paths[:3])})"


def _stem(path: Path) -> str:
    """Return a file's name without the suffixes of checkpoints (".pth.tar")."""
    while path.suffix and path.suffix.lower() in SUFFIXES:
        path = path.with_suffix("")
    return path.name


# -------------------------------------------------------------------------------- recording them


def write_states(
    place: Path,
    states: Any,
    steps: Iterable[float] | None,
    data: tuple[Any, Any],
    reader: StateReader,
    **settings: Any,
) -> Path:
    """Record the states of an earlier training into a run file.

    Parameters
    ----------
    place : Path
        Run file to make.
    states : any
        As for `marginscope.load`.
    steps : iterable of float or None
        Step or time of each state, increasing; None to find them.
    data : pair
        x (n, d) and y (n,).
    reader : StateReader
        Finds the network's arrays in a state.
    **settings
        Arguments of `marginscope.record`.

    Returns
    -------
    Path
        The run file.

    Raises
    ------
    InputError
        A state cannot be read, or steps do not increase; no file is left.
    """
    recording = None
    try:
        with ExitStack() as stack:
            for step, state in reader.read(states, steps, stack):
                parts = reader.select(state)
                if recording is None:
                    settings.setdefault("source", reader.source)
                    recording = record(place, *data, strict=True, **settings)
                recording.frame(step, **parts)
        if recording is None:
            raise InputError("No states are given; give at least one.")
    except BaseException:
        if recording is not None:
            recording.close("failed")
            if recording.frames:
                recording.path.unlink(missing_ok=True)
        raise
    recording.close()
    return recording.path


@final
class StateReader:
    """Reader of the states of `load`, their steps, and the network's arrays in them.

    `names` are V, a, b and c as they were given. The first state decides which arrays they are.
    """

    def __init__(
        self, names: Mapping[str, Name | None], sizes: Sizes, ignored: tuple[str, ...]
    ) -> None:
        self._names, self._sizes, self._ignored = names, sizes, ignored
        self._places: dict[str, Name | None] | None = None
        self._unnumbered = ""  # why the names of the files do not give the steps
        if names["V"] is None and any(name is not None for name in names.values()):
            raise InputError("V, the inner weights, is missing; name it with the others.")

    @property
    def source(self) -> str:
        """Arrays of which the run was made, known after its first state was read."""
        places = {part: name for part, name in (self._places or {}).items() if name is not None}
        texts = (f"{part} = {_name_text(name)}" for part, name in places.items())
        return f"checkpoints: {', '.join(texts)}"

    def read(
        self, states: Any, steps: Iterable[float] | None, stack: ExitStack
    ) -> Iterator[tuple[float, Any]]:
        """Yield the step and the content of each state.

        Parameters
        ----------
        states : any
            As for `marginscope.load`.
        steps : iterable of float or None
            Step of each state; None to take them from names or contents.
        stack : ExitStack
            Holds a file with many states open; any other is open until the next state.

        Yields
        ------
        (float, mapping)

        Raises
        ------
        InputError
            A state cannot be read, steps are unknown or do not increase, or numbers differ.
        """
        own_steps = None if steps is None else list(steps)
        count, last = 0, -math.inf
        for own, state in self._number_states(states, own_steps is None, stack):
            if own_steps is not None and count == len(own_steps):
                raise InputError(
                    f"More states than the {len(own_steps)} steps are given; "
                    "give one step per state."
                )
            with open_content(state) as content:
                step = own if own_steps is None else own_steps[count]
                step = step_of(content) if step is None else step
                if step is None:
                    reason = self._unnumbered or f"state {count + 1} has none"
                    raise InputError(
                        f"The steps are not known: {reason}, and its content has no step; give "
                        "steps, one number per state."
                    )
                if own_steps is None and isinstance(state, str | os.PathLike) and step <= last:
                    raise InputError(
                        f"{state} has step {step:g}, but the state before it has {last:g}; give "
                        "the files in the order of their steps, each once."
                    )
                if own_steps is not None and step <= last:
                    raise InputError(
                        f"steps must increase, but {step:g} comes after {last:g}; give the "
                        "states in the order of their steps, each once."
                    )
                last = step
                yield step, content
            count += 1
        if own_steps is not None and count < len(own_steps):
            raise InputError(
                f"{count} states but {len(own_steps)} steps are given; give one step per state."
            )

    def _number_states(
        self, states: Any, by_names: bool, stack: ExitStack
    ) -> Iterator[tuple[float | None, Any]]:
        """Yield states, and their steps if names contain them."""
        if isinstance(states, Mapping):
            yield from self._split(states, None)
            return
        listed = isinstance(states, str | os.PathLike)
        if not listed and not isinstance(states, Iterable):
            raise InputError(
                f"states is {type(states).__name__}; give a folder, a pattern, a file, or a list."
            )
        files = files_at(states) if listed else states
        if not isinstance(files, list | tuple) or not all(
            isinstance(one, str | os.PathLike) for one in files
        ):
            yield from ((None, one) for one in files)
            return
        files = [Path(one) for one in files]
        numbers = steps_of_files(files) if by_names else None
        self._unnumbered = why_unnumbered(files) if files and numbers is None else ""
        numbered: list[tuple[float | None, Any]] = [(None, one) for one in files]
        if numbers is not None:
            numbered = [*zip(numbers, files, strict=True)]
            if listed:
                numbered.sort(key=lambda one: one[0] or 0)
        if len(files) == 1:
            content = stack.enter_context(open_state(files[0]))
            yield from self._split(content, numbered[0][0])
        else:
            yield from numbered

    def _split(self, content: Any, step: float | None) -> Iterator[tuple[float | None, Any]]:
        """Yield the states that a file holds: several, or a single one of this step."""
        states = split_states(content, self._names, self._sizes)
        yield from [(step, content)] if states is None else states

    def select(self, state: Any) -> dict[str, Any]:
        """Return the arrays V, a, b and c of a state; None for those that were not named.

        Raises InputError for names that are not there.
        """
        first = self._places is None
        if self._places is None:
            self._places = self._resolve(state)
        arrays = {part: select_array(state, self._places.get(part), part) for part in PARTS}
        if first:
            self._warn(state, self._places, getattr(arrays["V"], "shape", ()))
        return arrays

    def _resolve(self, state: Any) -> dict[str, Name | None]:
        """Return where the arrays are in the first state."""
        V = self._names["V"]
        if V is None:
            return dict(find_layers(state, self._sizes))
        places: dict[str, Name | None] = {}
        prefix = ""
        for part, name in self._names.items():
            if not isinstance(name, str):
                places[part] = name
                continue
            first = places.get("V")
            if isinstance(first, tuple) and isinstance(V, str):
                prefix = first[-1].removesuffix(V)
            where = first[:-1] if isinstance(first, tuple) else ()
            level = state
            for key in where:
                level = level[key] if isinstance(level, Mapping) and key in level else None
            own = isinstance(level, Mapping) and f"{prefix}{name}" in level
            places[part] = (*where, f"{prefix}{name}") if own else find_name(state, name, part)
        return places

    def _warn(self, state: Any, places: Mapping[str, Name | None], V: tuple[int, ...]) -> None:
        """Warn of unnamed arrays of shape (m, d) besides V that fit the network."""
        named = {one: tuple(name) for one, name in places.items() if isinstance(name, list | tuple)}
        if "V" not in named or len(V) != 2:  # errors in V are reported with the first frame
            return
        computed = [one for one, name in places.items() if callable(name)]
        unnamed = unnamed_arrays(state, named, V[0], self._sizes, (computed, self._ignored))
        if unnamed:
            warn_user(unnamed_text(unnamed, named["V"][:-1]))


def _name_text(name: Name) -> str:
    if isinstance(name, str) or callable(name):
        return name if isinstance(name, str) else "a function of the state"
    return " / ".join(str(part) for part in name)


@contextmanager
def open_content(state: Any) -> Iterator[Any]:
    """Open a state as a mapping: a file by its name, other objects unchanged."""
    if isinstance(state, str | os.PathLike):
        with open_state(Path(state)) as content:
            yield content
    else:
        yield state
