"""Random values of a section's keys, by their own ranges or by what the section allows."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from core.settings import Section

KEEP = 0.4  # of the keys without a range of their own stay at their default
LARGEST, SMALLEST = 100.0, 1e-6  # of numbers whose section allows more
Draw = Callable[[random.Random], Any]


def power(low: float, high: float) -> Draw:
    """Return 10^U(low, high) with three digits, as typed by a person."""
    return lambda chance: float(f"{10.0 ** chance.uniform(low, high):.3g}")


def count(low: int, usual: int, most: int) -> Draw:
    """Return mostly `low` to `usual`, often small; one in twelve up to `most`."""

    def draw(chance: random.Random) -> int:
        top = most if chance.random() < 1.0 / 12.0 else usual
        return low - 1 + int(math.exp(chance.uniform(0.0, math.log(top - low + 2))))

    return draw


def one_of(*values: Any) -> Draw:
    return lambda chance: chance.choice(values)


def sometimes(share: float, draw: Draw, otherwise: Any = None) -> Draw:
    return lambda chance: draw(chance) if chance.random() < share else otherwise


def beside(draw: Draw) -> Draw:
    """Draw from a copy of the generator: the studies of earlier hunts stay the same."""

    def of_copy(chance: random.Random) -> Any:
        own = random.Random()
        own.setstate(chance.getstate())
        return draw(own)

    return of_copy


def _nothing(chance: random.Random) -> None:
    """Return no value, for a key that depends on others."""


def _breaks(chance: random.Random) -> list[float]:
    return sorted({round(chance.uniform(-0.9, 0.9), 2) for _ in range(chance.randint(1, 3))})


def _classes(chance: random.Random) -> list[int]:
    return chance.sample(range(10), 2)


LATE = (-4.0, 0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 30.0, 300.0, 1e4)
"""Ends of flows, log10 t; descent goes to the small ones."""

RANGES: dict[str, Draw] = {
    "d": count(1, 12, 60),
    "n": count(1, 20, 150),
    "m": count(1, 24, 160),
    "k": count(1, 3, 5),
    "p": one_of(3, 5, 7),
    "modular.d": _nothing,
    "modular.n": _nothing,
    "orthonormal.d": _nothing,
    "orthonormal.n": _nothing,
    "matrix.d": _nothing,
    "matrix.n": _nothing,
    "matrix.rows": one_of(None, 4, 5),
    "matrix.columns": one_of(None, 4, 6),
    "deep_linear.rows": one_of(1, 1, 2, 4),
    "file.scale": beside(one_of("none", "none", "standard", "max_norm")),
    "r": count(1, 4, 8),
    "units": count(1, 8, 30),
    "hidden": count(1, 8, 24),
    "depth": count(1, 3, 5),
    "frames": count(2, 12, 40),
    "batch": count(1, 3, 8),
    "adam.batch": sometimes(0.5, count(1, 3, 8), 0),
    "first_batch": sometimes(0.5, count(1, 50, 5000), 0),
    "step": sometimes(0.4, power(-3.0, 1.5)),
    "adam.step": power(-4.0, 0.0),
    "l2": sometimes(0.2, power(-5.0, 0.5), 0.0),
    "init_multiple": sometimes(0.6, power(-5.0, 2.0), 1.0),
    "until_log10_time": one_of(-3.0, -1.0, 0.0, 0.5, 1.0, 2.0, 2.5),
    "flow.until_log10_time": one_of(*LATE),
    "mirror.until_log10_time": one_of(*LATE[:6]),
    "breaks": _breaks,
    "gap": power(-3.0, -0.5),
    "classes": _classes,
    "mean_exponent": lambda chance: round(chance.uniform(-2.0, 2.0), 2),
    "teacher.margin": one_of(0.0, 0.01, 0.1),
    "alpha": lambda chance: round(chance.uniform(0.05, 0.7), 3),
    "spread": lambda chance: round(chance.uniform(0.0, 10.0), 2),
    "eps": power(-6.0, -0.3),
    "gamma_nc": lambda chance: round(chance.uniform(0.1, 0.95), 3),
    "coherence": power(-6.0, -0.5),
    "log10_times": lambda chance: [round(chance.uniform(-3.0, 3.0), 2)] * chance.randint(0, 1),
    "seed": sometimes(0.2, count(1, 1000, 10**9)),
    "scheme": sometimes(0.1, one_of("euler"), "chebyshev"),  # the slow reference
}
"""By `key`, or by `kind.key` where that is there too."""

LEFT = {"kind", "path", "code", "content", "init", "init_path", "device", "advanced"}
LEFT |= {"label", "header", "understood"}
"""Set where files are made, or about the machine."""


def table_of(cls: type[Section], kind: str, chance: random.Random) -> dict[str, Any]:
    """Return random values of a section's keys, without those left at their defaults."""
    table: dict[str, Any] = {"kind": kind} if kind else {}
    for key, field in cls.model_fields.items():
        if key in LEFT or _fixed(field):
            continue
        draw = RANGES.get(f"{kind}.{key}", RANGES.get(key))
        if draw is not None:
            value = draw(chance)
        elif chance.random() < KEEP:
            continue
        else:
            value = any_value(field, chance)
        if value is not None:
            table[key] = value
    return table


def _fixed(field: FieldInfo) -> bool:
    """Return True if a section allows one value only."""
    low, high = limits(field)
    return low == high


def limits(field: FieldInfo) -> tuple[float, float]:
    """Return the least and largest number allowed in a field for the draw."""
    low, high = -LARGEST, LARGEST
    for rule in field.metadata:
        low = max(low, getattr(rule, "ge", None) or low) if hasattr(rule, "ge") else low
        low = max(low, rule.gt + SMALLEST) if hasattr(rule, "gt") else low
        high = min(high, rule.le) if hasattr(rule, "le") else high
        high = min(high, rule.lt - SMALLEST) if hasattr(rule, "lt") else high
        low = max(low, 0.0) if getattr(rule, "ge", None) == 0 else low
    return low, high


def any_value(field: FieldInfo, chance: random.Random) -> Any:
    """Return a random value of a field's type within its limits; None for another type."""
    parts = [part for part in get_args(field.annotation) or (field.annotation,) if part != NoneType]
    if get_origin(field.annotation) is Literal:
        return chance.choice(parts)
    if parts == [bool]:
        return chance.random() < 0.5
    low, high = limits(field)
    if parts == [int]:
        return chance.randint(math.ceil(low), math.floor(high))
    if parts == [float]:
        return _number(low, high, chance)
    return None


def _number(low: float, high: float, chance: random.Random) -> float:
    """Return a random number, occasionally the least; uniform, or log-uniform if positive."""
    if chance.random() < 0.15:
        return low
    if low >= 0.0 and chance.random() < 0.5:
        smallest = max(low, SMALLEST)
        logs = chance.uniform(math.log(smallest), math.log(max(high, smallest)))
        return min(max(float(f"{math.exp(logs):.3g}"), low), high)
    return min(max(float(f"{chance.uniform(low, high):.3g}"), low), high)
