"""`marginscope.load`: the checkpoints of an earlier training become a run."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marginscope._errors import InputError, did_you_mean
from marginscope._record.api import record
from marginscope._record.scratch import make_scratch
from marginscope._record.state_files import check_size, open_state

if TYPE_CHECKING:
    from marginscope._engine.run import Run

Name = str | Sequence[str] | Callable[[Any], Any]


def load(
    states: Iterable[Any],
    steps: Iterable[float],
    x: Any,
    y: Any,
    *,
    loss: str | None,
    V: Name,
    a: Name | None = None,
    b: Name | None = None,
    c: Name | None = None,
    path: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Run:
    """The run whose weights at `steps` (increasing) are `states`: state_dicts, or their files.

    A file is one that `torch.save` wrote, of which nothing but tensors is read (weights_only), or
    an NPZ, of which the named arrays are read; 512 MB of arrays are the most of one state. Anything
    else you read in a loop of your own, and hand on as mappings, one by one if you like. V, a, b
    and c say where the arrays are: a name ("hidden.weight"), several for mappings within mappings
    (("model", "hidden.weight")), or a function of the state. Other `settings` are those of
    `marginscope.record`.

    The run is written to `path`; without one it lies in a temporary folder as long as it is used.

    Raises InputError for a state that cannot be read, names that are not there, and steps that do
    not increase; then no file is left.
    """
    from marginscope._engine.run import open_run  # first: what cannot be opened is not written

    if settings.get("resume"):
        raise InputError("resume=True is for recordings of a loop; load makes a whole run.")
    names = {"V": V, "a": a, "b": b, "c": c}
    folder = None if path is not None else make_scratch()
    place = Path(path) if path is not None else Path(folder.name if folder else "") / "load.msrun"
    times, source = list(steps), iter(states)
    made = record(place, x, y, loss=loss, strict=True, **settings)
    try:
        for count, step in enumerate(times):
            state = next(source, None)
            if state is None:
                raise InputError(f"There are {count} states and {len(times)} steps; one for each.")
            with open_content(state) as content:
                made.frame(
                    step, **{name: select_array(content, one, name) for name, one in names.items()}
                )
        if any(True for _ in islice(source, 1)):
            raise InputError(f"There are more states than the {len(times)} steps; one for each.")
        if not times:
            raise InputError("There are no states to make a run of.")
    except BaseException:
        made.close("failed")
        if made.frames:
            made.path.unlink(missing_ok=True)
        if folder is not None:
            folder.cleanup()
        raise
    made.close()
    run = open_run(made.path)
    if folder is not None:
        weakref.finalize(run, folder.cleanup)
    return run


@contextmanager
def open_content(state: Any) -> Iterator[Any]:
    """Open a state as a mapping: a file by its name, anything else as it was given."""
    if isinstance(state, str | os.PathLike):
        with open_state(Path(state)) as content:
            yield content
    else:
        yield state


def select_array(state: Any, name: Name | None, which: str) -> Any:
    """Return the array of a name in a state.

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
                raise InputError(f"{which}: a state is no mapping of names to arrays.")
            if part not in state:
                known = [str(key) for key in state]
                raise InputError(f"{which}: a state has no {part!r}; {did_you_mean(part, known)}")
            state = state[part]
    # A tensor of a few bytes can repeat them without end (strides of 0), until it is copied.
    if isinstance(shape := getattr(state, "shape", None), tuple):
        check_size(tuple(shape), which)
    return state
