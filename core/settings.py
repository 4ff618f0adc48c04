"""Base of all sections of an experiment, which are frozen, validated, hashable and described.

The program knows a kind of anything (network, data, dynamics, observable, theorem, margin, view)
once it is in the registry of its sort.
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
NOT_RECORDED = "not recorded"  # a setting that a recorded loop did not state
MAX_SEED = 2**63 - 1  # the largest integer of TOML and of SQLite
SEED_MEANING = "seed for this part alone; default: drawn with run.seed"


class Section(BaseModel):
    """Section of a study file as a frozen value; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=False)
    title: ClassVar[str] = ""
    source: ClassVar[str] = ""
    # Read from a file: a run stores the content, never the path.
    embedded: ClassVar[bool] = False
    own: ClassVar[tuple[str, ...]] = ()  # keys whose values cannot be copied from another kind
    fits_targets: ClassVar[bool] = True  # accepts data with real targets y
    # Replacement kinds of other sections if theirs do not fit the targets of this kind.
    others: ClassVar[Mapping[str, str]] = {}

    def to_file_values(self) -> dict[str, Any]:
        """Return the section as run files and ledgers have it.

        Keys that were `added` later are left out at their defaults, so that older sections stay the
        same to the byte.
        """
        return self.model_dump(mode="json", context={WRITTEN: True})

    def written_json(self) -> str:
        """Return `to_file_values` as JSON text."""
        return self.model_dump_json(context={WRITTEN: True})

    @model_serializer(mode="wrap")
    def _serialise(
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
    def is_compatible_with(cls, other: type[Section]) -> bool:
        """Return True if a kind of another section may stay with this kind; see `others`."""
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
    """Return a pydantic field with the texts that forms and `describe` print.

    Parameters
    ----------
    default : Any
        Default value; required without one.
    meaning : str
        What the key sets.
    unit : str
        Unit of the value.
    source : str
        Paper and section.
    advanced : bool
        True to list the key among the advanced ones.
    added : bool
        True for a key that is younger than some run files (`Section.to_file_values`).
    constraints : Any
        Keywords of pydantic's Field, such as `ge`.
    """
    extra: dict[str, Any] = {"unit": unit, "source": source, "advanced": advanced, "added": added}
    return Field(default, description=meaning, json_schema_extra=extra, **constraints)


def kind_of(section: type[Section]) -> str:
    """Return the name of a section's kind in study files: the default of its key `kind`."""
    return str(section.model_fields["kind"].default)


OWN_MODULES = (f"{package('core')}.", f"{package('app')}.", "__main__.")


def calling_module() -> str:
    """Return the name of the module that called the function that calls this one."""
    return str(sys._getframe(2).f_globals["__name__"])


T = TypeVar("T")


@final
class Registry(dict[str, T]):
    """Kinds of one sort by name, in the order in which users see them.

    `add` registers one more, and works as a class decorator. It raises ValueError for a name in
    use, since study files and run files would change their meaning. `aside` are kinds that only run
    files name: found by their names, and never listed.
    """

    _all: ClassVar[list[Registry[Any]]] = []

    def __init__(
        self,
        name_of: Callable[[T], str],
        *kinds: T,
        on_added: Callable[[T], object] | None = None,
    ) -> None:
        """Register `kinds`; `on_added` registers what each kind brings with it elsewhere."""
        super().__init__()
        self._name_of, self._on_added = name_of, on_added
        self._modules: dict[str, str] = {}
        self.aside: dict[str, T] = {}
        self._all.append(self)
        for kind in kinds:
            self.add(kind)
        if len(self) < len(kinds):  # the same list passed twice, probably in place of another one
            twice = sorted({n for n, count in Counter(map(name_of, kinds)).items() if count > 1})
            raise ValueError(f"Kinds that are listed twice: {', '.join(twice)}.")

    def __missing__(self, name: str) -> T:
        return self.aside[name]

    def add(self, kind: T, module: str = "") -> T:
        """Register a kind, and return it.

        `module` names the registering module, if a function of this program registers on its
        behalf.
        """
        name = self._name_of(kind)
        if name in self and self[name] is not kind:
            raise ValueError(f"The kind {name!r} already exists; choose another name.")
        if self._on_added is not None and name not in self:
            self._on_added(kind)
        self[name] = kind
        # The caller's module: a kind may be a record, which does not know its module.
        self._modules[name] = module or calling_module()
        return kind

    def module_of(self, name: str) -> str:
        """Return the module that registered a kind."""
        return self._modules.get(name, "")

    @classmethod
    def extensions(cls) -> tuple[str, ...]:
        """Return the modules outside this program that registered kinds; workers need them too."""
        modules = {
            module
            for registry in cls._all
            for name, module in registry._modules.items()
            if name in registry and not f"{module}.".startswith(OWN_MODULES)
        }
        return tuple(sorted(modules))
