"""Formulas of numbers and names, such as 2 * d^2: read by Python's grammar, and never run.

`parse` gives the tree and `arithmetic` makes a function of it, once for all the values that it is
asked for; what names stand for is up to the caller.

`[derived]` holds formulas such as "network.m" = "2 * d^2" over the names d, n, m, k, p and b of the
cell (p is data.p, b is dynamics.first_batch, or 0) and over its factors: axes named factor.NAME
that are no settings themselves. `[variants.NAME]` are tables of settings of which one after the
other is applied; together they are the last axis. A variant has formulas of its own under
derived.KEY.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from core.errors import InputError, did_you_mean

LONGEST = 200
DEEPEST = 100
LARGEST_POWER = 64.0
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
# Words of Python's grammar: no implied multiplication of a number by them.
WORDS = frozenset({"and", "or", "not", "if", "else", "in", "is", "for", "lambda"})
QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")

Number = Callable[[Any], float]
Names = Callable[[str], Number]  # value of a name; raises InputError for unknown names


def evaluate(formula: str, values: Mapping[str, float]) -> float:
    """Return the value of a formula of + - * / ^, names and the functions above.

    Raises InputError for anything else, and where the value is not finite.

    >>> evaluate("3.2 * d / (m + d)", {"d": 20.0, "m": 44.0}), evaluate("min(2 d, d^2)", {"d": 3.0})
    (1.0, 6.0)
    """
    number = _compile(formula)
    try:
        value = number(values)
    except ZeroDivisionError as error:
        raise InputError(f"The formula {formula} divides by 0 here.") from error
    except (ArithmeticError, ValueError, TypeError) as error:
        raise InputError(f"The formula {formula} has no value here ({error}).") from error
    if not math.isfinite(value):
        raise InputError(f"The formula {formula} has no finite value here.")
    return value


@lru_cache(maxsize=64)  # a study has few formulas, and thousands of cells
def _compile(formula: str) -> Number:
    """Return the function that evaluates a formula on values by name. Raises InputError."""
    node = parse(formula)
    if node is None:
        raise InputError(f"{formula!r} is not a formula; write one such as 2 * d^2.")

    def named(name: str) -> Number:
        if "." in name:
            raise not_a_formula(formula)

        def of(values: Mapping[str, float]) -> float:
            if name in values:
                return float(values[name])
            raise InputError(f"{formula}: {name} is not known; {did_you_mean(name, [*values])}")

        return of

    return arithmetic(node, formula, named)


def not_a_formula(formula: str) -> InputError:
    """Return the error for a syntax tree that is no arithmetic."""
    return InputError(f"{formula} is not a formula of numbers, names, + - * / ^ and functions.")


def parse(formula: str, longest: int = LONGEST) -> ast.expr | None:
    """Return the syntax tree of a formula; None for a text without one, or a long one."""
    if len(formula) > longest:
        return None
    try:
        # Parsed and walked, never executed: a study may be untrusted.
        return ast.parse(_in_python(formula), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _in_python(formula: str) -> str:
    """Write a formula with Python's signs: ** for ^, and * between a number and a name.

    Text in quotes stays unchanged.
    """
    start, parts = 0, []
    for match in QUOTED.finditer(formula):
        # repr() escapes the text: a backslash would otherwise start an escape sequence.
        parts += [_with_signs(formula[start : match.start()]), repr(match[0][1:-1])]
        start = match.end()
    return " ".join([*parts, _with_signs(formula[start:])]).strip()


def _with_signs(formula: str) -> str:
    """Return a formula with ** for ^, and with * between a number and a name."""
    text, previous = [], ""
    for word in formula.replace("^", " ** ").replace("(", " ( ").replace(")", " ) ").split():
        number = previous[-1:].isdigit() or previous[-1:] == "."
        if number and word[0].isalpha() and word not in WORDS:
            text.append("*")
        text.append(word)
        previous = word
    return " ".join(text)


def dotted_name(node: ast.expr) -> str:
    """Return the name that a syntax tree is, dots included; "" for any other tree.

    >>> tuple(dotted_name(ast.parse(one, mode="eval").body) for one in ("network.m", "2"))
    ('network.m', '')
    """
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def arithmetic(node: ast.expr, formula: str, resolve: Names, depth: int = 0) -> Number:
    """Compile a syntax tree to a function of values; NaN stays NaN.

    The function raises ArithmeticError, ValueError or TypeError where there is no number.

    Parameters
    ----------
    node : ast.expr
        Tree from `parse`.
    formula : str
        Its text, for messages.
    resolve : callable
        Returns the function of values that a name stands for.
    depth : int
        Depth of the node, at most DEEPEST.

    Returns
    -------
    callable
        Values, as `resolve` reads them, to a float.

    Raises
    ------
    InputError
        The tree is no arithmetic, or too deep.
    """
    if depth > DEEPEST:
        raise InputError(f"{formula[:40]} ... is nested more than {DEEPEST} deep; simplify it.")
    deeper = depth + 1
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _constant(node.value, formula)
    if name := dotted_name(node):
        return resolve(name)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        operand = arithmetic(node.operand, formula, resolve, deeper)
        return lambda values: -operand(values)
    if isinstance(node, ast.BinOp):
        left = arithmetic(node.left, formula, resolve, deeper)
        right = arithmetic(node.right, formula, resolve, deeper)
        if isinstance(node.op, ast.Pow):
            return lambda values: _power(left(values), right(values), formula)
        if (sign := BINARY.get(type(node.op))) is not None:
            return lambda values: float(sign(left(values), right(values)))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _call(node, node.func.id, formula, resolve, deeper)
    raise not_a_formula(formula)


def _constant(value: object, formula: str) -> Number:
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise InputError(f"{formula[:40]} ... holds a number that is too large.") from None
    return lambda _: number


def _power(left: float, right: float, formula: str) -> float:
    """Return left^right; NaN if one is NaN. Raises InputError for a large power."""
    if abs(right) > LARGEST_POWER:
        raise InputError(f"{formula}: the power {right:g} is larger than {LARGEST_POWER:g}.")
    if math.isnan(left) or math.isnan(right):  # in Python nan^0 and 1^nan are 1
        return math.nan
    # A negative number to a fractional power is complex in Python; float() raises an error for it.
    return float(left**right)


def _call(node: ast.Call, name: str, formula: str, resolve: Names, depth: int) -> Number:
    if name not in FUNCTIONS:
        raise InputError(f"{formula}: {name} is not a function; {did_you_mean(name, FUNCTIONS)}")
    function = FUNCTIONS[name]
    arguments = [arithmetic(argument, formula, resolve, depth) for argument in node.args]

    def called(values: Any) -> float:
        numbers = [one(values) for one in arguments]
        # Python's min of NaN and 1 depends on their order.
        return math.nan if any(map(math.isnan, numbers)) else float(function(*numbers))

    return called


# ----------------------------------------------------------------- settings that follow from others

FACTOR, VARIANT = "factor", "variant"
FORMULA = "derived."  # key prefix of a formula that only one variant has
SYMBOLS = {
    "d": ("data", "d"),
    "n": ("data", "n"),
    "k": ("data", "k"),
    "m": ("network", "m"),
    "p": ("data", "p"),
    "b": ("dynamics", "first_batch"),
}
ABSENT = {"b": 0.0}  # values of settings that most experiments lack


def apply_formulas(
    tables: dict[str, dict[str, Any]], formulas: Mapping[str, str], factors: Mapping[str, float]
) -> None:
    """Set each derived key, in the order given; later formulas see earlier results.

    A value within one part in 1e12 of a whole number becomes that number. Formulas of keys that
    take no fractions round by `round` or `ceil`.

    Parameters
    ----------
    tables : dict of sections
        Updated in place.
    formulas : mapping of str to str
        Formulas by dotted keys.
    factors : mapping of str to float
        Values of the cell's factors.

    Raises
    ------
    InputError
        A formula has no value.
    """
    for key, formula in formulas.items():
        symbols = {**ABSENT, **factors}
        for symbol, (section, name) in SYMBOLS.items():
            value = tables.get(section, {}).get(name)
            # bool is a number in Python.
            if isinstance(value, int | float) and not isinstance(value, bool):
                symbols[symbol] = float(value)
        section, name = key.split(".", 1)
        number = evaluate(formula, symbols)
        is_integer = abs(number - round(number)) <= 1e-12 * abs(number)
        tables.setdefault(section, {})[name] = round(number) if is_integer else number
