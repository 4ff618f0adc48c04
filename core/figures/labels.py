"""Words for what runs have in common, and for what tells them apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from core.figures.numbers import math_text
from core.figures.primitives import NO_BREAK, plain
from core.numbers import time_text
from core.runs import Run
from core.runs.settings import known_settings, unknown_settings
from core.study_file.dynamics import RecordedLoop
from core.study_file.words import number_names, setting_words
from core.terminal.text import shorten

Fields = dict[str, Any]

# In the order of the settings line; other fields are named only where they tell runs apart.
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
# Where a run was computed, how often it was recorded and what files were called is not what it is.
NEVER_NAMED = ("recording.", "run.device", "network.init_path", "data.path", "data.understood")
CONTENT = ".content"  # how the keys of checksums of given arrays end


def fields(run: Run) -> Fields:
    """Return the experiment of a run as dotted key -> value."""
    tables, unknown = known_settings(run), unknown_settings(run)
    if not isinstance(run.experiment.dynamics, RecordedLoop):
        tables.pop("optimizer", None)  # the dynamics says it
    return {
        f"{section}.{name}": value
        for section, table in tables.items()
        for name, value in table.items()
        if not (key := f"{section}.{name}").startswith(NEVER_NAMED) and key not in unknown
    }


def phrase(key: str, value: Any) -> str:
    """Return a field of an experiment in words, as mathtext."""
    words = math_text(plain(setting_words(key, value)))
    return re.sub(r"^([a-z]) = ", r"$\1$ = ", words)


def differing_keys(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the dotted keys in which runs differ, of different kinds those that all have.

    The horizon is named only where nothing else differs. Checksums of given arrays name nothing.
    """
    keys = _differing_keys(runs)
    lasting = [key for key in keys if key != "dynamics.until_log10_time"]
    return tuple(key for key in lasting or keys if not key.endswith(CONTENT))


def _differing_keys(runs: Sequence[Run]) -> list[str]:
    tables = [fields(run) for run in runs]
    shared = [key for key in tables[0] if all(key in table for table in tables)]
    return [key for key in shared if any(table[key] != tables[0][key] for table in tables)]


def headings(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return a heading for each run: what tells it apart, or the width of a single run.

    Runs of different given arrays have their titles, if these differ. Repeats are numbered.
    """
    keys = differing_keys(runs) if len(runs) > 1 else ("network.m",)
    titles = [plain(shorten(run.title)) for run in runs]
    texts = []
    for run, title in zip(runs, titles, strict=True):
        values = fields(run)
        parts = [phrase(key, values[key]) for key in keys if values[key] is not None]
        texts.append(", ".join(parts) or title or "run")
    if any(key.endswith(CONTENT) for key in _differing_keys(runs)) and all(titles):
        texts = titles if len(set(titles)) == len(titles) else texts
    texts = number_names(texts)
    return tuple(text + _ending_text(run) for text, run in zip(texts, runs, strict=True))


def _ending_text(run: Run) -> str:
    """Return words for a run that did not end as planned; "" for others."""
    if run.reason in (None, "completed"):
        return ""
    return f", {str(run.reason).replace('_', ' ')}"


def settings_line(runs: Sequence[Run], lasts: Sequence[int]) -> str:
    """Return what all runs have in common, and the last time shown, in words."""
    different = set(differing_keys(runs)) if len(runs) > 1 else {"network.m"}
    values = fields(runs[0])
    shared = [fields(run) for run in runs]
    # Another program's loop has drawn nothing by a seed of this one.
    seedless = any(run.is_external for run in runs)
    parts = [
        phrase(key, values[key])
        for key in SETTINGS
        if key not in different
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
