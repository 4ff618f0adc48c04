"""Settings of a study that follow from others: formulas, and variants that change several at once.

`[derived]` holds formulas such as "network.m" = "2 * d^2" over the names d, n, m, k, p and b of the
cell (p is data.p, b is dynamics.first_batch, or 0) and over its factors: axes named factor.NAME
that are no settings themselves. `[variants.NAME]` are tables of settings of which one after the
other is applied; together they are the last axis. A variant has formulas of its own under
derived.KEY.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.studies.formulas import evaluate

FACTOR, VARIANT = "factor", "variant"
FORMULA = "derived."  # before the key of a formula that only one variant has
SYMBOLS = {
    "d": ("data", "d"),
    "n": ("data", "n"),
    "k": ("data", "k"),
    "m": ("network", "m"),
    "p": ("data", "p"),
    "b": ("dynamics", "first_batch"),
}
ABSENT = {"b": 0.0}  # of settings that most experiments do not have


def apply_formulas(
    tables: dict[str, dict[str, Any]], formulas: Mapping[str, str], factors: Mapping[str, float]
) -> None:
    """Set each derived key in `tables`, in the order given; later formulas see earlier ones.

    A value that is whole to one part in 1e12 is a whole number; keys that take no fractions have
    their formula rounded by `round`, `ceil`.
    """
    for key, formula in formulas.items():
        known = {**ABSENT, **factors}
        for symbol, (section, name) in SYMBOLS.items():
            value = tables.get(section, {}).get(name)
            # To Python a bool is a number, too.
            if isinstance(value, int | float) and not isinstance(value, bool):
                known[symbol] = float(value)
        section, name = key.split(".", 1)
        number = evaluate(formula, known)
        whole = abs(number - round(number)) <= 1e-12 * abs(number)
        tables.setdefault(section, {})[name] = round(number) if whole else number
