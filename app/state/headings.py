"""Names of runs: in files by study and cell, as headings by their differences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.comparison.names import MOMENT, RunDescription, run_names, variant_words
from core.numbers import raise_powers
from core.studies.changes import MOST_NAMED, changes_between, is_modified, origin_of
from core.studies.study import Study
from core.studies.summaries import shipped_summaries
from core.studies.tables import Cell, value_text
from core.study_file.words import setting_words

if TYPE_CHECKING:
    from core.runs import Run


def file_name(study: Study, cell: Cell, base: Study) -> str:
    """Return the start of a run's file name: its study, changes of the original study, the cell."""
    changes = changes_between(origin_of(base), study)
    keys = [key for key in changes if key not in study.axes and key != "variant"]
    parts = [f"{key}={value_text(changes[key])}" for key in keys[:MOST_NAMED]]
    head = f"{value_text(study.id)}-modified" if is_modified(study.title) else value_text(study.id)
    return "__".join(filter(None, (head, *parts, cell.name)))


def heading_of(cell_name: str) -> str:
    """Return a cell's name as a heading.

    >>> heading_of("network.m=16"), heading_of("network.m=16__dynamics.step=0.1")
    ('m = 16', 'm = 16, step .1')
    >>> heading_of("variant=with-batch-norm"), heading_of("variant=lambda---1e-2--m---8")
    ('with batch norm', '\u03bb = 1e-2, m = 8')
    """
    pairs = [part.partition("=") for part in cell_name.split("__")]
    keys = {key for key, _, _ in pairs}
    return ", ".join(
        raise_powers(setting_words(key, variant_words(value) if key == "variant" else value))
        for key, equals, value in pairs
        if equals and not (key == "data.kind" and "data.points" in keys)
    )


def file_words(path: Path) -> str:
    """Return the study and cell of a run file in words; the stem of a file of another name.

    >>> file_words(Path("telgarsky22-figure-1__network.m=16__2026-11-28T10-00-00.msrun"))
    'Telgarsky 2022, Figure 1: m = 16'
    >>> file_words(Path("telgarsky22-figure-1-modified__loss.kind=logistic.msrun"))
    'Telgarsky 2022, Figure 1, modified: logistic loss'
    >>> file_words(Path("mine__m=2.msrun"))
    'mine__m=2'
    """
    study, _, cell = MOMENT.sub("", path.stem).partition("__")
    changed = study.removesuffix("-modified")
    title = next((one.title for one in shipped_summaries() if one.id == changed), "")
    if not title:
        return path.stem
    head = title if changed == study else f"{title}, modified"
    return ": ".join(filter(None, (head, heading_of(cell))))


def headings_of(runs: Sequence[RunDescription]) -> list[str]:
    """Return headings of runs side by side: what differs between them, or all of it."""
    return [raise_powers(name) for name in run_names(runs)]


def network_words(run: Run) -> str:
    """Return the network of a run; recorded networks are named by their activation."""
    network = run.experiment.network
    activation = getattr(network, "activation", "") if network.kind == "recorded" else ""
    if activation == "unknown":
        return "network with unknown activation"
    return setting_words("network.kind", activation or network.kind)


def description_of(run: Run, has_nodes: bool) -> str:
    """Return the network, loss, dynamics, sizes and engine of a run, in one line."""
    experiment, sizes = run.experiment, run.dataset
    parts = [experiment.dynamics.words, f"n = {sizes.n}", f"d = {sizes.d}"]
    if has_nodes:
        parts = [network_words(run), *parts, f"m = {run.network.m}"]
        parts.append(setting_words("loss.kind", experiment.loss.kind))
    if sizes.classes > 2:
        parts.append(f"{sizes.classes} classes")
    lead = "recorded by another program: " if run.is_external else ""
    return f"{lead}{', '.join(parts)} \u2013 {run.engine}"
