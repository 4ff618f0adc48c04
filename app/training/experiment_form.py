"""Form of every setting of a study, generated from the sections of an experiment."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.settings import FOLDED
from app.style import panel_width, small
from app.training.fields import VARIED, in_words, key_in, section_of_key
from app.training.form_search import FormSearch
from app.training.kind_choice import KindChoice
from app.training.problem_line import ProblemLine, WrongValue
from app.training.section_form import SectionForm
from app.training.study_edits import EditOutcome, Edits, StudyEdits
from app.widgets.inputs import push_button, set_property
from app.widgets.labels import ElidedLabel, plain_tip, quiet_label
from app.widgets.layouts import add_all, fill_scrolled, space
from core.studies.changes import is_modified, origin_of
from core.studies.study import Study
from core.study_file.experiment import KINDS
from core.study_file.validation import SECTIONS

NOTHING_FOUND = "No setting matches."
COST_LINES = 3  # lines for the resource estimate
BRANCH_TIP = "Change any setting below and press Run. The branch starts at exactly that moment."
SIZE_TIP = (
    "Estimated cost of Run: size of the run files, peak memory, and time on this kind of "
    "computer (accurate to a factor of about three)."
)


@final
class BranchLine(QWidget):
    """Line above the form with the run and moment that Run branches from; hidden without one."""

    cancelled = Signal()
    """Cancel was pressed: the form is to be as before."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("branchLine")
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self.words = QLabel(self, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.cancel = push_button("Cancel", self, "Cancel the branch and restore the settings")
        self.cancel.setAccessibleName("Cancel the branch")
        self.cancel.clicked.connect(self.cancelled)
        add_all(space(QHBoxLayout(self), (16, 4, 16, 4), 8), (self.words, 1), self.cancel)
        self.hide()

    def show_words(self, words: str) -> None:
        """Name the branch; "" for none."""
        self.words.setText(words)
        self.words.setToolTip(plain_tip(f"{words}. {BRANCH_TIP}" if words else ""))
        self.setVisible(bool(words))


@final
class ExperimentForm(QWidget):
    """Editor of a copy of a study. Wrong values are marked in place, and nothing is lost.

    The sentences on them are in the fixed bottom part, where they move no control.
    """

    drawing_requested = Signal()  # the user wants to draw the data
    preview_requested = Signal()  # the user wants to see the data of a file
    changed = Signal()  # the user made an edit, valid or invalid
    submitted = Signal()  # Return in a field while all values are valid
    attention_needed = Signal()  # the form needs attention: a wrong value, or settings of a branch

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edits: StudyEdits | None = None
        self._kinds: KindChoice | None = None
        self._before: QWidget | None = None  # widget before the first field in the Tab order
        self._outcome = EditOutcome(None, {})
        self._finding = ("", "", "")  # key, note and problem of the file named by a setting
        self._refusal: dict[str, str] = {}  # key and sentence of a value that Run refused
        self.branch = BranchLine(self)  # first, as in the Tab order
        self.search = FormSearch(self)
        self.search.changed.connect(self._show_problems)
        self.search.accepted.connect(self._on_search_accepted)
        self._content = content = QWidget(self)
        column = space(QVBoxLayout(content), (16, 8, 4, 16), 16)
        self.nothing = quiet_label(NOTHING_FOUND, content, wrap=True)
        self.nothing.hide()
        self.sections = {name: SectionForm(name, content) for name in (VARIED, *SECTIONS)}
        add_all(column, self.nothing, *self.sections.values(), 1)
        for section in self.sections.values():
            section.text_edited.connect(self._on_edited)
            section.restored.connect(self._on_restored)
            section.reset.connect(self._on_row_reset)
            section.kind_chosen.connect(self._on_kind)
            section.kinds_needed.connect(self._on_kinds_needed)
            section.fold_changed.connect(self._show_problems)
            section.submitted.connect(self._on_submitted)
            section.drawing_requested.connect(self.drawing_requested)
            section.preview_requested.connect(self.preview_requested)
        self.fold(FOLDED)
        self._scroll = fill_scrolled(self, content)
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(0, self.branch)
        layout.insertWidget(1, self.search)
        layout.addLayout(self._foot())
        for part in (content, self.run):
            part.setEnabled(False)

    def _foot(self) -> QVBoxLayout:
        """Return the fixed bottom part: the changes, the estimate or a problem, and Run."""
        self.modified = ElidedLabel(self, Qt.TextElideMode.ElideRight)
        self.reset = push_button("Reset", self, "Restore the settings of the study")
        self.reset.setProperty("line", True)
        self.reset.clicked.connect(self._on_reset)
        self.reset.hide()
        # Showing the button must not move anything.
        self.modified.setMinimumHeight(self.reset.sizeHint().height())
        self.scale = quiet_label("", self, wrap=True)
        self.scale.setFont(small(self.scale.font()))
        self.scale.setMinimumHeight(COST_LINES * self.scale.fontMetrics().lineSpacing())
        self.problem = ProblemLine(COST_LINES, self)  # in place of the estimate
        self.problem.control_requested.connect(self._go_to)
        self.run = push_button("Run", self, "Train these settings from the start")
        self.run.setProperty("primary", True)
        self.run.clicked.connect(self._on_submitted)
        line = add_all(space(QHBoxLayout(), spacing=8), (self.modified, 1), self.reset)
        below = add_all(
            space(QHBoxLayout(), spacing=8), (self.scale, 1), (self.problem, 1), self.run
        )
        # Not by margins: under a style sheet Qt 6.11.3 sets those of a label to 0.
        return add_all(space(QVBoxLayout(), (16, 4, 16, 8), 2), line, below)

    def sizeHint(self) -> QSize:
        return QSize(panel_width(self.font()), 640)

    @property
    def folded_sections(self) -> tuple[str, ...]:
        """Names of the folded sections."""
        return tuple(name for name, section in self.sections.items() if section.folded)

    def fold(self, names: Collection[str]) -> None:
        """Fold these sections, and unfold the others."""
        for name, section in self.sections.items():
            section.folded = name in names
        self._show_problems()

    def show_branch(self, words: str) -> None:
        """Show the branch that Run starts; "" for none."""
        self.branch.show_words(words)
        if words:
            self.attention_needed.emit()

    def require_study(self) -> Study | None:
        """Return the study; request attention and return None if a value is wrong."""
        study = self.study()
        if study is None:
            self.attention_needed.emit()
        return study

    def set_tab_predecessor(self, widget: QWidget) -> None:
        """Let Tab move from a widget to the first field."""
        self._before = widget

    # --------------------------------------------------------------------------------------- study

    def set_study(self, study: Study) -> None:
        """Show a study, and discard the edits of the last one."""
        self.set_edits(Edits(study))

    @property
    def edits(self) -> Edits | None:
        """Study and its changes, right or wrong; None before the first study."""
        return None if self._edits is None else self._edits.value

    def set_edits(self, edits: Edits) -> None:
        """Show a study with its edits."""
        if self._edits is None or self._edits.base != edits.base:
            self.search.clear()
        self._edits = StudyEdits.from_edits(edits)
        self._kinds = KindChoice(self._edits)
        self._refusal = {}
        self._outcome = self._edits.outcome()
        self._content.setEnabled(True)
        self.run.setEnabled(True)
        for section in self.sections.values():
            # Kinds listed for an axis of the last study are no choice in this one.
            section.forget_axis()
        self._show_all()

    def study(self) -> Study | None:
        """Return the edited study; None if a value is wrong, or before the first study."""
        return self._outcome.study

    def problems(self) -> dict[str, str]:
        """Return the shown sentences by key ("" for the whole study)."""
        return dict(self._outcome.problems)

    # ------------------------------------------------------------------------------------- display

    def _show_all(self) -> None:
        assert self._edits is not None
        for section in self.sections.values():
            section.show_edits(self._edits)
        self._show_problems()
        # Qt's Tab order is that of creation, in which rebuilt rows would be last.
        controls = [item for section in self.sections.values() for item in section.controls()]
        controls = [
            self.search.line,
            self.search.only,
            *controls,
            self.reset,
            self.problem,
            self.run,
        ]
        if self._before is not None:
            controls.insert(0, self._before)
        for before, after in pairwise(controls):
            QWidget.setTabOrder(before, after)

    def _show_problems(self) -> None:
        if self._edits is None:
            return
        key, note, problem = self._finding
        problems = {key: in_words(problem)} if problem else {}
        problems |= {key: in_words(text) for key, text in self._outcome.problems.items()}
        problems |= self._refusal
        study, field = self._outcome.study, self._edits.field(key) if key else None
        notes = {key: note} if note and study is not None else {}
        notes |= {} if study is None else self._edits.notes(study)
        notes |= self._kinds.notes() if self._kinds is not None else {}
        waiting = key if field is not None and self._edits.text(field) else ""
        changed = self._edits.changed_keys()
        for section in self.sections.values():
            section.set_changed(changed)
            section.set_filter(self.search.filter)
            section.show_problems(problems, self._edits)
            section.show_notes(notes, study is not None, waiting)
        self.nothing.setVisible(all(one.isHidden() for one in self.sections.values()))
        self._show_changes(study, len(changed))
        self._show_wrong_values(problems.get("", ""))

    def _show_wrong_values(self, of_study: str) -> None:
        """Show the sentences on the wrong values, in place of the estimate of Run."""
        values = [WrongValue(of_study, None)] if of_study else []
        values += [one for section in self.sections.values() for one in section.wrong_values()]
        self.scale.setVisible(not values)
        self.problem.show_values(values)

    def _show_changes(self, study: Study | None, count: int) -> None:
        """Show how many settings differ from those of the study."""
        self.search.show_count(count)
        title = study.title if study is not None and is_modified(study.title) else ""
        words = {0: "Modified", 1: "1 setting changed"}.get(count, f"{count} settings changed")
        self.modified.set_text(words if title or count else "", title)
        self.reset.setVisible(bool(title or count))

    def _on_reset(self) -> None:
        assert self._edits is not None
        self.set_study(origin_of(self._edits.base))
        self.changed.emit()

    def show_size(self, words: str, warnings: Sequence[str]) -> None:
        """Show what Run would take, "" if unknown, and why that is more than usual."""
        tip = "\n".join(map(in_words, (SIZE_TIP, *warnings)))
        self.scale.setText(f"{words}." if words else "")
        self.scale.setToolTip(plain_tip(tip if words else ""))
        set_property(self.scale, "problem", bool(warnings))

    def show_finding(self, key: str, note: str, problem: str) -> None:
        """Show at a field the content, or the fault, of the file that it names."""
        if self._finding != (key, note, problem):
            self._finding = key, note, problem
            self._show_problems()

    def refuse(self, sentence: str) -> None:
        """Show at the field why its value cannot be trained, until it is edited."""
        key = key_in(sentence)
        if self._edits is None or not key or self._edits.field(key) is None:
            return
        self._refusal = {key: in_words(sentence)}
        self._show_problems()
        self._show_first_problem()

    def _show_first_problem(self) -> None:
        values = [one for section in self.sections.values() for one in section.wrong_values()]
        if values and values[0].control is not None:
            self._go_to(values[0].control)

    def _go_to(self, control: QWidget) -> None:
        control.setFocus()
        self._scroll.ensureWidgetVisible(control)

    # ------------------------------------------------------------------------------- editing

    def _on_edited(self, key: str, text: str) -> None:
        assert self._edits is not None
        self._edits.set_text(key, text)
        self._after_edit(key)

    def _on_restored(self, key: str) -> None:
        assert self._edits is not None
        self._edits.restore(key)
        self._after_edit(key)

    def _after_edit(self, key: str) -> None:
        assert self._edits is not None
        self._refusal = {}
        self._outcome = self._edits.outcome()
        for row in self.sections[section_of_key(key)].rows:
            # Only this row: other rows may be half typed.
            if row.field.key == key:
                row.show_text(self._edits.text(row.field), self._edits.is_edited(row.field))
        self._show_problems()
        self.changed.emit()

    def _on_kind(self, section: str, kind: str) -> None:
        assert self._edits is not None and self._kinds is not None
        if kind in KINDS[section]:
            self._kinds.choose(section, kind)
        else:
            self._edits.restore_kinds(section)
        self._show_outcome()

    def _on_row_reset(self, key: str) -> None:
        assert self._edits is not None and self._kinds is not None
        section = section_of_key(key)
        if key == f"{section}.kind":
            self._kinds.reset(section)
        else:
            self._edits.reset(key)
        self._show_outcome()

    def _show_outcome(self) -> None:
        assert self._edits is not None
        self._refusal = {}
        self._outcome = self._edits.outcome()
        self._show_all()
        self.changed.emit()

    def _on_kinds_needed(self, section: str) -> None:
        """Explain in a section's list of kinds why some are unavailable."""
        if self._edits is not None:
            self.sections[section].show_reasons(self._reasons(section))

    def _reasons(self, section: str) -> dict[str, str]:
        """Return why kinds of a section conflict with other settings."""
        assert self._kinds is not None
        return {kind: in_words(self._kinds.why_not(section, kind)) for kind in KINDS[section]}

    def _on_search_accepted(self) -> None:
        """Focus the first setting found."""
        for section in self.sections.values():
            for row in section.rows:
                if row.is_shown and not section.isHidden():
                    self._go_to(row.control)
                    return

    def _on_submitted(self) -> None:
        if self._outcome.study is None:
            self._show_first_problem()
        else:
            self.submitted.emit()
