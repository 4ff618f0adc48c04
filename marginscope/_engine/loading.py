"""`marginscope.load`: the checkpoints of an earlier training become a run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from core.errors import InputError
from marginscope._engine.boundary import Folder, public
from marginscope._engine.run import Run, hold_object, open_run
from marginscope._record import arrays
from marginscope._record.checkpoints import StateReader, write_states
from marginscope._record.state_arrays import Name, Sizes


@public
def load(
    states: str | os.PathLike[str] | Iterable[Any],
    steps: Iterable[float] | None,
    x: Any,
    y: Any,
    *,
    loss: str | None,
    V: Name | None = None,
    a: Name | None = None,
    b: Name | None = None,
    c: Name | None = None,
    ignore: Iterable[str] = (),
    path: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Run:
    """Make a run of the checkpoints of an earlier training.

    Parameters
    ----------
    states : path, or iterable of paths or mappings
        A folder of checkpoints, a pattern ("ckpt/*.pt"), or one file that holds many states; or the
        states one by one: files, or mappings such as a `state_dict`. Files are those of
        `torch.save`, of NumPy's `savez` and of safetensors, whatever their names end in; nothing
        but arrays is read of them, at most 512 MB of one state. Many states in one file are a list,
        a mapping by steps, names such as "step10/fc1.weight", or arrays whose first axis counts
        frames, V (T, m, d). Anything else you read in a loop of your own, and hand on as mappings.
    steps : iterable of float, or None
        The step, or time, of each state, increasing. None takes them from the names of the files
        ("ckpt-9" is before "ckpt-10"), or from the states ("step", "global_step", "epoch").
    x, y : array
        Training data (n, d) and (n,), as for `marginscope.record`.
    loss : str or None
        As for `marginscope.record`.
    V, a, b, c : str, sequence of str, or function, optional
        Where the arrays are: a name ("fc1.weight"), also within the mapping of weights that the
        state holds ("state_dict", "model"); several names for mappings within mappings; or a
        function of the state. Without all of them, the two layers of a state that has no others are
        found by their shapes, with their biases.
    ignore : iterable of str
        Arrays that fit the network by their shapes and do not belong to it.
    path : path, optional
        Where the run is written; without it, in a temporary folder for as long as it is used.
    **settings
        Those of `marginscope.record`.

    Returns
    -------
    Run
        Of one frame for each state. Its source says which arrays it was made of, if you give none.

    Warns
    -----
    RecordingWarning
        A state holds arrays that fit as b, c or a, and were not named.

    Raises
    ------
    InputError
        A state cannot be read, a name is not there, or steps do not increase; no file is left.
    """
    if settings.get("resume"):
        raise InputError(
            "resume=True applies to recordings of a loop; load always makes a whole run."
        )
    examples = arrays.examples(x, y, real=settings.get("targets") == "real")
    sizes = Sizes(int(examples.x.shape[1]), examples.k)
    reader = StateReader({"V": V, "a": a, "b": b, "c": c}, sizes, tuple(ignore))
    folder = Folder("load") if path is None else None
    place = Path(path or "") if folder is None else folder.path / "load.msrun"
    try:
        run_path = write_states(place, states, steps, (x, y), reader, loss=loss, **settings)
    except BaseException:
        if folder is not None:
            folder.close()
        raise
    return hold_object(open_run(run_path), folder)
