"""What training by the form shares with its helpers: requests, children, who may intercept them."""

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
    """What a run that goes on from another one is called, and from when to when it is trained, in
    the schedule's coordinate."""

    name: str
    heading: str
    since: float
    until: float


class Aside(Protocol):
    """Who may take what Run is pressed for, in place of training it from the start."""

    def take(self, study: Study) -> bool: ...


class Scale(Protocol):
    """Whether experiments may be trained side by side; else it says why, or asks and goes on."""

    def lets(self, experiments: Sequence[Experiment], go_on: Callable[[], None]) -> bool: ...
