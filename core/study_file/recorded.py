"""The dynamics of a run that another program trained, and of which it did not say how."""

from __future__ import annotations

from typing import ClassVar, Literal, final

from core.settings import setting
from core.study_file.dynamics_section import DynamicsSection


@final
class RecordedLoop(DynamicsSection):
    title: ClassVar[str] = "the steps of another program, recorded as they were; not trained here"
    words: ClassVar[str] = "a recorded loop"
    source: ClassVar[str] = "the user's own"
    fits_targets: ClassVar[bool] = True

    kind: Literal["recorded"] = "recorded"
    until_log10_time: float = setting(
        0.0, meaning="where the recording ends, as far as it was said", unit="log10 t", ge=-8, le=15
    )
