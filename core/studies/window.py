"""The `[window]` table of a study: which views of a run the window opens with.

```toml
[window]
views = ["predictor", "margins", "curves"]
curves = ["sharpness", "log10_risk"]
plane = "components"
points = "directions"
cells = [{ variant = "flow", "data.d" = 12 }, { variant = "SGD" }]
```

`cells` are those that the window trains of a study of many: the first cell with each of these
values. Without them it trains the first, and the first that differs in more than a seed. Without
`views` the window chooses by what the run has, and without `plane` by the data. The names are
those of the window's views, which are not known here; the window says which it does not know.
`curves` are what the view of curves draws first, by the names of observables, and `points` what
stands for a node among the neurons.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Annotated, Any, Literal, final

from pydantic import BeforeValidator, Field, field_validator

from core.errors import InputError, did_you_mean
from core.observables.planes import ALONE, COORDINATES
from core.study_file.tables import Table, listed
from core.study_file.validation import table_of

MOST_VIEWS, MOST_CURVES = 9, 6
NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
MOST_CELLS = 4
CELLS = '[{ "network.m" = 16 }]'
PLANE = f"must be one of {COORDINATES.kind}, {', '.join(ALONE)}"
POINTS = 'must be "weights", |a_j| v_j, or "directions", v_j / |v_j|'
EXAMPLE = '["predictor", "margins"]'
CURVES = '["sharpness", "log10_risk"]'
Names = Annotated[tuple[str, ...], BeforeValidator(listed)]


@final
class WindowTable(Table):
    """The names of views, in whatever order, of curves, and the cells that are worth seeing."""

    views: Names = Field((), description=f"must be a list of names of views, such as {EXAMPLE}")

    cells: Annotated[tuple[dict[str, Any], ...], BeforeValidator(listed)] = Field(
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
        """Imported here: the window starts without observables, and most studies name none."""
        from core.observables.observable import Shape
        from core.observables.registry import of_shape

        scalars = [item.name for item in of_shape(Shape.SCALAR)]
        for name, times in Counter(curves).items():
            if name not in scalars:
                hint = did_you_mean(name[:40], scalars)
                raise ValueError(f"curves names {name[:40]}, which is no number of a frame; {hint}")
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
    """The `[window]` table of a study; one without views where it has none.

    Raises InputError for unknown keys and wrong values.
    """
    if not isinstance(table, dict):
        raise InputError(f"{where}: window must be a table, such as [window] with views.")
    return table_of(WindowTable, table, f"{where}: window", ".")
