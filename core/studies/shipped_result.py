"""Results of the shipped studies at their quick size: the lines of their figures, and verdicts.

`python -m tests.tools.results` runs the studies and writes resources/results; this module reads
them on demand, so that a study's figure is seen before any of its runs is trained.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.numbers import replace_nonfinite
from core.program import result_file
from core.studies.cells import StudyCell
from core.studies.panel_lines import Line, lines_of
from core.studies.study import Study
from core.studies.verdicts import JudgedClaim

Array = NDArray[np.float64]
SIZE = "quick"
DIGITS = 5  # significant digits of stored numbers: below a pixel on screen
MOST_POINTS = 96  # points of a line along a run
# Keys of a study file that change text only, not the numbers of a result.
WORDS = frozenset(
    {"title", "source", "note", "text", "basis", "reason", "legend", "names", "x_label", "y_label"}
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class ShippedResult:
    """Lines of each panel of a study's figure, and a verdict for each claim.

    `runs`: how many were trained. Names of lines are those of cells.
    """

    runs: int
    panels: tuple[tuple[Line, ...], ...]
    claims: tuple[JudgedClaim, ...]


def at_result_size(study: Study) -> Study:
    """Return a study at the size at which its result is shipped."""
    return study.at_size(SIZE) if SIZE in study.sizes else study


@cache
def shipped_result(study_id: str) -> ShippedResult | None:
    """Return the shipped result of a study; None if it is missing or damaged."""
    try:
        return parse_result(result_file(study_id).read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def digest_of(study: Study) -> str:
    """Return a digest of all that a study's numbers depend on, at the size of its result."""
    sized = at_result_size(study)
    content = (sized.tables, sized.axes, sized.derived, sized.variants, sized.figure, sized.results)
    text = json.dumps([_without_words(one) for one in content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _without_words(value: Any) -> Any:
    """Return a value without the keys `WORDS`, whose texts change no number."""
    if isinstance(value, Mapping):
        return {key: _without_words(one) for key, one in value.items() if key not in WORDS}
    if isinstance(value, list | tuple):
        return [_without_words(one) for one in value]
    return value


# -------------------------------------------------------------------------------------- writing


def result_text(
    study: Study, runs: int, cells: Sequence[StudyCell], judged_claims: Sequence[JudgedClaim]
) -> str:
    """Return the file of a result.

    Parameters
    ----------
    study : Study
        Study at the size of its result.
    runs : int
        How many of its runs are done.
    cells : sequence of StudyCell
        Runs of its figure, none if it has no layout.
    judged_claims : sequence of JudgedClaim
        Verdicts on its claims, in their order.

    Returns
    -------
    str
        JSON.
    """
    layout = study.layout()
    panels = [] if layout is None else [lines_of(panel, cells) for panel in layout.panels]
    lines = [[_line_table(study.id, line) for line in panel] for panel in panels]
    claims = [replace_nonfinite(one.as_dict()) for one in judged_claims]
    head = {"digest": digest_of(study), "runs": runs}
    rows = [json.dumps(one, ensure_ascii=False, allow_nan=False) for one in (lines, claims)]
    first = json.dumps(head, ensure_ascii=False)[:-1]
    return f'{first},\n"panels": {rows[0]},\n"claims": {rows[1]}}}\n'


def _line_table(study_id: str, line: Line) -> dict[str, Any]:
    points = _select_points(line)
    table = {
        "value": line.value,
        "names": [name.removeprefix(f"{study_id}__") for name in line.names],
        "count": line.count[points].tolist(),
        "slope": None if line.slope is None else [_round(one) for one in line.slope],
        "joined": line.joined,
    }
    for name in ("x", "mean", "low", "high"):
        numbers = getattr(line, name)[points]
        if name in ("x", "mean") or not np.array_equal(numbers, line.mean[points], equal_nan=True):
            table[name] = [_round(one) for one in numbers.tolist()]
    if len(set(table["count"])) == 1:
        table["count"] = table["count"][0]
    return table


def _select_points(line: Line) -> NDArray[np.int64]:
    """Return the positions of the stored points: all, or some of a long line."""
    points = line.x.size
    if len(line.names) == points or not line.joined:
        return np.arange(points)
    return np.unique(np.linspace(0, points - 1, min(points, MOST_POINTS)).round().astype(np.int64))


def _round(value: float) -> float | None:
    """Return a number of `DIGITS` digits; None for NaN and infinity, which JSON lacks."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


# -------------------------------------------------------------------------------------- reading


def parse_result(text: str) -> ShippedResult:
    """Return a result from its file. Raises ValueError, KeyError or TypeError for other texts."""
    table = json.loads(text)
    panels = tuple(tuple(map(_line, panel)) for panel in table["panels"])
    names = {one.name for one in fields(JudgedClaim)}
    numbers = ("measured", "low", "high", "value", "tolerance")
    rows: list[dict[str, Any]] = [
        {k: _number(v) if k in numbers else v for k, v in one.items() if k in names}
        for one in table["claims"]
    ]
    claims = tuple(JudgedClaim(**row) for row in rows)
    return ShippedResult(int(table["runs"]), panels, claims)


def _line(table: Mapping[str, Any]) -> Line:
    x, mean = _array(table["x"]), _array(table["mean"])
    low, high = (_array(table[name]) if name in table else mean for name in ("low", "high"))
    count = np.broadcast_to(np.asarray(table["count"], dtype=np.int64), x.shape)
    slope = None
    if table["slope"] is not None:
        value, lowest, highest = map(_number, table["slope"])
        slope = value, lowest, highest
    names = tuple(map(str, table["names"]))
    return Line(table["value"], x, mean, low, high, count, slope, table["joined"], names)


def _array(values: Sequence[float | None]) -> Array:
    return np.array([_number(one) for one in values])


def _number(value: float | None) -> float:
    """Return a number of the file; None is NaN."""
    return math.nan if value is None else float(value)
