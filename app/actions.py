"""The one table of actions. Menus, tool bar, transport and shortcuts are made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

Icons = Callable[[str], QIcon]
MENUS = ("&File", "&Experiment", "&Play", "&View", "&Help")
SEPARATOR = "-"
# The property of an action that shows another icon than its row says, for the time being.
ICON = "shownIcon"


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One action. `handler` is "controller.method"; `tip` says what it does, in a few words."""

    key: str
    menu: str
    text: str
    handler: str
    shortcut: str = ""
    icon: str = ""
    tip: str = ""
    checkable: bool = False


FILE, EXPERIMENT, PLAY, VIEW, HELP = MENUS

TABLE: tuple[Row, ...] = (
    Row("open", FILE, "&Open ...", "files.open", "Ctrl+O", "open",
        "Open a recorded run or a study in place of what is shown"),
    Row("open_beside", FILE, "Open &beside ...", "files.open_beside", "Ctrl+Shift+O", "",
        "Open a recorded run at the right of what is shown"),
    Row("save_study", FILE, "&Save study ...", "files.save_study", "Ctrl+S", "",
        "Save the settings in the form as a study file"),
    Row(SEPARATOR, FILE, "", ""),
    Row("figure", FILE, "Export &figure ...", "outputs.figure", "Ctrl+E", "figure",
        "The figure at the cursor as PDF, SVG or PNG"),
    Row("copy_figure", FILE, "&Copy figure", "outputs.copy_figure", "Ctrl+Shift+C", "copy",
        "The figure at the cursor into the clipboard"),
    Row("film", FILE, "Export fil&m ...", "outputs.film", "Ctrl+Shift+E", "film",
        "The whole run as GIF or WebP"),
    Row("data", FILE, "Export &data ...", "outputs.data", "Ctrl+Alt+E", "data",
        "The run's numbers as NPZ or CSV"),
    Row(SEPARATOR, FILE, "", ""),
    Row("folder", FILE, "Show folder of &runs", "files.show_folder", "", "",
        "Open the folder where runs are recorded"),
    Row("close", FILE, "C&lose runs", "files.close_runs", "Ctrl+W", "close",
        "Stop and close the runs that are shown; they stay on the disk"),
    Row("quit", FILE, "&Quit", "window.close", "Ctrl+Q"),
    Row("run", EXPERIMENT, "&Run", "experiment.run", "Ctrl+R", "run",
        "Train the settings in the form from the start"),
    Row("pause", EXPERIMENT, "&Pause", "experiment.pause", "Ctrl+P", "pause",
        "Hold the training; the display goes on", checkable=True),
    Row("stop", EXPERIMENT, "&Stop", "experiment.stop", "Ctrl+.", "stop",
        "End the training; what is recorded stays"),
    Row("restart", EXPERIMENT, "R&estart", "experiment.restart", "Ctrl+Shift+R", "restart",
        "Train the runs that are shown once more from the start"),
    Row(SEPARATOR, EXPERIMENT, "", ""),
    Row("seed", EXPERIMENT, "&New seed", "experiment.new_seed", "Ctrl+N", "seed",
        "Train with the next seed: new data and new weights"),
    Row("weights", EXPERIMENT, "New &weights", "experiment.new_weights", "Ctrl+Shift+N", "weights",
        "Train with the same data from other initial weights"),
    Row("further", EXPERIMENT, "&Continue further", "experiment.further", "Ctrl+Shift+F",
        "continue", "Train onwards from where the runs ended"),
    Row(SEPARATOR, EXPERIMENT, "", ""),
    Row("margins_again", EXPERIMENT, "Compute reference &margins", "theory.again", "", "",
        "Compute those reference margins that were cancelled"),
    Row("margins_stop", EXPERIMENT, "Cance&l reference margins", "theory.cancel", "", "",
        "Compute no more reference margins for the runs that are shown"),
    Row(SEPARATOR, EXPERIMENT, "", ""),
    Row("whole", EXPERIMENT, "Wh&ole study ...", "whole.show", "F7", "study",
        "Run all cells of the study: the paper's figure, its claims, and a table"),
    Row("preview", EXPERIMENT, "Preview the &data ...", "preview.show", "F8", "",
        "What the data of the settings in the form look like, before anything is trained"),
    Row("play", PLAY, "&Play", "playback.toggle", "Space", "play",
        "Play or pause the display; training goes on"),
    Row("back", PLAY, "One frame &back", "playback.back", "Left", "step-back",
        "The frame before"),
    Row("forward", PLAY, "One frame &forward", "playback.forward", "Right", "step-forward",
        "The next frame"),
    Row("start", PLAY, "To the &start", "playback.to_start", "Home", "first",
        "To the initial weights, t = 0"),
    Row("end", PLAY, "To the &end", "playback.to_end", "End", "last",
        "To the latest frame there is"),
    Row("jump", PLAY, "&Jump to a time ...", "playback.jump", "Ctrl+J", "",
        "Type a time, such as 10^2.5"),
    Row(SEPARATOR, PLAY, "", ""),
    Row("slower", PLAY, "S&lower", "playback.slower", "[", "less", "Play more slowly"),
    Row("faster", PLAY, "F&aster", "playback.faster", "]", "more", "Play faster"),
    Row("loop", PLAY, "L&oop", "playback.set_loop", "L", "loop",
        "Begin again when the end is reached", checkable=True),
    Row("follow", PLAY, "Follow li&ve", "playback.set_follow", "F", "follow",
        "Stay at the latest frame while the training goes on", checkable=True),
    Row("coordinates", VIEW, "&Coordinates ...", "looks.choose_coordinates", "Ctrl+K", "",
        "Which two input coordinates the neurons are drawn on"),
    Row("unpin", VIEW, "&Unpin all nodes", "display.unpin", "Esc", "", "Let go of pinned nodes"),
    Row(SEPARATOR, VIEW, "", ""),
    Row("dark", VIEW, "&Dark", "looks.set_dark", "Ctrl+D", "dark",
        "Light figures on a dark ground, or dark ones on a light ground", checkable=True),
    Row("lecture", VIEW, "&Lecture", "looks.set_lecture", "F11", "lecture",
        "Only the views, in large type", checkable=True),
    Row("form", VIEW, "&Experiment panel", "looks.set_form", "F9", "fold-left",
        "Show or fold away the settings", checkable=True),
    Row("inspector", VIEW, "&Inspector panel", "looks.set_inspector", "F10", "fold-right",
        "Show or fold away the numbers", checkable=True),
    Row("what", HELP, "&What is this?", "help.what", "Shift+F1", "",
        "The definitions of what the pointer, or else the keyboard, is at"),
    Row(SEPARATOR, HELP, "", ""),
    Row("log", HELP, "Show the &log", "files.show_log", "", "",
        "Open the folder of the log, for reports of errors"),
    Row("about", HELP, "&About Marginscope", "looks.about", "", "", "Version and licence"),
)  # fmt: skip

TOOL_BAR = (
    "form", SEPARATOR, "run", "pause", "stop", "restart", SEPARATOR, "seed", "weights", "further",
    SEPARATOR, "whole",
)  # fmt: skip
TOOL_BAR_RIGHT = ("figure", "film", "data", SEPARATOR, "dark", "lecture", "inspector")
WITH_TEXT = {"run", "seed", "weights", "whole"}
# What is possible only while a run is recorded, while none is, and while one is shown.
LIVE_ONLY = ("pause", "stop")
ENDED_ONLY = ("further",)
SHOWN_ONLY = (
    "figure", "copy_figure", "film", "data", "close", "restart", "play", "back", "forward",
    "start", "end", "jump",
)  # fmt: skip


def make_actions(window: QMainWindow, handlers: Mapping[str, object]) -> dict[str, QAction]:
    """The table's actions, each connected to its handler, by key."""
    actions = {}
    for row in TABLE:
        if row.key == SEPARATOR:
            continue
        action = QAction(row.text, window)
        action.setObjectName(row.key)
        action.setCheckable(row.checkable)
        if row.shortcut:
            action.setShortcut(QKeySequence(row.shortcut))
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        name = row.text.replace("&", "").removesuffix(" ...")
        action.setIconText(name)
        shortcut = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        tip = row.tip or name
        action.setToolTip(f"{tip} ({shortcut})" if shortcut else tip)
        controller, method = row.handler.split(".")
        signal = action.toggled if row.checkable else action.triggered
        signal.connect(getattr(handlers[controller], method))
        window.addAction(action)
        actions[row.key] = action
    return actions


def set_icons(actions: Mapping[str, QAction], icons: Icons) -> None:
    """Give the actions their icons, again when the palette changes."""
    for row in TABLE:
        if row.icon:
            action = actions[row.key]
            action.setIcon(icons(action.property(ICON) or row.icon))


def show_playing(action: QAction, playing: bool, icons: Icons) -> None:
    """Let the button say what pressing it would do."""
    name = "pause" if playing else "play"
    if action.property(ICON) != name:
        action.setProperty(ICON, name)
        action.setIcon(icons(name))
        action.setText("&Hold" if playing else "&Play")
        action.setIconText("Hold" if playing else "Play")


def fill_menus(window: QMainWindow, actions: Mapping[str, QAction]) -> dict[str, QMenu]:
    """The menu bar, by title."""
    menus = {title: window.menuBar().addMenu(title) for title in MENUS}
    for row in TABLE:
        if row.key == SEPARATOR:
            menus[row.menu].addSeparator()
        else:
            menus[row.menu].addAction(actions[row.key])
    return menus


def enable(actions: Mapping[str, QAction], *, shown: bool, live: bool) -> None:
    """Enable what is possible now."""
    for key in LIVE_ONLY:
        actions[key].setEnabled(live)
    for key in ENDED_ONLY:
        actions[key].setEnabled(shown and not live)
    for key in SHOWN_ONLY:
        actions[key].setEnabled(shown)
