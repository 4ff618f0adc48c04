"""Who answers whom: the wires between the parts of the program."""

from __future__ import annotations

from app.shell.parts import Parts


def connect(parts: Parts) -> None:
    """All wires that last as long as the program."""
    window, worker, display = parts.window, parts.worker, parts.display
    commands, dropped = parts.commands, (window.dropped, window.welcome.file_chosen)
    for opened in (*dropped, parts.whole.run_requested, commands.open_requested):
        opened.connect(parts.files.open_files)
    window.recent.triggered.connect(parts.files.open_recent)
    for menu in (window.margin_axes, window.neuron_choice):
        menu.triggered.connect(parts.looks.choose)
    window.view_choice.triggered.connect(parts.looks.choose_view)
    window.curve_choice.aboutToShow.connect(parts.looks.offer_curves)
    window.curve_choice.triggered.connect(parts.looks.choose_curve)
    window.chooser.chosen.connect(parts.training.choose)
    window.chooser.open_requested.connect(parts.files.open)
    window.chooser.browse_requested.connect(parts.studies.show)
    window.welcome.run_requested.connect(parts.training.run)
    window.welcome.open_requested.connect(parts.files.open)
    window.welcome.own_data_requested.connect(parts.drawing.show)
    window.welcome.paper_chosen.connect(parts.studies.show_paper)
    _connect_words(parts)
    for part in (parts.library, parts.whole, parts.preview, parts.drawing):
        parts.looks.recoloured.connect(part.set_colours)
    parts.theme.theme_changed.connect(parts.scenes.recolour)
    parts.training.study_loaded.connect(parts.upkeep.show_study)
    parts.keeper.restored.connect(parts.training.refresh_proposals)
    parts.drawing.runs_superseded.connect(parts.library.deeds.throw_passing)
    parts.readout.set_names(parts.selections.name_of)
    parts.readout.set_reach(parts.theory.reach_of)
    parts.selections.renamed.connect(parts.readout.touch)
    _connect_openers(parts)
    parts.files.view_requested.connect(parts.links.open)
    parts.links.study_requested.connect(parts.training.offer)
    worker.stood_in.connect(display.stood_in)
    worker.started.connect(display.begun)
    worker.progress.connect(display.grew)
    worker.finished.connect(display.ended)
    worker.finished.connect(parts.drawing.tidy)
    worker.error.connect(display.failed)
    parts.compare.code_refused.connect(parts.questions.ask_trust)
    worker.status.connect(parts.readout.say)
    worker.status.connect(display.preparing)
    parts.theory.status.connect(window.status.show_work)
    window.times.moment_requested.connect(parts.playback.to_moment)
    parts.theory.alarmed.connect(window.transport.slider.set_alarms)
    window.status.cancel_requested.connect(parts.actions["margins_stop"].trigger)
    _connect_library(parts)
    commands.study_chosen.connect(parts.training.choose)
    worker.ready.connect(commands.ready)


def _connect_openers(parts: Parts) -> None:
    """Connect what updates when other runs are opened."""
    display = parts.display
    for opener in (parts.training, parts.files):
        opener.runs_replaced.connect(parts.welcome.leave)
        # Before comparisons are left: panels must not draw frames of runs that they do not have.
        opener.runs_replaced.connect(display.rearrange)
        opener.runs_replaced.connect(parts.compare.leave)
        opener.runs_replaced.connect(parts.playback.play_from_start)
    parts.files.runs_restored.connect(parts.welcome.leave)
    parts.files.runs_restored.connect(display.rearrange)


def _connect_words(parts: Parts) -> None:
    """Who says something, and where."""
    window = parts.window
    for source in (
        parts.training,
        parts.branches,
        parts.questions,
        parts.files,
        parts.playback,
        parts.whole,
        parts.library,
        parts.compare,
        parts.scenes,
        parts.links,
        parts.layouts,
        parts.bookmarks,
        parts.selections,
        parts.record,
        parts.keeper,
        parts.display,
        parts.drawing,
        parts.following,
    ):
        source.message.connect(window.bar.say)
    parts.export.error.connect(window.bar.say)
    parts.training.notice.connect(window.bar.tell)
    kept = (parts.layouts, parts.bookmarks, parts.selections, parts.record)
    sayers = (parts.training, parts.whole, parts.library, parts.links, *kept)
    for words in (parts.export.finished, *(part.status for part in sayers)):
        words.connect(parts.readout.say)


def _connect_library(parts: Parts) -> None:
    parts.library.open_requested.connect(parts.files.open_files)
    parts.library.deeds.compare_requested.connect(parts.compare.compare)
    parts.welcome.shown.connect(parts.actions["welcome"].setChecked)
    parts.compare.shown.connect(parts.welcome.leave)
    parts.compare.shown.connect(parts.actions["compare"].setChecked)
    parts.compare.help_requested.connect(parts.help.explain)
    parts.actions["library"].triggered.connect(parts.library.search)
    parts.library.shown.connect(parts.actions["library"].setChecked)
    parts.theory.judge.result.connect(parts.library.keep_verdicts)
    parts.worker.finished.connect(parts.library.refresh)
    parts.following.ended.connect(parts.library.refresh)
    parts.worker.started.connect(parts.library.refresh)
