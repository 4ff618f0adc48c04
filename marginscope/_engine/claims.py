"""`marginscope.check`: what a study claims of its runs, judged."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.studies.study import shipped_ids
from core.studies.verdicts import Judged
from core.sweep.folder import existing_sweeps, judged_in
from marginscope._engine.boundary import public
from marginscope._engine.studies import Study, found, size_of
from marginscope._engine.sweeping import Sweep, swept


@public
def check(
    study: str | os.PathLike[str] | Study | Sweep,
    /,
    folder: str | os.PathLike[str] | None = None,
    *,
    workers: int | None = None,
    dask: Any = None,
    size: str | None = None,
    overwrite: bool = False,
    progress: bool = True,
    **settings: Any,
) -> list[Judged]:
    """The claims of a study, each confirmed or refuted by its runs.

    `study` is a study as `train` takes it, whose cells are trained first as by `sweep`, at the
    "quick" size unless `size` says another; or what is trained already: a Sweep, or the folder of
    one. Runs are kept in `folder`, and those that lie there are not trained again.

    >>> import marginscope as ms
    >>> text = (
    ...     'title = "mine"\\n[data]\\nd = 4\\nn = 8\\n[network]\\nm = 4\\n'
    ...     '[dynamics]\\nuntil_log10_time = 0.0\\n[recording]\\nframes = 2\\n'
    ...     '[[claims]]\\ntext = "The risk falls."\\nmeasure = "risk - risk_0"\\n'
    ...     'compare = "<="\\nvalue = 0.0\\n'
    ... )
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "mine.toml"
    >>> _ = file.write_text(text)
    >>> ms.check(file, workers=1)
    [<confirmed: The risk falls.>]
    >>> folder.cleanup()

    Raises InputError for what `sweep` raises it for, and a folder that holds no sweep.
    """
    if isinstance(study, Sweep):
        return _judged_sweep(study)
    if not isinstance(study, Study) and _is_folder(study):
        if folder is not None or settings:
            raise InputError("The folder of a sweep has its own settings; give it alone.")
        ledgers = existing_sweeps(Path(study), values=False)
        return [one for each in ledgers for one in judged_in(Path(study), each, size)]
    chosen = _quick(study, settings, size)
    return _judged_sweep(swept(chosen, folder, (workers, dask), overwrite, progress))


def _is_folder(target: str | os.PathLike[str]) -> bool:
    return os.fspath(target) not in shipped_ids() and Path(target).is_dir()


def _quick(
    study: str | os.PathLike[str] | Study, settings: Mapping[str, Any], size: str | None
) -> Study:
    """At its quick size, where nobody has chosen another."""
    chosen = found(study, {}, size)
    if size_of(chosen) is None:
        chosen = found(chosen, {}, "quick")
    return found(chosen, settings)


def _judged_sweep(made: Sweep) -> list[Judged]:
    return judged_in(made.folder, made._plan.ledger, size_of(made.study))
