"""What sections and other tables of study files share: frozen, validated, and self-explaining."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

MAX_FRAMES = 2_000
MAX_ELEMENTS = 50_000_000  # of n d and of m d: the most a run file holds
SEED_MEANING = "seed of a generator of its own for this part; without it run.seed draws it"


class Section(BaseModel):
    """One section of a study file as a frozen value; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=False)
    title: ClassVar[str] = ""
    source: ClassVar[str] = ""
    embedded: ClassVar[bool] = False  # made from a file: a run holds the content, never the path
    own: ClassVar[tuple[str, ...]] = ()  # keys whose values another kind's cannot be taken over for


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


def setting(
    default: Any = ...,
    *,
    meaning: str,
    unit: str = "",
    source: str = "",
    advanced: bool = False,
    **constraints: Any,
) -> Any:
    """A pydantic field with its meaning, unit and source, which forms and `describe` print."""
    extra: dict[str, Any] = {"unit": unit, "source": source, "advanced": advanced}
    return Field(default, description=meaning, json_schema_extra=extra, **constraints)
