"""Window for drawing data: a plot, a table, initial shapes, and Train."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QGuiApplication, QKeySequence
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QHBoxLayout,
    QMenu,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.data.drawing_plot import DrawingPlot
from app.data.drawing_table import PointTable
from app.data.sketch import (
    Row,
    Sketch,
    SketchHistory,
    count_text,
    move_points,
    sketch_of,
    with_dimension,
    with_flipped_labels,
    with_points,
    without_points,
)
from app.qt_workarounds import ActionButtonSync
from app.widgets.inputs import ChoiceBox, push_button, set_property
from app.widgets.labels import plain_tip, quiet_label
from app.widgets.layouts import add_all, space
from app.widgets.message_bar import MessageBar
from app.widgets.screen_room import resize_on_screen
from core.data.points import MAX_POINTS, NAMES, Points, fault_of, parse_points, points_csv, shape
from core.errors import InputError
from core.figures.palette import Palette

DIMENSIONS = ("in the plane", "on a line")
BEGIN = "Start from ..."
FULL = f"At most {MAX_POINTS} points can be drawn. Delete some first."
NO_ROOM = f"Nothing was pasted: at most {MAX_POINTS} points can be drawn."
OTHERS = "The pasted points replaced the others, which had a different dimension."


@final
@dataclass(frozen=True, slots=True)
class SketchAction:
    """Action of the drawing window."""

    key: str
    text: str
    tip: str
    keys: tuple[str, ...]


SKETCH_ACTIONS = (
    SketchAction("undo", "Undo", "Undo the last change to the points", ("Ctrl+Z",)),
    SketchAction("redo", "Redo", "Redo the last change that was undone", ("Ctrl+Shift+Z",)),
    SketchAction(
        "add", "Add", "Add a point in the middle, then move it with the arrow keys", ("Ins",)
    ),
    SketchAction("flip", "Flip", "Switch the label of the selected points", ("F",)),
    SketchAction("delete", "Delete", "Delete the selected points", ("Del", "Backspace")),
    SketchAction("clear", "Clear", "Delete all points", ()),
    SketchAction("all", "Select all", "Select all points", ("Ctrl+A",)),
    SketchAction("paste", "Paste", "Paste points: coordinates, then the label", ("Ctrl+V",)),
    SketchAction("copy", "Copy", "Copy the selected points, or all points, as CSV", ("Ctrl+C",)),
    SketchAction("open", "Open ...", "Open points from an NPZ or CSV file", ("Ctrl+O",)),
    SketchAction("fit", "Fit", "Zoom to show all points", ("Ctrl+0",)),
)


@final
class DrawingWindow(QWidget):
    """Separate window, so that runs remain visible.

    changed: the points changed. left: another window became active. closed: by the user.
    train_requested, biases_requested, open_requested: buttons were pressed.
    """

    changed = Signal()
    window_left = Signal()
    closed = Signal()
    train_requested = Signal()
    biases_requested = Signal()
    open_requested = Signal()

    def __init__(self, palette: Palette) -> None:
        # No parent: window systems would keep this window in front of its parent.
        super().__init__(None, Qt.WindowType.Window)
        self.setObjectName("drawing")
        self.setWindowTitle("Draw data")
        resize_on_screen(self, QSize(940, 600))
        self.history = SketchHistory(self)
        self._seed = -1  # of the shape chosen last
        self.bar = MessageBar(self)
        self.canvas = DrawingPlot(palette, self)
        self.table = PointTable(self)
        self.actions_of = self._made_actions()
        self._make_choices()
        self._make_foot()
        self._arrange()
        self._connect()
        self._show()

    # ---------------------------------------------------------------------------------- making

    def _made_actions(self) -> dict[str, QAction]:
        answers: dict[str, Callable[[], None]] = {
            "undo": self.history.undo,
            "redo": self.history.redo,
            "add": self._add_middle,
            "flip": self._flip_selected,
            "delete": self._delete,
            "clear": self._clear,
            "all": self._select_all,
            "paste": self.paste,
            "copy": self._copy,
            "open": self.open_requested.emit,
            "fit": self.canvas.fit,
        }
        actions = {}
        for row in SKETCH_ACTIONS:
            action = QAction(row.text, self)
            action.setObjectName(row.key)
            action.setShortcuts([QKeySequence(keys) for keys in row.keys])
            keys_text = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            action.setToolTip(plain_tip(f"{row.tip} ({keys_text})" if keys_text else row.tip))
            action.triggered.connect(answers[row.key])
            self.addAction(action)
            actions[row.key] = action
        return actions

    def _make_choices(self) -> None:
        self.dimension = ChoiceBox(self, "Points", letters=11)
        self.dimension.addItems(list(DIMENSIONS))
        self.labels = (QToolButton(self), QToolButton(self))
        group = QButtonGroup(self)
        for button, text, key in zip(self.labels, ("+1", "\u22121"), ("+", "-"), strict=True):
            group.addButton(button)
            button.setText(text)
            button.setCheckable(True)
            button.setAccessibleName(f"Label of new points: {button.text()}")
            button.setToolTip(
                plain_tip(f"Give new points the label {button.text()} ({key} in the plot)")
            )
            action = QAction(button.text(), self.canvas)
            action.setShortcut(QKeySequence(key))
            # Not while the table has the focus, where the key may start a number.
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(button.click)
            self.canvas.addAction(action)
        self.labels[0].setChecked(True)
        self.snaps = QCheckBox("&Grid", self)
        self.snaps.setToolTip("Snap added and moved points to a grid")
        # A menu, not a combo box: the same shape may be chosen again.
        self.shapes = QToolButton(self)
        self.shapes.setText(BEGIN)
        self.shapes.setToolTip(
            "Replace the points by a well-known data set; choose again for a new sample"
        )
        self.shapes.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        for name in NAMES:
            menu.addAction(name)
        menu.triggered.connect(self._on_shape)
        self.shapes.setMenu(menu)

    def _make_foot(self) -> None:
        self.counts = quiet_label("", self)
        self.note = quiet_label("", self, wrap=True)
        self.biases = push_button("Use &biases", self, "Add biases to the network in Settings")
        self.biases.hide()
        self.always = QCheckBox("Train &while drawing", self)
        self.always.setToolTip("Retrain after each change; stops the previous run")
        self.train = push_button("Train", self, "Train the network in Settings on these points")
        self.train.setShortcut(QKeySequence("Ctrl+R"))
        set_property(self.train, "primary", True)

    def _arrange(self) -> None:
        head = space(QHBoxLayout(), (16, 12, 16, 0), 8)
        new = quiet_label("New points:", self)
        add_all(head, self.dimension, new, *self.labels, self.snaps, 1, self.shapes)
        tools = space(QHBoxLayout(), (12, 4, 12, 4), 0)
        for key, action in self.actions_of.items():
            if key == "all":
                continue
            button = QToolButton(self, autoRaise=True)
            button.setDefaultAction(action)
            ActionButtonSync(button)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            tools.addWidget(button)
        tools.addStretch(1)
        self.split = QSplitter(Qt.Orientation.Horizontal, self, childrenCollapsible=False)
        self.split.addWidget(self.canvas)
        self.split.addWidget(self.table)
        self.split.setStretchFactor(0, 1)
        self.split.setSizes([650, 280])
        notes = add_all(space(QVBoxLayout(), spacing=0), self.counts, self.note)
        foot = space(QHBoxLayout(), (16, 8, 16, 12), 12)
        add_all(foot, (notes, 1), self.biases, self.always, self.train)
        layout = space(QVBoxLayout(self), spacing=0)
        add_all(layout, head, tools, (self.split, 1), foot)
        self.bar.float_in_corner(self.split)

    def _connect(self) -> None:
        self.history.indexChanged.connect(self._on_step)
        self.dimension.activated.connect(self._on_dimension)
        self.labels[0].toggled.connect(self._on_label)
        self.snaps.toggled.connect(self.canvas.set_snaps)
        self.canvas.point_added.connect(self._add)
        self.canvas.points_moved.connect(self._move)
        self.canvas.point_flipped.connect(self._flip)
        self.canvas.points_picked.connect(self.pick)
        self.table.points_picked.connect(self.pick)
        self.table.points.points_edited.connect(self._edit)
        self.table.points.edit_refused.connect(self.bar.show_message)
        self.biases.clicked.connect(self.biases_requested)
        self.train.clicked.connect(self.train_requested)

    # --------------------------------------------------------------------------------- showing

    @property
    def sketch(self) -> Sketch:
        """Present points."""
        return self.history.sketch

    def start(self, points: Points) -> None:
        """Show points with an empty undo history."""
        with QSignalBlocker(self.history):
            self.history.clear()
        self._select(sketch_of(points))
        self.canvas.fit()

    def replace(self, points: Points, words: str) -> None:
        """Show other points, as a step."""
        self._do(sketch_of(points, self.sketch.d), words)
        self.canvas.fit()

    def set_note(self, note: str, biases: bool) -> None:
        """Show a note on the network, and the offer of `biases` if it can have them."""
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.biases.setVisible(biases)

    def set_colours(self, palette: Palette) -> None:
        """Set the palette of the parts that paint themselves."""
        self.canvas.set_colours(palette)

    def _show(self) -> None:
        sketch, history = self.sketch, self.history
        self.canvas.show_sketch(sketch)
        self.table.show_sketch(sketch)
        self.dimension.setCurrentIndex(0 if sketch.d == 2 else 1)
        positive, negative = sketch.count(1.0), sketch.count(-1.0)
        chosen = f", {len(sketch.selected)} selected" if sketch.selected else ""
        self.counts.setText(
            f"{count_text(len(sketch.points))}: {positive} of +1, {negative} of \u22121{chosen}"
        )
        fault = fault_of(sketch.points)
        self.train.setEnabled(not fault)
        self.train.setToolTip(
            plain_tip(
                f"{fault[:1].upper()}{fault[1:]}."
                if fault
                else "Train the network in Settings on these points"
            )
        )
        for key in ("flip", "delete"):
            self.actions_of[key].setEnabled(bool(sketch.selected))
        for key in ("clear", "copy", "all"):
            self.actions_of[key].setEnabled(bool(sketch.points))
        for key, step in (("undo", history.undoText()), ("redo", history.redoText())):
            action = self.actions_of[key]
            action.setEnabled(step != "")
            words = ": ".join(filter(None, (key.capitalize(), step)))
            shortcut = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            action.setToolTip(plain_tip(f"{words} ({shortcut})"))

    def _on_step(self) -> None:
        """Show the points after a change, an undo or a redo, and emit `changed`."""
        self._show()
        self.bar.clear()
        self.changed.emit()

    def _select(self, sketch: Sketch) -> None:
        self.history.sketch = sketch
        self._show()

    def _do(self, sketch: Sketch, words: str, subject: str = "") -> None:
        if (sketch.points, sketch.d) == (self.sketch.points, self.sketch.d):
            self._select(sketch)
        else:
            self.history.change(sketch, words, subject)

    # ---------------------------------------------------------------------------------- editing

    def pick(self, points: frozenset[int]) -> None:
        """Select other points."""
        if points != self.sketch.selected:
            self._select(replace(self.sketch, selected=frozenset(points)))

    def _add(self, row: Row) -> None:
        if len(self.sketch.points) >= MAX_POINTS:
            self.bar.show_message(FULL)
            return
        self._do(with_points(self.sketch, row), "Add a point")

    def _add_middle(self) -> None:
        self._add(self.canvas.middle())
        self.canvas.plot.setFocus(Qt.FocusReason.OtherFocusReason)

    def _move(self, sketch: Sketch, subject: str) -> None:
        self._do(sketch, f"Move {count_text(len(sketch.selected))}", subject)

    def _flip(self, number: int) -> None:
        """Flip one point, or all selected ones if it is among them."""
        selected = self.sketch.selected
        points = selected if number in selected else frozenset({number})
        self._do(with_flipped_labels(self.sketch, points), f"Flip {count_text(len(points))}")

    def _flip_selected(self) -> None:
        points = self.sketch.selected
        self._do(with_flipped_labels(self.sketch, points), f"Flip {count_text(len(points))}")

    def _delete(self) -> None:
        points = self.sketch.selected
        self._do(without_points(self.sketch, points), f"Delete {count_text(len(points))}")

    def _clear(self) -> None:
        self._do(without_points(self.sketch, range(len(self.sketch.points))), "Clear")

    def _select_all(self) -> None:
        self.pick(frozenset(range(len(self.sketch.points))))

    def _edit(self, number: int, row: Row) -> None:
        self._do(move_points(self.sketch, {number: row}), f"Edit point {number + 1}")

    def _on_dimension(self, place: int) -> None:
        self._do(with_dimension(self.sketch, 2 - place), f"Points {DIMENSIONS[place]}")

    def _on_label(self, positive: bool) -> None:
        self.canvas.label = 1.0 if positive else -1.0

    def _on_shape(self, chosen: QAction) -> None:
        self._seed += 1
        self.replace(shape(chosen.text(), self._seed), f"Start from {chosen.text()}")

    # -------------------------------------------------------------------------------- clipboard

    def paste(self) -> None:
        """Add the points in the clipboard's text."""
        try:
            pasted = parse_points(QGuiApplication.clipboard().text())
        except InputError as error:
            self.bar.show_message(error.sentence)
            return
        rows, sketch = pasted.points, self.sketch
        has_other_dimension = bool(sketch.points) and len(rows[0]) - 1 != sketch.d
        if not has_other_dimension and len(sketch.points) + len(rows) > MAX_POINTS:
            self.bar.show_message(NO_ROOM)
            return
        base = Sketch(d=len(rows[0]) - 1) if has_other_dimension or not sketch.points else sketch
        self._do(with_points(base, *rows), f"Paste {count_text(len(rows))}")
        self.canvas.fit()
        self.bar.show_message(
            " ".join(filter(None, (pasted.note, OTHERS if has_other_dimension else "")))
        )

    def _copy(self) -> None:
        chosen = self.sketch.chosen or range(len(self.sketch.points))
        rows = [self.sketch.points[number] for number in chosen]
        QGuiApplication.clipboard().setText(points_csv(rows))

    # ------------------------------------------------------------------------------------ events

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and not self.isActiveWindow():
            self.window_left.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.closed.emit()
