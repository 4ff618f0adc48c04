"""Numbers and times as the program prints them for people, and as people type them.

One convention, whatever the system's language: a decimal point, and narrow spaces between groups of
three digits from five digits on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

NARROW_SPACE = "\u202f"  # prevents a line break
GROUP_FROM = 10_000  # numbers of four digits are written without a separator
# "0,5" may be one number or two.
DECIMAL = re.compile(r"[+-]?\d*,\d+(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
# "1,000", "1.000,5" and "1,000.5" may be digits in groups, or several numbers.
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d*)?|(?:\.\d{3})+,\d+)", re.ASCII)
MIXED = re.compile(r"\d,\d.*[\s;]|[\s;].*\d,\d", re.ASCII | re.DOTALL)


def whole_text(value: int) -> str:
    """Return a whole number in groups of three digits from five digits on.

    >>> whole_text(8120), whole_text(1234567).replace("\u202f", " ")
    ('8120', '1 234 567')
    """
    return f"{value:,}".replace(",", NARROW_SPACE) if abs(value) >= GROUP_FROM else str(value)


def is_ambiguous(text: str, is_integer: bool = False) -> bool:
    """Return True for numbers whose commas may be decimal ones, or separate groups of digits.

    In `is_integer` numbers no comma is a decimal one, nor where another number has a point.

    >>> is_ambiguous("0,5"), is_ambiguous("1.000,5"), is_ambiguous("1,5; 2,5")
    (True, True, True)
    >>> is_ambiguous("16, 32"), is_ambiguous("1,2,4"), is_ambiguous("0.1, 1,2")
    (False, False, False)
    >>> is_ambiguous("16,32", True), is_ambiguous("1,024", True)
    (False, True)
    """
    text = text.strip()
    if GROUPED.fullmatch(text):
        return True
    if is_integer or "." in text:
        return False
    return bool(DECIMAL.fullmatch(text) or MIXED.search(text))


def replace_nonfinite(value: Any) -> Any:
    """Return the value with every non-finite number replaced by None, for JSON.

    >>> replace_nonfinite({"a": [1.0, float("nan")], "b": float("-inf")})
    {'a': [1.0, None], 'b': None}
    """
    if isinstance(value, Mapping):
        return {str(key): replace_nonfinite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [replace_nonfinite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# ------------------------------------------------------------------------- bytes, and times to wait


def duration_text(seconds: float) -> str:
    """Return a duration as text, the coarser the longer it is.

    >>> duration_text(0.4), duration_text(12.3), duration_text(200), duration_text(7300)
    ('< 1 s', '12 s', '3 min', '2 h 2 min')
    """
    if seconds < 1.0:
        return "< 1 s"
    # 99.5 would round to three digits.
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60.0)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} days"


def size_text(size: float) -> str:
    """Return a size in bytes as text, in kB to TB.

    >>> size_text(999), size_text(18_400_000), size_text(2.5e9), size_text(3e12)
    ('1 kB', '18.4 MB', '2.5 GB', '3.0 TB')
    """
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:.{1 if size < 100 * factor else 0}f} {unit}"
    return f"{size / 1e3:.0f} kB"


def natural_key(text: str) -> list[tuple[int, str]]:
    """Return a sort key by which ckpt-9 is before ckpt-10.

    >>> sorted(["ckpt-10", "ckpt-9", "a"], key=natural_key)
    ['a', 'ckpt-9', 'ckpt-10']
    """
    parts = re.split(r"(\d{1,18})", text)
    return [(int(part), part) if k % 2 else (-1, part) for k, part in enumerate(parts)]


# ------------------------------------------------------------ numbers, powers of ten, and moments

LOG10 = "log\u2081\u2080"
MINUS = "\u2212"
# Numbers outside SMALL ... LARGE are written with a power of ten.
LARGE, SMALL = 1e4, 1e-4
PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def dropped_zero(text: str) -> str:
    """Return a number without the zero before its point, and with a real minus sign."""
    sign = MINUS if text.startswith("-") else ""
    text = text.lstrip("-")
    if text.startswith("0."):
        text = text[1:]
    return sign + text


def fixed_text(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def number_text(value: float, digits: int = 3) -> str:
    """Return a number with some significant digits, without trailing zeros.

    >>> number_text(0.01238), number_text(14.21), number_text(1000.0), number_text(0.0)
    ('.0124', '14.2', '1000', '0')
    >>> number_text(6.6e5), number_text(1.04e-7), number_text(float("nan"))
    ('6.6 10^5', '1.04 10^-7', 'none')
    """
    if math.isnan(value):
        return "none"
    if value == 0.0:
        return "0"
    # Round first: 9.996 with three digits is 10.0, which has another exponent.
    rounded = float(f"{value:.{digits - 1}e}")
    if math.isinf(rounded):  # rounding the largest floats overflows
        return "infinite" if value > 0 else f"{MINUS}infinite"
    # 1e-12 keeps the exponent of exact powers of ten, whose log10 may be rounded down.
    exponent = math.floor(math.log10(abs(rounded)) + 1e-12)
    if SMALL <= abs(rounded) < LARGE:
        return dropped_zero(fixed_text(rounded, max(digits - 1 - exponent, 0)))
    mantissa = dropped_zero(fixed_text(float(f"{rounded:e}".split("e")[0]), digits - 1))
    return f"10^{exponent}" if mantissa == "1" else f"{mantissa} 10^{exponent}"


def count_text(value: float) -> str:
    """Return a count or a rate with two or three digits and a prefix.

    >>> count_text(3210), count_text(212_400), count_text(87), count_text(9.97), count_text(1.06e6)
    ('3.2 k', '212 k', '87', '10', '1.1 M')
    """
    for size, prefix in PREFIXES:
        scaled = value / size
        # .9995 would be shown as 1000 and takes the next prefix; 9.95 as 10.0 and takes no
        # decimals.
        if abs(scaled) >= 0.9995:
            return f"{dropped_zero(fixed_text(scaled, 1 if abs(scaled) < 9.95 else 0))} {prefix}"
    return dropped_zero(fixed_text(value, 1 if abs(value) < 9.95 else 0))


def power_text(exponent: float, digits: int = 3) -> str:
    """Return 10 to a power; an ordinary number if the power is not whole.

    >>> [power_text(x) for x in (2.31, 2.0, 1.0, 0.0, -1.0, -2.0, 0.5)]
    ['204', '10^2', '10', '1', '.1', '10^-2', '3.16']
    >>> power_text(7.25), power_text(-400.5), power_text(2000.0), power_text(2.5e6)
    ('1.78 10^7', '3.16 10^-401', '10^2000', '10^(2.5 10^6)')
    """
    if abs(exponent) >= LARGE:
        return f"10^({number_text(exponent)})"
    integer = round(exponent)
    if abs(exponent - integer) < 1e-9 and not -1 <= integer <= 1:
        return f"10^{integer}"
    return _power(exponent, digits)


def _power(exponent: float, digits: int = 3, padded: bool = False) -> str:
    """Return 10 to a power as a number, `padded` with zeros to all its digits."""
    # A decimal that ends in 5 may be slightly less in binary, and would be rounded down.
    exponent += 1e-9
    small = math.log10(SMALL) <= exponent < math.log10(LARGE)
    integer = 0 if small else math.floor(exponent)
    value = float(f"{10.0 ** (exponent - integer):.{digits - 1}e}")
    if not small and value >= 10.0:  # such as 9.996 with three digits
        value, integer = value / 10.0, integer + 1
    decimals = max(digits - 1 - math.floor(math.log10(value) + 1e-12), 0)
    text = dropped_zero(f"{value:.{decimals}f}" if padded else fixed_text(value, decimals))
    if small:
        return text
    return f"10^{integer}" if text == "1" else f"{text} 10^{integer}"


def time_text(log10_time: float, steps: bool = False, padded: bool = False) -> str:
    """Return a time as people write it.

    Parameters
    ----------
    log10_time : float
        log10 t; -inf for t = 0.
    steps : bool
        True if t counts steps.
    padded : bool
        True for three digits always, so that a running display does not jump.

    Returns
    -------
    str
        Text with "t =", "log10 t =" or "step".

    Examples
    --------
    >>> time_text(2.305), time_text(float("-inf")), time_text(4.0), time_text(7.25)
    ('t = 202', 't = 0', 't = 10^4', 't = 1.78 10^7')
    >>> time_text(2.0e3), time_text(1e4), time_text(0.0, padded=True)
    ('log10 t = 2000', 'log10 t = 10^4', 't = 1.00')
    >>> time_text(2.0, True), time_text(float("-inf"), True), time_text(8.25, True)
    ('step 100', 'step 0', 'step 1.78 10^8')
    """
    if steps and log10_time < 7.0:
        return f"step {10.0**log10_time:.0f}"
    if log10_time == -math.inf:
        return "t = 0"
    if abs(log10_time) >= 1000.0:
        return f"log10 t = {number_text(log10_time, 4)}"
    return f"{'step' if steps else 't ='} {_power(log10_time, padded=padded and not steps)}"


# ------------------------------------------------------------------------------- raised powers

RAISED = str.maketrans(
    "0123456789-", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b"
)
# Unicode has superscript digits but no superscript point: 10^2.31 stays as written.
WHOLE_POWER = re.compile(r"(?<=10)\^(-?\d+)(?!\.?\d)")
SQUARE = re.compile(r"\^2(?!\.?\d)")


def raise_powers(text: str) -> str:
    """Raise whole powers, and put a cross before a power of ten; other powers stay.

    >>> raise_powers("1.04 10^-7") == "1.04 \u00d7 10\u207b\u2077", raise_powers("t = 10^2.31")
    (True, 't = 10^2.31')
    >>> raise_powers("below 10^-6.") == "below 10\u207b\u2076."  # the end of a sentence
    True
    """
    crossed = re.sub(r"(?<=\d) (?=10\^)", " \u00d7 ", text)
    return SQUARE.sub("\u00b2", WHOLE_POWER.sub(_raise, crossed)).replace("^-", "^" + MINUS)


def _raise(match: re.Match[str]) -> str:
    return match[1].translate(RAISED)
