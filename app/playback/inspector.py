"""Panel of numbers: the pinned neuron, the scalars at the cursor, and the run itself.

Definitions come from core.observables.registry, which needs the numerical packages: it is loaded
with the first values to be shown, never with the window.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from app.widgets.inputs import line_height
from app.widgets.labels import ElidedLabel, quiet_label
from app.widgets.layouts import add_all, fill_scrolled, space
from app.widgets.screen_text import greek, shown_number
from core.numbers import MINUS, power_text, raise_powers

if TYPE_CHECKING:
    from app.state.node_values import NodeFacts
    from core.observables.node_groups import GroupFacts
    from core.observables.observable import Observable

NODE_HINT = (
    "Hover a neuron to highlight it, click to pin it, or drag a box in the neuron view to "
    "select several."
)
SCALARS_HINT = "Values at the current time appear here once a run is open."
ROW_HEIGHT = 24
NUMBER = "\u22120.000000"  # width reserved for a number at the cursor, with all its digits
RUN_HINT = "Settings appear here once a run is open."

# Significant digits of quantities for which three are too few or too many.
DIGITS = {
    "hard_margin": 4,
    "smoothed_margin": 4,
    "l1_margin": 4,
    "dual_margin": 4,
    "balance_drift": 2,
    "log10_risk": 4,
    "norm_squared": 4,
}
NODE_MEANINGS = {
    "a": "a_j: outer weight of the neuron.",
    "|v|": "|v_j|: norm of the neuron's inner weights.",
    "angle": "Angle between v_j(t) and v_j(0).",
    "sign flips": "Number of sign changes of a_j since t = 0.",
    "position": "|a_j| v_j on the plane of the neuron view.",
}

GROUP_MEANINGS = {
    "neurons": "Number of selected neurons, out of all.",
    "|a| |v|": "|a_j| |v_j| of the selected neurons: mean and standard deviation.",
    "rotation": "Cosine of the angle between v_j(0) and v_j(t) for the selected neurons: mean "
    "and standard deviation.",
    "signs of a": "Number of selected neurons with a_j > 0 and with a_j < 0.",
    "mean angle to centre": "Mean angle between v_j and the mean direction of the selected "
    "neurons, i.e. the direction of the sum of all v_j/|v_j|.",
    "largest angle": "Largest angle between v_j and the mean direction of the selected neurons.",
}
GROUP_HINT = "Computing their numbers ..."


@cache
def definitions() -> dict[str, tuple[str, str]]:
    """Return title and explanation of each observable by its name."""
    from core.observables.registry import OBSERVABLES

    return {item.name: definition(item) for item in OBSERVABLES.values()}


def definition(item: Observable) -> tuple[str, str]:
    """Return title and explanation of an observable."""
    lines = [f"{item.title}: {item.formula}."]
    if item.unit:
        lines.append(f"Unit: {item.unit}.")
    if item.source:
        lines.append(f"Source: {item.source}.")
    return greek(item.title), greek("\n".join(lines))


def _define(name: str) -> tuple[str, str]:
    """Return title and definition of a name; of an unknown one the name itself."""
    return definitions().get(name, (name.replace("_", " "), ""))


def node_facts(facts: NodeFacts) -> tuple[Fact, ...]:
    """Return the lines about a neuron."""
    first, second = facts.position
    angle = "\u2013" if math.isnan(facts.angle) else f"{facts.angle:.1f}\u00b0"
    rotation, relative = _define("rotation"), _define("relative_norm")
    point = f"({shown_number(first)}, {shown_number(second)})"
    return (
        Fact("a", shown_number(facts.outer_weight, 4), NODE_MEANINGS["a"]),
        Fact("|v|", shown_number(facts.inner_norm, 4), NODE_MEANINGS["|v|"]),
        Fact("angle", angle, NODE_MEANINGS["angle"]),
        Fact(rotation[0], shown_number(facts.rotation), rotation[1]),
        Fact(relative[0], shown_number(facts.relative_norm), relative[1]),
        Fact("|a| v", point, NODE_MEANINGS["position"]),
        Fact("sign flips", str(facts.sign_flips), NODE_MEANINGS["sign flips"]),
    )


def group_lines(facts: GroupFacts) -> tuple[Fact, ...]:
    """Return the lines about a selection."""
    share = 100.0 * facts.count / max(facts.m, 1)
    lines = {
        "neurons": f"{facts.count} of {facts.m} ({share:.3g} %)",
        "|a| |v|": _with_deviation(facts.norm, facts.norm_sd),
        "rotation": _with_deviation(facts.rotation, facts.rotation_sd),
        "signs of a": f"{facts.positive} +, {facts.negative} {MINUS}",
        "mean angle to centre": _degrees(facts.angle),
        "largest angle": _degrees(facts.widest),
    }
    return tuple(Fact(name, text, GROUP_MEANINGS[name]) for name, text in lines.items())


def _with_deviation(mean: float, deviation: float) -> str:
    return f"{shown_number(mean)} \u00b1 {shown_number(deviation, 2)}"


def _degrees(angle: float) -> str:
    """Return an angle in degrees as text, a dash for NaN."""
    return "\u2013" if math.isnan(angle) else f"{angle:.1f}\u00b0"


def scalar_facts(values: Mapping[str, float]) -> tuple[Fact, ...]:
    """Return the lines about scalars; a risk too small for a float is shown by its logarithm."""
    lines = []
    for name, value in values.items():
        title, explanation = _define(name)
        text = shown_number(value, DIGITS.get(name, 3))
        logarithm = values.get("log10_risk", math.nan)
        if name == "log10_risk" and "risk" in values:  # one line shows both
            continue
        # The risk underflows float64 below log10 R = -324, long before runs end.
        if name == "risk" and value == 0.0 and math.isfinite(logarithm):
            text = raise_powers(power_text(logarithm)).replace("-", MINUS)
        lines.append(Fact(title, text, explanation))
    return tuple(lines)


@final
@dataclass(frozen=True, slots=True)
class Fact:
    """Line with `name` and `value`, and `explanation` as the tooltip of both."""

    name: str
    value: str
    explanation: str = ""


@final
class FactList(QWidget):
    """Facts under a heading.

    Rows are reused, so that changing values cost no layout; they are deleted when there are no
    facts.
    """

    def __init__(self, heading: str, hint: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._grid = space(QGridLayout(self), spacing=(8, 4))
        self._grid.setColumnStretch(1, 1)
        # Elided: a run named by its settings has a long heading, which made the panel wider.
        self._heading = ElidedLabel(self, Qt.TextElideMode.ElideRight)
        self._heading.setProperty("heading", True)
        self._heading.setFixedHeight(line_height(self))
        self._heading.set_text(heading)
        self._hint = quiet_label(hint, self, wrap=True)
        self._grid.addWidget(self._heading, 0, 0, 1, 2)
        self._grid.addWidget(self._hint, 1, 0, 1, 2)
        self._rows: list[tuple[ElidedLabel, ElidedLabel]] = []
        self._facts: tuple[Fact, ...] = ()

    def set_heading(self, text: str) -> None:
        """Set the text above the list."""
        self._heading.set_text(text)

    def heading(self) -> str:
        """Return the text above the list."""
        return self._heading.text()

    def facts(self) -> tuple[Fact, ...]:
        return self._facts

    def value_labels(self) -> list[ElidedLabel]:
        """Return the labels of the values shown, in order."""
        return [value for _, value in self._rows[: len(self._facts)]]

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show these lines; without any, the hint explains how to get some."""
        self._hint.setVisible(not facts)
        if not facts:
            self._remove_rows()
        while len(self._rows) < len(facts):
            self._add_row()
        for position, (name, value) in enumerate(self._rows):
            is_used = position < len(facts)
            name.setVisible(is_used)
            value.setVisible(is_used)
            if is_used:
                fact = facts[position]
                name.set_text(fact.name, fact.explanation)
                value.set_text(fact.value, fact.explanation)
        self._facts = tuple(facts)

    def _remove_rows(self) -> None:
        for row in self._rows:
            for label in row:
                self._grid.removeWidget(label)
                label.setParent(None)  # no parent: deleted with its last reference, held here
        self._rows.clear()

    def _add_row(self) -> None:
        # The name is shortened first if there is no room for both.
        quiet = QPalette.ColorRole.PlaceholderText
        name = ElidedLabel(self, Qt.TextElideMode.ElideRight, quiet, typeset=True)
        name.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        value = ElidedLabel(self, Qt.TextElideMode.ElideRight)
        value.set_alignment(Qt.AlignmentFlag.AlignRight)
        value.setMinimumWidth(value.fontMetrics().horizontalAdvance(NUMBER) + 2)
        # Fixed height with and without digits, so that the rows below do not move.
        value.setFixedHeight(line_height(self, ROW_HEIGHT) - 4)
        row = 2 + len(self._rows)
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(value, row, 1)
        self._rows.append((name, value))


@final
class Inspector(QWidget):
    """Numbers about the selection and the current run, without logic of its own."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        content = QWidget(self)
        column = space(QVBoxLayout(content), (16, 8, 16, 16), 16)
        self.group = FactList("Selection", GROUP_HINT, content)
        self.group.hide()
        self.node = FactList("Neuron", NODE_HINT, content)
        self.scalars = FactList("At the cursor", SCALARS_HINT, content)
        self.run = FactList("Run", RUN_HINT, content)
        add_all(column, self.group, self.node, self.scalars, self.run, 1)
        fill_scrolled(self, content)

    def show_node(self, heading: str, facts: NodeFacts | None) -> None:
        """Show one neuron's numbers under a heading; None shows how to choose one."""
        self.node.set_heading(heading if facts is not None and heading else "Neuron")
        self.node.show_facts(() if facts is None else node_facts(facts))

    def show_group(self, heading: str, facts: GroupFacts | None) -> None:
        """Show facts on the selected neurons under a heading; hide them without one."""
        self.group.setVisible(bool(heading))
        self.group.set_heading(heading)
        self.group.show_facts(() if facts is None else group_lines(facts))

    def show_run(self, run_text: Mapping[str, str]) -> None:
        """Show settings and status of a run."""
        self.run.show_facts(
            [
                Fact(name, raise_powers(value), f"{name}: {value}")
                for name, value in run_text.items()
            ]
        )

    def show_scalars(self, values: Mapping[str, float]) -> None:
        """Show the values of observables at the chosen moment, by their names."""
        self.scalars.show_facts(scalar_facts(values) if values else ())
