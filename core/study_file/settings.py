"""What all sections of an experiment share: frozen, validated, hashable, and self-explaining."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

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
