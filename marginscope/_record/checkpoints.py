"""`marginscope.load`: the checkpoints of an earlier training become a run."""

from __future__ import annotations

import os
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marginscope._errors import InputError, did_you_mean
from marginscope._record.api import record

if TYPE_CHECKING:
    from marginscope._engine.run import Run

Name = str | Sequence[str] | Callable[[Any], Any]
PICKLED = (".pt", ".pth", ".ckpt", ".bin")


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
    an NPZ; anything else you read in a loop of your own, and hand on as mappings, one by one if
    you like. V, a, b and c say where the arrays are: a name ("hidden.weight"), several for mappings
    within mappings (("model", "hidden.weight")), or a function of the state. Other `settings` are
    those of `marginscope.record`.

    The run is written to `path`; without one it lies in a temporary folder as long as it is used.

    Raises InputError for a state that cannot be read, names that are not there, and steps that do
    not increase; then no file is left.
    """
    from marginscope._engine.run import open_run  # first: what cannot be opened is not written

    names = {"V": V, "a": a, "b": b, "c": c}
    folder = None if path is not None else tempfile.TemporaryDirectory(prefix="marginscope-load-")
    place = Path(path) if path is not None else Path(folder.name if folder else "") / "load.msrun"
    times, source = list(steps), iter(states)
    made = record(place, x, y, loss=loss, strict=True, **settings)
    try:
        for count, step in enumerate(times):
            state = next(source, None)
            if state is None:
                raise InputError(f"There are {count} states and {len(times)} steps; one for each.")
            kept = read(state)
            made.frame(step, **{name: found(kept, one, name) for name, one in names.items()})
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


def read(state: Any) -> Any:
    """A state as a mapping; of a file its content. Raises InputError."""
    if not isinstance(state, str | os.PathLike):
        return state
    path = Path(state)
    try:
        if path.suffix.lower() == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
        if path.suffix.lower() in PICKLED:
            import torch

            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as archive:  # PyTorch does not look at its checksums
                    if (damaged := archive.testzip()) is not None:
                        raise ValueError(f"{damaged} in it is damaged")
            return torch.load(path, map_location="cpu", weights_only=True)
    except ImportError as error:
        raise InputError(f"{path} is PyTorch's, which is not installed here.") from error
    except Exception as error:  # whatever a damaged, or a hostile, file leads to
        first = " ".join(str(error).split())[:200].rstrip(".")
        raise InputError(
            f"The checkpoint {path} cannot be read as tensors alone ({first}); read it in a loop "
            "of your own, and hand its arrays on as mappings."
        ) from error
    raise InputError(
        f"{path} ends in {path.suffix or 'nothing'}; {', '.join(PICKLED)} and .npz are read. Read "
        "it in a loop of your own, and hand its arrays on as mappings."
    )


def found(state: Any, name: Name | None, which: str) -> Any:
    """The array of a name in a state. Raises InputError where there is none."""
    if name is None:
        return None
    if callable(name):
        return name(state)
    for part in (name,) if isinstance(name, str) else tuple(name):
        if not isinstance(state, Mapping):
            raise InputError(f"{which}: a state is no mapping of names to arrays.")
        if part not in state:
            known = [str(key) for key in state]
            raise InputError(f"{which}: a state has no {part!r}; {did_you_mean(part, known)}")
        state = state[part]
    return state
