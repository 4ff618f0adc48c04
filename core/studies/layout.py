"""The `[figure]` table of a study: its panels, as the paper arranges them.

A layout is a number of columns and a list of `[[figure.panels]]`. What stands on an axis is told by
a formula of `core.studies.derived` over names: observables of a frame ("1 - test_error"), their
values at t = 0 with _0 added ("stable_rank / stable_rank_0"), reference margins ("hard_margin /
gamma_gl"), the sizes d, n, m, k and the factors of a cell ("n / d"); or by one setting under its
dotted key ("network.init_multiple"). Kinds of panels:

- traces: y along each run, against `x` = "t", "step" or a formula; mean over seeds with a band of
  one standard deviation.
- sweep: y at the end of each run (or at `steps`, or `log10_times`: a line for each) against `x`, a
  formula of the settings; mean over seeds with error bars.
- crossing: where y first falls below `level` as the setting or formula `along` grows, against `x`,
  with the slope of its logarithm and the slopes of theory.
- activation: the activation function of the cells, against its argument.
- points: the examples of the first run on their first two coordinates, by label.
- function: the network of the first run on the line, f/|W|^2, beside the l1-SVM of its data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

from core.errors import InputError, did_you_mean

KINDS = ("traces", "sweep", "crossing", "activation", "points", "function")
PICTURES = ("activation", "points", "function")  # of data and functions, on linear axes
SPREADS = ("sd", "2se", "none")
SCALES = ("log", "linear")
VARIANT = "variant"
MOST_PANELS, MOST_COLUMNS = 16, 4


@final
@dataclass(frozen=True, slots=True)
class Mark:
    """A reference level (`value` of y) or a line of a slope through `at`, with its words."""

    value: float
    text: str = ""
    at: tuple[float, float] | None = None


@final
@dataclass(frozen=True, slots=True)
class PanelLayout:
    """One panel of a study's figure.

    `y` are formulas, a line each where there are several; `lines` is the setting, "variant" or
    formula that a line stands for, with `legend` as its words ({} is the value); `where` keeps the
    cells that have these values. `spread` is the bar or band: one standard deviation or two
    standard errors. `limits` are those of y. `exclude_unfit` leaves out runs with training errors.
    """

    kind: Literal["traces", "sweep", "crossing", "activation", "points", "function"]
    y: tuple[str, ...] = ()
    x: str = ""
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    x_scale: Literal["log", "linear"] = "log"
    y_scale: Literal["log", "linear"] = "linear"
    lines: str = ""
    legend: str = ""
    names: tuple[str, ...] = ()
    where: tuple[tuple[str, Any], ...] = ()
    steps: tuple[float, ...] = ()
    log10_times: tuple[float, ...] = ()
    along: str = ""
    level: float = 0.1
    spread: Literal["sd", "2se", "none"] = "sd"
    limits: tuple[float, float] | None = None
    levels: tuple[Mark, ...] = ()
    slopes: tuple[Mark, ...] = ()
    exclude_unfit: bool = False


@final
@dataclass(frozen=True, slots=True)
class FigureLayout:
    """Panels row by row, so many in a row, and a note below them."""

    panels: tuple[PanelLayout, ...]
    columns: int = 2
    note: str = ""


def parse_layout(table: Any, where: str) -> FigureLayout:
    """The layout of a study's `[figure]` table.

    Raises InputError for unknown keys, kinds and wrong values.
    """
    if not isinstance(table, dict):
        raise InputError(f"{where}: figure must be a table with a list [[figure.panels]].")
    _check(table, ("columns", "note", "panels"), f"{where}: figure")
    panels = table.get("panels")
    if not isinstance(panels, list) or not 1 <= len(panels) <= MOST_PANELS:
        raise InputError(f"{where}: figure needs 1 to {MOST_PANELS} tables [[figure.panels]].")
    columns = table.get("columns", min(len(panels), 2))
    if type(columns) is not int or not 1 <= columns <= MOST_COLUMNS:
        raise InputError(f"{where}: figure.columns must be 1 to {MOST_COLUMNS}.")
    note = table.get("note", "")
    if not isinstance(note, str):
        raise InputError(f"{where}: figure.note must be text in quotes.")
    found = [_panel(panel, f"{where}: figure panel {k}") for k, panel in enumerate(panels, 1)]
    return FigureLayout(tuple(found), columns, note)


def _check(table: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in allowed:
            raise InputError(f"{where}: {key} does not exist; {did_you_mean(key, allowed)}")


def _panel(table: Any, where: str) -> PanelLayout:
    if not isinstance(table, dict):
        raise InputError(f"{where} must be a table.")
    allowed = tuple(PanelLayout.__dataclass_fields__)
    _check(table, allowed, where)
    values: dict[str, Any] = {}
    for key, value in table.items():
        values[key] = _VALUES.get(key, _text)(value, f"{where}: {key}")
    for key, choices in (
        ("kind", KINDS),
        ("x_scale", SCALES),
        ("y_scale", SCALES),
        ("spread", SPREADS),
    ):
        if key in values and values[key] not in choices:
            raise InputError(f"{where}: {key} = {values[key]!r}; allowed: {', '.join(choices)}.")
    if "kind" not in values:
        raise InputError(f"{where}: kind is missing; allowed: {', '.join(KINDS)}.")
    panel = PanelLayout(**values)
    _needs(panel, where)
    return panel


def _needs(panel: PanelLayout, where: str) -> None:
    """What a kind cannot do without."""
    needed = {
        "traces": ("x", "y"),
        "sweep": ("x", "y"),
        "crossing": ("x", "y", "along"),
    }.get(panel.kind, ())
    for key in needed:
        if not getattr(panel, key):
            raise InputError(f"{where}: a panel of kind {panel.kind} needs {key}.")
    several = [bool(panel.lines), len(panel.y) > 1, len(panel.steps + panel.log10_times) > 1]
    if sum(several) > 1:
        raise InputError(
            f"{where}: lines, several y and several moments are three ways to have several lines; "
            "use one of them."
        )
    if panel.names and len(panel.names) != len(panel.y):
        raise InputError(f"{where}: names must name each of the {len(panel.y)} formulas of y.")


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} must be text in quotes.")
    return value


def _texts(value: Any, where: str) -> tuple[str, ...]:
    parts = value if isinstance(value, list) else [value]
    return tuple(_text(part, where) for part in parts)


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{where} must be a number.")
    return float(value)


def _numbers(value: Any, where: str) -> tuple[float, ...]:
    parts = value if isinstance(value, list) else [value]
    return tuple(_number(part, where) for part in parts)


def _limits(value: Any, where: str) -> tuple[float, float]:
    numbers = _numbers(value, where)
    if len(numbers) != 2 or not numbers[0] < numbers[1]:
        raise InputError(f"{where} must be two numbers, the smaller first.")
    return numbers[0], numbers[1]


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{where} must be true or false.")
    return value


def _where(value: Any, where: str) -> tuple[tuple[str, Any], ...]:
    if not isinstance(value, dict):
        raise InputError(f'{where} must be a table such as {{ "network.m" = 16 }}.')
    return tuple(
        (key, tuple(part) if isinstance(part, list) else part) for key, part in value.items()
    )


def _marks(value: Any, where: str) -> tuple[Mark, ...]:
    marks = []
    for entry in value if isinstance(value, list) else [value]:
        if not isinstance(entry, dict):
            raise InputError(f'{where} must be tables such as {{ value = 0.85, text = "best" }}.')
        _check(entry, ("value", "text", "at"), where)
        if "value" not in entry:
            raise InputError(f"{where}: value is missing.")
        at = _numbers(entry["at"], f"{where}: at") if "at" in entry else None
        if at is not None and len(at) != 2:
            raise InputError(f"{where}: at must be a point, such as [10, 0.5].")
        text = _text(entry.get("text", ""), f"{where}: text")
        point = None if at is None else (at[0], at[1])
        marks.append(Mark(_number(entry["value"], where), text, point))
    return tuple(marks)


_VALUES: dict[str, Any] = {
    "y": _texts,
    "names": _texts,
    "where": _where,
    "steps": _numbers,
    "log10_times": _numbers,
    "level": _number,
    "limits": _limits,
    "levels": _marks,
    "slopes": _marks,
    "exclude_unfit": _flag,
}
