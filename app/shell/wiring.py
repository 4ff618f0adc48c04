"""Connections between features that do not know each other."""

from __future__ import annotations

from app.shell.parts import Parts


def connect(parts: Parts) -> None:
    """Make all connections that last as long as the program."""
    window, worker, display = parts.window, parts.worker, parts.display
    commands, dropped = parts.commands, (window.dropped, window.welcome.file_chosen)
    for opened in (*dropped, commands.open_requested):
        opened.connect(parts.files.open_files)
    window.recent.triggered.connect(parts.files.open_recent)
    window.chooser.chosen.connect(parts.training.choose)
    window.chooser.open_requested.connect(parts.files.open)
    window.chooser.browse_requested.connect(parts.studies.browse)
    window.welcome.run_requested.connect(parts.training.run)
    window.welcome.open_requested.connect(parts.files.open)
    window.welcome.own_data_requested.connect(parts.drawing.show)
    window.welcome.paper_chosen.connect(parts.studies.browse_paper)
    _connect_words(parts)
    for part in (parts.library, parts.studies, parts.preview, parts.drawing):
        parts.appearance.palette_changed.connect(part.set_colours)
    parts.training.study_loaded.connect(parts.action_state.show_study)
    parts.keeper.restored.connect(parts.training.refresh_proposals)
    parts.drawing.runs_superseded.connect(parts.library.actions.trash_superseded)
    parts.readout.set_names(parts.selections.name_of)
    parts.readout.set_reach(parts.theory.reach_of)
    parts.selections.names_changed.connect(parts.readout.schedule_update)
    _connect_openers(parts)
    worker.stood_in.connect(parts.open_runs.on_replaced)
    worker.started.connect(parts.open_runs.on_started)
    worker.progress.connect(parts.open_runs.on_frames)
    worker.finished.connect(parts.open_runs.on_finished)
    worker.finished.connect(parts.drawing.tidy)
    worker.error.connect(parts.open_runs.on_failed)
    worker.status.connect(parts.readout.show_message)
    worker.status.connect(display.set_waiting)
    parts.theory.status.connect(window.status.show_work)
    parts.theory.margin_work_changed.connect(parts.action_state.show_margin_work)
    parts.library.librarian.listed.connect(parts.action_state.show_recorded)
    parts.theory.alarms_changed.connect(window.transport.slider.set_alarms)
    window.status.cancel_requested.connect(parts.actions["margins_stop"].trigger)
    _connect_library(parts)
    commands.study_chosen.connect(parts.training.choose)
    commands.study_offered.connect(parts.training.offer)
    worker.ready.connect(commands.ready)


def _connect_openers(parts: Parts) -> None:
    """Connect what updates when other runs are opened."""
    display = parts.display
    for opener in (parts.training, parts.files):
        opener.runs_replaced.connect(parts.help.leave_welcome)
        # Before comparisons are left: panels must not draw frames of runs that they do not have.
        opener.runs_replaced.connect(display.rearrange)
        opener.runs_replaced.connect(parts.compare.leave)
        opener.runs_replaced.connect(parts.playback.play_from_start)
    parts.files.runs_restored.connect(parts.help.leave_welcome)
    parts.files.runs_restored.connect(display.rearrange)


def _connect_words(parts: Parts) -> None:
    """Connect sentences with the message bar and the status line."""
    window = parts.window
    for source in (
        parts.training,
        parts.branches,
        parts.questions,
        parts.files,
        parts.playback,
        parts.studies,
        parts.library,
        parts.compare,
        parts.scenes,
        parts.links,
        parts.layouts,
        parts.bookmarks,
        parts.selections,
        parts.record,
        parts.keeper,
        parts.open_runs,
        parts.drawing,
        parts.following,
    ):
        source.message.connect(window.bar.show_message)
    parts.export.error.connect(window.bar.show_message)
    parts.training.notice.connect(window.bar.show_notice)
    kept = (parts.layouts, parts.bookmarks, parts.selections, parts.record)
    sayers = (parts.training, parts.studies, parts.library, parts.links, *kept)
    for words in (parts.export.finished, *(part.status for part in sayers)):
        words.connect(parts.readout.show_message)


def _connect_library(parts: Parts) -> None:
    parts.help.welcome_shown.connect(parts.actions["welcome"].setChecked)
    parts.compare.visibility_changed.connect(parts.help.leave_welcome)
    parts.compare.visibility_changed.connect(parts.actions["compare"].setChecked)
    parts.compare.help_requested.connect(parts.help.explain)
    parts.actions["library"].triggered.connect(parts.library.focus_search)
    parts.library.visibility_changed.connect(parts.actions["library"].setChecked)
