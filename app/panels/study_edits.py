"""A study being edited: what was typed, the study that follows from it, and what is wrong.

Without Qt. Nothing typed is ever lost: the texts stay as they are while they are wrong, and those
of one kind come back when the kind does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from app.panels.fields import ONLY_WITH, Field, axis_text, fields_of, text_of, value_of
from app.state.edits import Edits
from core.errors import Clause, InputError
from core.studies.study import Study
from core.study_file.experiment import KINDS
from core.study_file.validation import DEFAULT_KINDS


@final
@dataclass(frozen=True, slots=True)
class EditOutcome:
    """The study as edited, None while something is wrong; problems by key, or by "" for all."""

    study: Study | None
    problems: Mapping[str, str]


@final
class StudyEdits:
    """The edits of one study."""

    def __init__(self, study: Study) -> None:
        self.base = study
        self._kinds: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._latest: list[str] = []  # keys in the order of their last edit
        self._switched = study

    @classmethod
    def of(cls, value: Edits) -> StudyEdits:
        """Those of a frozen value; kinds and keys that there are none of are left out."""
        edits = cls(value.base)
        for section, kind in value.kinds:
            if kind in KINDS.get(section, ()):
                edits.set_kind(section, kind)
        edits._texts = {key: text for key, text in value.texts if "." in key}
        edits._latest = list(value.latest)
        return edits

    @property
    def value(self) -> Edits:
        """All edits as one frozen value; texts that say what stood there before are none."""
        typed = tuple(
            (key, text)
            for key, text in self._texts.items()
            if (field := self.field(key)) is None or text != self.original(field)
        )
        kinds = tuple(
            (section, kind)
            for section, kind in self._kinds.items()
            if kind != self._kind_before(section) or f"{section}.kind" in self.base.axes
        )
        return Edits(self.base, kinds, typed, tuple(self._latest))

    def _kind_before(self, section: str) -> str:
        return str(self.base.tables.get(section, {}).get("kind", DEFAULT_KINDS[section]))

    # ------------------------------------------------------------------------------- reading

    def kind(self, section: str) -> str:
        """The present kind of a section; a plain section has none."""
        if section not in KINDS:
            return ""
        table = self._switched.tables.get(section, {})
        return str(table.get("kind", DEFAULT_KINDS[section]))

    def kind_axis(self, section: str) -> tuple[str, ...]:
        """The kinds that the study varies over, as long as no other one was chosen."""
        return self._switched.axes.get(f"{section}.kind", ())

    def fields(self, section: str) -> tuple[Field, ...]:
        """The fields that the section has now."""
        return fields_of(section, self.kind(section))

    def field(self, key: str) -> Field | None:
        """The field of a dotted key, None where the present kind has no such key."""
        section = key.partition(".")[0]
        return next((field for field in self.fields(section) if field.key == key), None)

    def text(self, field: Field) -> str:
        """What stands in a field now."""
        return self._texts.get(field.key, self.original(field))

    def original(self, field: Field) -> str:
        """What stood in a field before it was edited."""
        axis = self._switched.axes.get(field.key)
        if axis is not None:
            return axis_text(axis)
        table = self._switched.tables.get(field.section, {})
        return text_of(table.get(field.name, field.default))

    def edited(self, field: Field) -> bool:
        """Whether a field says something else than before."""
        return self.text(field).strip() != self.original(field)

    def is_axis(self, field: Field) -> bool:
        """Whether the study as loaded varies over a field."""
        return field.key in self._switched.axes

    def can_be_edited(self, field: Field) -> bool:
        """Whether a text can say all that the study says: an axis of lists is for study files."""
        axis = self._switched.axes.get(field.key, ())
        return not field.read_only and not any(isinstance(value, list | tuple) for value in axis)

    def is_shown(self, field: Field) -> bool:
        """Whether a field means something beside the present value of the one it depends on.

        What only the program sets is shown where there is something.
        """
        if field.read_only:
            return bool(self.text(field))
        if field.key not in ONLY_WITH:
            return True
        other_key, value = ONLY_WITH[field.key]
        other = self.field(other_key)
        return bool(self.text(field)) or (other is not None and value in self.text(other))

    # ------------------------------------------------------------------------------- editing

    def set_text(self, key: str, text: str) -> None:
        """What was typed into a field."""
        self._texts[key] = text
        self._note(key)

    def restore(self, key: str) -> None:
        """Take back what was typed into a field."""
        self._texts.pop(key, None)

    def set_kind(self, section: str, kind: str) -> None:
        """Another kind of a section; keys that both kinds have keep their values."""
        self._kinds[section] = kind
        self._note(f"{section}.kind")
        # From the start again: keys that a kind dropped are there once more when it goes.
        self._switched = self.base
        for part, chosen in self._kinds.items():
            if chosen != self._kind_before(part) or f"{part}.kind" in self.base.axes:
                self._switched = self._switched.with_value(f"{part}.kind", chosen)

    def _note(self, key: str) -> None:
        self._latest = [other for other in self._latest if other != key] + [key]

    def keep_kinds(self, section: str) -> None:
        """Vary over the kinds again that the study came with."""
        self._kinds.pop(section, None)
        for part, chosen in dict(self._kinds).items():
            self.set_kind(part, chosen)
        if not self._kinds:
            self._switched = self.base

    def outcome(self) -> EditOutcome:
        """The study that follows from all edits, or what is wrong with them."""
        study = self._switched
        typed: dict[str, str] = {}
        for key in self._texts:
            field = self.field(key)
            # A text of a key that the present kind does not have waits for the kind that has it.
            if field is None or not self.edited(field):
                continue
            value = value_of(field, self.text(field), self.is_axis(field))
            try:
                study = study.with_value(key, value)
            except InputError as error:
                typed[key] = _sentence(error.text)
        problems: dict[str, str] = {}
        for refused in study.errors():
            problems = self._located(refused) | problems  # the first refusal of a key is said
        # Last: what could not even be put into the study is the sentence that its field shows.
        problems |= typed
        return EditOutcome(None if problems else study, problems)

    def _located(self, error: InputError) -> dict[str, str]:
        """What is wrong by the key that it is about: of several the one edited last."""
        sentences: dict[str, str] = {}
        for clause in error.clauses or (Clause(error.text),):
            keys = [key for key in clause.keys if key.endswith(".kind") or self.field(key)]
            edited = [key for key in self._latest if key in keys]
            key = edited[-1] if edited else next(iter(keys), "")
            sentences.setdefault(key, _sentence(clause.text))
        return sentences


def _sentence(clause: str) -> str:
    return clause if clause.endswith((".", "?")) else f"{clause}."
