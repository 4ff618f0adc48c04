"""Saved state of a dynamics, from which a continued run starts: arrays by name.

A dynamics names its parts, the arrays that live from one step to the next; `get_state` copies them
out and `set_state` checks a state and copies it in. Values are float64: integers are whole numbers
below 2^53, and the words of a random generator are 32 bits each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.problem.problem import State

# Increase when a part is added, or the meaning of a part changes.
STATE_VERSION = 3
LARGEST_INTEGER = 2.0**53
WORD = 1 << 32
GENERATOR_WORDS = 10
Parts = Mapping[str, NDArray[Any]]


def invalid_state(problem: str) -> InputError:
    """Return the error for a state from which a dynamics cannot continue."""
    return InputError(
        f"The saved state of the earlier run is damaged: {problem}",
        remedy="get a fresh copy of its file",
        typed="get a fresh copy of its file, or continue from another frame with --frame",
    )


def get_state(parts: Parts) -> State:
    """Return copies of all parts, as float64."""
    return {name: np.array(part, dtype=np.float64) for name, part in parts.items()}


def set_state(parts: Parts, state: State) -> None:
    """Copy a state into the parts of a dynamics.

    Raises InputError for other names, lengths, NaN, or numbers that are not integers where the part
    has these.
    """
    if set(state) != set(parts):
        raise invalid_state(f"it has {_names(state)}, but {_names(parts)} are needed")
    for name, part in parts.items():
        values = np.asarray(state[name], dtype=np.float64)
        if values.size != part.size:
            raise invalid_state(f"{name} has {values.size} numbers, but {part.size} are needed")
        if np.isnan(values).any():
            raise invalid_state(f"{name} holds a value that is not a number")
        if part.dtype.kind == "i":
            are_integers = np.abs(values) < LARGEST_INTEGER
            if not (are_integers.all() and np.array_equal(values, np.round(values))):
                raise invalid_state(f"{name} holds a value that is not an integer")
        part[...] = values.reshape(part.shape)


def _names(parts: Mapping[str, object]) -> str:
    return ", ".join(sorted(parts)) or "nothing"


def check_finite(name: str, values: NDArray[Any]) -> None:
    """Raise InputError unless all values of a part are finite."""
    if not np.isfinite(values).all():
        raise invalid_state(f"{name} holds a value that is not finite")


def generator_words(generator: np.random.Generator) -> NDArray[np.float64]:
    """Return the state of a PCG64 generator as 32-bit words.

    Parameters
    ----------
    generator : Generator
        Generator, which stays unchanged.

    Returns
    -------
    array (10,)
        Four words each of state and increment, and two of the half-used word.
    """
    state: Any = generator.bit_generator.state
    numbers = state["state"]
    words = [(numbers[key] >> (32 * k)) % WORD for key in ("state", "inc") for k in range(4)]
    return np.array([*words, state["has_uint32"], state["uinteger"]], dtype=np.float64)


def set_generator(generator: np.random.Generator, words: NDArray[np.float64]) -> None:
    """Set a PCG64 generator to `generator_words`. Raises InputError for invalid words."""
    are_integers = np.array_equal(words, np.round(words))
    if (
        words.shape != (GENERATOR_WORDS,)
        or not are_integers
        or words.min() < 0
        or words.max() >= WORD
    ):
        raise invalid_state("the random generator's state is not one")
    values = [int(word) for word in words]
    numbers = [sum(values[4 * part + k] << (32 * k) for k in range(4)) for part in range(2)]
    # PCG requires an odd increment; an even one has a shorter period.
    if numbers[1] % 2 == 0 or values[8] > 1:
        raise invalid_state("the random generator's state is not one")
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": numbers[0], "inc": numbers[1]},
        "has_uint32": values[8],
        "uinteger": values[9],
    }
