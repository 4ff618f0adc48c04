"""Whether `core` and `resources` are this program's own, and not packages of somebody's project."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from marginscope._errors import InputError

OURS = ("core", "resources")  # the program's own packages, which lie beside this one
PLACE = Path(__file__).resolve().parents[2]


def check_ours(names: tuple[str, ...] = OURS) -> None:
    """Raise InputError, naming the file, where another package hides one of ours."""
    for name in names:
        found = _found(name)
        if found is None:
            raise InputError(
                f"Marginscope's package `{name}` is not installed beside {PLACE / 'marginscope'}; "
                "install Marginscope anew."
            )
        if found.parent != PLACE / name:
            raise InputError(
                f"{found} hides the package `{name}` of Marginscope: Python finds it first under "
                f"that name. Rename it, or take {_entry(found, name)} off sys.path; `record` works "
                "all the same."
            )


def _found(name: str) -> Path | None:
    """The file that `import name` leads to."""
    try:
        spec = find_spec(name)
    except ValueError:  # a module that somebody has made by hand
        return Path(getattr(sys.modules[name], "__file__", None) or name)
    if spec is None:
        return None
    if spec.origin is None:  # a folder without __init__.py
        return Path(next(iter(spec.submodule_search_locations or [name]))).resolve()
    return Path(spec.origin).resolve()


def _entry(found: Path, name: str) -> Path:
    """The folder of sys.path that a package or a module lies in."""
    return found.parent.parent if found.parent.name == name else found.parent
