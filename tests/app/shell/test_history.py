"""Undo, redo, back and forward: the reducer by itself, and through the window."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.scenes.history import (
    MOST_STEPS,
    ExternalChange,
    Redo,
    SceneHistory,
    Select,
    ThemeChange,
    Undo,
    UserChange,
    find_differences,
    reduce,
)
from app.scenes.scene import Scene, Zoom
from app.shell.application import Marginscope
from app.state.intent import TRANSIENT, VIEW_OPTIONS, Intent
from app.training.study_edits import Edits
from core.observables.planes import NodePlane
from core.studies.study import load_study
from tests.app.mouse import keys, pick, wheel
from tests.app.shell.conftest import trained
from tests.app.shell.shared_window import defer_painting, skip_style_sheet

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier


def wished(**wishes: object) -> Scene:
    return Scene(intent=replace(Intent(), **wishes))


# ----------------------------------------------------------------------------- the reducer


def test_every_wish_is_an_option_or_passes() -> None:
    names = [item.name for item in fields(Intent)]
    assert set(TRANSIENT) == {
        *("cursor", "playing", "follow", "current", "hovered", "filled"),
        *("proposed", "proposed_plane", "proposed_curves", "proposed_points"),
    }
    assert [name for name in names if name not in TRANSIENT] == list(VIEW_OPTIONS)
    default = Intent()
    for name in TRANSIENT:
        other = replace(default, **{name: "another"})
        assert not find_differences(Scene(intent=default), Scene(intent=other))


def test_steps_are_taken_back_and_made_again_in_order() -> None:
    scenes = [Scene(), wished(palette="dark"), wished(palette="dark", linked=False)]
    scenes.append(replace(scenes[2], panels=frozenset({"form"})))
    history = SceneHistory(scenes[0])
    for at, scene in enumerate(scenes[1:]):
        history = reduce(history, UserChange(scene, 10.0 * at))
    words = [step.words for step in history.past]
    assert words == ["Colours: dark", "Unlink axes of runs", "Show settings"]
    for scene in scenes[-2::-1]:
        history = reduce(history, Undo())
        assert history.scene == scene
    assert history.past == ()
    assert reduce(history, Undo()) is history
    for scene in scenes[1:]:
        history = reduce(history, Redo())
        assert history.scene == scene
    assert [step.words for step in history.past] == words
    assert reduce(history, Redo()) is history


def test_a_change_after_an_undo_ends_what_was_undone() -> None:
    history = reduce(SceneHistory(Scene()), UserChange(wished(palette="dark"), 0.0))
    history = reduce(reduce(history, Undo()), UserChange(wished(equal=True), 10.0))
    assert history.future == ()
    assert [step.words for step in history.past] == ["Equal aspect"]


def test_a_change_that_goes_on_is_one_step() -> None:
    study = load_study("telgarsky22-figure-1")
    history = SceneHistory(Scene(form=Edits(study)))
    for at, text in enumerate(("3", "32", "320")):
        edits = Edits(study, texts=(("network.m", text),))
        history = reduce(history, UserChange(Scene(form=edits), 0.3 * at))
    assert [step.words for step in history.past] == ["m = 320"]
    # Other values, later: another step.
    later = Scene(form=Edits(study, texts=(("network.m", "64"),)))
    assert len(reduce(history, UserChange(later, 10.0)).past) == 2
    # Back to where it began, at once: none.
    assert reduce(history, UserChange(Scene(form=Edits(study)), 1.2)).past == ()


def test_what_passes_is_never_a_step_and_is_kept_by_undo() -> None:
    history = reduce(SceneHistory(Scene()), UserChange(wished(palette="dark"), 0.0))
    history = reduce(history, UserChange(wished(palette="dark", cursor=1.5, playing=True), 5.0))
    assert len(history.past) == 1
    history = reduce(history, Undo())
    assert history.scene.intent == replace(Intent(), cursor=1.5, playing=True)


def test_the_past_is_bounded_and_came_is_no_step() -> None:
    history = SceneHistory(Scene())
    for at in range(3 * MOST_STEPS):
        scene = wished(plane=NodePlane("coordinates", (0, at + 1)))
        history = reduce(history, UserChange(scene, 10.0 * at))
    assert len(history.past) == MOST_STEPS
    assert reduce(history, ExternalChange(Scene())).past == history.past


def test_a_palette_of_the_system_reaches_only_scenes_that_had_the_one_before() -> None:
    by_hand = wished(palette="dark", equal=True)
    scenes = [wished(), by_hand, wished(equal=True), wished(equal=True, linked=False)]
    history = SceneHistory(scenes[0])
    for at, scene in enumerate(scenes[1:]):
        history = reduce(history, UserChange(scene, 10.0 * at))
    history = reduce(reduce(history, Undo()), ThemeChange("dark"))
    assert history.scene.intent == by_hand.intent
    assert history.future[0].scene.intent.palette == "dark"
    assert [step.scene.intent.palette for step in history.past] == ["light", "dark"]


def test_selections_are_gone_through_like_pages() -> None:
    first, second = frozenset({(0, 1)}), frozenset({(0, 1), (0, 2)})
    history = SceneHistory(Scene())
    for at, pinned in enumerate((first, second)):
        history = reduce(history, UserChange(wished(pinned=pinned), 10.0 * at))
    assert history.has_previous
    assert not history.has_next
    back = reduce(history, Select(-1, 30.0))
    assert back.scene.intent.pinned == first
    assert back.has_next
    assert reduce(back, Select(1, 40.0)).scene.intent.pinned == second
    assert (
        reduce(reduce(back, Select(-1, 40.0)), Select(-1, 50.0)).scene.intent.pinned == frozenset()
    )
    # To select something else ends what lay ahead.
    third = reduce(back, UserChange(wished(pinned=frozenset({(0, 9)})), 60.0))
    assert not third.has_next
    # Nodes of other runs mean nothing.
    other = replace(third.scene, runs=(Path("b.msrun"),))
    assert not reduce(third, UserChange(other, 70.0)).has_previous


def test_zooms_have_words() -> None:
    runs = (Path("a.msrun"),)
    zoom = Zoom(0, "margins", 0.0, 1.0, 0.0, 1.0)
    (found,) = find_differences(Scene(runs), Scene(runs, zooms=(zoom,)))
    assert found.words == "Zoom of margins"
    (found,) = find_differences(Scene(runs, zooms=(zoom,)), Scene(runs))
    assert found.words == "Show whole range of margins"
    # With another run its zooms go by themselves.
    (found,) = find_differences(Scene(runs, zooms=(zoom,)), Scene())
    assert found.words == "Close runs"


# ----------------------------------------------------------------------- through the window


def noted(program: Marginscope, qtbot: QtBot) -> list[str]:
    """Return the names of the steps, once what was changed is noted."""
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    return [step.words for step in program.scenes.history.past]


def test_views_zoom_and_colours_are_undone_by_name(program: Marginscope, qtbot: QtBot) -> None:
    with skip_style_sheet(), defer_painting(program.window):
        undo_and_redo_by_name(program, qtbot)


def undo_and_redo_by_name(program: Marginscope, qtbot: QtBot) -> None:
    window, display = program.window, program.display
    program.playback.seek_end()
    assert noted(program, qtbot) == []
    assert not program.actions["undo"].isEnabled()
    pick(qtbot, window, "View", "Views", "Spectrum")
    noted(program, qtbot)
    keys(qtbot, window, Qt.Key.Key_D, CTRL)
    noted(program, qtbot)
    plot = display.panels[0].view("margins").plot
    wheel(plot, QPoint(60, 40), 2)
    wheel(plot, QPoint(60, 40), 1)
    assert noted(program, qtbot) == ["Show spectrum", "Colours: dark", "Zoom of margins"]
    zoom, ground = plot.zoom, display.intent.palette
    assert (zoom is not None, ground) == (True, "dark")
    assert program.actions["undo"].text() == "&Undo Zoom of margins"
    cursor = display.view.cursor
    keys(qtbot, window, Qt.Key.Key_Z, CTRL)
    assert plot.zoom is None
    assert program.actions["redo"].text() == "&Redo Zoom of margins"
    keys(qtbot, window, Qt.Key.Key_Z, CTRL)
    assert display.intent.palette == "light"
    assert not program.actions["dark"].isChecked()
    keys(qtbot, window, Qt.Key.Key_Z, CTRL)
    assert "spectrum" not in display.panels[0].names
    assert not program.actions["undo"].isEnabled()
    for _ in range(3):
        keys(qtbot, window, Qt.Key.Key_Z, CTRL | SHIFT)
    assert "spectrum" in display.panels[0].names
    assert display.intent.palette == "dark"
    assert plot.zoom == zoom
    assert display.view.cursor == cursor


def test_what_is_typed_is_undone_with_the_focus_in_its_field(
    program: Marginscope, qtbot: QtBot
) -> None:
    form = program.window.form
    rows = form.sections["dynamics"].rows
    field = next(row for row in rows if row.field.name == "until_log10_time")
    before = field.text()
    field.control.setFocus()
    field.control.selectAll()
    QTest.keyClicks(field.control, "soon")
    assert form.study() is None
    assert noted(program, qtbot) == ["end at log\u2081\u2080 t = soon"]
    QTest.keyClick(field.control, Qt.Key.Key_Z, CTRL)
    assert field.text() == before
    assert form.study() is not None
    QTest.keyClick(field.control, Qt.Key.Key_Z, CTRL | SHIFT)
    assert field.text() == "soon"
    assert field.problem


def test_runs_that_were_closed_come_back(
    program: Marginscope, tmp_path: Path, qtbot: QtBot
) -> None:
    paths = [run.path for run in program.session]
    key = next(iter(program.session)).key
    program.display.update_intent(pinned=frozenset({(key, 2)}))
    noted(program, qtbot)
    keys(qtbot, program.window, Qt.Key.Key_W, CTRL)
    assert noted(program, qtbot) == ["Pin a neuron", "Close runs"]
    assert len(program.session) == 0
    keys(qtbot, program.window, Qt.Key.Key_Z, CTRL)
    assert [run.path for run in program.session] == paths
    now = next(iter(program.session)).key
    assert program.display.intent.pinned == {(now, 2)}
    assert now != key
    qtbot.waitUntil(lambda: trained(program))
    # Gone by now: a sentence, and nothing is lost.
    keys(qtbot, program.window, Qt.Key.Key_Z, CTRL | SHIFT)
    away = paths[0].rename(tmp_path / "away.msrun")
    keys(qtbot, program.window, Qt.Key.Key_Z, CTRL)
    assert paths[0].name in program.window.bar.text
    assert program.actions["undo"].isEnabled()
    away.rename(paths[0])


def test_a_run_closed_by_its_chip_comes_back_at_its_place(
    program: Marginscope, qtbot: QtBot
) -> None:
    chips, session = program.window.chips, program.session
    qtbot.waitUntil(lambda: trained(program))
    before = [chips.tabText(place) for place in range(2)], [run.heading for run in session]
    noted(program, qtbot)
    chips.tabCloseRequested.emit(0)
    assert noted(program, qtbot) == [f"Close {before[1][0]}"]
    assert len(session) == 1
    keys(qtbot, program.window, Qt.Key.Key_Z, CTRL)
    qtbot.waitUntil(lambda: chips.count() == 2)
    after = [chips.tabText(place) for place in range(2)], [run.heading for run in session]
    assert after == before
    for name in reversed(before[1]):
        chips.tabCloseRequested.emit(chips.count() - 1)
        assert noted(program, qtbot)[-1] == f"Close {name}"
    keys(qtbot, program.window, Qt.Key.Key_Z, CTRL)
    keys(qtbot, program.window, Qt.Key.Key_Z, CTRL)
    assert [run.heading for run in session] == before[1]


def test_runs_do_not_change_under_a_training(
    program: Marginscope, slow_study: Path, qtbot: QtBot
) -> None:
    program.files.open_files([str(slow_study)])
    noted(program, qtbot)
    qtbot.waitUntil(lambda: any(run.live for run in program.session))
    path = next(iter(program.session)).path
    keys(qtbot, program.window, Qt.Key.Key_Z, CTRL)
    assert "still training" in program.window.bar.text
    assert next(iter(program.session)).path == path
    program.training.stop()


def test_selections_with_the_keys(program: Marginscope, qtbot: QtBot) -> None:
    display = program.display
    key = next(iter(program.session)).key
    for node in (1, 2):
        display.panels[0].node_clicked.emit(node)
        noted(program, qtbot)
    assert display.intent.pinned == {(key, 1), (key, 2)}
    keys(qtbot, program.window, Qt.Key.Key_Left, ALT)
    assert display.intent.pinned == {(key, 1)}
    keys(qtbot, program.window, Qt.Key.Key_Right, ALT)
    assert display.intent.pinned == {(key, 1), (key, 2)}
