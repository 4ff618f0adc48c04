"""Kinds of sections that go together, by the experiment's own rules."""

from __future__ import annotations

from typing import final

from app.training.study_edits import StudyEdits
from core.errors import Clause
from core.studies.changes import origin_of
from core.study_file.experiment import KINDS


@final
class KindChoice:
    """Chooses kinds in the edits of a study, with the kinds that other sections then need."""

    def __init__(self, edits: StudyEdits) -> None:
        self._edits = edits
        # By section: companion choices before they were changed to fit the kind.
        self._companions: dict[str, dict[str, str | None]] = {}

    def choose(self, section: str, kind: str) -> None:
        """Choose a kind, and change conflicting kinds of other sections to go with it.

        The others have their kinds back once another kind of the section is chosen.
        """
        for chosen in self._companions.values():
            chosen.pop(section, None)
        self._drop_companions(section)
        self._set(section, kind)
        while clash := self._clash(section):
            parts = [key.removesuffix(".kind") for key in clash.keys if key.endswith(".kind")]
            used_sections = {section, *self._companions.get(section, ())}
            companion = next((part for part in parts if part not in used_sections), "")
            if not companion or not self._accompany(section, companion):
                break
        self._set(section, kind)  # again, so that a problem is reported for the latest edit

    def reset(self, section: str) -> None:
        """Restore the kind of the shipped study."""
        edits = self._edits
        default = StudyEdits(origin_of(edits.base)).kind(section)
        self._drop_companions(section)
        edits.restore_kinds(section)
        if f"{section}.kind" not in edits.base.axes and edits.kind(section) != default:
            self.choose(section, default)

    def notes(self) -> dict[str, str]:
        """Return by key why kinds were chosen automatically."""
        return {
            f"{companion}.kind": f"chosen to go with the {section}"
            for section, companions in self._companions.items()
            for companion in companions
        }

    def why_not(self, section: str, kind: str) -> str:
        """Return why a kind conflicts with the other settings, "" if it does not.

        It does if kinds of other sections can be chosen to go with it.
        """
        if kind == self._edits.kind(section):
            return ""
        trial = KindChoice(StudyEdits.from_edits(self._edits.value))
        trial._companions = {part: dict(chosen) for part, chosen in self._companions.items()}
        trial.choose(section, kind)
        clash = trial._clash(section)
        return "" if clash is None else clash.text

    def _set(self, section: str, kind: str | None) -> None:
        if kind is None:
            self._edits.restore_kinds(section)
        else:
            self._edits.set_kind(section, kind)

    def _accompany(self, section: str, companion: str) -> bool:
        """Choose the first kind of another section that goes with a section's kind."""
        before = self._edits.chosen_kind(companion)
        for kind in KINDS[companion]:
            self._set(companion, kind)
            if self._clash(section) is None and self._clash(companion) is None:
                self._companions.setdefault(section, {})[companion] = before
                return True
        self._set(companion, before)
        return False

    def _drop_companions(self, section: str) -> None:
        for companion, before in self._companions.pop(section, {}).items():
            self._set(companion, before)

    def _clash(self, section: str) -> Clause | None:
        """Return the rule by which a section's kind conflicts with another setting."""
        key = f"{section}.kind"
        clauses = (one for one in self._edits.clauses() if key in one.keys and len(one.keys) > 1)
        return next(clauses, None)
