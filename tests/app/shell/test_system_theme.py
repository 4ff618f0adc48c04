"""The window is light or dark as the system is, until somebody chooses."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytest import MonkeyPatch
from pytestqt.qtbot import QtBot

from app.scenes.scene_texts import study_link
from app.settings import Settings, load_settings
from app.shell.application import Marginscope
from tests.app.mouse import click_on, pick
from tests.app.shell.conftest import Opener
from tests.app.shell.shared_window import skip_style_sheet

NO_RUNS = study_link("wei19-figure-5")  # it is put into the form, and not trained


class System:
    """Stands in for the colours of the system, which tests have none of."""

    def __init__(self, monkeypatch: MonkeyPatch) -> None:
        self.palette = "light"
        for module in ("settings", "appearance"):
            monkeypatch.setattr(f"app.shell.{module}.system_palette", lambda: self.palette)

    def turn(self, palette: str) -> None:
        self.palette = palette
        scheme = Qt.ColorScheme.Dark if palette == "dark" else Qt.ColorScheme.Light
        QGuiApplication.styleHints().colorSchemeChanged.emit(scheme)


def state(program: Marginscope) -> tuple[str, bool, bool]:
    """Return the palette, and the marks of Dark and of following the system."""
    actions = program.actions
    marks = (actions["dark"].isChecked(), actions["system"].isChecked())
    return (program.display.intent.palette, *marks)


@pytest.mark.usefixtures("restyles")
def test_a_first_start_is_as_the_system_and_follows_it(
    open_program: Opener, monkeypatch: MonkeyPatch
) -> None:
    system = System(monkeypatch)
    system.palette = "dark"
    program = open_program(NO_RUNS)
    assert state(program) == ("dark", True, True)
    system.turn("light")
    assert state(program) == ("light", False, True)
    assert program.window.palette().window().color().lightness() > 200
    system.turn("dark")
    assert state(program) == ("dark", True, True)
    assert program.window.palette().window().color().lightness() < 60


@pytest.mark.usefixtures("restyles")
def test_a_choice_by_hand_stays(
    open_program: Opener, monkeypatch: MonkeyPatch, qtbot: QtBot
) -> None:
    system = System(monkeypatch)
    program = open_program(NO_RUNS)
    click_on(program, "dark")
    assert state(program) == ("dark", True, False)
    system.turn("dark")
    system.turn("light")
    assert state(program) == ("dark", True, False)
    program.shut_down()
    again = open_program(NO_RUNS)
    assert state(again) == ("dark", True, False)
    pick(qtbot, again.window, "View", "Match system appearance")
    assert state(again) == ("light", False, True)
    again.shut_down()
    assert load_settings(again.places.settings)[0].follows_system


def test_what_was_chosen_before_there_was_a_choice_of_the_system_stays() -> None:
    assert not Settings.model_validate({"palette": "light"}).follows_system
    assert Settings.model_validate({}).follows_system
    kept = Settings.model_validate({"palette": "dark", "follows_system": True})
    assert kept.follows_system


def test_a_theme_of_the_system_is_no_step_and_leaves_undo_and_redo(
    program: Marginscope, monkeypatch: MonkeyPatch, qtbot: QtBot
) -> None:
    system = System(monkeypatch)
    with skip_style_sheet():
        program.actions["system"].setChecked(True)
        program.scenes.clear_history()
        for wishes in ({"equal": True}, {"linked": False}):
            program.display.update_intent(**wishes)
            qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
        program.scenes.undo()
        system.turn("dark")
        qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
        assert state(program) == ("dark", True, True)
        assert [step.words for step in program.scenes.history.past] == ["Equal aspect"]
        program.scenes.redo()
        assert not program.display.intent.linked
        for _ in range(2):
            program.scenes.undo()
        assert not program.display.intent.equal
        assert state(program) == ("dark", True, True)
        program.actions["system"].setChecked(False)


def test_a_change_before_a_theme_of_the_system_is_a_step(
    program: Marginscope, monkeypatch: MonkeyPatch
) -> None:
    system = System(monkeypatch)
    with skip_style_sheet():
        program.actions["system"].setChecked(True)
        program.scenes.clear_history()
        program.display.update_intent(equal=True)
        system.turn("dark")  # in the same turn of the loop
        assert [step.words for step in program.scenes.history.past] == ["Equal aspect"]
        program.actions["system"].setChecked(False)
