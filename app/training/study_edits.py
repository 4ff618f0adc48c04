"""Edits of a study: typed texts, the resulting study, and the problems with them.

This module does not use Qt. Typed texts are never lost: wrong ones remain, and those of one kind
return with that kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, final

from app.training.fields import (
    EMPTY_LIST,
    ONLY_WITH,
    VARIED,
    Field,
    axis_text,
    fields_of,
    refusal,
    section_of,
    section_of_key,
    text_of,
    value_of,
    varied_fields,
)
from core.errors import Clause, InputError
from core.settings import NOT_RECORDED
from core.studies.changes import origin_of, retitle
from core.studies.formulas import FORMULA, VARIANT
from core.studies.study import Study
from core.study_file.experiment import KINDS
from core.study_file.validation import DEFAULT_KINDS, SECTIONS

Pairs = tuple[tuple[str, str], ...]


@final
@dataclass(frozen=True, slots=True)
class Edits:
    """Study with the changes made to it, in their order.

    `kinds`: (section, kind). `texts`: (dotted key, text of its field, valid or not). `latest`: keys
    in the order of their last edit, by which errors find the field that they are about.
    """

    base: Study
    kinds: Pairs = ()
    texts: Pairs = ()
    latest: tuple[str, ...] = ()


DERIVED = "="  # marks a formula
BETWEEN = ";"  # between names of variants
# Texts are stored under a key, OF_KIND and the kind that alone has the key, or SHARED.
OF_KIND, SHARED = " of ", "the others"
MOST_SHOWN = 3  # values of a formula
MOST_EXAMINED = 60  # cells from which these are taken


@final
@dataclass(frozen=True, slots=True)
class EditOutcome:
    """Edited study, None while something is wrong; problems by key, or by "" for all."""

    study: Study | None
    problems: Mapping[str, str]


@final
class StudyEdits:
    """Edits of one study."""

    def __init__(self, study: Study) -> None:
        self.base = study
        self._kinds: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._latest: list[str] = []  # keys in the order of their last edit
        self._switched = study

    @classmethod
    def from_edits(cls, value: Edits) -> StudyEdits:
        """Return edits from a frozen value, without unknown kinds and keys."""
        edits = cls(value.base)
        for section, kind in value.kinds:
            if kind in KINDS.get(section, ()):
                edits.set_kind(section, kind)
        edits._texts = {key: text for key, text in value.texts if "." in key}
        edits._latest = list(value.latest)
        return edits

    @property
    def value(self) -> Edits:
        """Edits as one frozen value, without texts equal to the original."""
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
        """Return the present kind of a section; "" for a plain section."""
        if section not in KINDS:
            return ""
        table = self._switched.tables.get(section, {})
        return str(table.get("kind", DEFAULT_KINDS[section]))

    def kind_axis(self, section: str) -> tuple[str, ...]:
        """Return the kinds that the study varies over, until another one is chosen."""
        return self._switched.axes.get(f"{section}.kind", ())

    def fields(self, section: str) -> tuple[Field, ...]:
        if section == VARIED:
            return varied_fields(self._switched)
        fields, unknown = fields_of(section, self.kind(section)), self.base.unknown
        changed = section in KINDS and self.kind(section) != self._kind_before(section)
        if not unknown or changed:
            return fields
        return tuple(replace(one, unknown=one.key in unknown) for one in fields)

    def field(self, key: str) -> Field | None:
        """Return the field of a dotted key; None if the present kind has no such key."""
        section = section_of_key(key)
        return next((field for field in self.fields(section) if field.key == key), None)

    def text(self, field: Field) -> str:
        """Return the present text of a field."""
        return self._texts.get(field.key, self.original(field))

    def original(self, field: Field) -> str:
        """Return the text of a field before it was edited."""
        study = self._switched
        axis = study.axes.get(field.key)
        if axis is not None:
            return axis_text(axis)
        if field.key == VARIANT:
            return f"{BETWEEN} ".join(study.variants)
        if field.key in study.derived:
            return f"{DERIVED} {study.derived[field.key]}"
        table = study.tables.get(field.section, {})
        if field.unknown and field.name not in table:
            return NOT_RECORDED if field.choices else ""
        value = table.get(field.name, field.default)
        if field.many and value is not None and not value and field.default:
            return EMPTY_LIST.get(field.key, "[]")
        return text_of(value)

    def is_edited(self, field: Field) -> bool:
        """Return True if a field differs from the original."""
        return self.text(field).strip() != self.original(field)

    def changed_keys(self) -> frozenset[str]:
        """Return the keys of kinds and fields that differ from the shipped study."""
        origin, keys = StudyEdits(origin_of(self.base)), set[str]()
        for section in (VARIED, *SECTIONS):
            kinds = [(one.kind(section), one.kind_axis(section)) for one in (self, origin)]
            if kinds[0] != kinds[1]:
                keys.add(f"{section}.kind")
            for field in self.fields(section):
                before = origin.field(field.key) if kinds[0] == kinds[1] else None
                usual = self.original(field) if before is None else origin.text(before)
                if self.text(field).strip() != usual:
                    keys.add(field.key)
        return frozenset(keys)

    def is_axis(self, field: Field) -> bool:
        """Return True if the loaded study varies over a field."""
        return field.key in self._switched.axes or field.key == VARIANT

    def can_be_edited(self, field: Field) -> bool:
        """Return True if a text can hold the value; axes of lists are for study files."""
        axis = self._switched.axes.get(field.key, ())
        return not field.read_only and not any(isinstance(value, list | tuple) for value in axis)

    def is_shown(self, field: Field) -> bool:
        """Return True if a field matters with the present value of the one it depends on.

        What only the program sets is shown where there is something.
        """
        if field.read_only:
            return bool(self.text(field))
        if field.key not in ONLY_WITH:
            return True
        other_key, values = ONLY_WITH[field.key]
        other_field, text = self.field(other_key), self.text(field)
        meant = other_field is not None and any(value in self.text(other_field) for value in values)
        return meant or text not in ("", text_of(field.default))

    # ------------------------------------------------------------------------------- editing

    def set_text(self, key: str, text: str) -> None:
        self._texts[key] = text
        self._note(key)

    def restore(self, key: str) -> None:
        """Undo the edit of a field."""
        self._texts.pop(key, None)

    def reset(self, key: str) -> None:
        """Restore a field's value of the shipped study."""
        origin = StudyEdits(origin_of(self.base))
        self.restore(key)
        field, before = self.field(key), origin.field(key)
        if field is not None and before is not None and self.text(field) != origin.text(before):
            self.set_text(key, origin.text(before))

    def clauses(self) -> tuple[Clause, ...]:
        """Return the faults of the study's first run, conflicts of kinds included."""
        study, _ = self._parse_texts()
        try:
            study.cell(next(study.places()))
        except InputError as error:
            return tuple(error.clauses)
        return ()

    def chosen_kind(self, section: str) -> str | None:
        """Return the kind that was chosen for a section, None for that of the study."""
        return self._kinds.get(section)

    def set_kind(self, section: str, kind: str) -> None:
        """Choose another kind of a section; keys that both kinds share keep their values."""
        self._kinds[section] = kind
        self._note(f"{section}.kind")
        self._apply_kinds()

    def _apply_kinds(self) -> None:
        """Derive the study from the chosen kinds, and exchange the texts of their own keys.

        It starts from the base: keys that a kind dropped are there again once the kind goes.
        """
        before = {section: self.kind(section) for section in KINDS}
        self._switched = self.base
        for part, chosen in self._kinds.items():
            if chosen != self._kind_before(part) or f"{part}.kind" in self.base.axes:
                self._switched = self._switched.with_value(f"{part}.kind", chosen)
        for section, earlier in before.items():
            if (new := self.kind(section)) != earlier:
                self._exchange_texts(section, earlier, new)

    def _exchange_texts(self, section: str, earlier: str, later: str) -> None:
        """Set aside the texts of keys that only one of two kinds has (`Section.own`)."""
        of_old, of_new = (section_of(section, kind).own for kind in (earlier, later))
        for name in {*of_old, *of_new}:
            key = f"{section}.{name}"
            if key in self._texts:
                owner = earlier if name in of_old else SHARED
                self._texts[f"{key}{OF_KIND}{owner}"] = self._texts.pop(key)
            owner = later if name in of_new else SHARED
            if (aside := f"{key}{OF_KIND}{owner}") in self._texts:
                self._texts[key] = self._texts.pop(aside)

    def _note(self, key: str) -> None:
        self._latest = [earlier for earlier in self._latest if earlier != key] + [key]

    def restore_kinds(self, section: str) -> None:
        """Restore the study's axis of kinds."""
        self._kinds.pop(section, None)
        for part in self._kinds:
            self._note(f"{part}.kind")
        self._apply_kinds()

    def outcome(self) -> EditOutcome:
        """Return the study that follows from all edits, or the problems with them."""
        study, typed = self._parse_texts()
        problems: dict[str, str] = {}
        for refused in study.errors():
            problems = (
                self._locate_problems(refused) | problems
            )  # the first problem of a key is shown
        # Last, since a text that cannot be put into the study is the problem that its field shows.
        problems |= typed
        if problems:
            return EditOutcome(None, problems)
        return EditOutcome(retitle(study, origin_of(self.base)), problems)

    def _parse_texts(self) -> tuple[Study, dict[str, str]]:
        """Return the study with the valid texts, and the faults of the others by key."""
        study = self._switched
        typed: dict[str, str] = {}
        for key in self._texts:
            field = self.field(key)
            # A text whose key the present kind lacks waits until its kind is chosen again.
            if field is None or not self.is_edited(field):
                continue
            try:
                study = self._apply_field(study, field)
            except InputError as error:
                typed[key] = _sentence(error.text)
        return study, typed

    def _formula_edited(self) -> str:
        """Return the key edited last, if it has a formula or enters one; else "".

        Errors in formulas name no key.
        """
        key = self._latest[-1] if self._latest else ""
        is_formula = self._texts.get(key, "").strip().startswith(DERIVED)
        return key if is_formula or section_of_key(key) == VARIED else ""

    def _apply_field(self, study: Study, field: Field) -> Study:
        """Return a study with the text of a field; a text that begins with = is a formula."""
        text = self.text(field).strip()
        if text.startswith(DERIVED) and field.section in SECTIONS:
            formula = text.removeprefix(DERIVED).strip()
            plain = study.with_value(field.key, None) if field.key in study.axes else study
            return replace(plain, derived={**plain.derived, field.key: formula})
        if field.key == VARIANT:  # names may contain commas
            names = [name.strip() for name in text.split(BETWEEN) if name.strip()]
            return study.with_value(VARIANT, names or [text])
        if wrong := refusal(field, text):
            raise InputError(f"{wrong}.", clauses=[Clause(f"{wrong}.", (field.key,))])
        return study.with_value(field.key, value_of(field, text, self.is_axis(field)))

    @staticmethod
    def notes(study: Study) -> Mapping[str, str]:
        """Return notes by key on what a field's text does not show of a valid study.

        They are the values of a formula in the runs, and the settings of variants.
        """
        words_of: dict[str, list[str]] = {}
        for name, settings in study.variants.items():
            for key, value in settings.items():
                formula = f"{DERIVED} " if key.startswith(FORMULA) else ""
                words = f"{name}: {formula}{_short(value)}"
                words_of.setdefault(key.removeprefix(FORMULA), []).append(words)
        notes = {key: "\n".join(words) for key, words in words_of.items()}
        if study.optimizer:
            notes["dynamics.kind"] = f"recorded with {study.optimizer}"
        cells = tuple(islice(study.iter_cells(), MOST_EXAMINED)) if study.derived else ()
        for key in study.derived:
            section, name = key.split(".", 1)
            values = [getattr(getattr(cell.experiment, section), name) for cell in cells]
            texts = list(dict.fromkeys(map(_short, values)))
            ellipsis = ", ..." if len(texts) > MOST_SHOWN or study.count > len(cells) else ""
            notes[key] = f"{DERIVED} {', '.join(texts[:MOST_SHOWN])}{ellipsis}"
        return notes

    def _locate_problems(self, error: InputError) -> dict[str, str]:
        """Return problems by their keys; of several keys the one edited last."""
        sentences: dict[str, str] = {}
        for clause in error.clauses or (Clause(error.text),):
            keys = [key for key in clause.keys if key.endswith(".kind") or self.field(key)]
            edited = [key for key in self._latest if key in keys]
            key = edited[-1] if edited else next(iter(keys), self._formula_edited())
            sentences.setdefault(key, _sentence(clause.text))
        return sentences


def _sentence(clause: str) -> str:
    return clause if clause.endswith((".", "?")) else f"{clause}."


def _short(value: Any) -> str:
    """Return a value with six digits."""
    return f"{value:.6g}" if isinstance(value, float) else text_of(value)
