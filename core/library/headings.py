"""Headings of runs in the library: what differs from the other runs of their study."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from core.comparison.names import WIDTH, RunDescription
from core.library.entry import RunSummary
from core.numbers import time_text
from core.study_file.words import setting_words
from core.terminal.text import shorten

LONGEST_HEADING = 8  # settings in a heading
# Observation settings, which do not define the run.
DETAILS = frozenset({"recording", "run.device"})
# Of what a study varies, no setting contains these: only the file's name has them.
IN_FILE_NAMES = ("__variant=", "__factor.")


def headings(summaries: Iterable[RunSummary], stems: Iterable[str]) -> list[str]:
    """Return for each run the settings in which it differs from the other runs of its study.

    Runs of a study with variants are named by what the study varies, if this distinguishes them
    as well as all their settings do.

    Parameters
    ----------
    summaries : iterable of RunSummary
        The runs.
    stems : iterable of str
        Names of their files without suffix.

    Returns
    -------
    list of str
        A heading per run: what its study varies, or its width, if no setting differs; empty if
        the run cannot be read.
    """
    runs = list(zip(summaries, stems, strict=True))
    texts = [""] * len(runs)
    titled = sorted(
        (summary.title, place) for place, (summary, _) in enumerate(runs) if summary.readable
    )
    for _, group in groupby(titled, itemgetter(0)):
        places = [place for _, place in group]
        for place, text in zip(places, _of_study([runs[place] for place in places]), strict=True):
            texts[place] = text or _name_alone(*runs[place])
    return texts


def _name_alone(summary: RunSummary, stem: str) -> str:
    """Return what the study of a run varies, else the run's width."""
    run = RunDescription(summary.settings, "", stem)
    return run.words(run.keys or [key for key in (WIDTH,) if key in run.values])


def _of_study(runs: Sequence[tuple[RunSummary, str]]) -> list[str]:
    """Return the headings of the runs of one study."""
    values: list[Mapping[str, object]] = [summary.settings for summary, _ in runs]
    keys = _varied_keys(values)
    if any(mark in stem for _, stem in runs for mark in IN_FILE_NAMES):
        named = [RunDescription(summary.settings, "", stem) for summary, stem in runs]
        values = [run.values for run in named]
        varied = _varied_keys(values, dict.fromkeys(key for run in named for key in run.keys))
        if _count(values, varied) == _count(values, {*keys, *varied}):
            keys = varied
    return [_heading(summary, of, keys) for (summary, _), of in zip(runs, values, strict=True)]


def _varied_keys(
    values: Sequence[Mapping[str, object]], keys: Iterable[str] | None = None
) -> list[str]:
    """Return those keys, of all or of some, that have several values and define a run."""
    first: dict[str, object] = {}
    several = set()
    for settings in values:
        for key, value in settings.items():
            if first.setdefault(key, value) != value:
                several.add(key)
    return [key for key in (first if keys is None else keys) if key in several and _is_telling(key)]


def _is_telling(key: str) -> bool:
    """Return False for settings that identify no run to a reader, such as checksums."""
    if key.endswith(".content"):  # a checksum of given arrays
        return False
    return key not in DETAILS and key.partition(".")[0] not in DETAILS


def _count(values: Sequence[Mapping[str, object]], keys: Collection[str]) -> int:
    """Return how many runs some settings distinguish."""
    return len({tuple(settings.get(key) for key in keys) for settings in values})


def _heading(summary: RunSummary, values: Mapping[str, object], keys: Iterable[str]) -> str:
    """Return settings in the words of the window, and what the run continues."""
    parts = [shorten(setting_words(key, values[key])) for key in keys if key in values]
    if len(parts) > LONGEST_HEADING:
        parts = [*parts[: LONGEST_HEADING - 1], "..."]
    if summary.parent:
        is_branch = summary.changes and not math.isnan(summary.left)
        parts.append(f"branched at {time_text(summary.left)}" if is_branch else "continued")
    return ", ".join(parts)
