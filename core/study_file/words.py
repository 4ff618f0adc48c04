"""Display names of settings and of their values: for captions, headings, titles and the window."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from html.entities import html5
from typing import Any

from core.data.registry import DATA
from core.network.registry import NETWORKS
from core.numbers import number_text, time_text
from core.study_file.dynamics import DYNAMICS
from core.study_file.experiment import LOSSES

# By dotted key: a text with {} for the value, or texts of single values; "" is the text of the
# others.
WORDS: Mapping[str, str | Mapping[str, str]] = {
    "data.kind": "{}",
    "data.points": {"": "{}", "paper": "the paper's points", "symmetric": "symmetric points"},
    "data.seed": "data seed {}",
    "network.kind": "{} network",
    "network.init": {"": "{} start", "file": "own start", "paper": "the paper's start"},
    "network.seed": "network seed {}",
    "loss.kind": "{} loss",
    "loss.l2": "\u03bb = {}",
    "dynamics.kind": "{}",
    "dynamics.step": "step {}",
    "dynamics.scheme": "{} steps",
    "dynamics.accuracy": "accuracy for {}",
    "optimizer.kind": "{}",
    "run.seed": "seed {}",
    "run.precision": "{}",
    "factor.eta": "\u03b7 = {}",
    "factor.decades": {"": "scale = 10^-{}"},
    "variant": "{}",
}
# The attribute `words` of a kind replaces the text above where that does not fit.
KINDS: Mapping[str, Mapping[str, type]] = {
    "data": DATA,
    "network": NETWORKS,
    "loss": LOSSES,
    "dynamics": DYNAMICS,
}
GREEK = re.compile(r"\b(?:alpha|beta|gamma|delta|epsilon|eta|lambda|rho|theta)\b")
SEVERAL_ROWS = "{} drawn points"


def setting_words(key: str, value: Any) -> str:
    """Return a setting in words, with powers as 10^-4; numbers may be texts of file names.

    >>> setting_words("network.m", 8), setting_words("loss.kind", "least_squares")
    ('m = 8', 'least-squares loss')
    >>> setting_words("dynamics.step", "0.1"), setting_words("data.points", [[0.0, 1.0]] * 14)
    ('step .1', '14 drawn points')
    """
    if key == "dynamics.until_log10_time" and _number(value) is not None:
        return f"to {time_text(float(value))}"
    section, _, name = key.partition(".")
    if name == "kind" and section in KINDS and isinstance(value, str):
        kind = KINDS[section].get(value)
        kind = getattr(kind, "section", kind)  # of a network
        if own := getattr(kind, "words", ""):
            return str(own)
    words = WORDS.get(key, f"{label_of(key)} = {{}}")
    text = value_words(value)
    if not isinstance(words, str):
        value_text = words.get(value) if isinstance(value, str) else None
        is_count = key == "data.points" and text.isdigit()
        words = value_text or (SEVERAL_ROWS if is_count else words[""])
    return words.replace("{}", text)


def kind_words(section: str, kind: str) -> str:
    """Return the name of a kind in a list of the kinds of its section.

    >>> kind_words("loss", "least_squares"), kind_words("network", "fixed_outer")
    ('Least-squares', 'Fixed outer layer')
    >>> kind_words("data", "two_cones"), kind_words("dynamics", "plain_flow")
    ('Two cones', 'Gradient flow in plain time')
    """
    words = setting_words(f"{section}.kind", kind)
    # Keeps "own data", since "own" alone would be meaningless.
    words = re.sub(rf"^{section} with |(?<!^own) {section}$", "", words)
    return words[:1].upper() + words[1:]


def label_of(key: str) -> str:
    """Return the name of a setting.

    >>> label_of("network.m"), label_of("network.kind"), label_of("loss.l2")
    ('m', 'network', '\u03bb')
    """
    words = WORDS.get(key, "")
    if isinstance(words, str) and words.endswith("{}") and words != "{}":
        return words.removesuffix("{}").removesuffix(" = ").strip()
    section, _, name = key.rpartition(".")
    return (section if name == "kind" else name).replace("_", " ")


def value_words(value: Any) -> str:
    """Return the value of a setting in words: points as their number, without a noun.

    Names get spaces and Greek letters, and numbers their short form.

    >>> value_words(True), value_words(("seed", "m")), value_words([]), value_words(0.5)
    ('yes', 'seed and m', 'none', '.5')
    >>> value_words([[0.0, 1.0]] * 14), value_words("two_cones"), value_words("lambda")
    ('14', 'two cones', '\u03bb')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple) and len(value) > 1:
        return f"{', '.join(map(value_words, value[:-1]))} and {value_words(value[-1])}"
    if isinstance(value, list | tuple):
        if any(isinstance(one, list | tuple) for one in value):
            return str(len(value))
        return ", ".join(map(value_words, value)) or "none"
    text = str(value)
    if (number := _number(value)) is not None:
        return text if text.lstrip("-").isdigit() else number_text(number)
    rows, mark, _ = text.partition("-rows-")
    if mark and rows.isdigit():
        return rows
    return GREEK.sub(lambda name: html5[f"{name[0]};"], text.replace("_", " "))


def _number(value: Any) -> float | None:
    """Return a number, or the number that a text is; None for other values."""
    try:
        return None if isinstance(value, bool | list | tuple) else float(value)
    except (TypeError, ValueError):
        return None


def number_names(names: Iterable[str]) -> list[str]:
    """Return names, from the second of equal ones on with a number; empty names stay empty.

    >>> number_names(["m = 8", "m = 16", "m = 8"])
    ['m = 8', 'm = 16', 'm = 8 (2)']
    """
    counts: Counter[str] = Counter()
    result = []
    for name in names:
        counts[name] += 1
        result.append(name if counts[name] == 1 or not name else f"{name} ({counts[name]})")
    return result
