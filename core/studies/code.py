"""Python code that a study file carries itself: shown and trusted before it runs."""

from __future__ import annotations

from core import trust
from core.errors import InputError
from core.studies.study import Study
from marginscope._program import headless_program

KEY = "network.code"


def codes_of(study: Study) -> tuple[str, ...]:
    """Each code that a cell of a study would run, at any of its sizes, exactly as it is.

    A file that a study names (network.path) is the user's own and not among them.
    """
    codes = [study.tables.get("network", {}).get("code"), *study.axes.get(KEY, ())]
    for settings in (*study.variants.values(), *study.sizes.values()):
        value = settings.get(KEY)
        codes += value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(code for code in codes if isinstance(code, str)))


def check_code(study: Study, name: str) -> None:
    """Raise InputError for code in a study that its user has neither run nor trusted here."""
    if any(not trust.is_trusted(code) for code in codes_of(study)):
        raise InputError(
            f"{name} holds a network written in Python, which training with it would run here; "
            f"look at it with `{headless_program()} trust {name}`, which also says how to trust it."
        )
