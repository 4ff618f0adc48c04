"""Settings of a study that follow from others: formulas, and variants that change several at once.

`[derived]` holds formulas such as "network.m" = "2 * d^2" over the names d, n, m, k and b of the
cell (b is dynamics.first_batch, or 0) and over its factors: axes named factor.NAME that are no
settings themselves. `[variants.NAME]` are tables of settings of which one after the other is
applied; together they are the last axis. A variant has formulas of its own under derived.KEY.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from core.errors import InputError, did_you_mean

FACTOR, VARIANT = "factor", "variant"
FORMULA = "derived."  # before the key of a formula that only one variant has
LONGEST = 200
LARGEST_POWER = 64.0
SYMBOLS = {
    "d": ("data", "d"),
    "n": ("data", "n"),
    "k": ("data", "k"),
    "m": ("network", "m"),
    "b": ("dynamics", "first_batch"),
}
ABSENT = {"b": 0.0}  # of settings that most experiments do not have
BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
    "ln": math.log,
    "log10": math.log10,
    "round": round,
    "ceil": math.ceil,
}


def evaluate(formula: str, values: Mapping[str, float]) -> float:
    """The number that a formula of + - * / ^, names and the functions below stands for.

    Raises InputError for anything else, and where there is no finite number.

    >>> evaluate("3.2 * d / (m + d)", {"d": 20.0, "m": 44.0}), evaluate("min(2 d, d^2)", {"d": 3.0})
    (1.0, 6.0)
    """
    node = _parsed(formula)
    if node is None:
        raise InputError(f"{formula!r} is not a formula; write one such as 2 * d^2.")
    try:
        value = _value(node, values, formula)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise InputError(f"The formula {formula} has no value here ({error}).") from error
    if not math.isfinite(value):
        raise InputError(f"The formula {formula} has no finite value here.")
    return value


@lru_cache(maxsize=64)  # a study has a few, and thousands of cells
def _parsed(formula: str) -> ast.expr | None:
    try:
        # Parsed and walked through, and never run: a study may come from a stranger.
        text = _with_signs(formula)
        return ast.parse(text, mode="eval").body if len(formula) <= LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _with_signs(formula: str) -> str:
    """Python's signs: ** for ^, and * between a number and a name."""
    text, previous = [], ""
    for word in formula.replace("^", " ** ").replace("(", " ( ").split():
        if previous and (previous[-1].isdigit() or previous[-1] == ".") and word[0].isalpha():
            text.append("*")
        text.append(word)
        previous = word
    return " ".join(text)


def _value(node: ast.expr, values: Mapping[str, float], formula: str) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        if node.id in values:
            return float(values[node.id])
        raise InputError(f"{formula}: {node.id} is not known; {did_you_mean(node.id, [*values])}")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, values, formula)
    if isinstance(node, ast.BinOp):
        left, right = (_value(side, values, formula) for side in (node.left, node.right))
        if isinstance(node.op, ast.Pow):
            if abs(right) > LARGEST_POWER:
                raise InputError(
                    f"{formula}: the power {right:g} is larger than {LARGEST_POWER:g}."
                )
            # A negative number to a broken power is complex to Python, which float refuses.
            return float(left**right)
        if type(node.op) in BINARY:
            return float(BINARY[type(node.op)](left, right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id in FUNCTIONS:
            given = [_value(argument, values, formula) for argument in node.args]
            return float(FUNCTIONS[node.func.id](*given))
        raise InputError(
            f"{formula}: {node.func.id} is no function; {did_you_mean(node.func.id, FUNCTIONS)}"
        )
    raise InputError(f"{formula} is not a formula of numbers, names, + - * / ^ and functions.")


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
