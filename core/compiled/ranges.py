"""Ranges within kernels, and the loops over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from llvmlite import ir as llvm

from core.compiled.views import INDEX


@final
@dataclass(frozen=True, slots=True)
class Range:
    """start, start + step, ... below stop; the step is a positive constant."""

    start: Any
    stop: Any
    step: Any

    @classmethod
    def of(cls, first: Any, last: Any = None, step: Any = None) -> Range | None:
        """As Python's `range` takes its arguments; None for another step."""
        step = llvm.Constant(INDEX, 1) if step is None else step
        if not isinstance(step, llvm.Constant) or step.constant <= 0:
            return None
        if last is None:
            return cls(llvm.Constant(INDEX, 0), first, step)
        return cls(first, last, step)


@final
@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over a range: where its next number is kept, the stop and the step."""

    place: Any
    stop: Any
    step: Any
