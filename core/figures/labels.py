"""Words for what runs have in common, and for what tells them apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from core.comparison.description import describe
from core.comparison.names import WIDTH, run_names
from core.figures.numbers import math_text, math_words
from core.figures.primitives import NO_BREAK, plain
from core.numbers import time_text
from core.runs import Run
from core.runs.settings import known_settings, unknown_settings
from core.study_file.dynamics import RecordedLoop
from core.study_file.words import setting_words

Fields = dict[str, Any]

# In the order of the settings line; other fields are named only if they differ between runs.
SETTINGS = (
    "data.kind",
    "data.d",
    "data.n",
    "data.k",
    "network.kind",
    "network.m",
    "loss.kind",
    "dynamics.kind",
    "dynamics.step",
    "run.seed",
    "data.seed",
    "network.seed",
)
# Settings that do not define a run: device, number of frames, file names.
NEVER_NAMED = ("recording.", "run.device", "network.init_path", "data.path", "data.understood")


def fields(run: Run) -> Fields:
    """Return the experiment of a run as dotted key -> value."""
    tables, unknown = known_settings(run), unknown_settings(run)
    if not isinstance(run.experiment.dynamics, RecordedLoop):
        tables.pop("optimizer", None)  # the words of the dynamics include it
    return {
        f"{section}.{name}": value
        for section, table in tables.items()
        for name, value in table.items()
        if not (key := f"{section}.{name}").startswith(NEVER_NAMED) and key not in unknown
    }


def phrase(key: str, value: Any) -> str:
    """Return a field of an experiment in words, as mathtext."""
    return symbol_words(setting_words(key, value))


def symbol_words(words: str) -> str:
    """Return settings in words as mathtext, with single letters as symbols."""
    parts = (math_text(plain(part)) for part in words.split(", "))
    return ", ".join(re.sub(r"^([a-z]) = ", r"$\1$ = ", part) for part in parts)


def headings(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return a heading for each run, as mathtext: its name beside the others.

    A run alone has the settings that its study varies, or its width: the title is the figure's.
    """
    described = [describe(run) for run in runs]
    names = run_names(described)
    if len(runs) == 1 and not (described[0].keys or described[0].own_name):
        names = [described[0].words([WIDTH])]
    return tuple(
        (math_words(plain(name)) if one.own_name else symbol_words(name)) + _ending_text(run)
        for one, name, run in zip(described, names, runs, strict=True)
    )


def _ending_text(run: Run) -> str:
    """Return words for a run that did not end as planned; "" for others."""
    if run.reason in (None, "completed"):
        return ""
    return f", {str(run.reason).replace('_', ' ')}"


def settings_line(runs: Sequence[Run], lasts: Sequence[int]) -> str:
    """Return what all runs have in common, and the last time shown, in words."""
    alone = describe(runs[0]) if len(runs) == 1 else None
    in_heading = set(alone.keys or [WIDTH]) if alone is not None and not alone.own_name else ()
    values = fields(runs[0])
    shared = [fields(run) for run in runs]
    # Seeds do not apply to another program's loop.
    seedless = any(run.is_external for run in runs)
    parts = [
        phrase(key, values[key])
        for key in SETTINGS
        if key not in in_heading
        and not (seedless and key.endswith(".seed"))
        and values.get(key) is not None
        and all(table.get(key) == values[key] for table in shared)
    ]
    ends = [
        time_text(float(run.log10_time[last]), run.counts_steps)
        for run, last in zip(runs, lasts, strict=True)
    ]
    distinct = ends[:1] if len(set(ends)) == 1 else ends
    parts.append("shown to " + " and ".join(math_text(end) for end in distinct))
    return ", ".join(parts).replace(" = ", NO_BREAK + "=" + NO_BREAK)


def titles(runs: Sequence[Run]) -> tuple[str, str]:
    """Return title and source of a figure: those of the runs, joined where they differ."""
    words = []
    for attribute in ("title", "source"):
        texts = dict.fromkeys(plain(getattr(run, attribute)) for run in runs)
        words.append("; ".join(filter(None, texts)))
    return words[0], words[1]
