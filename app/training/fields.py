"""Fields of a form, read from the sections of an experiment: names, texts and values.

This module does not use Qt. `value_of` converts the text of a field to the value in a study file;
only the experiment's validator judges it. `in_words` puts a sentence about study files into the
words of the form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, final, get_args, get_origin

from core.numbers import is_ambiguous
from core.settings import NOT_RECORDED, Section
from core.studies.formulas import FACTOR, VARIANT
from core.studies.study import Study
from core.study_file.experiment import KINDS, PLAIN_SECTIONS
from core.study_file.validation import SECTIONS

# Labels for keys that are not words, too long for a narrow panel, or too vague.
LABELS = {
    "until_log10_time": "end at log\u2081\u2080 t",
    "log10_times": "extra frames at",
    "init_path": "start file",
    "init": "initialisation",
    "l2": "penalty \u03bb\u2016\u0398\u2016\u00b2",
    "l23": "penalty \u03a3\u2016\u03b8\u2c7c\u2016\u00b3",
    "content": "checksum",
    "step": "step size",
}
# Meaning of an empty field.
EMPTY = {
    "data.seed": "same as the run's seed",
    "network.seed": "same as the run's seed",
    "dynamics.step": "automatic",
    "dynamics.variance": "1/d",
    "data.d": "as in the data",
    "data.n": "all examples",
    "data.label": "from the file name",
    "data.header": "detected from the file",
    "data.path": "choose a file",
    "network.init_path": "choose a file",
    "network.m": "as in the file",
}
# Text of an empty list, if it differs from the meaning of an empty field.
EMPTY_LIST = {"data.classes": "all"}
# Section of the form for what a study varies besides settings: its factors and variants.
VARIED = "study"
# Fields that matter only with certain values of another field.
ONLY_WITH = {
    "network.init_path": ("network.init", ("file",)),
    "network.scale": ("network.init", ("balanced", "dominated")),
}
FACTOR_MEANS = "factor in the study's formulas for derived settings"
VARIANT_MEANS = "variants of the study to train; each variant changes several settings at once"
PATHS = ("path", "init_path")
SET_BY_PROGRAM = ("content", "understood")
SEPARATOR = re.compile(r"\s*[,;]\s*")
ROW_END = re.compile(r"\s*(?:\]\s*,?\s*\[|;)\s*")
NUMBER_END = re.compile(r"\s*,\s*|\s+")
TRUTHS = ("false", "true")
# Message of the type checker -> sentence for the user.
PHRASES = (
    ("must be a valid integer, got a number with a fractional part", "must be a whole number"),
    ("must be a valid integer, unable to parse string as an integer", "enter a whole number"),
    ("must be a valid number, unable to parse string as a number", "enter a number"),
    ("must be greater than or equal to", "must be at least"),
    ("must be less than or equal to", "must be at most"),
    ("log10 t", "log\u2081\u2080 t"),
    ("the axis ", ""),
    ("the axes span", "the values of all fields together give"),
)
_SECTION = "|".join(SECTIONS)
KIND = re.compile(rf"\b({_SECTION})\.kind = (?=[\"'])")
# Not within a file name such as network.m=8.msrun.
KEY = re.compile(rf"(?<![\w/])({_SECTION})\.([a-z]\w*)(\.\d+)?(?![\w=-])")
OWN = re.compile(rf"^({_SECTION}): ")


@final
@dataclass(frozen=True, slots=True)
class Field:
    """One key of a section.

    `choices` are those of a Literal, or false and true; `many` marks a tuple of numbers.
    """

    section: str
    name: str
    default: Any
    meaning: str
    unit: str = ""
    source: str = ""
    advanced: bool = False
    choices: tuple[str, ...] = ()
    many: bool = False
    whole: bool = False  # whole numbers only
    words: bool = False
    truth: bool = False  # true or false, chosen from a list
    rows: bool = False  # lists of lists, such as points
    unknown: bool = False  # not recorded by another program's loop

    @property
    def key(self) -> str:
        """Key in study files: section.name, factor.NAME or variant."""
        return f"{self.section}.{self.name}" if self.section else self.name

    @property
    def label(self) -> str:
        """Label in the form: a phrase for the name, or the name with spaces."""
        return LABELS.get(self.name, self.name.replace("_", " "))

    @property
    def read_only(self) -> bool:
        """True if the program sets the value, and the user cannot."""
        return self.name in SET_BY_PROGRAM

    @property
    def placeholder(self) -> str:
        """Grey text of the empty field."""
        return NOT_RECORDED if self.unknown else self.default_text

    @property
    def default_text(self) -> str:
        """Value that the program uses for an empty field."""
        if self.default is None or self.default == ():
            return "none" if self.read_only else EMPTY.get(self.key, "none")
        return text_of(self.default)

    @property
    def explanation(self) -> str:
        """Key, meaning, unit, default and source, for a tooltip."""
        lines = [f"{self.key}: {self.meaning}."]
        if self.unit:
            lines.append(f"Unit: {self.unit}.")
        if self.choices:
            lines.append(f"One of {', '.join(self.choices)}.")
        lines.append(f"Default: {self.default_text}.")
        if self.unknown:
            lines.append(
                "The recording does not contain this setting; training here uses the default."
            )
        if self.source:
            lines.append(f"Source: {self.source}.")
        if self.rows:
            lines.append("Separate numbers with commas and rows with semicolons.")
        if not (self.words or self.many or self.choices or self.rows):
            lines.append("One run per value, e.g. 1, 2.")
        return "\n".join(lines)


def section_of_key(key: str) -> str:
    """Return the section of the form that contains a key.

    >>> section_of_key("network.m"), section_of_key("factor.c"), section_of_key("variant")
    ('network', 'study', 'study')
    """
    section = key.partition(".")[0]
    return VARIED if section in (FACTOR, VARIANT) else section


def varied_fields(study: Study) -> tuple[Field, ...]:
    """Return a field for each factor of a study, and one for its variants."""
    factors = [key.partition(".")[2] for key in study.axes if key.startswith(f"{FACTOR}.")]
    fields = [Field(FACTOR, name, None, FACTOR_MEANS) for name in factors]
    if study.variants:
        fields.append(Field("", VARIANT, None, VARIANT_MEANS, words=True))
    return tuple(fields)


def section_of(section: str, kind: str) -> type[Section]:
    """Return the class of a section of a kind; plain sections have no kind."""
    return PLAIN_SECTIONS[section] if section in PLAIN_SECTIONS else KINDS[section][kind]


def fields_of(section: str, kind: str) -> tuple[Field, ...]:
    """Return the fields of a section of a kind, in the order of its class."""
    return _build_fields(section, section_of(section, kind))


@cache
def _build_fields(section: str, cls: type[Section]) -> tuple[Field, ...]:
    """Build the fields of a class, once: the form needs them at each key press."""
    fields = []
    for name, info in cls.model_fields.items():
        if name == "kind":
            continue
        schema = info.json_schema_extra
        extra: dict[str, Any] = dict(schema) if isinstance(schema, dict) else {}
        options = _alternatives(info.annotation)
        choices = [text for option in options for text in _choices(option)]
        rows = any(_holds_rows(option) for option in options)
        plain = {part for option in options for part in (option, *get_args(option))}
        fields.append(
            Field(
                section,
                name,
                info.get_default(),
                info.description or "",
                extra.get("unit", ""),
                extra.get("source", "") or cls.source,
                bool(extra.get("advanced", False)),
                tuple(choices),
                whole=int in plain and float not in plain,
                many=not rows and any(get_origin(option) is tuple for option in options),
                words=str in options,
                truth=bool in options,
                rows=rows,
            )
        )
    return tuple(fields)


def _holds_rows(annotation: Any) -> bool:
    """Return True for a type of tuples of tuples."""
    inner = get_args(annotation)[:1]
    return get_origin(annotation) is tuple and any(get_origin(one) is tuple for one in inner)


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    """Return the types of a union other than None; of another type, itself."""
    if get_origin(annotation) in (Union, UnionType):
        return tuple(part for part in get_args(annotation) if part is not type(None))
    return (annotation,)


def _choices(annotation: Any) -> tuple[str, ...]:
    """Return the values of a list of choices; () for a free value."""
    if annotation is bool:
        return TRUTHS
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def text_of(value: Any) -> str:
    """Return a value as the text of a field.

    >>> text_of(4.0), text_of((1, 2.5)), text_of(None), text_of("paper"), text_of(True)
    ('4', '1, 2.5', '', 'paper', 'true')
    >>> text_of(((0.5, 1.0), (0.25, -1.0)))
    '0.5, 1; 0.25, -1'
    """
    if value is None:
        return ""
    # Before numbers: in Python True is an int.
    if isinstance(value, bool):
        return TRUTHS[value]
    if isinstance(value, list | tuple):
        rows = any(isinstance(item, list | tuple) for item in value)
        return ("; " if rows else ", ").join(text_of(item) for item in value)
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def axis_text(values: Sequence[Any]) -> str:
    """Return the values of an axis as text; a comma marks an axis of one value.

    >>> axis_text((16, 256)), axis_text((16,))
    ('16, 256', '16,')
    """
    return text_of(tuple(values)) + ("," if len(values) == 1 else "")


def value_of(field: Field, text: str, is_axis: bool = False) -> Any:
    """Return the value of a text: None, a number, words, or a list. Never fails.

    >>> m = Field("network", "m", None, "width")
    >>> value_of(m, "16, 256"), value_of(m, " 64 "), value_of(m, ""), value_of(m, "wide")
    ([16, 256], 64, None, 'wide')
    >>> value_of(Field("data", "points", None, "points", rows=True), "0.5, 1; 0.25, -1")
    [[0.5, 1], [0.25, -1]]
    """
    text = text.strip()
    if field.rows and text:
        rows = ROW_END.split(text.strip("[]; "))
        return [[_number(part) for part in NUMBER_END.split(row.strip())] for row in rows]
    if field.many:
        if text and text == EMPTY_LIST.get(field.key):
            return []
        return [_number(part) for part in _parts(text)]
    if not text:
        return field.default
    if field.words or field.choices:
        # A path or a word may contain a comma: split only what was an axis before.
        several = is_axis and "," in text
        parts = _parts(text) if several else [text]
        values = [_truth(part) for part in parts] if field.truth else parts
        return values if several else values[0]
    if SEPARATOR.search(text) or text.startswith("["):
        return [_number(part) for part in _parts(text)]
    return _number(text)


def refusal(field: Field, text: str) -> str:
    """Return why a text is not read, or "": its commas may be decimal ones or separate values.

    >>> refusal(Field("dynamics", "step", None, "step"), "0,5")
    'dynamics.step = 0,5 is ambiguous: one number or several? Enter 0.5, or 0, 5 for several'
    """
    if field.words or field.choices:
        return ""
    rows = ROW_END.split(text.strip("[]; ")) if field.rows else [text.strip()]
    # A row has at least two numbers: a single comma in it separates them.
    wrong = [row for row in rows if is_ambiguous(row.strip("[] "), field.whole or field.rows)]
    if not wrong:
        return ""
    start = f"{field.key} = {text.strip()[:40]} is ambiguous: one number or several?"
    if len(wrong[0]) > 20 or wrong[0].count(",") > 1:
        return f"{start} Use decimal points, and separate numbers with a comma and a space"
    first, second = wrong[0].split(",")
    one = f"{first}{second}" if field.whole else f"{first.replace('.', '')}.{second}"
    return f"{start} Enter {one}, or {first}, {second} for several"


def _parts(text: str) -> list[str]:
    """Return the single values of a typed list, with or without brackets."""
    # A trailing comma marks an axis of one value (`axis_text`).
    inner = text.strip().removeprefix("[").removesuffix("]").strip().rstrip(",;")
    return SEPARATOR.split(inner.strip()) if inner.strip() else []


def _truth(text: str) -> Any:
    """Return True or False for their words, else the text, which the check refuses."""
    return text == TRUTHS[1] if text in TRUTHS else text


def _number(text: str) -> Any:
    """Return an int or float, else the text, which the check refuses."""
    if "_" in text or not text.isascii():  # Python would read these as numbers
        return text
    # int first: float would round a seed of 19 digits.
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@cache
def labels() -> dict[str, str]:
    """Return the label of each key; a kind has the label of its section."""
    titles = {f"{section}.kind": section for section in SECTIONS}
    for section in SECTIONS:
        for kind in KINDS.get(section, ("",)):
            titles |= {field.key: field.label for field in fields_of(section, kind)}
    return titles


def in_words(sentence: str) -> str:
    """Return a sentence about settings with the form's labels for keys.

    >>> in_words("dynamics.until_log10_time = -9: must be greater than or equal to -3.")
    'end at log\u2081\u2080 t = -9: must be at least -3.'
    >>> in_words('network.kind = "scalar" does not go with loss.kind = "squared".')
    'network "scalar" does not go with loss "squared".'
    """
    for phrase, replacement in PHRASES:
        sentence = sentence.replace(phrase, replacement)
    return KEY.sub(_label_of_match, KIND.sub(r"\1 ", OWN.sub("", sentence)))


def key_in(sentence: str) -> str:
    """Return the first key in a sentence, "" without one.

    >>> key_in("data.n = 70 gives other points than data.path."), key_in("nothing is changed")
    ('data.n', '')
    """
    match = KEY.search(sentence)
    return f"{match[1]}.{match[2]}" if match else ""


def _label_of_match(match: re.Match[str]) -> str:
    """Return the form's label for a matched key; the key itself if no field has it."""
    key = f"{match[1]}.{match[2]}"
    return labels().get(key, match[0])
