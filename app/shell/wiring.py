"""Who answers whom: the wires between the parts of the program."""

from __future__ import annotations

from app.shell.parts import Parts


def connect(parts: Parts) -> None:
    """All wires that last as long as the program."""
    window, worker, display = parts.window, parts.worker, parts.display
    commands, dropped = parts.commands, (window.dropped, window.welcome.file_chosen)
    for opened in (*dropped, commands.open_requested):
        opened.connect(parts.files.open_files)
    window.recent.triggered.connect(parts.files.open_recent)
    window.chooser.chosen.connect(parts.experiment.choose)
    window.chooser.open_requested.connect(parts.files.open)
    window.chooser.browse_requested.connect(parts.studies.browse)
    window.form.submitted.connect(parts.experiment.run)
    window.welcome.run_requested.connect(parts.experiment.run)
    window.welcome.open_requested.connect(parts.files.open)
    window.welcome.own_data_requested.connect(parts.drawing.show)
    window.welcome.paper_chosen.connect(parts.studies.browse_paper)
    _connect_words(parts)
    for part in (parts.library, parts.studies, parts.preview, parts.drawing):
        parts.appearance.palette_changed.connect(part.set_colours)
    parts.experiment.loaded.connect(parts.action_state.show_study)
    parts.experiment.loaded.connect(parts.proposals.set_study)
    for shown in (display.runs_changed, parts.keeper.restored):
        shown.connect(parts.proposals.refresh)
    parts.experiment.loaded.connect(parts.preview.refresh)
    window.form.drawing_requested.connect(parts.drawing.show)
    parts.experiment.loaded.connect(parts.drawing.refresh)
    parts.drawing.trained.connect(parts.proposals.set_study)
    parts.drawing.passed.connect(parts.library.actions.trash_superseded)
    parts.readout.set_names(parts.selections.name_of)
    parts.readout.set_reach(parts.theory.reach_of)
    parts.selections.names_changed.connect(parts.readout.touch)
    _connect_openers(parts)
    parts.files.data_offered.connect(parts.preview.show)
    worker.stood_in.connect(parts.open_runs.on_replaced)
    worker.started.connect(parts.open_runs.on_started)
    worker.progress.connect(parts.open_runs.on_frames)
    worker.finished.connect(parts.open_runs.on_finished)
    worker.finished.connect(parts.drawing.tidy)
    worker.error.connect(parts.open_runs.on_failed)
    worker.code_refused.connect(parts.experiment.on_code_refused)
    for asking in (parts.experiment, parts.files):
        asking.code_refused.connect(parts.code_question.ask)
    worker.status.connect(parts.readout.say)
    worker.status.connect(display.set_waiting)
    parts.theory.status.connect(window.status.show_work)
    parts.theory.alarms_changed.connect(window.transport.slider.set_alarms)
    window.status.cancel_requested.connect(parts.actions["margins_stop"].trigger)
    _connect_library(parts)
    commands.study_chosen.connect(parts.experiment.choose)
    worker.ready.connect(commands.ready)


def _connect_openers(parts: Parts) -> None:
    """Connect what updates when other runs are opened."""
    display = parts.display
    for opener in (parts.experiment, parts.files):
        opener.replaced.connect(parts.help.leave_welcome)
        # Before comparisons are left: panels must not draw frames of runs that they do not have.
        opener.replaced.connect(display.rearrange)
        opener.replaced.connect(parts.compare.leave)
        opener.replaced.connect(parts.playback.play_from_start)
    parts.files.restored.connect(parts.help.leave_welcome)
    parts.files.restored.connect(display.rearrange)


def _connect_words(parts: Parts) -> None:
    """Who says something, and where."""
    window = parts.window
    for source in (
        parts.experiment,
        parts.scale,
        parts.code_question,
        parts.files,
        parts.playback,
        parts.studies,
        parts.proposals,
        parts.library,
        parts.compare,
        parts.scenes,
        parts.links,
        parts.layouts,
        parts.bookmarks,
        parts.selections,
        parts.record,
        parts.cells,
        parts.keeper,
        parts.open_runs,
        parts.drawing,
        parts.following,
    ):
        source.message.connect(window.bar.say)
    parts.export.error.connect(window.bar.say)
    parts.experiment.told.connect(window.bar.tell)
    kept = (parts.layouts, parts.bookmarks, parts.selections, parts.record)
    sayers = (parts.studies, parts.library, parts.links, *kept)
    told = (parts.experiment.started, parts.export.finished)
    for words in (*told, *(part.status for part in sayers)):
        words.connect(parts.readout.say)


def _connect_library(parts: Parts) -> None:
    parts.help.welcome_shown.connect(parts.actions["welcome"].setChecked)
    parts.compare.visibility_changed.connect(parts.help.leave_welcome)
    parts.compare.visibility_changed.connect(parts.actions["compare"].setChecked)
    parts.compare.help_requested.connect(parts.help.explain)
    parts.actions["library"].triggered.connect(parts.library.focus_search)
    parts.library.visibility_changed.connect(parts.actions["library"].setChecked)
    parts.worker.finished.connect(parts.experiment.go_on)
