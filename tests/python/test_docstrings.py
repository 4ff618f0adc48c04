"""Docstrings of the public module: each parameter is documented, and no other."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import marginscope as ms
from marginscope._engine.figures import Options, PlayerOptions

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
# Of a recording, for the modules beside it (docs/python.md has the others).
INTERNAL = {f"Recording.{name}" for name in ("create_file", "resume", "start", "warn")}
REFERS = re.compile(r"see\s+`marginscope\.(\w+)`")


def sections(text: str) -> dict[str, str]:
    """Return the sections of a NumPy docstring; "" has what comes before them."""
    parts = SECTION.split(text)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def names_in(section: str) -> list[str]:
    """Return the names that a section of parameters documents."""
    heads = [line for line in section.splitlines() if line and not line.startswith(" ")]
    return [name for head in heads for name in head.split(" : ")[0].split(", ")]


def parameters(function: Callable[..., Any]) -> set[str]:
    """Return the names of a signature, as docstrings write them (*runs, **settings)."""
    kinds = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = inspect.signature(function).parameters.values()
    return {f"{kinds.get(one.kind, '')}{one.name}" for one in found} - {"self", "cls"}


def wrong_parameters(function: Callable[..., Any], text: str) -> set[str]:
    """Return parameters that are missing in a docstring, and documented ones that do not exist.

    A function that refers to another one has its parameters. A single parameter may be named in a
    sentence.
    """
    has, parts = parameters(function), sections(text)
    if "Parameters" in parts:
        return has ^ set(names_in(parts["Parameters"]))
    if (other := REFERS.search(text)) is not None:
        return has - parameters(getattr(ms, other[1]))
    lost = {name for name in has if f"`{name}`" not in parts[""]}
    return lost if len(has) == 1 else has


def methods(cls: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public methods that a class defines."""
    for name, value in vars(cls).items():
        full = f"{cls.__name__}.{name}"
        if not name.startswith("_") and inspect.isfunction(value) and full not in INTERNAL:
            yield full, value


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions of the public module, and the methods of its classes."""
    for name in ms._PLACES:
        value = getattr(ms, name)
        if inspect.isclass(value):
            yield from methods(value)
        else:
            yield name, value


def test_each_parameter_is_documented_and_no_other(subtests: pytest.Subtests) -> None:
    found = dict(public_functions())
    assert {"record", "train", "Recording.frame", "Study.with_settings"} <= set(found)
    for name, function in found.items():
        with subtests.test(name=name):
            assert not wrong_parameters(function, inspect.getdoc(function) or "")


def test_each_value_is_documented_and_no_other(subtests: pytest.Subtests) -> None:
    classes = [one for one in map(ms.__getattr__, ms._PLACES) if dataclasses.is_dataclass(one)]
    assert len(classes) == 9
    for cls in classes:
        with subtests.test(name=cls.__name__):
            fields = {field.name for field in dataclasses.fields(cls)}
            documented = sections(inspect.getdoc(cls) or "").get("Attributes", "")
            # Properties that can be set are documented beside the fields, such as a player's time.
            settable = {name for name, one in vars(cls).items() if getattr(one, "fset", None)}
            assert set(names_in(documented)) == {one for one in fields if one[0] != "_"} | settable


def test_each_option_of_a_figure_is_documented_and_no_other() -> None:
    options: dict[str, Any] = {
        "figure": Options.__dataclass_fields__,
        "player": PlayerOptions.__annotations__,
    }
    for name, known in options.items():
        documented = sections(inspect.getdoc(getattr(ms, name)) or "")["Other Parameters"]
        assert names_in(documented) == list(known), name


def test_what_is_missing_or_too_much_is_found() -> None:
    def function(x: int, *more: int, **others: int) -> None: ...

    head = "Do it.\n\nParameters\n----------\n"
    assert not wrong_parameters(function, f"{head}x : int\n    One.\n*more, **others\n")
    assert wrong_parameters(function, f"{head}x, y : int\n") == {"y", "*more", "**others"}
    assert wrong_parameters(function, "Do it with `x`.") == {"x", "*more", "**others"}
    assert wrong_parameters(ms.Study.at_size, "Return it at `size`.") == set()
    assert wrong_parameters(ms.Study.at_size, "Return it.") == {"size"}
