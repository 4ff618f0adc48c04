"""Types that training by the form shares with its helpers: requests, children, interceptors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, final

from core.studies.study import Study
from core.study_file.experiment import Experiment

Repeat = Callable[[], object]  # does once more what the user requested


@final
@dataclass(frozen=True, slots=True)
class Child:
    """Name and heading of a continued run; start and end in the schedule's coordinate."""

    name: str
    heading: str
    since: float
    until: float


class Aside(Protocol):
    """Interceptor of Run: `take` returns True if it does the work itself."""

    def take(self, study: Study) -> bool: ...


class Scale(Protocol):
    """Guard of the machine: `lets` returns True, or explains why not, or asks and calls `go_on`."""

    def lets(self, experiments: Sequence[Experiment], go_on: Callable[[], None]) -> bool: ...
