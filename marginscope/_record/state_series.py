"""Many states in one file: a list, a mapping by steps, names that begin with steps, or frames."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, final

from core.errors import InputError
from core.numbers import whole_text
from core.run_files.meta import printable
from core.run_files.schema import MAX_FRAMES
from marginscope._record.limits import LazyArrays
from marginscope._record.state_arrays import Name, Sizes, find_layers, is_open_file, shape_of

Numbered = list[tuple[float | None, Any]]  # (step, state)
# Names of states: 10, "10", "step10", "ckpt-10", "epoch=3".
STATE_NAME = re.compile(
    r"(?:.*?(?:step|iter|iteration|epoch|ckpt|checkpoint|state|frame|time|t))?[ _=:-]*(\d{1,18})",
    re.IGNORECASE,
)
STEPS = ("global_step", "step", "steps", "iteration", "iter", "t", "time", "times", "epoch")


def split_states(content: Any, names: Mapping[str, Name | None], sizes: Sizes) -> Numbered | None:
    """Return the states that a file holds; None if its content is one state.

    Parameters
    ----------
    content : Any
        What the file holds.
    names : mapping
        V, a, b and c as they were named.
    sizes : Sizes
        Of the data.

    Returns
    -------
    list of (step or None, state), or None

    Raises
    ------
    InputError
        The file holds more states than a run has frames.
    """
    states = _states_of_list(content)
    if states is None and isinstance(content, Mapping):
        states = _by_names(content, names, sizes) or _frames(content, names)
        if not (states or is_open_file(content)):
            states = _states_within(content, names, sizes)
        if states:
            steps = _steps_beside(content, len(states))
            numbers = [step for step, _ in states]
            steps = steps if None in numbers else None
            states = states if steps is None else [*zip(steps, (s for _, s in states), strict=True)]
    check_count(0 if states is None else len(states))
    return states


def _states_within(
    content: Mapping[Any, Any], names: Mapping[str, Name | None], sizes: Sizes
) -> Numbered | None:
    """Return the states of the one entry of a mapping that holds many. Raises InputError."""
    states: dict[str, Numbered] = {}
    for key, value in content.items():
        inner = _states_of_list(value)
        if inner is None and isinstance(value, Mapping):
            inner = _by_names(value, names, sizes)
        if inner and _has_layers(inner[0][1], names, sizes):
            states[printable(str(key))] = inner
    if len(states) > 1:
        raise InputError(
            f"The file holds many states at {' and at '.join(states)}; pass one of them, as a "
            "list of mappings."
        )
    return next(iter(states.values()), None)


def check_count(count: int) -> None:
    """Raise InputError for more states in a file than a run has frames."""
    if count > MAX_FRAMES:
        raise InputError(
            f"The file has {whole_text(count)} states, but a run has at most "
            f"{whole_text(MAX_FRAMES)} frames; select some of them in your own loop."
        )


def step_of(state: Any) -> float | None:
    """Return the step stored in a state ("step", "global_step", "epoch"), or None.

    >>> step_of({"epoch": 2, "step": 120}), step_of({"w": 1})
    (120.0, None)
    """
    if isinstance(state, Mapping):
        for name in STEPS:
            if name in state and (number := _number(state[name])) is not None:
                return number
    return None


def _number(value: Any) -> float | None:
    """Return a finite number as float, also a tensor of one; else None."""
    try:
        number = float(value.detach() if hasattr(value, "detach") else value)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _states_of_list(content: Any) -> Numbered | None:
    """Return the states of a list: mappings, or pairs of a step and a mapping."""
    if not isinstance(content, list | tuple) or not content:
        return None
    states: Numbered = []
    for one in content:
        if isinstance(one, list | tuple) and len(one) == 2 and isinstance(one[1], Mapping):
            states.append((_number(one[0]), one[1]))
        elif isinstance(one, Mapping):
            states.append((step_of(one), one))
        else:
            return None
    return states


def _by_names(
    content: Mapping[Any, Any], names: Mapping[str, Name | None], sizes: Sizes
) -> Numbered | None:
    """Return states by the steps in their names: mappings, or arrays named "step10/fc1.weight"."""
    matches = {key: match for key in content if (match := STATE_NAME.fullmatch(str(key)))}
    if is_open_file(content) or not matches:
        return _by_prefixes(content, names, sizes)
    numbers = {
        key: int(match[1]) for key, match in matches.items() if isinstance(content[key], Mapping)
    }
    if not any(_has_layers(content[key], names, sizes) for key in numbers):
        return _by_prefixes(content, names, sizes)
    if len(set(numbers.values())) != len(numbers):
        return None
    return [(number, content[key]) for key, number in sorted(numbers.items(), key=itemgetter(1))]


def _by_prefixes(
    content: Mapping[Any, Any], names: Mapping[str, Name | None], sizes: Sizes
) -> Numbered | None:
    """Return numbered states of keys such as step3/weight; None if no state has the layers."""
    groups: dict[tuple[int, str], dict[str, Any]] = {}
    for key in content:
        prefix, slash, name = str(key).partition("/")
        if slash and (match := STATE_NAME.fullmatch(prefix)):
            groups.setdefault((int(match[1]), prefix), {})[name] = key
    states = {place: Part(content, groups[place]) for place in sorted(groups)}
    if not any(_has_layers(state, names, sizes) for state in states.values()):
        return None
    return [(number, state) for (number, _), state in states.items()]


def _has_layers(state: Any, names: Mapping[str, Name | None], sizes: Sizes) -> bool:
    """Return True if V is directly in a state, or in a part of it.

    Without a name of V, True if layers of these sizes are found in the state.
    """
    V = names["V"]
    if V is None:
        try:
            find_layers(state, sizes)
        except InputError:
            return False
        return True
    if callable(V):
        return False
    for part in (V,) if isinstance(V, str) else tuple(V):
        if not isinstance(state, Mapping):
            return False
        if part not in state:
            inner = [one for one in state.values() if isinstance(one, Mapping)]
            return isinstance(V, str) and not is_open_file(state) and any(V in one for one in inner)
        state = state[part] if not is_open_file(state) else None
    return True


def _frames(content: Mapping[Any, Any], names: Mapping[str, Name | None]) -> Numbered | None:
    """Return the frames of arrays whose first axis counts them, as V (T, m, d) has."""
    V = "V" if names["V"] is None else names["V"]
    if not isinstance(V, str) or V not in content:
        return None
    shape = shape_of(content, V)
    if shape is None or len(shape) != 3:
        return None
    own = {name for name in names.values() if isinstance(name, str) and name in content}
    own |= {key for key in (*"Vabc", "A") if names["V"] is None and key in content}
    count = shape[0]
    check_count(count)
    arrays = {name: content[name] for name in sorted(own)}
    for name, array in arrays.items():
        if tuple(array.shape)[:1] != (count,):
            raise InputError(
                f"{V} has shape {shape}, {count} frames, and {name} {tuple(array.shape)}; the "
                "first axis of all must count the frames."
            )
    shapes = {key: array_shape[1:] for key in content if (array_shape := shape_of(content, key))}
    return [(None, FrameArrays(arrays, shapes, i)) for i in range(count)]


def _steps_beside(content: Mapping[Any, Any], count: int) -> Sequence[float] | None:
    """Return the steps listed beside the states of a file, or None."""
    for name in STEPS:
        if name in content:
            values = content[name]
            numbers = [_number(one) for one in values] if _has_length(values, count) else []
            if numbers and None not in numbers:
                return [number for number in numbers if number is not None]
    return None


def _has_length(values: Any, count: int) -> bool:
    """Return True for `count` values; False for a mapping or a text."""
    try:
        return not isinstance(values, Mapping | str) and len(values) == count
    except TypeError:
        return False


@final
class Part(LazyArrays):
    """Arrays of a mapping with a common prefix, by the rest of their names."""

    def __init__(self, content: Mapping[Any, Any], keys: Mapping[str, Any]) -> None:
        super().__init__(keys)
        self._content = content

    def __getitem__(self, name: str) -> Any:
        return self._content[self._entries[name]]

    def float_shape(self, name: str) -> tuple[int, ...] | None:
        return shape_of(self._content, self._entries[name])


@final
class FrameArrays(LazyArrays):
    """One frame of arrays whose first axis counts frames; `shapes` are those of a frame."""

    def __init__(
        self, arrays: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], index: int
    ) -> None:
        super().__init__(arrays)
        self._shapes, self._index = shapes, index

    def __iter__(self) -> Iterator[str]:
        return iter({**self._entries, **self._shapes})

    def __getitem__(self, name: str) -> Any:
        return self._entries[name][self._index]

    def float_shape(self, name: str) -> tuple[int, ...] | None:
        return self._shapes.get(name)
