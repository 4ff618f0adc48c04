"""Tables of study files that are no sections: frozen values, of types exactly as in TOML."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


class Table(BaseModel):
    """Another table of a study file as a frozen value: types exactly as TOML has them.

    What a field's value must be is told by its description: "must be 1 to 4".
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def listed(value: Any) -> Any:
    """A list of TOML as a tuple."""
    return tuple(value) if isinstance(value, list) else value


def several(value: Any) -> tuple[Any, ...]:
    """One value or a list of them as a tuple."""
    return tuple(value) if isinstance(value, list) else (value,)


def _pairs(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return tuple((key, listed(part)) for key, part in value.items())


Texts = Annotated[tuple[str, ...], BeforeValidator(several)]
Numbers = Annotated[tuple[float, ...], BeforeValidator(several)]
Where = Annotated[
    tuple[tuple[str, Any], ...],
    BeforeValidator(_pairs),
    Field(description='must be a table such as { "network.m" = 16 }'),
]
