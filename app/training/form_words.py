"""What is wrong with a setting, in the words of the form rather than in those of a study file."""

from __future__ import annotations

import re
from functools import cache

from app.training.fields import fields_of
from core.study_file.experiment import KINDS
from core.study_file.validation import SECTIONS

# What the checker of types says, and what is meant.
PHRASES = (
    ("must be a valid integer, got a number with a fractional part", "must be a whole number"),
    ("must be a valid integer, unable to parse string as an integer", "a whole number is needed"),
    ("must be a valid number, unable to parse string as a number", "a number is needed"),
    ("must be greater than or equal to", "must be at least"),
    ("must be less than or equal to", "must be at most"),
    ("the axis ", ""),
    ("the axes span", "the values of all fields together make"),
)
_SECTION = "|".join(SECTIONS)
KIND = re.compile(rf"\b({_SECTION})\.kind = (?=[\"'])")
# Not in the name of a file, such as network.m=8.msrun.
KEY = re.compile(rf"(?<![\w/])({_SECTION})\.([a-z]\w*)(\.\d+)?(?![\w=-])")
OWN = re.compile(rf"^({_SECTION}): ")


@cache
def labels() -> dict[str, str]:
    """What every key of a section is called in the form; a kind is called as its section."""
    found = {f"{section}.kind": section for section in SECTIONS}
    for section in SECTIONS:
        for kind in KINDS.get(section, ("",)):
            found |= {field.key: field.label for field in fields_of(section, kind)}
    return found


def in_words(sentence: str) -> str:
    """A sentence about settings as the form has them: labels for keys.

    >>> in_words("dynamics.until_log10_time = -9: must be greater than or equal to -3.")
    'until log10 t = -9: must be at least -3.'
    >>> in_words('network.kind = "scalar" does not go with loss.kind = "squared".')
    'network "scalar" does not go with loss "squared".'
    """
    for told, meant in PHRASES:
        sentence = sentence.replace(told, meant)
    return KEY.sub(_label, KIND.sub(r"\1 ", OWN.sub("", sentence)))


def key_in(sentence: str) -> str:
    """The first key that a sentence names, "" without one.

    >>> key_in("data.n = 70 gives other points than data.path."), key_in("nothing is changed")
    ('data.n', '')
    """
    found = KEY.search(sentence)
    return f"{found[1]}.{found[2]}" if found else ""


def _label(found: re.Match[str]) -> str:
    key = f"{found[1]}.{found[2]}"
    return labels().get(key, found[0])
