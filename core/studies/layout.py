"""The `[figure]` and `[window]` tables of a study: panels as the paper arranges them, and views.

A layout is a number of columns and a list of `[[figure.panels]]`. What stands on an axis is told by
a formula of `core.studies.formulas` over names: observables of a frame ("1 - test_error"), their
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
- function: the network of the first run on the line, f/|W|^L, beside the l1-SVM of its data.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Annotated, Any, Literal, final

from pydantic import BeforeValidator, Field, field_validator, model_validator

from core.errors import InputError, did_you_mean
from core.observables.planes import ALONE, COORDINATES
from core.study_file.validation import (
    Numbers,
    Table,
    Texts,
    Where,
    as_several,
    table_of,
    to_tuple,
)

Kind = Literal["traces", "sweep", "crossing", "activation", "points", "function"]
PICTURES = ("activation", "points", "function")  # panels of data and functions, with linear axes
NEEDED = {"traces": ("x", "y"), "sweep": ("x", "y"), "crossing": ("x", "y", "along")}
MOST_PANELS, MOST_COLUMNS = 16, 4

Scale = Literal["log", "linear"]
Pair = Annotated[tuple[float, float], BeforeValidator(to_tuple)]


@final
class Mark(Table):
    """A reference level (`value` of y) or a line of a slope through `at`, with its words."""

    value: float
    text: str = ""
    at: Pair | None = Field(None, description="must be a point, such as [10, 0.5]")


Marks = Annotated[
    tuple[Mark, ...],
    BeforeValidator(as_several),
    Field(description='must be tables such as { value = 0.85, text = "best" }'),
]


@final
class PanelLayout(Table):
    """One panel of a study's figure.

    `y` are formulas, a line each where there are several; `lines` is the setting, "variant" or
    formula that a line stands for, with `legend` as its words ({} is the value); `where` keeps the
    cells that have these values. `spread` is the bar or band: one standard deviation or two
    standard errors. `limits` are those of y. `exclude_unfit` leaves out runs with training errors.
    """

    kind: Kind
    y: Texts = ()
    x: str = ""
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    x_scale: Scale = "log"
    y_scale: Scale = "linear"
    lines: str = ""
    legend: str = ""
    names: Texts = ()
    where: Where = ()
    steps: Numbers = ()
    log10_times: Numbers = ()
    along: str = ""
    level: float = 0.1
    spread: Literal["sd", "2se", "none"] = "sd"
    limits: Pair | None = Field(None, description="must be two numbers, the smaller first")
    levels: Marks = ()
    slopes: Marks = ()
    exclude_unfit: bool = False

    @model_validator(mode="after")
    def _complete(self) -> PanelLayout:
        if self.limits is not None and not self.limits[0] < self.limits[1]:
            raise ValueError("limits must be two numbers, the smaller first")
        for key in NEEDED.get(self.kind, ()):
            if not getattr(self, key):
                raise ValueError(f"a panel of kind {self.kind} needs {key}")
        several = [bool(self.lines), len(self.y) > 1, len(self.steps + self.log10_times) > 1]
        if sum(several) > 1:
            raise ValueError(
                "lines, several y and several moments are three ways to draw several lines; use "
                "one of them"
            )
        if self.names and len(self.names) != len(self.y):
            raise ValueError(f"names must name each of the {len(self.y)} formulas of y")
        return self


@final
class FigureLayout(Table):
    """Panels row by row, so many in a row, and a note below them."""

    panels: tuple[PanelLayout, ...]
    columns: int = Field(ge=1, le=MOST_COLUMNS, description=f"must be 1 to {MOST_COLUMNS}")
    note: str = ""


def parse_layout(table: Any, where: str) -> FigureLayout:
    """Return the layout of a study's `[figure]` table.

    Raises InputError for unknown keys, kinds and wrong values.
    """
    if not isinstance(table, dict):
        raise InputError(f"{where}: figure must be a table with a list [[figure.panels]].")
    panels = table.get("panels")
    if not isinstance(panels, list) or len(panels) > MOST_PANELS:
        panels = []
    parsed_panels = tuple(
        table_of(PanelLayout, panel, f"{where}: figure panel {k}")
        for k, panel in enumerate(panels, 1)
    )
    figure = {"columns": min(len(parsed_panels) or 1, 2), **table, "panels": parsed_panels}
    layout = table_of(FigureLayout, figure, f"{where}: figure", ".")
    if not parsed_panels:
        raise InputError(f"{where}: figure needs 1 to {MOST_PANELS} tables [[figure.panels]].")
    return layout


# ------------------------------------------------------------------------------- the [window] table
# Initial views of a run in the window:
#
# [window]
# views = ["predictor", "margins", "curves"]
# curves = ["sharpness", "log10_risk"]
# plane = "components"
# points = "directions"
# cells = [{ variant = "flow", "data.d" = 12 }, { variant = "SGD" }]
#
# `cells` select the cells that the window trains: the first cell with each of these values. By
# default it trains the first cell, and the first that differs in more than a seed. Without `views`
# the window chooses by the run's contents, without `plane` by the data. View names belong to the
# window, which reports unknown ones; they are not checked here. `curves` are the initial
# observables of the view of curves, and `points` the representation of a neuron among the neurons.

MOST_VIEWS, MOST_CURVES = 9, 6
NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
MOST_CELLS = 4
CELLS = '[{ "network.m" = 16 }]'
PLANE = f"must be one of {COORDINATES.kind}, {', '.join(ALONE)}"
POINTS = 'must be "weights", |a_j| v_j, or "directions", v_j / |v_j|'
EXAMPLE = '["predictor", "margins"]'
CURVES = '["sharpness", "log10_risk"]'
Names = Annotated[tuple[str, ...], BeforeValidator(to_tuple)]


@final
class WindowTable(Table):
    """Names of views, in any order, of curves, and the cells that are worth seeing."""

    views: Names = Field((), description=f"must be a list of names of views, such as {EXAMPLE}")

    cells: Annotated[tuple[dict[str, Any], ...], BeforeValidator(to_tuple)] = Field(
        (), max_length=MOST_CELLS, description=f"must be a list of tables, such as {CELLS}"
    )

    curves: Names = Field(
        (), max_length=MOST_CURVES, description=f"must be a list of observables, such as {CURVES}"
    )

    plane: str = Field("", description=PLANE)

    points: Literal["weights", "directions"] = Field("weights", description=POINTS)

    @field_validator("plane")
    @classmethod
    def _plane(cls, plane: str) -> str:
        if plane and plane not in (COORDINATES.kind, *ALONE):
            raise ValueError(f"plane {PLANE}")
        return plane

    @field_validator("curves")
    @classmethod
    def _curves(cls, curves: tuple[str, ...]) -> tuple[str, ...]:
        """Check the curves; observables are imported here, as the window starts without them."""
        from core.observables.observable import Shape
        from core.observables.registry import of_shape

        scalars = [item.name for item in of_shape(Shape.SCALAR)]
        for name, times in Counter(curves).items():
            if name not in scalars:
                hint = did_you_mean(name[:40], scalars)
                raise ValueError(
                    f"curves names {name[:40]}, which is not a scalar observable; {hint}"
                )
            if times > 1:
                raise ValueError(f"curves names {name} twice")
        return curves

    @field_validator("views")
    @classmethod
    def _names(cls, views: tuple[str, ...]) -> tuple[str, ...]:
        if len(views) > MOST_VIEWS:
            raise ValueError(f"views may name at most {MOST_VIEWS} views")
        for name, times in Counter(views).items():
            if NAME.fullmatch(name) is None:
                raise ValueError(f"views must be a list of names of views, such as {EXAMPLE}")
            if times > 1:
                raise ValueError(f"views names {name} twice")
        return views


def parse_window(table: Any, where: str) -> WindowTable:
    """Return the `[window]` table of a study; an empty one where it has none.

    Raises InputError for unknown keys and wrong values.
    """
    if not isinstance(table, dict):
        raise InputError(f"{where}: window must be a table, such as [window] with views.")
    return table_of(WindowTable, table, f"{where}: window", ".")
