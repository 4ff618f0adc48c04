"""`marginscope.check`: what a study claims of its runs, judged."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from core.cli.checking import judged_in
from core.cli.output import finite
from core.studies.study import shipped_ids
from core.studies.verdicts import Judged
from core.sweep.folder import existing_sweeps
from marginscope._engine.border import public
from marginscope._engine.studies import Study, found, size_of
from marginscope._engine.sweeping import Sweep, swept
from marginscope._errors import InputError


@final
@dataclass(frozen=True, slots=True, repr=False)
class Claim:
    """A claim of a study with its verdict: "confirmed", "refuted" or "not at this size".

    `measured` (with its interval from `low` to `high`, NaN where there is none) is compared with
    `value` by `compare` ("<=", ">=", "~") and `tolerance`, over so many `runs`. `basis` says where
    the claim comes from, `why` how it was measured, or why it could not be judged.
    """

    text: str
    verdict: str
    measured: float
    low: float
    high: float
    compare: str
    value: float
    tolerance: float
    runs: int
    basis: str
    why: str
    line: str

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values that JSON has; numbers that are not finite are None."""
        whole: dict[str, Any] = finite(asdict(self))
        return whole

    def __repr__(self) -> str:
        return f"<{self.verdict}: {self.text}>"

    def __str__(self) -> str:
        return self.line


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
) -> list[Claim]:
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
        return [_claim(one) for each in ledgers for one in judged_in(Path(study), each, size)]
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


def _judged_sweep(made: Sweep) -> list[Claim]:
    return [_claim(one) for one in judged_in(made.folder, made._plan.ledger, size_of(made.study))]


def _claim(one: Judged) -> Claim:
    claim, measured = one.claim, one.measured
    return Claim(
        text=claim.text,
        verdict=one.verdict,
        measured=measured.value,
        low=measured.low,
        high=measured.high,
        compare=claim.compare,
        value=claim.value,
        tolerance=claim.tolerance,
        runs=measured.count,
        basis=claim.basis,
        why=one.why,
        line=one.line(),
    )
