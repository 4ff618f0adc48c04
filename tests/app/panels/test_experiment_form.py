"""The form, driven with keys and the mouse."""

from __future__ import annotations

import re
from functools import cache

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QToolButton

from app.training.experiment_form import ExperimentForm
from app.training.fields import in_words
from app.widgets.inputs import ChoiceBox, ValueEdit
from core.errors import InputError
from core.studies.study import Study, load_study, parse_study, shipped_ids
from core.study_file.experiment import KINDS, PLAIN_SECTIONS
from tests.problems import FIGURE_1

Key = Qt.Key

EVERYTHING = """
title = "Everything"
[data]
kind = "file"
path = "data/x, y.npz"
n = 10
[network]
init = "file"
init_path = "start.npz"
[loss]
kind = "logistic"
[dynamics]
kind = "gd"
step = 0.125
[run]
seed = 9007199254740993
precision = "float32"
[axes]
"dynamics.until_log10_time" = [1.5, 2]
"run.seed" = [9223372036854775807]
"""
AXES_OF_WORDS = """
[axes]
"dynamics.kind" = ["gd", "flow"]
"network.m" = [4]
"recording.log10_times" = [[1.0], [1.0, 2.0]]
"data.kind" = ["parity"]
"""


@cache
def figure_1() -> Study:
    """Return the study of most forms here, which is read once and never changed."""
    return load_study(FIGURE_1)


@pytest.fixture
def form(qtbot) -> ExperimentForm:
    form = ExperimentForm()
    qtbot.addWidget(form)
    form.resize(300, 900)
    form.set_study(figure_1())
    form.show()
    qtbot.waitExposed(form)
    return form


def control(form: ExperimentForm, key: str) -> ValueEdit | ChoiceBox:
    found = form.findChild(ValueEdit, key) or form.findChild(ChoiceBox, key)
    assert found is not None, key
    return found


def row(form: ExperimentForm, key: str):
    rows = form.sections[key.partition(".")[0]].rows
    return next(item for item in rows if item.field.key == key)


def enter(form: ExperimentForm, key: str, text: str) -> None:
    edit = control(form, key)
    edit.setFocus()  # a click into the empty field of a path opens a dialog
    QTest.keyClick(edit, Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    if text:
        QTest.keyClicks(edit, text)
    else:
        QTest.keyClick(edit, Key.Key_Delete)


def paste(form: ExperimentForm, key: str, text: str) -> None:
    """Paste a long text over what stands in a field: what is typed is checked at each key."""
    QApplication.clipboard().setText(text)
    edit = control(form, key)
    edit.setFocus()
    QTest.keyClick(edit, Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(edit, Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    QApplication.clipboard().clear()


def choose(form: ExperimentForm, key: str, text: str) -> None:
    box = control(form, key)
    box.setFocus()
    by_kind = box.findData(text)  # kinds are listed in words
    place = by_kind if by_kind >= 0 else box.findText(text)
    while box.currentIndex() != place:
        before = box.currentIndex()
        QTest.keyClick(box, Key.Key_Down if place > before else Key.Key_Up)
        assert abs(box.currentIndex() - place) < abs(before - place)


def study_of(form: ExperimentForm) -> Study:
    """Return the study as edited, of which nothing is wrong."""
    study = form.study()
    assert study is not None, form.problems()
    return study


# ------------------------------------------------------------------------------------- whole


def test_shipped_studies_come_back_as_they_were(qtbot, subtests: pytest.Subtests) -> None:
    form = ExperimentForm()
    qtbot.addWidget(form)
    for name in shipped_ids():
        with subtests.test(name):
            form.set_study(load_study(name))
            assert form.study() == load_study(name)
            assert form.problems() == {}


@pytest.mark.parametrize("text", [EVERYTHING, AXES_OF_WORDS], ids=["everything", "axes"])
def test_any_study_comes_back_also_after_each_field_was_typed_again(qtbot, text: str) -> None:
    form = ExperimentForm()
    qtbot.addWidget(form)
    study = parse_study(text, "mine")
    form.set_study(study)
    assert form.study() == study, form.problems()
    form.show()
    for section in form.sections.values():
        for item in section.rows:
            edit = item.control
            if isinstance(edit, ValueEdit) and edit.isEnabled() and not edit.isReadOnly():
                enter(form, item.field.key, f"{edit.text()} ")
                assert form.study() == study, item.field.key


def test_every_field_of_every_kind_is_there_and_explained(form: ExperimentForm) -> None:
    for section, kinds in KINDS.items():
        for kind, cls in kinds.items():
            if len(kinds) > 1:
                choose(form, f"{section}.kind", kind)
            check_fields(form, section, cls)
    for section, cls in PLAIN_SECTIONS.items():
        check_fields(form, section, cls)


def check_fields(form: ExperimentForm, section: str, cls) -> None:
    names = [item.field.name for item in form.sections[section].rows]
    assert names == [name for name in cls.model_fields if name != "kind"]
    for item in form.sections[section].rows:
        info = cls.model_fields[item.field.name]
        tip = item.control.toolTip()
        assert info.description in tip and item.field.key in tip
        assert item.label.text() and item.label.toolTip() in tip
        for extra in ("unit", "source"):
            assert info.json_schema_extra[extra] in tip


def test_before_a_study_is_set_there_is_none(qtbot) -> None:
    form = ExperimentForm()
    qtbot.addWidget(form)
    assert form.study() is None
    assert not control(form, "data.kind").isEnabled()


# ------------------------------------------------------------------------------------ values


def test_values_typed_are_in_the_study(form: ExperimentForm, qtbot) -> None:
    with qtbot.waitSignal(form.changed):
        enter(form, "data.n", "128")
    enter(form, "dynamics.until_log10_time", "1e2")
    enter(form, "data.seed", "7")
    enter(form, "recording.log10_times", "0.5, 1,2")
    choose(form, "dynamics.accuracy", "numbers")
    cell = study_of(form).cells()[1].experiment
    assert (cell.data.n, cell.data.seed, cell.network.m) == (128, 7, 256)
    assert cell.dynamics.until_log10_time == 100.0
    assert cell.recording.log10_times == (0.5, 1.0, 2.0)
    assert cell.dynamics.accuracy == "numbers"
    assert study_of(form).cells() == parse_study(study_of(form).to_toml(), "again").cells()


def test_an_emptied_field_has_its_default(form: ExperimentForm) -> None:
    enter(form, "data.n", "")
    enter(form, "recording.log10_times", "")
    cell = study_of(form).cells()[0].experiment
    assert cell.data.n == 64 and cell.recording.log10_times == ()
    assert control(form, "data.n").placeholderText() == "64"


def test_an_axis_is_a_list_and_can_be_one_value(form: ExperimentForm) -> None:
    assert control(form, "network.m").text() == "16, 256"
    enter(form, "network.m", "8,16, 32")
    assert study_of(form).axes == {"network.m": (8, 16, 32)}
    enter(form, "network.m", "[64]")
    assert study_of(form).axes == {"network.m": (64,)}
    enter(form, "network.m", "64")
    assert [cell.experiment.network.m for cell in study_of(form).cells()] == [64]
    enter(form, "data.k", "1, 2")
    assert set(study_of(form).axes) == {"data.k"}


def test_escape_takes_back_what_was_typed(form: ExperimentForm) -> None:
    before = study_of(form)
    enter(form, "network.m", "none")
    assert form.study() is None
    assert row(form, "network.m").label.property("edited")
    QTest.keyClick(control(form, "network.m"), Key.Key_Escape)
    assert control(form, "network.m").text() == "16, 256"
    assert form.study() == before
    assert not row(form, "network.m").label.property("edited")


def test_a_file_can_be_browsed_for(form: ExperimentForm, monkeypatch, tmp_path) -> None:
    choose(form, "data.kind", "file")
    chosen = (str(tmp_path / "a, b.npz"), "")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *given: chosen)
    edit = control(form, "data.path")
    (browse,) = edit.findChildren(QToolButton)
    assert not browse.icon().isNull()
    QTest.mouseClick(browse, Qt.MouseButton.LeftButton)
    assert study_of(form).tables["data"]["path"] == chosen[0]
    assert edit.text() == chosen[0]


def test_a_click_into_the_empty_field_of_a_path_browses(
    form: ExperimentForm, monkeypatch, tmp_path
) -> None:
    choose(form, "data.kind", "file")
    paths = iter([str(tmp_path / "a.csv")])
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *given: (next(paths), ""))
    edit = control(form, "data.path")
    QTest.mouseClick(edit, Qt.MouseButton.LeftButton)
    assert edit.text() == str(tmp_path / "a.csv")
    QTest.mouseClick(edit, Qt.MouseButton.LeftButton)  # places the cursor, as in any line
    assert edit.text() == str(tmp_path / "a.csv")


# ----------------------------------------------------------------------------- wrong values

WRONG = [
    ("data.d", "0"),
    ("data.d", "twenty"),
    ("data.n", "1.5"),
    ("data.n", "-3"),
    ("data.k", "21"),
    ("data.seed", "-1"),
    ("network.m", "0"),
    ("network.m", "16, 0"),
    ("network.m", "16, 16"),
    ("network.m", ""),
    ("network.m", "100000000"),
    ("network.seed", "99999999999999999999"),
    ("dynamics.until_log10_time", "nan"),
    ("dynamics.until_log10_time", "1e999"),
    ("dynamics.until_log10_time", "-9"),
    ("recording.frames", "1"),
    ("recording.frames", "3"),
    ("recording.frames", "4000"),
    ("recording.log10_times", "1, two"),
    ("run.seed", "1e400"),
    ("run.seed", "\u00b2"),
]


def sentence_of(key: str, text: str) -> str:
    """Return what the command line says about such a value."""
    study = figure_1()
    values: list[object] = []
    for part in text.split(","):
        try:
            values.append(int(part))
        except ValueError:
            try:
                values.append(float(part))
            except ValueError:
                values.append(part.strip() or None)
    listed = len(values) > 1 or key == "recording.log10_times"
    with pytest.raises(InputError) as raised:
        study.with_value(key, values if listed else values[0]).cells()
    return str(raised.value).removeprefix(f"{FIGURE_1}: ").removeprefix("--set: ")


def test_wrong_values_are_marked_in_place_and_cleared(
    form: ExperimentForm, subtests: pytest.Subtests
) -> None:
    for key, text in WRONG:
        with subtests.test(key=key, text=text):
            form.set_study(figure_1())
            check_wrong_value(form, key, text)


def check_wrong_value(form: ExperimentForm, key: str, text: str) -> None:
    before = study_of(form)
    original = control(form, key).text()
    enter(form, key, text)
    assert form.study() is None
    assert form.problems() == {key: sentence_of(key, text)}
    sentence, line = in_words(form.problems()[key]), form.problem
    assert line.isVisible() and line.sentence() == row(form, key).problem == sentence
    assert control(form, key).property("wrong")
    assert sentence in control(form, key).toolTip()
    assert sentence in control(form, key).accessibleDescription()
    assert control(form, key).text() == text
    enter(form, key, original)
    assert form.study() == before
    assert not line.isVisible() and not control(form, key).property("wrong")
    assert sentence not in control(form, key).accessibleDescription()


def test_several_wrong_values_are_all_marked_and_nothing_is_lost(form: ExperimentForm) -> None:
    enter(form, "data.n", "x")
    enter(form, "network.m", "16, 0")
    enter(form, "run.seed", "-1")
    enter(form, "data.d", "30")
    assert set(form.problems()) == {"data.n", "network.m", "run.seed"}
    for key, text in {"data.n": "32", "network.m": "16", "run.seed": "1"}.items():
        enter(form, key, text)
    cell = study_of(form).cells()[0].experiment
    assert (cell.data.d, cell.data.n, cell.network.m, cell.run.seed) == (30, 32, 16, 1)


def test_two_values_that_do_not_go_together_are_marked_at_the_later_edit(
    form: ExperimentForm,
) -> None:
    enter(form, "data.k", "10")
    enter(form, "data.d", "5")
    assert set(form.problems()) == {"data.d"}
    enter(form, "data.k", "11")
    assert set(form.problems()) == {"data.k"}
    choose(form, "run.precision", "float32")
    enter(form, "data.k", "2")
    assert set(form.problems()) == {"run.precision"}
    choose(form, "dynamics.kind", "gd")
    assert form.problems() == {}


def test_a_wrong_size_of_an_array_is_marked(form: ExperimentForm) -> None:
    enter(form, "data.d", "1000000")
    enter(form, "data.n", "100000")
    assert set(form.problems()) == {"data.n"}
    assert "n * d = 1e+11" in row(form, "data.n").problem


def test_a_grid_too_large_to_check_whole_is_checked_along_its_axes(form: ExperimentForm) -> None:
    paste(form, "network.m", ", ".join(str(4 + k) for k in range(20)))
    paste(form, "run.seed", ", ".join(str(k) for k in range(19)) + ", -1")
    assert set(form.problems()) == {"run.seed"}


# ------------------------------------------------------------------------------------- kinds


def test_another_kind_switches_the_fields_and_back_nothing_is_lost(form: ExperimentForm) -> None:
    enter(form, "data.n", "100")
    enter(form, "data.k", "3")
    enter(form, "dynamics.until_log10_time", "2")
    choose(form, "data.kind", "file")
    assert form.findChild(ValueEdit, "data.k") is None or not control(form, "data.k").isVisible()
    assert [item.field.name for item in form.sections["data"].rows][:3] == [
        "path",
        "targets",
        "label",
    ]
    choose(form, "dynamics.kind", "gd")
    assert study_of(form).tables["dynamics"]["kind"] == "gd"
    choose(form, "data.kind", "parity")
    choose(form, "dynamics.kind", "flow")
    assert control(form, "data.k").text() == "3"
    cell = study_of(form).cells()[0].experiment
    assert (cell.data.n, cell.data.k, cell.dynamics.until_log10_time) == (100, 3, 2.0)


def test_data_of_a_file_begin_without_the_sizes_of_the_kind_before(form: ExperimentForm) -> None:
    enter(form, "data.n", "100")
    choose(form, "data.kind", "file")
    assert study_of(form).tables["data"] == {"kind": "file"}
    sizes = [row(form, f"data.{name}").control for name in ("d", "n")]
    assert [edit.text() for edit in sizes] == ["", ""]
    assert [edit.placeholderText() for edit in sizes] == ["as in the data", "all examples"]
    sizes[1].setFocus()
    QTest.keyClicks(sizes[1], "7")
    choose(form, "data.kind", "parity")
    assert study_of(form).tables["data"]["n"] == 100
    choose(form, "data.kind", "file")
    assert study_of(form).tables["data"] == {"kind": "file", "n": 7}


def test_an_axis_of_kinds_is_one_entry_and_can_be_left(qtbot) -> None:
    form = ExperimentForm()
    qtbot.addWidget(form)
    study = parse_study('[axes]\n"dynamics.kind" = ["gd", "flow"]\n"network.m" = [4]', "mine")
    form.set_study(study)
    form.show()
    assert control(form, "dynamics.kind").currentText() == "Gradient descent, Gradient flow"
    choose(form, "dynamics.kind", "flow")
    assert "dynamics.kind" not in study_of(form).axes
    QTest.keyClick(control(form, "dynamics.kind"), Key.Key_End)
    assert form.study() == study
    form.set_study(load_study(FIGURE_1))
    assert control(form, "dynamics.kind").count() == len(KINDS["dynamics"])


def test_a_field_that_depends_on_another_appears_with_it(form: ExperimentForm) -> None:
    assert not control(form, "network.init_path").isVisible()
    choose(form, "network.init", "file")
    assert control(form, "network.init_path").isVisible()


def test_advanced_fields_are_folded_until_asked_for_or_edited(form: ExperimentForm, qtbot) -> None:
    section = form.sections["dynamics"]
    assert not control(form, "dynamics.scheme").isVisible()
    qtbot.mouseClick(section.more, Qt.MouseButton.LeftButton)
    assert control(form, "dynamics.scheme").isVisible()
    choose(form, "dynamics.scheme", "euler")
    qtbot.mouseClick(section.more, Qt.MouseButton.LeftButton)
    assert control(form, "dynamics.scheme").isVisible()
    assert not form.sections["run"].more.isVisible()


# ---------------------------------------------------------------------------------- keyboard


def test_tab_goes_through_the_fields_in_order(form: ExperimentForm) -> None:
    choose(form, "data.kind", "file")
    control(form, "data.kind").setFocus()
    seen = []
    for _ in range(16):
        focused = QApplication.focusWidget()
        seen.append(focused.objectName() or focused.accessibleName() or focused.text())
        QTest.keyClick(focused, Key.Key_Tab)
    data = ["data.kind", "Reset the kind of data", "data.path", "data.targets", "data.label"]
    data += ["data.scale", "data.d", "data.n", "data.seed"]
    assert seen[:9] == data
    # With the button for data.header, which is folded away, and the heading.
    assert seen[9:12] == ["Show data ...", "More settings of data", "Network settings"]
    assert seen[12:] == ["network.kind", "network.m", "network.init", "network.seed"]


def test_return_applies_and_goes_to_what_is_wrong(form: ExperimentForm, qtbot) -> None:
    enter(form, "data.n", "32")
    with qtbot.waitSignal(form.submitted):
        QTest.keyClick(control(form, "data.n"), Key.Key_Return)
    enter(form, "data.n", "x")
    enter(form, "run.seed", "3")
    with qtbot.assertNotEmitted(form.submitted):
        QTest.keyClick(control(form, "run.seed"), Key.Key_Return)
    assert QApplication.focusWidget() is control(form, "data.n")


def test_the_wheel_over_a_choice_without_focus_scrolls_only(form: ExperimentForm) -> None:
    box = control(form, "loss.kind")
    control(form, "data.d").setFocus()
    middle = box.rect().center()
    event = QWheelEvent(
        middle,
        box.mapToGlobal(middle),
        QPoint(0, -120),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(box, event)
    assert box.currentText() == "Exponential"


def test_nothing_is_wider_than_the_panel(form: ExperimentForm) -> None:
    enter(form, "run.seed", "x")
    QApplication.processEvents()
    for section in form.sections.values():
        for item in section.rows:
            for widget in (item.label, item.control, item.note):
                if widget.isVisible():
                    right = widget.mapTo(form, widget.rect().topRight()).x()
                    assert right <= 300 - 8, item.field.key
                    needed = item.label.sizeHint().width()
                    assert item.label.width() >= needed, item.field.key


def test_switching_kinds_leaves_nothing_behind(form: ExperimentForm) -> None:
    box = control(form, "data.kind")
    box.setFocus()

    def turn() -> int:
        QTest.keyClick(box, Key.Key_Home)
        for _ in range(1, box.count()):
            QTest.keyClick(box, Key.Key_Down)
        assert box.currentIndex() == box.count() - 1
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        return len(form.findChildren(QObject))

    assert turn() == turn()  # each goes through all kinds of data


# ---------------------------------------------------------------------------- true and false

GD = '[dynamics]\nkind = "gd"\n'


def test_true_and_false_are_chosen(qtbot) -> None:
    form = ExperimentForm()
    qtbot.addWidget(form)
    form.set_study(
        parse_study('[network]\nkind = "fixed_outer"\nm = 8\nsmooth = true\n' + GD, "own")
    )
    smooth = form.findChild(ChoiceBox, "network.smooth")
    assert [smooth.itemText(k) for k in range(smooth.count())] == ["false", "true"]
    assert smooth.currentText() == "true"
    assert form.study().cells()[0].experiment.network.smooth is True
    form.show()
    choose(form, "network.smooth", "false")
    assert form.problems() == {}
    assert form.study().tables["network"]["smooth"] is False
    assert form.study().cells()[0].experiment.network.smooth is False


def test_an_axis_over_true_and_false_stays_one(qtbot) -> None:
    form = ExperimentForm()
    qtbot.addWidget(form)
    text = """
[network]
kind = "fixed_outer"
m = 8
[dynamics]
kind = "gd"
[axes]
"network.smooth" = [false, true]
"""
    form.set_study(parse_study(text, "own"))
    smooth = form.findChild(ChoiceBox, "network.smooth")
    assert smooth.currentText() == "false, true"
    assert [cell.experiment.network.smooth for cell in form.study().cells()] == [False, True]
    form.show()
    choose(form, "network.smooth", "true")
    assert [cell.experiment.network.smooth for cell in form.study().cells()] == [True]
    choose(form, "network.smooth", "false, true")
    assert [cell.experiment.network.smooth for cell in form.study().cells()] == [False, True]


# A kind to be chosen, the field that is wrong, what is typed, and words of the sentence there.
END = "end at log\u2081\u2080 t"
REFUSED = [
    ("", "data.d", "x", "d = 'x': a number is needed."),
    ("", "data.d", "-1", "d = -1: must be at least 1."),
    ("", "data.d", "1.5", "must be a whole number"),
    ("", "data.n", "0", "n = 0: must be at least 1."),
    ("", "data.n", "10000000000", "must be at most 1000000."),
    ("", "data.k", "30", "k = 30 is larger than d = 20; k may be 1 to d."),
    ("", "data.k", "0", "k = 0: must be at least 1."),
    ("", "data.seed", "1.2", "must be a whole number"),
    ("", "network.m", "0", "m = 0: must be at least 1."),
    ("", "network.m", "16, a", "m = 'a': a number is needed."),
    ("", "network.m", "= n +", "'n +' is not a formula; write one such as"),
    ("", "network.m", "= q", "q is not known; allowed are"),
    ("", "network.m", "99999999", "must be at most 1000000."),
    ("", "network.seed", "-1", "seed = -1: must be at least 0."),
    ("", "loss.l2", "-1", "penalty \u03bb\u2016\u0398\u2016\u00b2 = -1: must be at least 0."),
    ("", "loss.l2", "much", "penalty λ‖Θ‖² = 'much': a number is needed."),
    (
        "",
        "dynamics.until_log10_time",
        "abc",
        f"{END} = 'abc': a number is needed.",
    ),
    (
        "",
        "dynamics.until_log10_time",
        "1e300",
        f"{END} = 1e+300: must be at most",
    ),
    ("", "dynamics.until_log10_time", "-9", f"{END} = -9: "),
    ("", "recording.frames", "1", "frames = 1: must be at least 2."),
    ("", "recording.frames", "99999", "frames = 99999: must be at most 2000."),
    ("", "recording.log10_times", "1, x", "extra frames at = 'x': enter a number."),
    ("", "run.seed", "-2", "seed = -2: must be at least 0."),
    ("", "run.seed", "many", "seed = 'many': a number is needed."),
    ("dynamics=gd", "dynamics.step", "-1", "step size = -1: must be greater than 0."),
    ("dynamics=gd", "dynamics.step", "big", "step size = 'big': "),
    ("dynamics=sgd", "dynamics.step", "0", "step size = 0: must be greater than 0."),
    ("dynamics=adam", "dynamics.step", "-2", "step size = -2: must be greater than 0."),
    ("data=gaussian_mixture", "data.n", "-3", "n = -3: must be at least"),
    ("data=near_orthogonal", "data.d", "0", "d = 0: must be at least"),
    ("data=xor", "data.n", "none", "n = 'none': a number is needed."),
    ("network=scalar", "network.m", "-4", "m = -4: must be at least 1."),
    ("network=batch_norm", "network.m", "1.5", "must be a whole number"),
    ("network=bias", "network.m", "x", "m = 'x': a number is needed."),
]
FOREIGN = re.compile(r"(data|network|loss|dynamics|recording|run)\.[a-z]|--|Traceback|Error|parse")


def test_refusals_stand_at_their_fields_in_the_words_of_the_form(
    form: ExperimentForm, subtests: pytest.Subtests
) -> None:
    for case in REFUSED:
        with subtests.test(case=case):
            form.set_study(figure_1())
            check_refusal(form, *case)


def check_refusal(form: ExperimentForm, kind: str, key: str, text: str, words: str) -> None:
    section, _, name = kind.partition("=")
    if kind:
        choose(form, f"{section}.kind", name)
    if text:
        enter(form, key, text)
    assert list(form.problems()) == [key]
    section = key.partition(".")[0]
    whole = key.endswith(".kind")
    sentence = form.sections[section].problem if whole else row(form, key).problem
    assert form.problem.isVisibleTo(form)
    assert words in sentence == form.problem.sentence()
    assert not FOREIGN.search(sentence)
