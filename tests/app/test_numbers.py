"""Numbers have a decimal point on every system, and a comma that is typed is never dropped."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.data.drawing_table import PointModel
from app.data.sketch import Sketch
from app.training.study_edits import StudyEdits
from app.widgets.inputs import DecimalBox, WholeBox
from core.data.numbers import number_of
from core.errors import InputError
from core.numbers import number_text, raise_powers
from core.studies.study import load_study
from tests.problems import FIGURE_1

GERMAN = """
from PySide6.QtCore import QLocale
from app.theory.panel import DecimalBox
from app.qt_application import QtApplication
application = QtApplication([])
assert QLocale.system().decimalPoint() == ",", QLocale.system().name()
print(DecimalBox(decimals=3, minimum=0.001, maximum=0.999, value=0.05).text())
"""


def test_a_german_system_shows_decimal_points() -> None:
    environment = os.environ | {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}
    command = [sys.executable, "-c", GERMAN]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == ".05\n", done.stderr


def test_a_comma_typed_into_a_number_is_a_point_or_not_taken(
    qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    """Qt dropped it: 8,5 mm were 85, and 1,5 frames 15."""
    cases: tuple[tuple[WholeBox | DecimalBox, tuple[tuple[str, float], ...]], ...] = (
        (DecimalBox(decimals=1, maximum=600.0), (("8,5", 8.5), ("8.5", 8.5))),
        (DecimalBox(decimals=3, maximum=0.999), (("0,05", 0.05),)),
        (
            WholeBox(minimum=2, maximum=2000, value=7),
            (("1,5", 7), ("1.5", 7), ("1.000", 7), ("4,5", 4), ("12", 12)),
        ),
    )
    for box, typed in cases:
        qtbot.addWidget(box)
        for text, value in typed:
            with subtests.test(text=text):
                box.selectAll()
                qtbot.keyClicks(box, text)
                box.interpretText()
                assert box.value() == value
                assert "," not in box.text()


def test_boxes_write_numbers_as_the_program_does_and_take_both_ways(
    qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    """They showed 0.050 and 180.0."""
    box = DecimalBox(decimals=3, minimum=-200.0, maximum=200.0, prefix="\u03b4 = ", suffix=" mm")
    qtbot.addWidget(box)
    for typed, value, shown in (
        ("0.05", 0.05, ".05"),
        (".05", 0.05, ".05"),
        (",05", 0.05, ".05"),
        ("0.050", 0.05, ".05"),
        ("180.0", 180.0, "180"),
        ("-0.5", -0.5, "\u2212.5"),
        ("\u2212.25", -0.25, "\u2212.25"),
        ("0", 0.0, "0"),
        ("10", 10.0, "10"),
    ):
        with subtests.test(typed=typed):
            box.setValue(7.0)
            box.selectAll()
            box.lineEdit().insert(typed)  # QTest has no key for a minus sign
            box.interpretText()
            assert box.value() == value
            assert box.cleanText() == shown
            assert box.text() == f"\u03b4 = {shown} mm"
            qtbot.keyClick(box, Qt.Key.Key_Up)
            assert box.value() == pytest.approx(value + 1.0)


def test_drawn_points_are_written_as_numbers_are_everywhere(qtbot: QtBot) -> None:
    model = PointModel()
    values = (0.5, -0.25, 2.0, 1e-7, -123456.0, 1 / 3)
    model.show_sketch(Sketch(tuple((value, 1.0) for value in values), 1))
    for row, value in enumerate(values):
        index = model.index(row, 0)
        assert model.data(index) == raise_powers(number_text(value, 5))
        assert number_of(model.data(index, Qt.ItemDataRole.EditRole)) == value
    assert [model.data(model.index(row, 0)) for row in range(2)] == [".5", "\u2212.25"]
    edits: list[object] = []
    model.points_edited.connect(lambda row, point: edits.append(point))
    for typed in ("0.05", ".05", "\u2212.05", "-0.05"):
        assert model.setData(model.index(0, 0), typed)
    assert edits == [(0.05, 1.0)] * 2 + [(-0.05, 1.0)] * 2


def test_a_setting_with_a_comma_is_refused_by_name() -> None:
    for text in ("0,5", "1.000,5"):
        words = re.escape(f"dynamics.step = {text!r}: a number with a decimal point is needed")
        with pytest.raises(InputError, match=words):
            load_study(FIGURE_1).with_settings(["dynamics.kind=gd", f"dynamics.step={text}"])


def test_a_comma_that_may_be_decimal_is_refused_by_name(subtests: pytest.Subtests) -> None:
    """0,5 was the values 0 and 5, and 1.000,5 the values 1 and 5: two runs each."""
    for key, text, words in (
        ("dynamics.accuracy", "", ""),
        ("data.seed", "1, 2", ""),
        ("network.m", "16,32", ""),
        ("network.m", "16, 256", ""),
        ("network.m", "1,024", "Enter 1024, or 1, 024 for several"),
        ("dynamics.until_log10_time", "0,5", "Enter 0.5, or 0, 5 for several"),
        (
            "dynamics.until_log10_time",
            "1.000,5",
            "Enter 1000.5, or 1.000, 5 for several",
        ),
        ("dynamics.until_log10_time", "1,5; 2,5", "Use decimal points"),
        ("dynamics.until_log10_time", "1.5, 2.5", ""),
        ("recording.log10_times", "0,5", "Enter 0.5"),
        ("recording.log10_times", "0.5, 1,2", ""),
    ):
        with subtests.test(key=key, text=text):
            edits = StudyEdits(load_study(FIGURE_1))
            edits.set_text(key, text)
            problem = edits.outcome().problems.get(key, "")
            assert words in problem
            assert problem == "" or problem.startswith(
                f"{key} = {text} is ambiguous: one number or"
            )
            assert bool(problem) is bool(words)
