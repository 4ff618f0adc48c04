"""Table of all actions, from which menus, bars, rail and shortcuts are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

Icons = Callable[[str], QIcon]
Handlers = Mapping[str, Callable[..., object]]  # bound methods by the keys of actions
SEPARATOR = "-"
# The property of an action that shows another icon than its row says, for the time being.
ICON = "shownIcon"


@final
@dataclass(frozen=True, slots=True)
class ActionRow:
    """Texts and keys of an action; app.shell.application connects its method."""

    key: str
    text: str
    shortcut: str = ""
    icon: str = ""
    checkable: bool = False
    short: str = ""  # its name on the rail


NUMBERS = range(1, 10)  # of the open runs from the left
# The rows of each menu; None is a separator.
MENUS: dict[str, tuple[ActionRow | None, ...]] = {
    "&File": (
        ActionRow("open", "&Open ...", "Ctrl+O", "open"),
        ActionRow("open_beside", "Open &beside ...", "Ctrl+Shift+O"),
        ActionRow("save_study", "&Save study ...", "Ctrl+S"),
        None,
        ActionRow("last", "Res&tore last session"),
        ActionRow("record", "Sa&ve record of session ..."),
        ActionRow("restores", "Open &with the last session", checkable=True),
        None,
        ActionRow("export", "E&xport ..."),
        ActionRow("figure", "Export &figure ...", "Ctrl+E", "figure"),
        ActionRow("copy_figure", "&Copy figure", "Ctrl+Shift+C", "copy"),
        ActionRow("film", "Export fil&m ...", "Ctrl+Shift+E", "film"),
        ActionRow("page", "Export &page ...", "Ctrl+Alt+P"),
        ActionRow("data", "Export &data ...", "Ctrl+Alt+E", "data"),
        ActionRow("cite", "Cop&y BibTeX"),
        None,
        ActionRow("folder", "Show folder of &runs"),
        ActionRow("close_run", "Close this ru&n", "Ctrl+Shift+W"),
        ActionRow("close", "C&lose runs", "Ctrl+W", "close"),
        ActionRow("quit", "&Quit", "Ctrl+Q"),
    ),
    "&Edit": (
        ActionRow("undo", "&Undo", "Ctrl+Z", "undo"),
        ActionRow("redo", "&Redo", "Ctrl+Shift+Z", "redo"),
        None,
        ActionRow("name", "&Name the selection ...", "Ctrl+G"),
        ActionRow("selection_back", "Selection &back", "Alt+Left"),
        ActionRow("selection_forward", "Selection &forward", "Alt+Right"),
        None,
        ActionRow("copy_link", "&Copy link", "Ctrl+Alt+C"),
        ActionRow("open_link", "&Open link ...", "Ctrl+Alt+O"),
        ActionRow("register", "L&et the system open links and runs here"),
        ActionRow("save_view", "&Save view ...", "Ctrl+Alt+S"),
    ),
    "&Experiment": (
        ActionRow("run", "&Run", "Ctrl+R", "run"),
        ActionRow("pause", "&Pause", "Ctrl+P", "pause", checkable=True),
        ActionRow("stop", "&Stop", "Ctrl+.", "stop"),
        ActionRow("restart", "R&estart", "Ctrl+Shift+R", "restart"),
        None,
        ActionRow("seed", "&New seed", "Ctrl+N", "seed"),
        ActionRow("weights", "New &weights", "Ctrl+Shift+N", "weights"),
        ActionRow("further", "&Continue further", "Ctrl+Shift+F", "continue"),
        ActionRow("branch", "&Branch here ...", "Ctrl+B", "branch"),
        ActionRow("rewind", "Rew&ind here with another step ...", "Ctrl+Shift+B", "rewind"),
        None,
        ActionRow("margins_again", "Compute reference &margins"),
        ActionRow("margins_stop", "Cance&l reference margins"),
        None,
        ActionRow("studies", "Choose a st&udy ...", "Ctrl+Shift+S"),
        ActionRow("cells", "C&hoose runs ...", "F6"),
        ActionRow("whole", "Wh&ole study ...", "F7", "study"),
        ActionRow("preview", "Preview the &data ...", "F8"),
        ActionRow("draw", "Draw da&ta ...", "Shift+F8"),
    ),
    "&Play": (
        ActionRow("play", "&Play", "Space", "play"),
        ActionRow("back", "One frame &back", "Left", "step-back"),
        ActionRow("forward", "One frame &forward", "Right", "step-forward"),
        ActionRow("start", "To the &start", "Home", "first"),
        ActionRow("end", "To the &end", "End", "last"),
        ActionRow("jump", "&Jump to a time ...", "Ctrl+J"),
        ActionRow("bookmark", "Boo&kmark this moment ...", "B"),
        None,
        ActionRow("slower", "S&lower", "[", "less"),
        ActionRow("faster", "F&aster", "]", "more"),
        ActionRow("loop", "L&oop", "L", "loop", checkable=True),
        ActionRow("loop_from", "Loop fro&m here", "I"),
        ActionRow("loop_to", "Loop &to here", "O"),
        ActionRow("loop_all", "Clear the &interval", "Shift+I"),
        ActionRow("follow", "Follow li&ve", "Shift+F", "follow", checkable=True),
    ),
    "&View": (
        ActionRow("coordinates", "&Coordinates ...", "Ctrl+K"),
        ActionRow("link", "Lin&k axes of runs", "Ctrl+Shift+L", checkable=True),
        ActionRow("compare", "Com&pare runs", "Ctrl+Shift+M", "compare", checkable=True),
        ActionRow("curves", "Ch&oose curves ...", "Ctrl+Alt+K"),
        ActionRow("log_curves", "Lo&garithmic curves", "Ctrl+Alt+L", checkable=True),
        ActionRow("equal", "E&qual aspect", checkable=True),
        ActionRow("fill", "&Fill with one view", "F"),
        ActionRow("unpin", "&Unpin all nodes", "Esc"),
        None,
        *(ActionRow(f"run_{k}", f"Show run &{k}", str(k)) for k in NUMBERS),
        None,
        ActionRow("library", "Li&brary of runs", "Ctrl+L", "library", True, "Library"),
        ActionRow("dark", "&Dark", "Ctrl+D", "dark", checkable=True),
        ActionRow("system", "Dark or light as the s&ystem", checkable=True),
        ActionRow("lecture", "&Lecture", "F11", "lecture", checkable=True),
        ActionRow("form", "Sett&ings", "F9", "settings", True),
        ActionRow("inspector", "T&heory", "F10", "theory", True),
        ActionRow("numbers", "&Numbers", "F3", "numbers", True),
        ActionRow("result", "&Study result", "F12", "study", True, "Study"),
        ActionRow("times", "&Theorem time line", "F4", checkable=True),
    ),
    "&Help": (
        ActionRow("palette", "&Command palette ...", "Ctrl+Shift+P"),
        ActionRow("shortcuts", "&Keyboard shortcuts ...", "?"),
        ActionRow("what", "&What is this?", "Shift+F1"),
        None,
        ActionRow("welcome", "W&elcome page", checkable=True),
        ActionRow("tour", "Five-minute &tour"),
        ActionRow("documents", "&Documents", "F1"),
        ActionRow("site", "Web &site of the documents"),
        None,
        ActionRow("messages", "Recent &messages ..."),
        ActionRow("log", "Show the &log"),
        ActionRow("about", "&About Marginscope"),
    ),
}
ROWS = tuple(row for rows in MENUS.values() for row in rows if row is not None)
# What each does, in a few words; the others are known by their names.
TIPS = {
    "open": "Open a recorded run or a study in place of what is shown",
    "open_beside": "Open a recorded run at the right of what is shown",
    "save_study": "Save the settings in the form as a study file",
    "export": "A figure, a film, a page or the data of the open runs",
    "figure": "The figure of the open runs as PDF, SVG or PNG",
    "copy_figure": "The figure of the open runs into the clipboard",
    "film": "The run, or a part of it, as GIF, WebP or MP4",
    "page": "The runs as one HTML file, which plays in any browser without a network",
    "data": "The run's numbers as NPZ or CSV",
    "cite": "Entries of the program, and of the papers of what is shown, into the clipboard",
    "last": "Reopen what was open when you last quit",
    "record": "Save what you did since the start as a script, with its study files",
    "restores": "On startup, reopen the last session",
    "undo": "Undo the last change to settings or view",
    "redo": "Redo the change that was undone",
    "name": "Name the selected neurons, to find them under Selections",
    "selection_back": "The neurons that were pinned before",
    "selection_forward": "The neurons that were pinned after these",
    "copy_link": "A link to this picture: runs, time, views, zoom and pins",
    "open_link": "Show the picture of a link",
    "register": "Open links in mails and .msrun files here; choose again to turn off",
    "save_view": "Save this picture as a small file beside its runs",
    "folder": "Open the folder where runs are recorded",
    "close": "Stop and close the runs that are shown; they stay on the disk",
    "close_run": "Stop and close the current run; it stays on the disk",
    **{f"run_{k}": f"Make run {k} from the left the current one" for k in NUMBERS},
    "run": "Train the settings in the form from the start",
    "pause": "Pause training; the display continues",
    "stop": "End training; what was recorded stays",
    "restart": "Train the runs that are shown once more from the start",
    "seed": "Train with the next seed: new data and new weights",
    "weights": "Train with the same data from other initial weights",
    "further": "Continue all open runs from where they ended",
    "branch": "Branch the current run at this moment, with changed settings",
    "rewind": "Retrain from here with a new step size, such as half the step",
    "margins_again": "Compute the reference margins that were cancelled",
    "margins_stop": "Stop computing reference margins",
    "studies": "The studies of the papers, with pictures, sentences and what they cost",
    "cells": "Choose the runs of the study to train side by side",
    "whole": "Run all cells of the study: the paper's figure, its claims, and a table",
    "preview": "Show the data of the settings before training",
    "draw": "Draw or paste points in the plane or on a line, and train on them at once",
    "play": "Play or pause the display; training goes on",
    "back": "The frame before",
    "forward": "The next frame",
    "start": "To the initial weights, t = 0",
    "end": "To the latest frame",
    "jump": "Type a time, such as 10^2.5",
    "slower": "Play more slowly",
    "faster": "Play faster",
    "loop": "Start again at the end",
    "bookmark": "Name this moment and view, with the current run",
    "loop_from": "Start the loop here",
    "loop_to": "End the loop here",
    "loop_all": "Play over the whole run again",
    "follow": "Stay at the latest frame while the training goes on",
    "coordinates": "Which two input coordinates the neurons are drawn on",
    "link": "Share axis ranges and zoom between runs",
    "curves": "Search the observables of the runs, and tick those to draw as curves",
    "log_curves": "Logarithmic axis for positive curves",
    "equal": "Same scale on both axes",
    "compare": "Plot the open runs, or those chosen in the library, in the same axes",
    "fill": "Show one plot alone: that at the pointer, or the first; again: all plots",
    "unpin": "Unpin all neurons",
    "library": "All recorded runs: search, compare, tag, annotate, delete",
    "dark": "Switch between light and dark",
    "system": "Follow the system's colours, until others are chosen by hand",
    "lecture": "Only the views, in large type",
    "form": "Edit and train the settings of the study",
    "inspector": "Reference margins, and what the theorems say of the run",
    "numbers": "The selected neuron, every number at the cursor, and the run's settings",
    "result": "The figure of the whole study, with the verdicts on its claims",
    "times": "Timeline of when each theorem holds, above the time slider",
    "palette": "Find any action, study, run, observable or view by a few letters",
    "shortcuts": "All keys on one page, where they can be changed",
    "welcome": "The papers, what was open last, and how to begin",
    "tour": "A guided tour of the window, on Figure 1",
    "documents": "The documents of the program, without a network",
    "site": "The documents in the browser, with the figure and the verdicts of every study",
    "what": "Explain what is under the pointer",
    "messages": "The last twenty messages, with their times",
    "log": "Open the folder of the log, for reports of errors",
    "about": "Version and licence",
}

# Keys of the actions on the rail, at the left and right of the top bar, and in its menus.
RAIL = ("form", "inspector", "numbers", "library", "result")
TRAINING = ("run", "pause", "stop")
EXPORTS = ("figure", "copy_figure", "film", "page", "data", SEPARATOR, "cite", "copy_link")
MORE = (
    *("restart", "seed", "weights", "further", "branch", "rewind", SEPARATOR, "cells", "preview"),
    *("draw", SEPARATOR, "link", "times", "dark", "lecture", SEPARATOR, "palette", "shortcuts"),
)
# What is possible only while a run is recorded, while none is, and while one is shown.
LIVE_ONLY = ("pause", "stop")
ENDED_ONLY = ("further",)
OF_RUNS_ALONE = ("film", "page")
OF_FILES = ("export", "figure", "copy_figure", *OF_RUNS_ALONE, "data", "cite")
OF_RUNS = (*OF_FILES, "close", "close_run", "restart", "branch", "rewind")
OF_COMPARED = ("export", "figure", "copy_figure", "data")
INTERVAL = ("bookmark", "loop_from", "loop_to", "loop_all")
SHOWN_ONLY = (
    *OF_RUNS,
    "name",
    "fill",
    "play",
    "back",
    "forward",
    "start",
    "end",
    "jump",
    *INTERVAL,
)
# Why an action cannot be had now.
REASONS = {
    **dict.fromkeys(LIVE_ONLY, "Nothing is being trained."),
    **dict.fromkeys(ENDED_ONLY, "Available once a run has finished."),
    **dict.fromkeys(SHOWN_ONLY, "No run is shown."),
    "fill": "No run is shown.",
    "film": "No run is shown, or runs are compared: a film is of the runs themselves.",
    "page": "No run is shown, or runs are compared: a page is of the runs themselves.",
    **{f"run_{k}": f"Fewer than {k} runs are shown." for k in NUMBERS},
    "last": "No earlier session to reopen.",
    "undo": "Nothing to undo.",
    "redo": "Nothing to redo.",
    "name": "No neuron is selected.",
    "loop_all": "No interval is set.",
    "margins_again": "No reference margin was cancelled.",
    "margins_stop": "No reference margin is being computed.",
    "selection_back": "No other neurons were pinned before.",
    "selection_forward": "No other neurons were pinned after these.",
}


def name_of(row: ActionRow) -> str:
    """Return the name of an action outside of menus."""
    return row.text.replace("&", "").removesuffix(" ...")


def set_keys(action: QAction, keys: str) -> None:
    """Give an action of the table its keys, which its tip names; "" for none."""
    action.setShortcut(QKeySequence(keys))
    shortcut = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    row = next(row for row in ROWS if row.key == action.objectName())
    tip = TIPS.get(row.key, name_of(row))
    action.setToolTip(f"{tip} ({shortcut})" if shortcut else tip)


def disabled_reason(key: str) -> str:
    """Return why an action is disabled."""
    return REASONS.get(key, "It cannot be had now.")


def make_actions(window: QMainWindow, handlers: Handlers) -> dict[str, QAction]:
    """Return the actions of the table by key, each connected to its handler."""
    actions = {}
    for row in ROWS:
        action = QAction(row.text, window)
        action.setObjectName(row.key)
        action.setCheckable(row.checkable)
        action.setIconVisibleInMenu(not row.checkable)  # it would stand in place of the tick
        # Not of the application: the window of a whole study has keys of its own.
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        # Tool bars show it beside an icon, where mnemonics and dots have no meaning.
        action.setIconText(row.short or name_of(row))
        set_keys(action, row.shortcut)
        # Toggled also when it is the program that checks it, as a lecture does with the panels.
        signal = action.toggled if row.checkable else action.triggered
        signal.connect(handlers[row.key])
        window.addAction(action)  # so that its shortcut works where no menu or button shows it
        actions[row.key] = action
    return actions


def set_icons(actions: Mapping[str, QAction], icons: Icons) -> None:
    """Give the actions their icons, again when the palette changes."""
    for row in ROWS:
        if row.icon:
            action = actions[row.key]
            action.setIcon(icons(action.property(ICON) or row.icon))


def show_playing(action: QAction, playing: bool, icons: Icons) -> None:
    """Show on the action what it would do."""
    name = "pause" if playing else "play"
    if action.property(ICON) != name:
        action.setProperty(ICON, name)
        action.setIcon(icons(name))
        action.setText("&Hold" if playing else "&Play")
        action.setIconText("Hold" if playing else "Play")


def fill_menus(window: QMainWindow, actions: Mapping[str, QAction]) -> dict[str, QMenu]:
    """Fill the menu bar, and return its menus by title."""
    menus = {title: window.menuBar().addMenu(title) for title in MENUS}
    for title, rows in MENUS.items():
        for row in rows:
            if row is None:
                menus[title].addSeparator()
            else:
                menus[title].addAction(actions[row.key])
    return menus


LEAST_LISTED = 2  # numbers in the menu, however few runs are open


def enable(
    actions: Mapping[str, QAction],
    *,
    shown: int,
    live: bool,
    compared: bool = False,
    pinned: bool = False,
    interval: bool = False,
) -> None:
    """Enable what is possible now; a comparison has figures and data, but no films or pages.

    `shown`: number of open runs. `pinned`, `interval`: nodes are pinned, and an interval is set.
    """
    for k in NUMBERS:
        actions[f"run_{k}"].setEnabled(k <= shown)
        actions[f"run_{k}"].setVisible(k <= max(shown, LEAST_LISTED))
    for key in LIVE_ONLY:
        actions[key].setEnabled(live)
    actions["fill"].setEnabled(shown > 0 or compared)
    for key in ENDED_ONLY:
        actions[key].setEnabled(shown > 0 and not live)
    for key in SHOWN_ONLY:
        actions[key].setEnabled(shown > 0 or (compared and key in OF_COMPARED))
    for key in OF_RUNS_ALONE:
        actions[key].setEnabled(shown > 0 and not compared)
    actions["name"].setEnabled(shown > 0 and pinned)
    actions["loop_all"].setEnabled(shown > 0 and interval)
