"""Facts that the library reads from a run file, once for each state of the file."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import MarginscopeError
from core.library.entry import RESULTS, UNREADABLE, RunSummary, Setting
from core.reference.share import REACHED, first_reach
from core.runs import Run, open_run
from core.runs.settings import known_settings, unknown_settings
from core.studies.tables import depth_of, value_text

LONGEST_VALUE = 200  # characters of a setting; the code of a custom network is not a setting
POINTS = 48  # points of a thumbnail
PICTURE_BYTES = 64 << 20  # bytes of frames read for a thumbnail
NOTHING = 255  # code of NaN among the heights


def read_facts(path: Path) -> RunSummary | None:
    """Return the facts of a run file; None if it is gone. A file that is no run has a reason."""
    try:
        with open_run(path) as run:
            return facts_of(run)
    except (MarginscopeError, OSError, MemoryError) as error:
        if not path.exists():
            return None
        sentence = getattr(error, "sentence", "") or f"{path} cannot be read: {error}."
        return RunSummary(status=UNREADABLE, wrong=sentence)
    # Custom network code may raise anything, and one run must not hide the others.
    except Exception as error:
        sentence = f"{path} cannot be read: {type(error).__name__}: {str(error)[:200]}."
        return RunSummary(status=UNREADABLE, wrong=sentence)


def facts_of(run: Run) -> RunSummary:
    """Return the facts of an open run."""
    margins, waiting, factor = _margins(run)
    lineage = run.lineage
    return RunSummary(
        title=run.title,
        source=run.source,
        settings=settings_of(run),
        results=_results(run),
        margins=margins,
        waiting=waiting,
        factor=factor,
        frames=run.frames,
        created=run.creation_time,
        status=run.status,
        reason=run.reason or "",
        run=run.name,
        parent=lineage.file if lineage is not None else "",
        parent_run=lineage.run if lineage is not None else "",
        left=lineage.log10_time if lineage is not None else math.nan,
        changes=lineage.changes if lineage is not None else "",
    )


def settings_of(run: Run) -> dict[str, Setting]:
    """Return the settings by their dotted keys, with n and d of data that came from a file."""
    unknown = unknown_settings(run)  # foreign settings match no run
    tables = {
        section: {
            name: value
            for name, value in table.items()
            if value is not None and f"{section}.{name}" not in unknown
        }
        for section, table in known_settings(run).items()
    }
    flat = flatten_tables(tables)
    return flat | {"data.n": run.dataset.n, "data.d": run.dataset.d, "network.m": run.network.m}


def flatten_tables(tables: Mapping[str, Any]) -> dict[str, Setting]:
    """Flatten tables of settings; lists become text, rows of lists a short one.

    >>> flatten_tables({"data": {"n": 4, "marks": [1, 2]}, "title": "A"})
    {'data.n': 4, 'data.marks': '1, 2', 'title': 'A'}
    """
    flat: dict[str, Setting] = {}
    for section, table in tables.items():
        items = table.items() if isinstance(table, Mapping) else [("", table)]
        for name, value in items:
            key = f"{section}.{name}" if name else section
            if depth_of(value) > 1:
                value = value_text(value)
            elif isinstance(value, list | tuple):
                value = ", ".join(map(str, value[:20]))
            short = isinstance(value, str) and len(value) <= LONGEST_VALUE
            if short or isinstance(value, bool | int | float):
                flat[key] = value
    return flat


def _results(run: Run) -> dict[str, float]:
    """Return the values of `RESULTS` at the last frame, as far as they apply; {} without frames."""
    from core.observables.registry import OBSERVABLES

    if run.frames == 0:
        return {}
    last = run.frames - 1
    values = {}
    for name in RESULTS:
        if OBSERVABLES[name].applies(run):
            values[name] = float(OBSERVABLES[name].value_at(run, last))
    values["norm"] = math.sqrt(max(values.get("norm_squared", math.nan), 0.0))
    values["log10_time"] = float(run.log10_time[last])
    return values


def _margins(run: Run) -> tuple[dict[str, float], dict[str, str], float]:
    """Return cached values, the files of values not cached yet, and the factor of gamma_gl."""
    from core.reference.margin import load_margin, saved_margin_path
    from core.reference.registry import references_of

    margins, waiting, factor = {}, {}, math.nan
    for reference in references_of(run.problem):
        if reference.name == "gamma_gl" and reference.is_comparable(run.problem):
            factor = reference.factor or math.nan
        path = saved_margin_path(reference, run.problem)
        entry = load_margin(path)
        if entry is None:
            waiting[reference.name] = path.name
        else:
            margins[reference.name] = entry.bracket.value
    return margins, waiting, factor


def picture_of(path: Path) -> bytes:
    """Return the hard margin (of real targets the risk) over the run as heights, one byte each.

    At most `POINTS` frames at equal distances are read, fewer of large networks. Heights are 0 to
    254 from the least margin, or 0, to the largest, and 255 for undefined ones. Empty for a file
    that cannot be read.
    """
    from core.observables.margins import hard_margin
    from core.observables.registry import OBSERVABLES

    try:
        with open_run(path) as run:
            if run.frames == 0:
                return b""
            quantity = OBSERVABLES["risk"].value_at if run.dataset.real else hard_margin
            max_frames = max(
                2, min(POINTS, PICTURE_BYTES // max(8 * run.network.size, 1), run.frames)
            )
            frames = np.unique(np.linspace(0, run.frames - 1, max_frames).round().astype(int))
            return heights([quantity(run, int(frame)) for frame in frames])
    except Exception:  # no thumbnail; the facts report the error
        return b""


def time_to_90(path: Path, largest: float) -> Generator[None, None, float]:
    """Return log10 of the time at which the hard margin first comes to 90 % of `largest`.

    inf if it never does, NaN for a file that cannot be read. The generator yields after each frame
    that it reads, and stops reading at that time.
    """
    from core.observables.margins import hard_margin

    try:
        with open_run(path) as run:
            shares = np.full(run.frames, math.nan)
            for frame in range(run.frames):
                shares[frame] = hard_margin(run, frame) * (1.0 / largest)
                reach = None
                if shares[frame] >= REACHED:
                    reach = first_reach(shares[: frame + 1], run.log10_time)
                if reach is not None:
                    return reach.log10_time
                yield
            return math.inf
    except Exception:  # the facts report the error
        return math.nan


def heights(values: list[float]) -> bytes:
    """Return numbers as heights.

    >>> list(heights([-1.0, 0.0, float("nan"), 1.0]))
    [0, 127, 255, 254]
    """
    curve = np.array(values, dtype=np.float64)
    finite = curve[np.isfinite(curve)]
    if not finite.size:
        return b""
    lowest, highest = min(float(finite.min()), 0.0), max(float(finite.max()), 0.0)
    with np.errstate(invalid="ignore"):
        scaled = np.rint((curve - lowest) / (highest - lowest or 1.0) * (NOTHING - 1))
    return bytes(np.where(np.isfinite(curve), scaled, NOTHING).astype(np.uint8))
