"""A researcher's session, by mouse and keys: everything through the window."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QSpinBox,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.shell.lifecycle import CONTINUE_RUNNING, STOP
from app.state.intent import MARGIN_AXES
from app.state.resolve import resolve
from app.state.view_options import PACES
from app.widgets.inputs import ValueEdit
from core.runs import open_run
from tests.app.mouse import LEFT, click_on, pick, press_in_box, pull, when_open
from tests.app.shell.conftest import Opener, trained


def frames(program: Marginscope) -> list[int]:
    return [run.frame for run in program.display.view.runs]


def playing(program: Marginscope) -> bool:
    return program.display.intent.playing


def inspected(program: Marginscope) -> tuple[int, int] | None:
    return program.display.view.inspected


def scrub(qtbot: QtBot, program: Marginscope, share: float) -> None:
    slider = program.window.transport.slider
    place = slider.position_of(program.display.view.span.moment(share))
    qtbot.mouseClick(slider, LEFT, pos=QPoint(round(place), 12))


def test_it_plays_and_is_held_at_a_pace_and_again(
    playing_program: Marginscope, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    with subtests.test("it plays by itself and is held by space"):
        check_playing(playing_program, qtbot)
    with subtests.test("pace and loop"):
        check_pace_and_loop(playing_program, qtbot)


def check_playing(program: Marginscope, qtbot: QtBot) -> None:
    assert len(program.session) == 2
    assert [run.heading for run in program.session] == ["m = 8", "m = 12"]
    assert playing(program)
    before = program.display.view.cursor
    qtbot.waitUntil(lambda: program.display.view.cursor > before)
    qtbot.keyClick(program.window, Qt.Key.Key_Space)
    assert not playing(program)
    held = program.display.view.cursor
    qtbot.wait(120)
    assert program.display.view.cursor == held
    assert not program.open_runs.is_ticking
    qtbot.keyClick(program.window, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: program.display.view.cursor > held)


def check_pace_and_loop(program: Marginscope, qtbot: QtBot) -> None:
    qtbot.keyClick(program.window, Qt.Key.Key_BracketRight)
    assert program.display.intent.pace == 2.0
    assert program.window.transport.pace.currentText() == "2\u00d7"
    qtbot.keyClick(program.window, Qt.Key.Key_BracketLeft)
    qtbot.keyClick(program.window, Qt.Key.Key_BracketLeft)
    assert program.window.transport.pace.currentText() == ".5\u00d7"
    for _ in PACES:
        qtbot.keyClick(program.window, Qt.Key.Key_BracketRight)
    assert program.display.intent.pace == PACES[-1]
    qtbot.keyClick(program.window, Qt.Key.Key_L)
    scrub(qtbot, program, 0.95)
    late = program.display.view.cursor
    qtbot.waitUntil(lambda: program.display.view.cursor < late)  # once more
    assert playing(program)
    qtbot.keyClick(program.window, Qt.Key.Key_L)
    scrub(qtbot, program, 0.95)
    qtbot.waitUntil(lambda: not playing(program))
    assert not program.open_runs.is_ticking


def test_keys_go_from_frame_to_frame(program: Marginscope, qtbot: QtBot) -> None:
    window = program.window
    qtbot.keyClick(window, Qt.Key.Key_End)
    assert frames(program) == [run.data.frames - 1 for run in program.session]
    qtbot.keyClick(window, Qt.Key.Key_Home)
    assert frames(program) == [0, 0]
    qtbot.keyClick(window, Qt.Key.Key_Right)
    assert max(frames(program)) == 1
    assert not playing(program)
    qtbot.keyClick(window, Qt.Key.Key_Left)
    assert frames(program) == [0, 0]
    assert window.transport.time.text() == "t = 0"


def test_the_slider_is_scrubbed_for_both_runs(program: Marginscope, qtbot: QtBot) -> None:
    qtbot.keyClick(program.window, Qt.Key.Key_Space)
    scrub(qtbot, program, 0.5)
    for run, shown in zip(program.session, program.display.view.runs, strict=True):
        assert shown.frame == run.data.frame_at(program.display.view.cursor)
        assert 10 < shown.frame < run.data.frames - 10


def test_a_time_is_typed(program: Marginscope, qtbot: QtBot) -> None:
    qtbot.keyClick(program.window, Qt.Key.Key_Space)
    qtbot.keyClick(program.window, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    field = program.window.transport.time
    assert field.selectedText() == field.text()
    qtbot.keyClicks(field, "10^1.5")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    times = [
        run.data.log10_time[f] for run, f in zip(program.session, frames(program), strict=True)
    ]
    assert times == pytest.approx([1.5, 1.5], abs=0.1)
    qtbot.keyClicks(field, "x")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert "is not a time" in program.window.bar.text
    assert program.window.bar.isVisible()


def lonely(program: Marginscope, which: int) -> tuple[int, QPoint]:
    """Return the node of a run that is farthest from its neighbours in this frame, with pixel."""
    panel, frame = program.display.panels[which], frames(program)[which]
    plot = panel.view("neurons").plot
    pixels = plot.pixels(panel.run.data.positions(np.array([frame]))[0].astype(float))
    distances = np.linalg.norm(pixels[:, None] - pixels[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    node = int(distances.min(axis=1).argmax())
    return node, QPointF(*pixels[node]).toPoint()


def test_a_hovered_node_is_inspected_and_a_clicked_one_stays(
    program: Marginscope, qtbot: QtBot
) -> None:
    qtbot.keyClick(program.window, Qt.Key.Key_End)
    panel = program.display.panels[1]
    plot = panel.view("neurons").plot
    node, place = lonely(program, 1)
    qtbot.mouseMove(plot.viewport(), QPoint(1, 1))
    qtbot.mouseMove(plot.viewport(), place)
    assert inspected(program) == (panel.run.key, node)
    assert program.window.inspector.node.heading() == f"Neuron {node} of m = 12"
    qtbot.mouseClick(plot.viewport(), LEFT, pos=place)
    qtbot.mouseMove(plot.viewport(), QPoint(1, 1))
    assert inspected(program) == (panel.run.key, node)
    qtbot.keyClick(program.window, Qt.Key.Key_Escape)
    assert inspected(program) is None


def test_nodes_that_were_boxed_are_pinned_in_their_own_run(
    program: Marginscope, qtbot: QtBot
) -> None:
    qtbot.keyClick(program.window, Qt.Key.Key_End)
    plots = [panel.view("neurons").plot for panel in program.display.panels]
    for plot in plots:
        inside = plot.plot_area().adjusted(2.0, 2.0, -2.0, -2.0)
        pull(plot, inside.topLeft().toPoint(), inside.bottomRight().toPoint())
    assert [len(run.pinned) for run in program.display.view.runs] == [8, 12]
    node, place = lonely(program, 1)
    qtbot.mouseClick(plots[1].viewport(), LEFT, pos=place)
    corner = plots[0].plot_area().topLeft().toPoint() + QPoint(3, 3)
    qtbot.mouseClick(plots[0].viewport(), LEFT, pos=corner)
    first, second = (run.pinned for run in program.display.view.runs)
    assert first == frozenset()
    assert second == frozenset(range(12)) - {node}


def test_runs_are_trained_again_and_continued(
    plays: Marginscope, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    for part in (train_new_seed, train_new_weights, continue_runs, train_what_was_edited):
        with subtests.test(part.__name__):
            part(plays, qtbot)


def train_new_seed(program: Marginscope, qtbot: QtBot) -> None:
    """It plays from the start."""
    qtbot.keyClick(program.window, Qt.Key.Key_End)
    old = [run.path for run in program.session]
    recorded = len(list(program.places.runs.glob("*.msrun")))
    click_on(program, "seed")
    qtbot.waitUntil(lambda: [run.path for run in program.session] != old)
    assert playing(program)
    qtbot.waitUntil(lambda: trained(program))
    runs = [run.data.run for run in program.session]
    assert [run.experiment.run.seed for run in runs] == [1, 1]
    assert all(path.exists() for path in old)
    assert len(list(program.places.runs.glob("*.msrun"))) == recorded + 2


def train_new_weights(program: Marginscope, qtbot: QtBot) -> None:
    """They keep the data."""
    x = [np.array(run.data.run.dataset.x) for run in program.session]
    start = [np.array(run.data.run.origin) for run in program.session]
    click_on(program, "weights")
    qtbot.waitUntil(lambda: trained(program))
    for run, x_before, before in zip(program.session, x, start, strict=True):
        assert (run.data.run.dataset.x == x_before).all()
        assert (run.data.run.origin != before).any()


def continue_runs(program: Marginscope, qtbot: QtBot) -> None:
    ends = [float(run.data.log10_time[-1]) for run in program.session]
    click_on(program, "further")
    qtbot.waitUntil(lambda: trained(program))
    for run, end in zip(program.session, ends, strict=True):
        assert run.data.run.continues is not None
        data = run.data.run  # from t = 0 on, with the frames before its start
        assert data.frames_before > 0 and data.log10_time[data.frames_before] == end
        assert run.data.log10_time[-1] == pytest.approx(3.0, abs=0.01)


def train_what_was_edited(program: Marginscope, qtbot: QtBot) -> None:
    field = program.window.form.findChild(ValueEdit, "network.m")
    qtbot.mouseClick(field, LEFT)
    qtbot.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(field, "5")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: trained(program))
    assert [run.data.m for run in program.session] == [5]
    assert not program.display.panels[1].isVisible()


def test_training_is_held_begun_again_and_stopped(
    show_files: Opener, slow_study: Path, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    program = show_files(slow_study)
    qtbot.waitUntil(lambda: any(run.live for run in program.session))
    qtbot.waitUntil(lambda: frames(program)[0] >= 0)
    (run,) = program.session
    with subtests.test("held"):
        click_on(program, "pause")
        qtbot.waitUntil(lambda: run.control.status.state.value == "paused")
        step = run.control.status.step
        qtbot.wait(100)
        assert run.control.status.step == step
        click_on(program, "pause")
        qtbot.waitUntil(lambda: run.control.status.step > step)
    with subtests.test("the button is let go by a restart"):
        click_on(program, "pause")
        assert program.actions["pause"].isChecked()
        press_in_box("Stop and train")
        click_on(program, "restart")
        qtbot.waitUntil(lambda: not program.actions["pause"].isChecked())
        qtbot.waitUntil(lambda: run not in program.session and frames(program)[0] >= 0)
    (run,) = program.session
    with subtests.test("stopped"):
        click_on(program, "stop")
        qtbot.waitUntil(lambda: trained(program))
        # At a tick, which reads the file.
        qtbot.waitUntil(lambda: run.data.run.reason == "cancelled")
        qtbot.waitUntil(lambda: not program.actions["stop"].isEnabled())
    with subtests.test("stopped before it began"):
        stop_before_it_begins(program, qtbot)


def stop_before_it_begins(program: Marginscope, qtbot: QtBot) -> None:
    """It leaves no file."""
    program.training.close_runs()
    program.training.restart()
    click_on(program, "stop")
    (run,) = program.session
    qtbot.waitUntil(lambda: not run.live)
    qtbot.waitUntil(lambda: bool(run.failure) or run.data is not None)
    if run.data is None:
        assert "before it began" in program.display.panels[0].message.text()
        assert not run.path.exists()


def test_the_slider_stays_while_frames_arrive_unless_it_follows(
    show_files: Opener, slow_study: Path, qtbot: QtBot
) -> None:
    program = show_files(slow_study, plays=True)
    qtbot.waitUntil(lambda: any(run.live for run in program.session))
    qtbot.waitUntil(lambda: program.display.view.span.edge > program.display.view.span.low)
    qtbot.keyClick(program.window, Qt.Key.Key_Home)
    qtbot.keyClick(program.window, Qt.Key.Key_Space)
    assert not playing(program)
    (run,) = program.session
    slider, before = program.window.transport.slider, run.data.frames
    place = slider.position_of(slider.value)
    qtbot.waitUntil(lambda: run.data.frames > before)
    assert slider.position_of(slider.value) == place
    assert frames(program) == [0]
    qtbot.keyClick(program.window, Qt.Key.Key_F, Qt.KeyboardModifier.ShiftModifier)
    assert program.actions["follow"].isChecked()
    assert frames(program) == [run.data.frames - 1]
    before = run.data.frames
    qtbot.waitUntil(lambda: run.data.frames > before)
    assert frames(program) == [run.data.frames - 1]
    scrub(qtbot, program, 0.0)
    assert not program.actions["follow"].isChecked()


def test_a_run_that_diverges_says_what_to_do(
    show_files: Opener, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "wild.toml"
    path.write_text(
        '[network]\nm = 8\n[dynamics]\nkind = "gd"\nstep = 100.0\n[window]\nviews = ["margins"]\n'
    )
    program = show_files(path)
    qtbot.waitUntil(lambda: bool(program.window.bar.text))
    assert "diverged" in program.window.bar.text
    assert "try a step size of " in program.window.bar.text  # as the form calls it


def test_a_run_that_fits_nothing_says_so_and_how_it_ends(
    program: Marginscope, show_files: Opener, tmp_path: Path, qtbot: QtBot
) -> None:
    """Both sentences of the dynamics come to the bar, one after the other."""
    np.savez(tmp_path / "both.npz", x=[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], y=[1, -1, 1])
    path = tmp_path / "both.toml"
    path.write_text(
        '[data]\nkind = "file"\npath = "both.npz"\n[network]\nm = 4\n'
        '[dynamics]\nkind = "flow"\nuntil_log10_time = 30.0\n'
        '[recording]\nframes = 24\n[window]\nviews = ["margins"]\n'
    )
    said: list[str] = []
    program.open_runs.message.connect(said.append)
    show_files(path)
    qtbot.waitUntil(lambda: "the run ends here" in program.window.bar.text)
    assert any("1 of 3 examples is misclassified and the flow hardly moves" in w for w in said)
    assert not any("became too small" in words for words in said)


def drop(window: QWidget, paths: list[Path], keys: Qt.KeyboardModifier) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy = Qt.DropAction.CopyAction
    entered = QDragEnterEvent(QPoint(500, 300), copy, data, LEFT, keys)
    QApplication.sendEvent(window, entered)
    assert entered.isAccepted()
    QApplication.sendEvent(window, QDropEvent(QPointF(500, 300), copy, data, LEFT, keys))


def test_files_are_dropped_opened_beside_and_remembered(
    program: Marginscope, study: Path, qtbot: QtBot
) -> None:
    first, second = (run.path for run in program.session)
    drop(program.window, [second], Qt.KeyboardModifier.NoModifier)
    assert [run.path for run in program.session] == [second]
    assert [run.heading for run in program.session] == ["m = 12"]
    drop(program.window, [first], Qt.KeyboardModifier.ShiftModifier)
    assert [run.path for run in program.session] == [second, first]
    qtbot.waitUntil(lambda: trained(program))
    recent = [Path(name).name for name in program.settings.values.recent]
    assert recent == [first.name, second.name, "small.toml"]
    names = {action.data(): action.text() for action in program.window.recent.actions()}
    pick(qtbot, program.window, "File", "Open recent", names[str(second)].replace("&", ""))
    assert [run.path for run in program.session] == [second]
    drop(program.window, [first, second], Qt.KeyboardModifier.NoModifier)
    assert [run.path for run in program.session] == [first, second]
    drop(program.window, [study], Qt.KeyboardModifier.NoModifier)
    assert program.session.live
    qtbot.waitUntil(lambda: trained(program))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("notes.md", b"hello", "Cannot open"),
        ("fake.msrun", b"hello", "fake.msrun"),
        ("gone.msrun", None, "gone.msrun"),
        ("wrong.toml", b"[data]\nd = -1\n", "data.d"),
    ],
)
def test_a_wrong_file_is_a_sentence_and_nothing_is_lost(
    program: Marginscope, tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    before = [run.path for run in program.session]
    drop(program.window, [path], Qt.KeyboardModifier.NoModifier)
    assert words in program.window.bar.text
    assert "Traceback" not in program.window.bar.text
    assert [run.path for run in program.session] == before


def test_files_that_are_opened_rearrange_the_views_once(
    program: Marginscope, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    (first, second) = [str(run.path) for run in program.session]
    shown: list[list[str]] = []

    def note() -> None:
        shown.append([str(run.path) for run in program.session])

    program.display.runs_changed.connect(note)
    with subtests.test("opened"):
        program.files.open_files([second])
        assert shown == [[second]]
    with subtests.test("opened where runs were compared"):
        program.compare.compare([first, second])
        shown.clear()
        program.files.open_files([first])
        assert shown == [[first]]
        assert program.display.intent.compared is None
    with subtests.test("brought back"):
        qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
        shown.clear()
        program.scenes.undo()
        qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
        assert len(shown) == 1
    program.display.runs_changed.disconnect(note)


def test_closing_in_mid_run_asks_stops_and_loses_nothing(
    open_program: Opener, slow_study: Path, qtbot: QtBot
) -> None:
    others = set(threading.enumerate())  # of another window of this process
    program = open_program(slow_study)
    qtbot.waitUntil(lambda: program.display.view.span.edge > program.display.view.span.low)
    (run,) = program.session
    press_in_box(CONTINUE_RUNNING)
    assert not program.window.close()
    assert program.window.isVisible()
    assert run.live
    committed = run.control.status.committed
    press_in_box(STOP)
    assert program.window.close()
    left = set(threading.enumerate()) - others
    assert "marginscope-training" not in [thread.name for thread in left]
    assert not list(program.places.runs.glob("*-wal"))
    with open_run(run.path) as kept:
        assert kept.status == "finished"
        assert kept.reason == "cancelled"
        assert kept.frames > committed
        kept.parameters(kept.frames - 1)


def test_the_view_is_what_resolve_says(program: Marginscope) -> None:
    assert program.display.view == resolve(program.display.intent, program.session.snapshot())


def test_closing_the_runs_leaves_an_invitation(program: Marginscope, qtbot: QtBot) -> None:
    qtbot.keyClick(program.window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    assert len(program.session) == 0
    assert program.window.pages.currentWidget() is program.window.welcome
    qtbot.mouseClick(program.window.welcome.run_button, LEFT)
    assert len(program.session) == 2
    qtbot.waitUntil(lambda: trained(program))


def test_coordinates_and_margin_axis_are_chosen(program: Marginscope, qtbot: QtBot) -> None:
    for name, title in MARGIN_AXES.items():
        pick(qtbot, program.window, "View", "Curves against", title)
        assert program.display.view.wishes.margin_axis == name

    def answer(dialog: QDialog) -> None:
        for box, text in zip(dialog.findChildren(QSpinBox), "35", strict=True):
            box.setFocus()
            box.selectAll()
            QTest.keyClicks(box, text)
        QTest.keyClick(dialog, Qt.Key.Key_Return)

    when_open(QDialog, answer)
    qtbot.keyClick(program.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert program.display.view.wishes.plane.numbers == (2, 4)
    assert program.session.snapshot().runs[0].m == 8
    assert all(run.data.coordinates == (2, 4) for run in program.session)


def test_a_name_that_is_nothing_leaves_a_study_to_run(open_program: Opener, qtbot: QtBot) -> None:
    program = open_program("nonsense")
    qtbot.waitUntil(lambda: "Cannot open" in program.window.bar.text)
    study = program.window.form.study()
    assert study.id == "telgarsky22-figure-1"
