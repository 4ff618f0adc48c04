"""LLVM's instructions for two numbers of one type."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

# Methods of llvmlite's builder, for floats and for integers.
ARITHMETIC = {
    operator.add: ("fadd", "add"),
    operator.sub: ("fsub", "sub"),
    operator.mul: ("fmul", "mul"),
    operator.truediv: ("fdiv", ""),
}
COMPARISONS = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}


def instruction(builder: Any, function: Any, real: bool) -> Callable[[Any, Any], Any] | None:
    """What makes the instruction for one of Python's operators, if there is one."""
    if function in COMPARISONS:
        ordered = builder.fcmp_unordered if function is operator.ne else builder.fcmp_ordered
        return partial(ordered if real else builder.icmp_signed, COMPARISONS[function])
    method = ARITHMETIC.get(function, ("", ""))[0 if real else 1]
    return getattr(builder, method) if method else None
