"""Numbers that a loop passes beside its frames: which are kept, and under what names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from core.errors import InputError
from core.run_files.schema import MAX_METRICS, MAX_NAME, NUMBER_NAME

ALLOWED = f"letters, digits and _, joined by single . / or -, at most {MAX_NAME} characters"


@final
class LoopNumbers:
    """The names that a recording has seen: each is a column of its tables."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def take(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the numbers by name.

        Raises InputError for a value that is not one number, for a name that a column cannot have,
        and for more than `MAX_METRICS` names in one recording.
        """
        numbers = {name: _as_number(name, value) for name, value in values.items()}
        for name in numbers:
            if name not in self._names:
                self._add(name)
        return numbers

    def _add(self, name: str) -> None:
        if not NUMBER_NAME.fullmatch(name):
            raise InputError(
                f"{name[:MAX_NAME]!r} is no name of a number; use {ALLOWED}, such as val_acc or "
                "train/loss."
            )
        if len(self._names) >= MAX_METRICS:
            raise InputError(
                f"at most {MAX_METRICS} names of numbers are kept in one recording, and {name} is "
                "one more; leave it out, or keep it elsewhere."
            )
        self._names.add(name)


def _as_number(name: str, value: Any) -> float:
    try:
        # A loss of PyTorch still has its gradient, of which float would warn, as it does of an
        # array of NumPy with one element.
        bare = value.detach() if hasattr(value, "detach") else value
        return float(bare.item() if hasattr(bare, "item") else bare)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise InputError(
            f"{name[:MAX_NAME]} is not one number; only those go with a frame."
        ) from error
