"""Arrays of a two-layer network in a state, and those of a state that were not named.

A state is a mapping of names to arrays, or of names to such mappings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, final

from core.errors import InputError, did_you_mean
from core.run_files.meta import printable
from marginscope._record.limits import LazyArrays, check_size

Name = str | Sequence[Any] | Callable[[Any], Any]
Path = tuple[Any, ...]
Shape = tuple[int, ...]
PARTS = ("V", "a", "b", "c")
DEPTH, MOST_NAMES = 4, 20_000
MOST_ARRAYS = 1_000  # arrays of a mapping that are searched for layers: each header is read
# Names of weights in checkpoints that also hold averages or the optimizer's state.
WEIGHTS = ("state_dict", "model_state_dict", "model", "network", "net", "params", "weights")
FEW = 4  # names in a message
NO_MAPPING = "a state must map names to arrays; for a PyTorch module give its state_dict()"


@final
@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of the network that the data go with: inputs d and outputs k."""

    d: int
    k: int

    def outer(self, m: int) -> tuple[Shape, ...]:
        """Return the shapes that outer weights of m neurons can have."""
        return ((1, m), (m,), (m, 1)) if self.k == 1 else ((self.k, m),)


def select_array(state: Any, name: Name | None, role: str) -> Any:
    """Return the array of a name in a state.

    Parameters
    ----------
    state : mapping, or any with a function as name
        Names to arrays, or to such mappings.
    name : str, sequence or callable, or None
        Name, names of nested mappings, or function of the state.
    role : str
        V, a, b or c, for the message.

    Returns
    -------
    array or None
        None without a name.

    Raises
    ------
    InputError
        The state has no array of that name, or an array larger than the limits.
    """
    if name is None:
        return None
    if callable(name):
        state = name(state)
    else:
        for part in (name,) if isinstance(name, str) else tuple(name):
            if not isinstance(state, Mapping):
                raise InputError(f"{role}: {NO_MAPPING}.")
            if part not in state:
                near = did_you_mean(str(part), [printable(str(key)) for key in state])
                raise InputError(f"{role}: a state has no {part!r}; {near}")
            state = state[part]
    # A few bytes can repeat a tensor without limit (strides of 0), which a copy would expand.
    if isinstance(shape := getattr(state, "shape", None), tuple):
        check_size(tuple(shape), role)
    return state


def shape_of(state: Mapping[Any, Any], key: Any) -> Shape | None:
    """Return the shape of a state's array of real numbers; None for anything else.

    Arrays of files are not read.
    """
    if isinstance(state, LazyArrays):
        try:
            return state.float_shape(key)
        except InputError:  # a damaged array that may be unused
            return None
    shape, kind = getattr(state[key], "shape", None), str(getattr(state[key], "dtype", ""))
    return tuple(shape) if isinstance(shape, tuple) and "float" in kind else None


def is_open_file(state: Any) -> bool:
    """Return True for a mapping that reads its arrays from a file when they are taken."""
    return isinstance(state, LazyArrays)


def mappings(state: Any) -> Iterator[tuple[Path, Mapping[Any, Any]]]:
    """Yield a state and the mappings within it, with their paths, outer ones first."""
    todo: list[tuple[Path, Any]] = [((), state)]
    n_seen = 0
    for path, one in todo:
        if not isinstance(one, Mapping):
            continue
        yield path, one
        n_seen += len(one)
        if n_seen > MOST_NAMES:  # mappings in a pickle can contain themselves
            return
        # Values of an open file are arrays, all of which would be read.
        if len(path) == DEPTH or is_open_file(one):
            continue
        todo += [((*path, key), value) for key, value in one.items() if isinstance(value, Mapping)]


def find_name(state: Any, name: str, role: str) -> Path:
    """Find an array by its name in a state, or in the mapping of weights within it.

    Parameters
    ----------
    state : mapping
        Names to arrays, or to such mappings.
    name : str
        Prefixes that wrappers add to all names ("module.fc1.weight") may be left out.
    role : str
        V, a, b or c, for the message.

    Returns
    -------
    tuple
        Keys that lead to the array.

    Raises
    ------
    InputError
        No mapping has the name, or several have.
    """
    if not isinstance(state, Mapping) or name in state:
        return (name,)
    places = [(*path, name) for path, one in mappings(state) if name in one]
    if not places:
        places = [
            (*path, key)
            for path, one in mappings(state)
            for key in one
            if isinstance(key, str) and key.endswith(f".{name}")
        ]
    if len(places) > 1:
        places = [place for word in WEIGHTS for place in places if word in place[:-1]][:1] or places
    if len(places) > 1:
        text = " and ".join(_place_text(place) for place in places[:FEW])
        raise InputError(f"{role}: a state has {name!r} at {text}; name one of these.")
    if not places:
        names = [printable(str(key)) for _, one in mappings(state) for key in one][:MOST_NAMES]
        raise InputError(f"{role}: a state has no {name!r}; {did_you_mean(name, names)}")
    return places[0]


def find_layers(state: Any, sizes: Sizes) -> dict[str, Path]:
    """Return where V, a, b and c are in a state that holds one two-layer network and no other.

    Raises
    ------
    InputError
        No mapping has two matrices that fit, or several have.
    """
    if not isinstance(state, Mapping):
        raise InputError(f"V: {NO_MAPPING}.")
    places = [
        (path, pair)
        for path, one in mappings(state)
        for pair in (_layers_in(one, sizes),)
        if pair is not None
    ]
    if len(places) > 1:
        preferred = [one for word in WEIGHTS for one in places if word in one[0]]
        places = preferred[:1] or places
    if len(places) > 1:
        several = " and ".join(_place_text(path) for path, _ in places[:FEW])
        raise InputError(
            f"Several parts of a state have two layers ({several}); choose one by naming its "
            "weights as V and a."
        )
    if not places:
        hint = "; of two logits give a as the difference of their rows" if sizes.k == 1 else ""
        raise InputError(
            f"No part of a state has two layers alone, V of shape (m, {sizes.d}) and a of shape "
            f"({sizes.k}, m); name them as V and a, with b and c{hint}. The state has "
            f"{_list_arrays(state)}."
        )
    path, names = places[0]
    return {part: (*path, key) for part, key in names.items()}


def _layers_in(state: Mapping[Any, Any], sizes: Sizes) -> dict[str, Any] | None:
    """Return the names of V, a, b and c among the entries of a mapping, if these are all."""
    if len(state) > MOST_ARRAYS:
        return None
    shapes = {key: shape for key in state if (shape := shape_of(state, key)) is not None}
    flat = {key: shape for key, shape in shapes.items() if len(shape) < 2}
    wide = [key for key in shapes if key not in flat]
    if len(wide) == 1 and sizes.k == 1 and "a" in flat:
        wide.append("a")
        del flat["a"]
    pairs = [
        (V, a)
        for V in wide
        for a in wide
        if a != V and len(shapes[V]) == 2 and shapes[V][1] == sizes.d
        if shapes[a] in sizes.outer(shapes[V][0])
    ]
    if len(wide) != 2 or len(pairs) != 1:
        return None
    V, a = pairs[0]
    names = {"V": V, "a": a}
    for part, weight, size in (("b", V, shapes[V][0]), ("c", a, sizes.k)):
        bias = bias_of(weight)
        if bias in flat and flat[bias] in ((size,), (size, 1), (1, size)):
            names[part] = bias
    return names


def bias_of(weight: Any) -> str:
    """Return the name of the bias of a matrix of weights.

    >>> bias_of("fc1.weight"), bias_of("V"), bias_of("a")
    ('fc1.bias', 'b', 'c')
    """
    text = str(weight)
    if text.endswith("weight"):
        return f"{text.removesuffix('weight')}bias"
    return {"V": "b", "a": "c"}.get(text, "")


def unnamed_arrays(
    state: Any,
    paths: Mapping[str, Path],
    m: int,
    sizes: Sizes,
    named: tuple[Sequence[str], Sequence[str]],
) -> dict[str, tuple[Shape, str]]:
    """Return the arrays besides V that fit the network but are not part of it.

    Parameters
    ----------
    state : Any
        First state.
    paths : mapping
        Where V, a, b and c are, as far as they were named.
    m : int
        Number of neurons.
    sizes : Sizes
        Of the data.
    named : two sequences of str
        Those of V, a, b and c that functions select, and names of arrays to leave out.

    Returns
    -------
    dict
        name -> shape and the part that it could be: "b", "c", "a", or "" for further layers.
    """
    where = paths["V"][:-1]
    level = state
    for part in where:
        level = level[part]
    names = {path[-1] for path in paths.values() if path[:-1] == where}
    fits = {"b": ((m,),), "c": ((sizes.k,),), "a": sizes.outer(m)}
    selected, ignored = named
    missing = [part for part in ("b", "c", "a") if part not in paths and part not in selected]
    unseen = {shape for part in selected for shape in fits.get(part, ())}
    weights = {"b": "V", "c": "a"}
    own = {part: bias_of(paths[weight][-1]) for part, weight in weights.items() if weight in paths}
    unnamed: dict[str, tuple[Shape, str]] = {}
    for key in islice(level, MOST_ARRAYS):
        shape = None if key in names or str(key) in ignored else shape_of(level, key)
        if shape is None or shape in unseen:
            continue
        layer = len(shape) == 2 and set(shape) <= {m, sizes.d, sizes.k}
        if layer or any(shape in shapes for shapes in fits.values()):
            parts = [part for part in missing if shape in fits[part]]
            # The bias of the same layer, if any.
            parts = [p for p in parts if own.get(p) == key or own.get(p) not in level]
            unnamed[str(key)] = shape, parts[0] if parts else ""
    return unnamed


def unnamed_text(unnamed: Mapping[str, tuple[Shape, str]], where: Path) -> str:
    """Return the sentence about arrays that were not named."""
    few = list(unnamed.items())[:FEW]
    arrays_text = ", ".join(f"{printable(name)} {shape}" for name, (shape, _) in few)
    remainder = f" and {len(unnamed) - FEW} more" if len(unnamed) > FEW else ""
    parts = {part: name for name, (_, part) in reversed(few)}
    words = [f"{p}={_argument((*where, parts[p]))}" for p in PARTS if p in parts]
    how = f"If they belong to it, give {', '.join(words)}; if" if words else "If"
    how += " they do not" if words else " they do not belong to it"
    names = printable(", ".join(map(repr, unnamed)))[:500]
    return (
        f"The states also hold {arrays_text}{remainder}, whose shapes fit the network, and it is "
        f"recorded without them. {how}, give ignore=[{names}]."
    )


def _argument(path: Path) -> str:
    """Return a path within a state as users write it: 'name', or ('part', 'name')."""
    return repr(path[0]) if len(path) == 1 else repr(path)


def _place_text(path: Path) -> str:
    return printable(_argument(path))[:200] if path else "its top"


def _list_arrays(state: Any) -> str:
    """Return the names and shapes of a state's arrays, as far as a sentence has room."""
    arrays = [
        f"{printable(str(key))} {shape}"
        for _, one in mappings(state)
        for key in one
        if (shape := shape_of(one, key)) is not None
    ]
    return (", ".join(arrays[:8]) + (" and others" if len(arrays) > 8 else "")) or "no arrays"
