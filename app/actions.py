"""Table of all actions, from which menus, bars, rail and shortcuts are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

Icons = Callable[[str], QIcon]
Handlers = Mapping[str, Callable[..., object]]  # action key -> bound method
SEPARATOR = "-"
# Property of an action that replaces, for a time, the icon of its row.
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
    short: str = ""  # name on the rail


NUMBERS = range(1, 10)  # of the open runs, from the left
# Rows of each menu; None is a separator.
MENUS: dict[str, tuple[ActionRow | None, ...]] = {
    "&File": (
        ActionRow("open", "&Open ...", "Ctrl+O", "open"),
        ActionRow("open_beside", "Open &beside ...", "Ctrl+Shift+O"),
        ActionRow("save_study", "&Save study ...", "Ctrl+S"),
        None,
        ActionRow("last", "Reopen las&t session"),
        ActionRow("record", "Sa&ve session script ..."),
        ActionRow("restores", "Reopen last session on start&up", checkable=True),
        None,
        ActionRow("export", "E&xport ..."),
        ActionRow("figure", "Export &figure ...", "Ctrl+E", "figure"),
        ActionRow("copy_figure", "&Copy figure", "Ctrl+Shift+C", "copy"),
        ActionRow("film", "Export fil&m ...", "Ctrl+Shift+E", "film"),
        ActionRow("page", "Export &page ...", "Ctrl+Alt+P"),
        ActionRow("story_page", "Export story as pa&ge ..."),
        ActionRow("data", "Export &data ...", "Ctrl+Alt+E", "data"),
        ActionRow("cite", "Cop&y BibTeX"),
        None,
        ActionRow("folder", "Open run fold&er"),
        ActionRow("close_run", "Close current ru&n", "Ctrl+Shift+W"),
        ActionRow("close", "C&lose all runs", "Ctrl+W", "close"),
        ActionRow("quit", "&Quit", "Ctrl+Q"),
    ),
    "&Edit": (
        ActionRow("undo", "&Undo", "Ctrl+Z", "undo"),
        ActionRow("redo", "&Redo", "Ctrl+Shift+Z", "redo"),
        None,
        ActionRow("name", "&Name selection ...", "Ctrl+G"),
        ActionRow("selection_back", "&Previous selection", "Alt+Left"),
        ActionRow("selection_forward", "Ne&xt selection", "Alt+Right"),
        None,
        ActionRow("copy_link", "&Copy link", "Ctrl+Alt+C"),
        ActionRow("open_link", "&Open link ...", "Ctrl+Alt+O"),
        ActionRow("register", "Op&en Marginscope links and runs with this app"),
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
        ActionRow("further", "&Continue training", "Ctrl+Shift+F", "continue"),
        ActionRow("branch", "&Branch here ...", "Ctrl+B", "branch"),
        ActionRow("rewind", ("Retra&in from here with a new step ..."), "Ctrl+Shift+B", "rewind"),
        None,
        ActionRow("margins_again", "Compute reference &margins"),
        ActionRow("margins_stop", "Cance&l reference margins"),
        None,
        ActionRow("studies", "Choose st&udy ...", "Ctrl+Shift+S"),
        ActionRow("cells", "C&hoose runs ...", "F6"),
        ActionRow("whole", "Run wh&ole study ...", "F7", "study"),
        ActionRow("preview", "Preview &data ...", "F8"),
        ActionRow("draw", "Draw da&ta ...", "Shift+F8"),
    ),
    "&Play": (
        ActionRow("play", "&Play", "Space", "play"),
        ActionRow("back", "Step &back", "Left", "step-back"),
        ActionRow("forward", "Step &forward", "Right", "step-forward"),
        ActionRow("start", "Go to &start", "Home", "first"),
        ActionRow("end", "Go to &end", "End", "last"),
        ActionRow("jump", "&Jump to time ...", "Ctrl+J"),
        ActionRow("bookmark", "Boo&kmark this moment ...", "B"),
        ActionRow("note", "Add &note at this moment ...", "N"),
        None,
        ActionRow("story", "Stor&y ...", "Ctrl+Alt+Y"),
        ActionRow("play_story", "Play sto&ry", "Ctrl+Alt+T"),
        None,
        ActionRow("slower", "Play s&lower", "[", "less"),
        ActionRow("faster", "Play f&aster", "]", "more"),
        ActionRow("loop", "L&oop", "L", "loop", checkable=True),
        ActionRow("loop_from", "Loop fro&m here", "I"),
        ActionRow("loop_to", "Loop &to here", "O"),
        ActionRow("loop_all", "Clear &interval", "Shift+I"),
        ActionRow("follow", "Follow li&ve", "Shift+F", "follow", checkable=True),
    ),
    "&View": (
        ActionRow("coordinates", "Choose &coordinates ...", "Ctrl+K"),
        ActionRow("link", "Lin&k axes of runs", "Ctrl+Shift+L", checkable=True),
        ActionRow("compare", "Com&pare runs", "Ctrl+Shift+M", "compare", checkable=True),
        ActionRow("curves", "Ch&oose curves ...", "Ctrl+Alt+K"),
        ActionRow("log_curves", "Log&arithmic curves", "Ctrl+Alt+L", checkable=True),
        ActionRow("equal", "E&qual aspect", checkable=True),
        ActionRow("fill", "&Fill window with one view", "F"),
        ActionRow("unpin", "&Unpin all neurons", "Esc"),
        None,
        *(ActionRow(f"run_{k}", f"Make run &{k} current", str(k)) for k in NUMBERS),
        None,
        ActionRow("library", "Li&brary of runs", "Ctrl+L", "library", True, "Library"),
        ActionRow("dark", "&Dark theme", "Ctrl+D", "dark", checkable=True),
        ActionRow("system", "Match system app&earance", checkable=True),
        ActionRow("lecture", "&Lecture mode", "F11", "lecture", checkable=True),
        ActionRow("form", "Sett&ings", "F9", "settings", True),
        ActionRow("inspector", "T&heory", "F10", "theory", True),
        ActionRow("numbers", "&Numbers", "F3", "numbers", True),
        ActionRow("result", "&Study result", "F12", "study", True, "Study"),
        ActionRow("times", "&Theorem timeline", "F4", checkable=True),
    ),
    "&Help": (
        ActionRow("palette", "&Command palette ...", "Ctrl+Shift+P"),
        ActionRow("shortcuts", "&Keyboard shortcuts ...", "?"),
        ActionRow("what", "&What is this?", "Shift+F1"),
        None,
        ActionRow("welcome", "W&elcome page", checkable=True),
        ActionRow("tour", "Five-minute &tour"),
        ActionRow("documents", "&Documents", "F1"),
        ActionRow("site", "Open web &site"),
        None,
        ActionRow("messages", "Recent &messages ..."),
        ActionRow("log", "Open &log folder"),
        ActionRow("about", "&About Marginscope"),
    ),
}
ROWS = tuple(row for rows in MENUS.values() for row in rows if row is not None)
# Short descriptions of the actions whose names do not explain them.
TIPS = {
    "open": "Open a recorded run or a study; closes the open runs",
    "open_beside": "Open a recorded run next to the open runs",
    "save_study": "Save the current settings as a study file",
    "export": "Export a figure, film, page or data of the open runs",
    "figure": "Export a figure of the open runs as PDF, SVG or PNG",
    "copy_figure": "Copy a figure of the open runs to the clipboard",
    "film": "Export the run, or part of it, as GIF, WebP or MP4",
    "page": "Export the runs as one HTML file that plays in any browser, even offline",
    "story_page": "Export the story as one HTML file that steps through its moments, even offline",
    "data": "Export the run's numbers as NPZ or CSV",
    "cite": "Copy BibTeX entries for Marginscope and the papers behind the open runs",
    "last": "Reopen what was open when you last quit",
    "record": "Save everything done since startup as a shell script with its study files",
    "restores": "On startup, reopen the last session",
    "undo": "Undo the last change to settings or view",
    "redo": "Redo the last change that was undone",
    "name": "Save the selected neurons under a name, listed in Edit, Selections",
    "selection_back": "Pin the neurons of the previous selection",
    "selection_forward": "Pin the neurons of the next selection",
    "copy_link": "Copy a link that reopens these runs with this time, views, zoom and pins",
    "open_link": "Open a Marginscope link",
    "register": "Open links in mails and .msrun files with Marginscope; choose again to turn off",
    "save_view": "Save the runs, time, views, zoom and pins as a small file next to the runs",
    "folder": "Open the folder that contains your recorded runs",
    "close": "Stop and close all open runs; their files stay on disk",
    "close_run": "Stop and close the current run; its file stays on disk",
    **{f"run_{k}": f"Make run {k} from the left the current run" for k in NUMBERS},
    "run": "Train the current settings from the start",
    "pause": "Pause training; playback continues",
    "stop": "Stop training; all recorded frames are saved",
    "restart": "Train the open runs again from the start",
    "seed": "Train with the next seed: new data and new initial weights",
    "weights": "Train with the same data and new initial weights",
    "further": "Continue all open runs from their last frames",
    "branch": "Branch the current run at this moment, with changed settings",
    "rewind": "Continue from the weights at this moment with another step size, e.g. half",
    "margins_again": "Compute the cancelled reference margins",
    "margins_stop": "Stop computing reference margins",
    "studies": "Browse the studies by paper, with figures, summaries and costs",
    "cells": "Choose which runs of the study to train side by side",
    "whole": "Train all runs of the study for the paper's figure, its claims and a table",
    "preview": "Show the data of the current settings before training",
    "draw": "Draw or paste points in the plane or on a line, and train on them",
    "play": "Play or pause; training continues",
    "back": "Go to the previous frame",
    "forward": "Go to the next frame",
    "start": "Go to the initial weights, t = 0",
    "end": "Go to the last frame",
    "jump": "Enter a time, such as 10^2.5",
    "slower": "Play more slowly",
    "faster": "Play faster",
    "loop": "Start again at the end",
    "bookmark": "Bookmark this moment with the current views, zoom and pins",
    "note": "Write a note at this moment of the current run; the time slider marks it",
    "story": "Put moments in an order, each with a sentence, to play or export them",
    "play_story": "Play the story from its first moment; Space goes on, Esc ends it",
    "loop_from": "Start the loop here",
    "loop_to": "End the loop here",
    "loop_all": "Play the whole run again",
    "follow": "Stay at the last frame during training",
    "coordinates": "Choose the two input coordinates on which neurons are drawn",
    "link": "Share axis ranges and zoom between runs",
    "curves": "Choose the observables to draw as curves or to compare",
    "log_curves": "Use a logarithmic axis for positive curves",
    "equal": "Use the same scale on both axes",
    "compare": "Compare the open runs, or runs chosen in the library, in one plot",
    "fill": "Show only the view under the pointer; choose again to show all views",
    "unpin": "Unpin all neurons",
    "library": "All recorded runs: search, compare, tag, annotate, delete",
    "dark": "Switch between the light and dark themes",
    "system": "Follow the system's light or dark appearance until you choose a theme",
    "lecture": "Show only the views, in large type",
    "form": "Edit the study's settings and train",
    "inspector": "Reference margins and theorems for the current run",
    "numbers": "Selected neurons, every number at the cursor, and the run's settings",
    "result": "Figure of the whole study, with a verdict on each claim",
    "times": "Timeline of when each theorem holds, above the time slider",
    "palette": "Find any action, study, run, observable or view by typing a few letters",
    "shortcuts": "See and change all keyboard shortcuts",
    "welcome": "Papers, recent files and ways to start",
    "tour": "Take a short tour of the window with Figure 1",
    "documents": "Read the documents offline",
    "site": "Open the documents in a browser, with the figure and verdicts of every study",
    "what": "Explain what is under the pointer",
    "messages": "Show the last twenty messages",
    "log": "Open the folder that contains the log, e.g. for an error report",
    "about": "Show version and licence",
}

# Keys of the actions on the rail, at the left and right of the top bar, and in the bar's menus.
RAIL = ("form", "inspector", "numbers", "library", "result")
TRAINING = ("run", "pause", "stop")
EXPORTS = ("figure", "copy_figure", "film", "page", "data", SEPARATOR, "cite", "copy_link")
MORE = (
    *("restart", "seed", "weights", "further", "branch", "rewind", SEPARATOR, "cells", "preview"),
    *("draw", SEPARATOR, "link", "times", "dark", "lecture", SEPARATOR, "palette", "shortcuts"),
)
# Actions that need a run being trained, no run being trained, and a run on the screen.
LIVE_ONLY = ("pause", "stop")
ENDED_ONLY = ("further",)
OF_RUNS_ALONE = ("film", "page", "story_page")
OF_FILES = ("export", "figure", "copy_figure", "film", "page", "story_page", "data", "cite")
OF_RUNS = (*OF_FILES, "close", "close_run", "restart", "branch", "rewind")
OF_VIEWS = ("log_curves",)
OF_COMPARED = ("export", "figure", "copy_figure", "data", "fill")
INTERVAL = ("bookmark", "note", "story", "loop_from", "loop_to", "loop_all")
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
# Reasons for disabled actions.
REASONS = {
    **dict.fromkeys(LIVE_ONLY, "No run is training."),
    **dict.fromkeys(ENDED_ONLY, "Available once a run has finished."),
    **dict.fromkeys(SHOWN_ONLY, "No run is open."),
    "log_curves": "Not available while comparing runs.",
    "film": "Open a run, or close the comparison: films show runs.",
    "page": "Open a run, or close the comparison: pages show runs.",
    "story_page": "Open a run, or close the comparison: stories show runs.",
    **{f"run_{k}": f"Fewer than {k} runs are open." for k in NUMBERS},
    "last": "No earlier session was saved.",
    "undo": "Nothing to undo.",
    "redo": "Nothing to redo.",
    "name": "No neuron is selected.",
    "loop_all": "No loop interval is set.",
    "margins_again": "No reference margin was cancelled.",
    "margins_stop": "No reference margin is being computed.",
    "selection_back": "No previous selection.",
    "selection_forward": "No later selection.",
}


def name_of(row: ActionRow) -> str:
    """Return the name of an action outside of menus."""
    return row.text.replace("&", "").removesuffix(" ...")


def set_keys(action: QAction, keys: str) -> None:
    """Set an action's keys, which its tip names; "" for none."""
    action.setShortcut(QKeySequence(keys))
    shortcut = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    row = next(row for row in ROWS if row.key == action.objectName())
    tip = TIPS.get(row.key, name_of(row))
    action.setToolTip(f"{tip} ({shortcut})" if shortcut else tip)


def disabled_reason(key: str) -> str:
    """Return why an action is disabled."""
    return REASONS.get(key, "Not available right now.")


def make_actions(window: QMainWindow, handlers: Handlers) -> dict[str, QAction]:
    """Return the actions of the table by key, each connected to its handler."""
    actions = {}
    for row in ROWS:
        action = QAction(row.text, window)
        action.setObjectName(row.key)
        action.setCheckable(row.checkable)
        action.setIconVisibleInMenu(not row.checkable)  # the icon would replace the check mark
        # Not an application shortcut: the window of a whole study has its own keys.
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        # Tool buttons show this text beside the icon, without mnemonic and ellipsis.
        action.setIconText(row.short or name_of(row))
        set_keys(action, row.shortcut)
        # `toggled` is also emitted when the program checks the action, as lecture mode does.
        signal = action.toggled if row.checkable else action.triggered
        signal.connect(handlers[row.key])
        window.addAction(action)  # its shortcut then works without a visible menu or button
        actions[row.key] = action
    return actions


def set_icons(actions: Mapping[str, QAction], icons: Icons) -> None:
    """Give the actions their icons, again when the palette changes."""
    for row in ROWS:
        if row.icon:
            action = actions[row.key]
            action.setIcon(icons(action.property(ICON) or row.icon))


def show_playing(action: QAction, playing: bool, icons: Icons) -> None:
    """Show on the action what pressing it would do."""
    name = "pause" if playing else "play"
    if action.property(ICON) != name:
        action.setProperty(ICON, name)
        action.setIcon(icons(name))
        action.setText("&Pause" if playing else "&Play")
        action.setIconText("Pause" if playing else "Play")


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


LEAST_LISTED = 2  # entries shown in the menu even if fewer runs are open


def enable(
    actions: Mapping[str, QAction],
    *,
    n_runs: int,
    live: bool,
    compared: bool = False,
    pinned: bool = False,
    interval: bool = False,
) -> None:
    """Enable what is possible now; a comparison has plots, figures and data, but no films or pages.

    `n_runs`: number of open runs. `pinned`, `interval`: neurons are pinned, and an interval is set.
    """
    for k in NUMBERS:
        actions[f"run_{k}"].setEnabled(k <= n_runs)
        actions[f"run_{k}"].setVisible(k <= max(n_runs, LEAST_LISTED))
    for key in LIVE_ONLY:
        actions[key].setEnabled(live)
    for key in ENDED_ONLY:
        actions[key].setEnabled(n_runs > 0 and not live)
    for key in SHOWN_ONLY:
        actions[key].setEnabled(n_runs > 0 or (compared and key in OF_COMPARED))
    for key in OF_RUNS_ALONE:
        actions[key].setEnabled(n_runs > 0 and not compared)
    for key in OF_VIEWS:
        actions[key].setEnabled(not compared)
    actions["name"].setEnabled(n_runs > 0 and pinned)
    actions["loop_all"].setEnabled(n_runs > 0 and interval)
