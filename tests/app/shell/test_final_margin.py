"""Where margins are going, in the window: told in the theory panel, drawn among the margins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.theory.final_margin import bracket_final_margin
from app.theory.results import FINAL
from app.views.margins import MarginsView
from app.worker import Request
from core.observables.final_margin import KEY, final_margin
from core.reference.cancel_token import CancelToken
from core.reference.gated_limits import FixedPattern
from core.runs import open_run
from tests.app.mouse import keys
from tests.app.shell.conftest import Opener, trained

pytestmark = pytest.mark.drawer("inspector")

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def ahead(open_program: Opener, study: Path, qtbot: QtBot) -> Marginscope:
    program = open_program(study, looks_ahead=True)
    qtbot.waitUntil(lambda: settled(program))
    return program


def settled(program: Marginscope) -> bool:
    theory = program.theory
    return (
        trained(program)
        and not (theory.busy or program.theory.final_margins.busy)
        and all(
            theory.results(run.key).final is not None and len(theory.results(run.key).margins) == 5
            for run in program.session
        )
    )


def labels(program: Marginscope) -> list[str]:
    view = program.display.panels[-1].view("margins")
    assert isinstance(view, MarginsView)
    return [level.label for level in view.plot.overlay.levels]


def press(qtbot: QtBot, program: Marginscope) -> None:
    box = program.window.theory.final.shown
    qtbot.mouseClick(box, LEFT, pos=QPoint(8, box.height() // 2))


def check_that_the_panel_says_what_the_headless_program_says(
    program: Marginscope, qtbot: QtBot, folder: Path
) -> None:
    line, run = program.window.theory.final, list(program.session)[-1]
    found = program.theory.results(run.key).final
    assert found is not None and line.isVisible()
    with open_run(run.path) as file:
        margins = program.theory.results(run.key).proved_margins
        again = final_margin(file, -1, margins, CancelToken(), (FixedPattern.OWN_LABEL,), 1e-3)
        assert found.frame == file.frames - 1
    assert (found.below, found.weakest_bound, found.upper_end) == (
        again.below,
        again.weakest_bound,
        again.upper_end,
    )
    text = line.words.text()
    assert text.startswith("Final margin <span style=")
    assert found.condition in text or not found.condition
    assert "Examples that determine this bound" in line.words.toolTip()
    assert line.words.accessibleName().startswith("Final margin ")


def check_that_its_ends_are_drawn_on_request_and_undone_by_name(
    program: Marginscope, qtbot: QtBot, folder: Path
) -> None:
    assert FINAL == KEY
    assert not [text for text in labels(program) if text.startswith("final")]
    press(qtbot, program)
    qtbot.waitUntil(lambda: any(text.startswith("final <= .") for text in labels(program)))
    run = list(program.session)[-1]
    names = [bound.name for bound in program.theory.curves.bound_curves_of(run.key)]
    assert [name for name in names if name] == [
        text for text in labels(program) if text.startswith("final")
    ]
    view = program.display.panels[-1].view("margins")
    found = program.theory.results(run.key).final
    assert isinstance(view, MarginsView) and found is not None
    ends = [line.values[found.frame] for line in view.lines(run.data)[3:]]
    assert ends == [found.upper_end, found.below]
    qtbot.waitUntil(program.actions["undo"].isEnabled)
    assert program.actions["undo"].text() == "&Undo Show bound of final margin"
    keys(qtbot, program.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not any(text.startswith("final") for text in labels(program)))
    assert not program.window.theory.final.shown.isChecked()


def check_that_the_view_of_margins_is_brought_up_with_it(
    program: Marginscope, qtbot: QtBot, folder: Path
) -> None:
    program.display.update_intent(views=("rotation",))
    press(qtbot, program)
    assert "margins" in program.display.view.wishes.views


def check_that_a_network_without_a_bracket_has_no_line(
    program: Marginscope, qtbot: QtBot, folder: Path
) -> None:
    path = folder / "other.toml"
    path.write_text(
        'title = "Other"\n[data]\nd = 6\nn = 12\n[network]\nkind = "batch_norm"\nm = 8\n'
        '[loss]\nkind = "logistic"\n'
        '[dynamics]\nkind = "gd"\nstep = 0.1\nuntil_log10_time = 0.5\n[recording]\nframes = 8\n'
    )
    before = list(program.session)
    program.files.open_files([str(path)])
    qtbot.waitUntil(lambda: list(program.session) != before and trained(program))
    qtbot.waitUntil(lambda: not program.theory.final_margins.busy)
    run = next(iter(program.session))
    assert program.theory.results(run.key).final is None
    assert not program.window.theory.final.isVisible()


def test_a_run_that_grows_is_asked_about_and_closing_ends_it(
    open_program: Opener, slow_study: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.theory.final_margin.GROWING_MS", 1)
    few = slow_study.read_text().replace("m = 256", "m = 8").replace("n = 64", "n = 16")
    slow_study.write_text(few.replace("step = 1e-5", "step = 1e-6"))
    program = open_program(slow_study, looks_ahead=True)
    qtbot.waitUntil(lambda: any(run.data is not None for run in program.session))
    program.training.pause(True)  # theory has little of the processor beside training
    key = next(iter(program.session)).key
    qtbot.waitUntil(lambda: program.theory.results(key).final is not None)
    found = program.theory.results(key).final
    assert found is not None and found.why  # descent may lower the smoothed margin
    qtbot.waitUntil(lambda: "\u2264" in program.window.theory.final.words.text())
    program.training.pause(False)
    qtbot.waitUntil(lambda: program.theory.final_margins.worker.busy)
    program.theory.final_margins.stop()
    thread = program.theory.final_margins.worker._thread
    assert thread is None or not thread.is_alive()


def check_that_nothing_is_computed_twice_of_the_same_frames(
    program: Marginscope, qtbot: QtBot, folder: Path
) -> None:
    """A margin that is proved later becomes the upper end without another program."""
    run = list(program.session)[-1]
    known = program.theory.results(run.key)
    found, twice = known.final, known.proved_margins["gamma_gl"]
    doubled = replace(twice.bracket, upper=2.0 * twice.bracket.upper)
    proved = {"gamma_gl": replace(twice, bracket=doubled)}
    again = bracket_final_margin(Request(run.key, (), print), run.key, run.path, proved, found)
    assert again.found.above_while is found.above_while
    assert again.found.above_always == 2.0 * found.above_always


CHECKS = (
    check_that_the_panel_says_what_the_headless_program_says,
    check_that_nothing_is_computed_twice_of_the_same_frames,
    check_that_its_ends_are_drawn_on_request_and_undone_by_name,
    check_that_the_view_of_margins_is_brought_up_with_it,
    check_that_a_network_without_a_bracket_has_no_line,
)


def test_final_margins_in_one_window(
    ahead: Marginscope, qtbot: QtBot, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """The runs stay the same until the last check, which opens another study."""
    for check in CHECKS:
        with subtests.test(check.__name__):
            check(ahead, qtbot, tmp_path)
