"""Names of runs: the settings in which they differ, in words.

Window, comparisons and tables name runs by `run_names`, so that a run has one name everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

from core.settings import NOT_RECORDED
from core.studies.formulas import FACTOR, VARIANT
from core.studies.tables import value_text
from core.study_file.words import label_of, number_names, setting_words
from core.terminal.text import shorten

MOST_IN_NAME = 3
ABSENT = "\u2013"
CONTENT = ".content"  # suffix of keys that hold checksums of given arrays
WIDTH = "network.m"
ORIGINAL = "original"
# Settings that name runs only if no other settings differ.
INCIDENTAL = (
    "dynamics.until_log10_time",
    "recording.",
    "run.device",
    "network.init_path",
    "data.path",
    "data.understood",
)
# Single dashes in a variant's name were spaces, except for the sign of a power of ten.
DASH = re.compile(r"(?<!\de)-|-(?!\d)")
# The window appends a date and time to its file names.
MOMENT = re.compile(r"__\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(-\d+)?$")

Settings = Mapping[str, Any]


@final
@dataclass(frozen=True)
class RunDescription:
    """Facts that name a run: settings by dotted key, title, name of its file without suffix.

    `own_name` is the name that the user gave the run, which replaces all others.
    `branch` is the change of a branch and its moment, `continued` the moment from which a run
    continues unchanged. Of the file's name only the keys count, which are those that its study
    varies, and the values that no setting contains: the name of a variant, and factors.
    """

    settings: Settings
    title: str = ""
    stem: str = ""
    branch: str = ""
    continued: str = ""
    own_name: str = ""
    values: Settings = field(init=False)
    keys: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        parts = [part.partition("=") for part in MOMENT.sub("", self.stem).split("__")[1:]]
        shared = {key: text for key, equals, text in parts if equals}
        variant = {VARIANT: variant_words(shared[VARIANT])} if VARIANT in shared else {}
        factors = {key: text for key, text in shared.items() if is_factor(key)}
        settings = {key: setting_of(key, text, self.settings) for key, text in factors.items()}
        values = {**self.settings, **variant, **factors}
        keys = [settings.get(key) or key for key in shared if key in values]
        if "data.points" in keys and "data.kind" in keys:
            keys.remove("data.kind")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "keys", tuple(keys))

    @property
    def study(self) -> str:
        """Name of the study, if the file has one."""
        return self.stem.partition("__")[0]

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Values as texts that are equal for equal settings."""
        return {key: setting_text(value) for key, value in self.values.items()}

    def words(self, keys: Sequence[str]) -> str:
        """Return some settings in words, the first ones if they are many."""
        n_unnamed = len(keys) - MOST_IN_NAME
        remainder = f" and {n_unnamed} more" if n_unnamed > 0 else ""
        return (
            ", ".join(shorten(self._describe_setting(key)) for key in keys[:MOST_IN_NAME])
            + remainder
        )

    def _describe_setting(self, key: str) -> str:
        value = self.values.get(key)
        return f"{label_of(key)} {ABSENT}" if value is None else setting_words(key, value)


def is_factor(key: str) -> bool:
    """Return True for a quantity of a study from which formulas derive settings."""
    return key.startswith(f"{FACTOR}.")


def setting_of(factor: str, text: str, settings: Settings) -> str:
    """Return the setting with the name and the value of a factor.

    Parameters
    ----------
    factor : str
        Column of a sweep's factor, with the prefix "factor.".
    text : str
        Value of the factor, as text.
    settings : mapping of str to any
        Values of a run's settings, by their full names.

    Returns
    -------
    str
        First setting whose name ends with that of the factor and whose value is equal; "" for none.

    Examples
    --------
    >>> setting_of("factor.scale", "0.1", {"network.scale": 0.1, "network.m": 16})
    'network.scale'
    >>> setting_of("factor.scale", "0.1", {"network.scale": 0.2})
    ''
    """
    name = factor.removeprefix(FACTOR)
    matches = (key for key, value in settings.items() if key.endswith(name))
    return next((key for key in matches if same_number(settings[key], text)), "")


def same_number(value: object, text: str) -> bool:
    """Return True if a setting is a number, equal to that of a text in a file's name."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return float(text) == value
    except ValueError:
        return False


def variant_words(name: str) -> str:
    """Return the name of a variant from that in a file name.

    >>> variant_words("with-batch-norm"), variant_words("lambda---1e-2--m---8")
    ('with batch norm', 'lambda = 1e-2, m = 8')
    """
    return DASH.sub(" ", name.replace("---", " = ").replace("--", ", "))


def setting_text(value: object) -> str:
    """Return a value as one line of text, equal for equal values; `ABSENT` for None."""
    if value is None or value == NOT_RECORDED:
        return ABSENT if value is None else NOT_RECORDED
    return " ".join(value_text(value).split())


def run_names(runs: Sequence[RunDescription]) -> list[str]:
    """Return the names of runs side by side: their differing settings, and numbers for repeats.

    A branch is named by its change; a run that shares its settings with all branches beside it is
    the original, or continued. Runs whose settings do not differ are named by those that their
    study varies, else by their title or width. A name given by the user replaces that of a run.

    >>> paths = ["a__network.m=16__run.seed=0", "a__network.m=16__run.seed=1"]
    >>> runs = [RunDescription({"network.m": 16, "run.seed": k}, "", paths[k]) for k in (0, 1)]
    >>> run_names(runs), run_names(runs[:1] * 2)
    (['seed 0', 'seed 1'], ['m = 16, seed 0', 'm = 16, seed 0 (2)'])
    """
    branches = [run.branch for run in runs]
    alone = [run.branch if branches.count(run.branch) == 1 else "" for run in runs]
    roots = [run for run, branch in zip(runs, alone, strict=True) if not branch]
    words = iter(_add_lineage(runs, roots, _words(roots, branched=len(roots) < len(runs))))
    names = [branch or next(words) or "run" for branch in alone]
    return number_names(run.own_name or name for run, name in zip(runs, names, strict=True))


def _add_lineage(
    runs: Sequence[RunDescription], roots: Sequence[RunDescription], words: Sequence[str]
) -> list[str]:
    """Return the names of the `roots`, the runs without a change of their own.

    >>> again = RunDescription({"network.m": 8}, continued="t = 316")
    >>> _add_lineage([again, again], [again, again], ["m = 8", "m = 16"])
    ['m = 8', 'm = 16']
    """
    if len(roots) == 1 < len(runs):
        (root,) = roots
        keys = [key for key in root.keys if not is_factor(key)] or [WIDTH]
        if all(run.texts.get(key) == root.texts.get(key) for run in runs for key in keys):
            return [_continuation_text(root) or ORIGINAL]
    repeated = [words.count(name) > 1 for name in words]
    return [
        ", ".join(filter(None, (name, _continuation_text(run) if is_repeated else "")))
        for run, name, is_repeated in zip(roots, words, repeated, strict=True)
    ]


def _continuation_text(run: RunDescription) -> str:
    """Return "continued from ..." of a run that continues another one unchanged, else ""."""
    return f"continued from {run.continued}" if run.continued else ""


def _words(runs: Sequence[RunDescription], branched: bool) -> list[str]:
    """Return names without numbers; "" for a run of which nothing is known.

    Beside branches the title would name them all.
    """
    keys = naming_keys(runs)
    studies = {run.study for run in runs}
    if len(studies) > 1 and all(run.keys for run in runs):
        names = [run.words(run.keys) for run in runs]
        if len(set(names)) == len(names):
            return names
    differ_in_arrays = any(key.endswith(CONTENT) for key in differing_keys(runs))
    if differ_in_arrays and len({run.title for run in runs if run.title}) == len(runs):
        return [shorten(run.title) for run in runs]
    if keys or differ_in_arrays:
        return _words_of_keys(runs, keys)
    return [run.words(run.keys) or _name_alone(run, branched) for run in runs]


def _words_of_keys(runs: Sequence[RunDescription], keys: Sequence[str]) -> list[str]:
    """Return the runs' values of some keys in words, without absent ones if none are needed.

    >>> drawn = RunDescription({"data.points": "a", "network.m": 16})
    >>> _words_of_keys([drawn, RunDescription({"network.m": 8})], ["data.points", "network.m"])[1]
    'm = 8'
    """
    complete = [run.words(keys or run.keys) for run in runs]
    present = [
        run.words([key for key in keys or run.keys if run.values.get(key) is not None])
        for run in runs
    ]
    return present if all(present) and len(set(present)) == len(set(complete)) else complete


def _name_alone(run: RunDescription, branched: bool) -> str:
    """Return the title, else the width, of a run whose study varies nothing; "" without both.

    Beside branches (`branched`) the width comes first.
    """
    title, width = shorten(run.title), _width(run)
    return (width or title) if branched else (title or width)


def _width(run: RunDescription) -> str:
    return run.words([WIDTH]) if WIDTH in run.values else ""


def differing_keys(runs: Sequence[RunDescription]) -> list[str]:
    """Return the settings in which runs differ, without their variant and factors."""
    every = dict.fromkeys(
        key for run in runs for key in run.values if key != VARIANT and not is_factor(key)
    )
    return [key for key in every if len({run.texts.get(key, ABSENT) for run in runs}) > 1]


def naming_keys(runs: Sequence[RunDescription]) -> list[str]:
    """Return the settings by which runs are named: the fewest that distinguish as many as all do.

    The settings that the study varies come first. Others follow from these, such as n from d, and
    all that a factor gives from the factor: runs side by side are named by the settings.
    """
    every = [key for key in differing_keys(runs) if not key.endswith(CONTENT)]
    hints = dict.fromkeys(key for run in runs for key in run.keys if not is_factor(key))
    varied = [key for key in hints if len({run.texts.get(key, ABSENT) for run in runs}) > 1]
    lasting = [key for key in every if not key.startswith(INCIDENTAL)]
    # Of two kinds, such as flow and descent, each has settings that the other lacks.
    shared = [key for key in lasting if all(key in run.values for run in runs)]
    shared, lasting, every = (
        list(dict.fromkeys((*varied, *keys))) for keys in (shared, lasting, every)
    )
    target = _count(runs, every)
    return next((some for some in (varied, shared, lasting) if _count(runs, some) == target), every)


def _count(runs: Sequence[RunDescription], keys: Sequence[str]) -> int:
    """Return how many different values some settings have together."""
    return len({tuple(run.texts.get(key, ABSENT) for key in keys) for run in runs})
