"""Ticks, and numbers and sentences of core.numbers as matplotlib's mathtext."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from html.entities import html5
from itertools import pairwise

import numpy as np

from core.figures.primitives import plain
from core.numbers import LARGE, MINUS, SMALL, dropped_zero, fixed_text, number_text

SCIENTIFIC = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e[+-]?\d+(?![\w.])")
GREEK = "alpha|beta|gamma|delta|epsilon|eta|kappa|lambda|mu|rho|sigma|tau|theta"
# A Greek letter, or a name of at most three letters with an index, to an integer power.
SYMBOL = re.compile(
    rf"(?<![A-Za-z_\\])(?:({GREEK})(?![A-Za-z])|([A-Za-z]{{1,3}})(?=_))"
    r"(?:_([A-Za-z0-9]+|[+-](?!\w)))?(?![A-Za-z_])(?:\^(-?\d+)(?!\.?\d))?"
)
ROOT = re.compile(r"\bsqrt(?:\((\w+)\)|(?=\()| (?=\w))")
DOLLAR = re.compile(r"(?<!\\)\$")
PLAIN_EXPONENT = r"(?:[^\W_]|[-+*/., ])"
BRACKETED_POWER = re.compile(rf"\^\(({PLAIN_EXPONENT}+(?:(?<=[^\W_])\^[^\W_]{PLAIN_EXPONENT}*)?)\)")
SIGNS = {"+-": "\u00b1", "<=": "\u2264", ">=": "\u2265"}
FEW_DIGITS, MOST_DIGITS = 3, 6  # digits of a tick: more would narrow the plot
LEAST_SPAN = 1e-280  # span of ticks: the step must have a finite reciprocal
DECIMAL_POWER = re.compile(r"(?<=10)\^(-?\d+\.\d+)")
WHOLE_POWER = re.compile(r"([^\W_]+|[|)])\^(-?\d+)(?!\.?\d)")

# ---------------------------------------------------------------- as matplotlib's mathtext


def math_text(text: str) -> str:
    r"""Write the powers, `log10` and `t` of a text from core.numbers as mathtext.

    >>> math_text("t = 10^2.31"), math_text("log10 t = 2000"), math_text("6.6 10^5")
    ('$t$ = $10^{2.31}$', '$\\log_{10}\\,t$ = 2000', '6.6 $\\times$ $10^{5}$')
    """
    nested = re.sub(r"\((\S+) 10\^(\S+)\)", r"\1\\times10^{\2}", text)
    text = re.sub(r"(?<=\d) (?=10\^)", r" $\\times$ ", nested)
    text = re.sub(r"10\^(\S+)", lambda match: f"$10^{{{match[1]}}}$", text)
    text = text.replace("log10 t", "$\\log_{10}\\,t$")
    return re.sub(r"(^|\s)t(?= =)", r"\1$t$", text)


def math_number(text: str) -> str:
    r"""Write a single number of core.numbers, as one formula if it is a power.

    >>> math_number("10^2.31"), math_number("6.6 10^5"), math_number("14.2")
    ('$10^{2.31}$', '$6.6\\times 10^{5}$', '14.2')
    """
    mantissa, ten, exponent = text.partition("10^")
    if not ten:
        return text
    times = f"{mantissa.strip()}\\times " if mantissa.strip() else ""
    return f"${times}10^{{{exponent.strip('()').replace(MINUS, '-')}}}$"


def math_words(text: str) -> str:
    r"""Return a sentence with powers, indices, Greek letters, roots and relations typeset.

    Formulas are not changed. Of any text as of `core.figures.primitives.plain`, mathtext can set
    the result.

    >>> print(ascii(math_words("d = 10^4, 10^-2 +- 1, |W|^2, d^4")))
    'd = $10^{4}$, $10^{-2}$ \xb1 1, |W$|^{2}$, $d^{4}$'
    >>> math_words("W_0, y_+, x_test")
    'W$_{\\mathrm{0}}$, y$_{+}$, x$_{\\mathrm{test}}$'
    >>> math_words("sqrt(d) <= sqrt(8 d)") == "\u221ad \u2264 \u221a(8 d)"
    True
    >>> math_words("gamma_ntk^2/4096") == "\u03b3$_{\\mathrm{ntk}}^{2}$/4096"
    True
    >>> math_words("lambda = 1e-6, gamma_gl") == "\u03bb = $10^{-6}$, \u03b3$_{\\mathrm{gl}}$"
    True
    """
    result = text
    for pattern, replacement in TYPESETTING:
        result = _replace_outside(pattern, replacement, result)
    # A backslash before a formula would take its dollar sign for a plain one.
    return text if result.count("\\$") > text.count("\\$") else result


def sentence_words(text: str) -> str:
    r"""Return a plain sentence with its powers, indices and Greek letters typeset.

    >>> sentence_words("<b> 10^2 $, 10^1.5")
    '<b> $10^{2}$ \\$, 10$^{1.5}$'
    """
    return math_words(DECIMAL_POWER.sub(r"^(\1)", plain(text)))


def _replace_outside(
    pattern: re.Pattern[str], replacement: str | Callable[[re.Match[str]], str], text: str
) -> str:
    """Replace a pattern outside of the formulas of a text."""
    parts = DOLLAR.split(text)  # every other part is a formula
    parts[::2] = [pattern.sub(replacement, part) for part in parts[::2]]
    return "$".join(parts)


def _number(match: re.Match[str]) -> str:
    return number_text(float(match[0]), 6)


def _symbol(name: re.Match[str]) -> str:
    letter, index = html5[f"{name[1]};"] if name[1] else name[2], name[3]
    formula = ""
    if index:
        formula = f"_{{{index}}}" if index in "+-" else f"_{{\\mathrm{{{index}}}}}"
    if name[4]:
        formula += f"^{{{name[4]}}}"
    return f"{letter}${formula}$" if formula else letter


def _sign(match: re.Match[str]) -> str:
    return SIGNS[match[0]]


def _root(match: re.Match[str]) -> str:
    return f"\u221a{match[1] or ''}"


# In the order in which `math_words` applies them, each outside of the formulas of earlier ones.
TYPESETTING: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (SCIENTIFIC, _number),
    (re.compile("log10 "), r"$\\log_{10}$ "),
    (re.compile(r"(?<=\d) (?=10\^)"), " \u00d7 "),
    (re.compile(MINUS), "-"),
    (re.compile("|".join(map(re.escape, SIGNS))), _sign),
    (BRACKETED_POWER, r"$^{\1}$"),
    (SYMBOL, _symbol),
    (ROOT, _root),
    (WHOLE_POWER, r"$\1^{\2}$"),
)

# ------------------------------------------------------------------------------------ ticks


def nice_step(span: float, max_steps: int) -> float:
    """Return the smallest step 1, 2 or 5 times a power of ten of which `max_steps` fit into a span.

    >>> nice_step(1.0, 5), nice_step(0.09, 4)
    (0.2, 0.05)
    """
    rough = span / max_steps
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1.0, 2.0, 5.0, 10.0):
        # 1e-9: rounding must not lose a step of a span of exactly that many steps.
        if factor * power >= rough * (1.0 - 1e-9):
            return factor * power
    raise AssertionError("10 times the power of ten below a number is larger than the number")


def named_ticks(
    places: Sequence[float],
    values: Sequence[float],
    write: Callable[[float, int], str] = number_text,
) -> tuple[tuple[float, str], ...]:
    """Return ticks whose texts differ: with more digits for near values, or fewer ticks.

    Parameters
    ----------
    places, values : sequence of float
        Places on the axis, and what is written there.
    write : callable
        Text of a value with a number of digits.

    Returns
    -------
    tuple of (float, str)
        Places and texts.

    Examples
    --------
    >>> named_ticks([0.0, 1.0, 2.0], [0.99995, 1.0, 1.00005])
    ((0.0, '.99995'), (1.0, '1'), (2.0, '1.00005'))
    >>> named_ticks([0.0, 1.0], [1.0, 1.0 + 1e-9])
    ((0.0, '1'),)
    """
    texts = [write(value, FEW_DIGITS) for value in values]
    if len({*texts}) < len(texts):
        least = min(abs(one - other) for one, other in pairwise(values))
        size = max(map(abs, values)) / max(least, LEAST_SPAN)
        digits = math.ceil(math.log10(max(size, 1.0))) + 1 if size < math.inf else MOST_DIGITS
        texts = [write(value, min(max(digits, FEW_DIGITS), MOST_DIGITS)) for value in values]
    first = {text: place for place, text in zip(reversed(places), reversed(texts), strict=True)}
    return tuple((place, text) for text, place in reversed(first.items()))


def linear_ticks(low: float, high: float, max_ticks: int = 5) -> tuple[tuple[float, str], ...]:
    """Return ticks in [low, high] at multiples of a nice step.

    Parameters
    ----------
    low, high : float
        Ends of the axis.
    max_ticks : int
        Most steps between them.

    Returns
    -------
    tuple of (float, str)
        Places and texts; () if the range is too short, or no range of floats.

    Examples
    --------
    >>> linear_ticks(-0.02, 0.05, 4)
    ((-0.02, '\u2212.02'), (0.0, '0'), (0.02, '.02'), (0.04, '.04'))
    """
    if not LEAST_SPAN <= high - low < math.inf:
        return ()
    step = nice_step(high - low, max_ticks)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    # Rounded: 3 times .1 is .30000000000000004.
    places = [float(np.round(k * step, decimals)) for k in range(first, last + 1)]
    if step >= LARGE or step < SMALL:
        return named_ticks(places, places)
    return tuple((place, dropped_zero(fixed_text(place, decimals))) for place in places)
