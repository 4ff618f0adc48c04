"""Runs compared in the window: opened, asked about with keys, followed along, closed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.actions import disabled_reason
from app.library.legend_table import NAME, VALUE
from app.shell.application import Marginscope
from app.shell.help import HelpCard
from app.state.comparison import ComparedRuns
from app.views.compare_axes import falling_powers
from core.comparison.question import CompareQuestion
from core.figures.palette import DARK, PALETTES, run_colour
from core.observables.registry import OBSERVABLES
from core.problem.schedule import coordinate, inverse_coordinate
from core.runs import open_run
from core.studies.study import load_study
from tests.app.mouse import choose as choose_entry
from tests.app.mouse import move, view_menu
from tests.app.shell.comparing import answer, choose, choose_observables, lines, page, settled, view
from tests.app.shell.shared_window import skip_style_sheet
from tests.recording import recorded
from tests.support.run_files import frames_of, record, recorder_at, small_problem

Key = Qt.Key


def press(program: Marginscope, against: str, qtbot: QtBot) -> None:
    """Choose an axis with the arrow keys, which go round."""
    choice = page(program).against
    choice.buttons[choice.key].setFocus()
    for _ in choice.buttons:
        if choice.key != against:
            QTest.keyClick(choice.buttons[choice.key], Key.Key_Right)
    assert choice.key == against
    settled(program, qtbot)


def traces(program: Marginscope, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return log10 t and an observable of each run, from its file."""
    found = []
    for run in program.session:
        with open_run(run.source) as file:
            found.append((file.log10_time[1:], OBSERVABLES[name].trace(file)[1:]))
    return found


def test_the_open_runs_are_lines_with_their_own_values(
    comparing: Marginscope, qtbot: QtBot
) -> None:
    for (places, values), (times, wanted) in zip(
        lines(comparing), traces(comparing, "hard_margin"), strict=True
    ):
        np.testing.assert_array_equal(places, times)
        np.testing.assert_array_equal(values, wanted)
    assert [page(comparing).table.item(row, 0).text() for row in (0, 1)] == ["m = 8", "m = 12"]
    choose_observables(comparing, qtbot, "log10_risk")
    assert comparing.display.intent.compared.question.observable == "log10_risk"
    for (_, values), (_, wanted) in zip(
        lines(comparing), traces(comparing, "log10_risk"), strict=True
    ):
        np.testing.assert_array_equal(values, wanted)


def test_the_key_and_the_button_show_the_runs_again(comparing: Marginscope, qtbot: QtBot) -> None:
    window = comparing.window
    assert comparing.actions["compare"].isChecked()
    qtbot.mouseClick(page(comparing).close_button, Qt.MouseButton.LeftButton)
    assert window.pages.currentWidget() is window.views
    assert not comparing.actions["compare"].isChecked()
    assert comparing.display.intent.compared is None
    frames = [panel.frame for panel in comparing.display.panels]
    assert frames == [run.frame for run in comparing.display.view.runs]
    comparing.actions["compare"].trigger()
    assert window.pages.currentWidget() is comparing.compare.page
    settled(comparing, qtbot)
    comparing.actions["compare"].trigger()
    assert window.pages.currentWidget() is window.views


def test_the_cursor_goes_along_and_a_click_asks_for_a_moment(
    comparing: Marginscope, qtbot: QtBot
) -> None:
    plot = view(comparing).plot
    for moment in (0.0, 1.5):
        here = plot.pixels(np.array([[moment, 0.0]]))[0, 0]
        QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(here), 40))
        cursor = float(inverse_coordinate(comparing.display.view.cursor))
        assert cursor == pytest.approx(moment, abs=0.03)
        wanted = [np.interp(cursor, *trace) for trace in traces(comparing, "hard_margin")]
        shown = [view(comparing).value(k) for k in (0, 1)]
        np.testing.assert_allclose(shown, wanted, atol=1e-12)
        np.testing.assert_allclose(view(comparing).dots.points[:, 1], wanted, atol=1e-12)
    texts = [page(comparing).table.item(row, VALUE).text() for row in (0, 1)]
    assert all(texts)
    QTest.keyClick(comparing.window, Key.Key_Home)
    assert page(comparing).table.item(0, VALUE).text() != texts[0]


@pytest.mark.parametrize("against", ["norm_squared", "risk", "step", "time"])
def test_a_click_on_another_axis_finds_its_moment(
    comparing: Marginscope, qtbot: QtBot, against: str
) -> None:
    press(comparing, against, qtbot)
    shown = view(comparing).plot.visible_range()
    place = shown.left() + 0.6 * shown.width()
    here = view(comparing).plot.pixels(np.array([[place, 0.0]]))[0, 0]
    plot = view(comparing).plot
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(here), 40))
    across = view(comparing).dots.points[:, 0]
    # At the first frame there or beyond: less than a frame off for the run that was asked.
    frames = [np.sort(places) for places, _ in lines(comparing)]
    ends = [np.searchsorted(places, place).clip(1, places.size - 1) for places in frames]
    gaps = [places[end] - places[end - 1] for places, end in zip(frames, ends, strict=True)]
    assert (np.abs(across - place) <= np.array(gaps) + 0.01 * shown.width()).any()


def test_differences_and_bands_are_chosen_with_keys(comparing: Marginscope, qtbot: QtBot) -> None:
    (times, first), (others, other) = traces(comparing, "hard_margin")
    choose(comparing, page(comparing).kind, "differences", qtbot)
    ((places, values),) = lines(comparing)
    colour = run_colour(1.0, PALETTES[comparing.display.intent.palette])
    assert view(comparing).colours() == (colour,)  # that of the run, as among the lines
    wanted = np.interp(places, others, other) - np.interp(places, times, first)
    np.testing.assert_allclose(values, wanted, atol=1e-14)
    assert page(comparing).table.item(0, VALUE).text() == "\u2013"
    choose(comparing, page(comparing).kind, "bands", qtbot)
    assert page(comparing).band.isVisible()
    assert len(view(comparing).bands.areas) == 2  # widths differ: no two runs are one family
    assert "only in their seeds" in page(comparing).notes.text()


def test_seeds_are_one_band(program: Marginscope, qtbot: QtBot, tmp_path: Path) -> None:
    paths = [tmp_path / f"{seed}.msrun" for seed in range(3)]
    for seed, path in enumerate(paths):
        recorded(path, "recording.frames=9", f"run.seed={seed}")
    question = CompareQuestion(kind="bands")
    program.display.update_intent(compared=ComparedRuns(tuple(map(str, paths)), question))
    settled(program, qtbot)
    (line,) = answer(program).answer.lines
    assert line.members == (0, 1, 2)
    assert (line.low <= line.values).all()
    assert (line.values <= line.high).all()
    assert len(view(program).bands.areas) == 1
    # The slider's range holds the runs that are compared, however short those that are open are.
    assert program.display.view.span.high == pytest.approx(float(coordinate(4.0)))
    program.display.update_intent(compared=None)
    assert program.display.view.span.high == pytest.approx(float(coordinate(2.0)))


def test_runs_of_another_study_are_compared_by_what_it_is_about(
    program: Marginscope, qtbot: QtBot, tmp_path: Path
) -> None:
    """Deep linear networks were compared by rotations, the view of the runs that were open."""
    title = load_study("saxe14-depth").title
    paths = [tmp_path / f"{m}.msrun" for m in (3, 4)]
    for m, path in zip((3, 4), paths, strict=True):
        record(path, replace(small_problem(m=m), title=title))
    program.display.update_intent(views=("rotations", "norms"))
    program.compare.compare(list(map(str, paths)))
    settled(program, qtbot)
    assert program.display.intent.compared.observables == ("log10_risk",)
    program.display.update_intent(compared=None)
    program.compare.compare([str(run.source) for run in program.session])
    settled(program, qtbot)
    assert program.display.intent.compared.observables == ("rotation", "relative_norm")


def test_a_comparison_stays_where_another_cannot_be_had(
    comparing: Marginscope, qtbot: QtBot, tmp_path: Path
) -> None:
    before, shown = comparing.display.intent.compared, lines(comparing)
    paths = [str(run.path) for run in comparing.session]
    comparing.compare.compare([str(tmp_path / "none.msrun"), *paths])
    assert "none.msrun" in comparing.window.bar.text
    assert comparing.display.intent.compared == before
    assert comparing.window.pages.currentWidget() is comparing.compare.page
    assert comparing.actions["compare"].isChecked()
    choose_observables(comparing, qtbot, "log10_risk")  # its files are open
    assert len(lines(comparing)) == len(shown) == 2
    for (_, values), (_, wanted) in zip(
        lines(comparing), traces(comparing, "log10_risk"), strict=True
    ):
        np.testing.assert_array_equal(values, wanted)


def test_what_cannot_be_compared_is_one_sentence_and_changes_nothing(
    program: Marginscope, qtbot: QtBot, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.msrun"
    broken.write_text("no run")
    paths = [str(run.path) for run in program.session]
    for names in ([*paths, str(broken)], [*paths, str(tmp_path / "none.msrun")], paths[:1]):
        program.compare.compare(names)
        assert program.window.bar.text
        assert program.display.intent.compared is None
        assert program.window.pages.currentWidget() is program.window.views
    program.compare.compare(paths * 6)
    assert "12 runs" in program.window.bar.text
    program.files.open_files(paths[:1])
    qtbot.waitUntil(lambda: len(program.session) == 1)
    program.actions["compare"].trigger()
    assert "at least two runs" in program.window.bar.text
    assert not program.actions["compare"].isChecked()


def test_an_observable_that_some_run_lacks_gives_way_to_one_that_all_have(
    program: Marginscope, qtbot: QtBot
) -> None:
    paths = tuple(str(run.path) for run in program.session)
    program.display.update_intent(
        compared=ComparedRuns(paths, CompareQuestion("mirror_gap", kind="bands"))
    )
    settled(program, qtbot)
    question = program.display.intent.compared.question
    assert question == CompareQuestion("hard_margin", kind="bands")
    assert list(page(program).grid.plots) == ["hard_margin"]
    assert "mirror_gap" not in program.compare.observables


def test_other_runs_end_the_comparison(comparing: Marginscope, qtbot: QtBot) -> None:
    paths = [str(run.path) for run in comparing.session]
    comparing.files.open_files(paths[:1])
    qtbot.waitUntil(lambda: comparing.display.intent.compared is None)
    assert comparing.window.pages.currentWidget() is comparing.window.views
    assert comparing.session.compared == ()


def test_the_palette_and_small_windows_suit_it(comparing: Marginscope, qtbot: QtBot) -> None:
    with skip_style_sheet():
        comparing.actions["dark"].trigger()
    assert view(comparing).colours() == (run_colour(0.0, DARK), run_colour(1.0, DARK))
    comparing.window.resize(1024, 640)
    QApplication.processEvents()
    plot = view(comparing).plot
    assert plot.height() > page(comparing).height() // 2
    inside = page(comparing).rect()
    for part in (page(comparing).observables, page(comparing).close_button, page(comparing).table):
        assert inside.contains(part.geometry())


def test_actions_of_views_are_disabled_with_a_reason(comparing: Marginscope) -> None:
    assert not comparing.actions["log_curves"].isEnabled()
    assert "compari" in disabled_reason("log_curves")
    assert all(comparing.actions[key].isEnabled() for key in ("fill", "curves"))
    comparing.actions["compare"].trigger()
    assert all(comparing.actions[key].isEnabled() for key in ("fill", "curves", "log_curves"))


def test_the_legend_fits_large_type(comparing: Marginscope) -> None:
    table = page(comparing).table
    font = table.font()
    font.setPointSizeF(2.0 * font.pointSizeF())
    table.setFont(font)
    name = table.item(0, NAME)
    assert table.columnWidth(NAME) > table.fontMetrics().horizontalAdvance(name.text())
    assert table.verticalHeader().defaultSectionSize() > table.fontMetrics().height()
    table.setFont(QFont())  # that of the window again


def test_a_falling_axis_says_the_quantity() -> None:
    ticks = falling_powers(0.0, 4.0, 8)
    assert [place for place, _ in ticks] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert [text for _, text in ticks][:2] == ["1", ".1"]


def test_what_is_shown_is_explained(comparing: Marginscope, qtbot: QtBot) -> None:
    choose_entry(view_menu(comparing, view(comparing).plot.viewport()), "What is this?")
    cards = [one for one in QApplication.allWidgets() if isinstance(one, HelpCard)]
    (card,) = [one for one in cards if one.isVisible()]
    assert [one.title for one in card.explanations] == [OBSERVABLES["hard_margin"].title]
    card.close()


def test_a_run_that_grows_grows_in_the_picture(
    comparing: Marginscope, qtbot: QtBot, tmp_path: Path
) -> None:
    problem = small_problem()
    frames = frames_of(problem, 9)
    path = tmp_path / "growing.msrun"
    recorder = recorder_at(path, problem)
    recorder.append(frames[:5])
    recorder.flush()
    whole = str(next(iter(comparing.session)).path)
    comparing.compare.compare([whole, str(path)])
    settled(comparing, qtbot)
    assert lines(comparing)[1][0].size == 4  # t = 0 has no place
    recorder.append(frames[5:])
    recorder.finish("completed")
    qtbot.waitUntil(lambda: lines(comparing)[1][0].size == 8)
    settled(comparing, qtbot)
    qtbot.waitUntil(lambda: not comparing.compare.model.is_polling)
    comparing.compare.leave()


def test_the_nearest_run_is_read_under_the_pointer(comparing: Marginscope, qtbot: QtBot) -> None:
    shown, plot = view(comparing), view(comparing).plot
    line = shown._comparison.lines[1]
    # Where the lines are far apart, so that it is clear which is meant.
    other = np.interp(
        line.places, shown._comparison.lines[0].places, shown._comparison.lines[0].values
    )
    k = int(np.nanargmax(np.abs(line.values - other)))
    move(qtbot, plot, float(line.places[k]), float(line.values[k]))
    pointed = plot.overlay.pointed
    assert pointed is not None and pointed.y == float(line.values[k])
    label, told, when = pointed.text.split("\n")
    assert label == line.label
    value = float(told.replace("\u2212", "-"))
    assert value == pytest.approx(float(line.values[k]), abs=plot.pixel_height())
    assert when.startswith("t = 10")
    plot.pointer_left.emit()
    assert plot.overlay.pointed is None


def test_sorted_rotations_follow_the_cursor(comparing: Marginscope, qtbot: QtBot) -> None:
    program, panel = comparing, page(comparing)
    choose_observables(program, qtbot, "rotation")
    qtbot.waitUntil(lambda: view(program)._comparison.question.is_by_rank)
    assert list(panel.against.buttons) == [panel.against.key] == ["rank"]
    for moment in (1.0, 2.0, 0.5):
        program.playback.seek(float(coordinate(moment)))
        qtbot.waitUntil(lambda: not program.compare.model.calculator.busy)
        frames = [run.data.frame_at(program.display.view.cursor) for run in program.session]

        def is_there(frames: list[int] = frames) -> bool:
            known = [one.background.nodes.known for one in program.compare.model.runs]
            return [one[0].frame for one in known if one] == frames and len(lines(program)) == 2

        qtbot.waitUntil(is_there)
        qtbot.waitUntil(partial(values_are, program, frames))
        medians = [float(np.median(values)) for _, values in lines(program)]
        shown = [float(panel.table.item(row, VALUE).text()) for row in (0, 1)]
        assert shown == pytest.approx(medians, abs=1e-4)
    assert "t = 3.16" in view(program).header.accessibleName()
    # Over time again, against what is compared over time.
    choose_observables(program, qtbot, "hard_margin")
    qtbot.waitUntil(lambda: not view(program)._comparison.question.is_by_rank)
    assert panel.against.key == "log10_time"
    assert "rank" not in panel.against.buttons


def values_are(program: Marginscope, frames: list[int]) -> bool:
    """Return True if the lines are the rotations of frames of the open runs."""
    runs = [run.data for run in program.session]
    for data, frame, (places, values) in zip(runs, frames, lines(program), strict=True):
        wanted = np.sort(data.values("rotation", frame))
        if values.shape != wanted.shape or not np.allclose(values, wanted, atol=1e-6):
            return False
        assert np.array_equal(places, np.arange(1, data.m + 1) / data.m)
    return True
