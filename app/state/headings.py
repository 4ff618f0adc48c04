"""Names of runs: in files by study and cell, on the screen by their differences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.numbers import raised
from core.studies.changes import MOST_NAMED, changes_between, is_modified, origin_of
from core.studies.study import Study
from core.studies.tables import Cell, value_text
from core.study_file.words import numbered, setting_words

if TYPE_CHECKING:
    from core.runs import Run

# What app.places puts at the end of a name: a continued run has a moment of its own.
DASH = re.compile(r"(?<!\de)-|-(?!\d)")
MOMENT = re.compile(r"__\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(-\d+)?$")


def file_name(study: Study, cell: Cell, base: Study) -> str:
    """Return the start of a run's file name: its study, changes of the original study, the cell."""
    changes = changes_between(origin_of(base), study)
    named = [key for key in changes if key not in study.axes and key != "variant"]
    parts = [f"{key}={value_text(changes[key])}" for key in named[:MOST_NAMED]]
    head = f"{value_text(study.id)}-modified" if is_modified(study.title) else value_text(study.id)
    return "__".join(filter(None, (head, *parts, cell.name)))


def heading_of(cell_name: str) -> str:
    """Return a cell's name as a heading.

    >>> heading_of("network.m=16"), heading_of("network.m=16__dynamics.step=0.1")
    ('m = 16', 'm = 16, step .1')
    >>> heading_of("variant=with-batch-norm"), heading_of("variant=lambda---1e-2--m---8")
    ('with batch norm', '\u03bb = 1e-2, m = 8')
    """
    return ", ".join(_parts(cell_name))


def _parts(cell_name: str) -> list[str]:
    pairs = [part.partition("=") for part in cell_name.split("__")]
    keys = {key for key, _, _ in pairs}
    return [
        raised(setting_words(key, _variant(value) if key == "variant" else value))
        for key, equals, value in pairs
        if equals and not (key == "data.kind" and "data.points" in keys)
    ]


def _variant(name: str) -> str:
    """Return the name of a variant from that in a file name (value_text).

    A single dash was a space, except for the sign of a power of ten.
    """
    words = name.replace("---", " = ").replace("--", ", ")
    return DASH.sub(" ", words)


def headings_of(cell_names: Sequence[str]) -> list[str]:
    """Return headings of runs side by side: what differs between them, or all of it.

    >>> headings_of(["network.m=16__run.seed=0", "network.m=16__run.seed=1"])
    ['seed 0', 'seed 1']
    >>> headings_of(["network.m=16__run.seed=0"] * 2)
    ['m = 16, seed 0', 'm = 16, seed 0 (2)']
    """
    whole = [_parts(name) for name in cell_names]
    common = set.intersection(*map(set, whole)) if len(whole) > 1 else set()
    own = [[part for part in parts if part not in common] for parts in whole]
    return numbered(", ".join(mine or parts) for mine, parts in zip(own, whole, strict=True))


def headings_of_files(paths: Sequence[Path]) -> list[str]:
    """Return headings of runs that are opened: the same as when they were trained."""
    stems = [MOMENT.sub("", path.stem).partition("__") for path in paths]
    alike = len({study for study, _, _ in stems}) == 1
    cells = [cell for _, _, cell in stems]
    named = headings_of(cells) if alike else list(map(heading_of, cells))
    return numbered(name or "".join(stem) for name, stem in zip(named, stems, strict=True))


def network_words(run: Run) -> str:
    """Return the network of a run; one that only recordings have is called by its activation."""
    network = run.experiment.network
    activation = getattr(network, "activation", "") if network.kind == "recorded" else ""
    if activation == "unknown":
        return "network of an unknown activation"
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
    lead = "recorded by another program: " if run.recorded else ""
    return f"{lead}{', '.join(parts)} \u2013 {run.engine}"
