"""What all sections of an experiment share: frozen, validated, hashable, and self-explaining.

A kind of anything (network, data, dynamics, observable, theorem, margin, view) is known to the
program once it stands in the registry of its sort.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar, final

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from core.program import package
from core.run_files.schema import MAX_ELEMENTS as MAX_ELEMENTS
from core.run_files.schema import MAX_FRAMES as MAX_FRAMES

WRITTEN = "written"
NOT_RECORDED = "not recorded"  # a setting that the loop of a recording did not say
MAX_SEED = 2**63 - 1  # the largest whole number of TOML, and of a run file
SEED_MEANING = "seed of a generator of its own for this part; without it run.seed draws it"


class Section(BaseModel):
    """One section of a study file as a frozen value; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=False)
    title: ClassVar[str] = ""
    source: ClassVar[str] = ""
    embedded: ClassVar[bool] = False  # made from a file: a run holds the content, never the path
    own: ClassVar[tuple[str, ...]] = ()  # keys whose values another kind's cannot be taken over for
    fits_targets: ClassVar[bool] = True  # goes with data whose y are real numbers
    # What other sections turn to when this kind is chosen and theirs do not fit its targets.
    others: ClassVar[Mapping[str, str]] = {}

    def written(self) -> dict[str, Any]:
        """The section as run files and ledgers have it: without keys that were `added` later where
        they have their defaults, so that what says nothing of them stays the same to the byte."""
        return self.model_dump(mode="json", context={WRITTEN: True})

    def written_json(self) -> str:
        """The same as text."""
        return self.model_dump_json(context={WRITTEN: True})

    @model_serializer(mode="wrap")
    def _serialised(
        self, handler: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, Any]:
        table: dict[str, Any] = handler(self)
        if info.context and info.context.get(WRITTEN):
            for name, field in type(self).model_fields.items():
                extra = field.json_schema_extra
                added = isinstance(extra, dict) and extra.get("added")
                if added and name in table and getattr(self, name) == field.default:
                    del table[name]
        return table

    @classmethod
    def goes_with(cls, other: type[Section]) -> bool:
        """Whether a kind of another section may stay when this kind is chosen; see `others`."""
        return other.fits_targets


def setting(
    default: Any = ...,
    *,
    meaning: str,
    unit: str = "",
    source: str = "",
    advanced: bool = False,
    added: bool = False,
    **constraints: Any,
) -> Any:
    """A pydantic field with its meaning, unit and source, which forms and `describe` print.

    `added`: the key is younger than run files that know nothing of it (`Section.written`).
    """
    extra: dict[str, Any] = {"unit": unit, "source": source, "advanced": advanced, "added": added}
    return Field(default, description=meaning, json_schema_extra=extra, **constraints)


def kind_of(section: type[Section]) -> str:
    """The name of a section's kind in study files: the default of its key `kind`."""
    return str(section.model_fields["kind"].default)


OWN_MODULES = (f"{package('core')}.", f"{package('app')}.", "__main__.")


def calling_module() -> str:
    """Return the name of the module that called the function that calls this one."""
    return str(sys._getframe(2).f_globals["__name__"])


T = TypeVar("T")


@final
class Registry(dict[str, T]):
    """The kinds of one sort by name, in the order in which they are listed to users.

    `add` registers one more, and may stand over a class as a decorator. It raises ValueError for a
    name that is taken, since study files and run files would change their meaning.

    `aside` are kinds that only run files name: found by their names, and never listed.
    """

    _all: ClassVar[list[Registry[Any]]] = []

    def __init__(self, name_of: Callable[[T], str], *kinds: T) -> None:
        super().__init__()
        self._name_of = name_of
        self._modules: dict[str, str] = {}
        self.aside: dict[str, T] = {}
        self._all.append(self)
        for kind in kinds:
            self.add(kind)
        if len(self) < len(kinds):  # the same list twice, probably in place of another one
            twice = sorted({n for n, count in Counter(map(name_of, kinds)).items() if count > 1})
            raise ValueError(f"Kinds that are listed twice: {', '.join(twice)}.")

    def __missing__(self, name: str) -> T:
        return self.aside[name]

    def add(self, kind: T, module: str = "") -> T:
        """Register a kind, and hand it back.

        `module` names the module that does so, if it does so by a function of this program.
        """
        name = self._name_of(kind)
        if name in self and self[name] is not kind:
            raise ValueError(f"There is a kind {name!r} already; choose another name.")
        self[name] = kind
        # Of whoever registers it: a kind may be a record, which does not know its module.
        self._modules[name] = module or calling_module()
        return kind

    @classmethod
    def extensions(cls) -> tuple[str, ...]:
        """The modules outside this program that registered kinds, which workers must import too."""
        modules = {
            module
            for registry in cls._all
            for name, module in registry._modules.items()
            if name in registry and not f"{module}.".startswith(OWN_MODULES)
        }
        return tuple(sorted(modules))
