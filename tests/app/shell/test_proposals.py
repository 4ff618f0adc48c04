"""The views that a study opens with, and what takes the place of those with nothing to show."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.scenes.scene_texts import OF_SESSION, write_fields
from app.settings import Settings
from app.shell.application import Marginscope
from app.state.intent import FIRST_CURVES, NEURON_POINTS
from app.state.views import FIGURE_1, NEXT, ON_A_LINE, VIEWS, choose_views
from core.errors import InputError
from core.observables.planes import PLANES
from core.observables.registry import OBSERVABLES
from tests.app.curves import open_picker, pick_curve
from tests.app.mouse import pick
from tests.app.shell.conftest import STUDY, trained
from tests.app.views.test_every_network import RUNS, shown

LINE = """
title = "On a line"
[data]
kind = "intervals"
n = 8
[network]
kind = "bias"
m = 6
[loss]
kind = "logistic"
[dynamics]
kind = "gd"
step = 0.1
until_log10_time = 0.5
[recording]
frames = 4
"""


ONE_RUN = STUDY.partition("[axes]")[0] + "[network]\nm = 8\n"


def names_of(program: Marginscope) -> tuple[str, ...]:
    return program.display.panels[0].names


class Chooser:
    """The shared window, in which nobody has chosen anything before each part of a test."""

    def __init__(self, program: Marginscope, qtbot: QtBot, folder: Path) -> None:
        self.program, self.qtbot, self.folder = program, qtbot, folder

    def forget(self) -> None:
        self.program.display.update_intent(views=(), curves=None, neuron_points="", plane=None)

    def train(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(text)
        self.program.files.open_files([str(path)])
        self.qtbot.waitUntil(lambda: trained(self.program))

    def pick(self, *titles: str) -> None:
        pick(self.qtbot, self.program.window, *titles)


@pytest.fixture
def chooser(program: Marginscope, qtbot: QtBot, tmp_path: Path) -> Chooser:
    return Chooser(program, qtbot, tmp_path)


@pytest.mark.parametrize("kind", list(RUNS))
def test_what_is_proposed_has_something_to_show(qtbot: QtBot, tmp_path: Path, kind: str) -> None:
    data = shown(tmp_path, RUNS[kind])
    with data.run:
        for name, view in VIEWS.items():  # `fits` and the sentence of the view itself agree
            widget = view.load()(_light(), None)
            qtbot.addWidget(widget)
            widget.set_data(data)
            assert view.fits(data) == widget.shows_something, name
        for wished in ((), FIGURE_1, ("neurons", "spectrum"), ("no view",)):
            found = choose_views(wished, [data])
            assert found
            assert all(VIEWS[name].fits(data) for name in found)
            if kind != "kernel":
                assert len(found) == (2 if "spectrum" in wished else 4)


def _light() -> object:
    from core.figures.palette import LIGHT

    return LIGHT


def test_neither_of_two_runs_is_left_with_sentences_alone(tmp_path: Path) -> None:
    (tmp_path / "kernel").mkdir()
    kernel, other = shown(tmp_path / "kernel", RUNS["kernel"]), shown(tmp_path, RUNS["standard"])
    with kernel.run, other.run:
        found = choose_views((), [other, kernel])
        assert len(found) == 4
        for data in (kernel, other):
            assert any(VIEWS[name].fits(data) for name in found)


def test_every_view_can_take_the_place_of_another() -> None:
    assert set(NEXT) == set(VIEWS)


def test_studies_propose_views_and_curves(chooser: Chooser, subtests: pytest.Subtests) -> None:
    for part in (
        propose_views_of_line_and_head,
        keep_views_chosen_by_hand,
        name_no_view,
        keep_curves_and_points_chosen_by_hand,
    ):
        with subtests.test(part.__name__):
            chooser.forget()
            part(chooser)


def propose_views_of_line_and_head(chooser: Chooser) -> None:
    program = chooser.program
    chooser.train("line.toml", LINE)
    assert names_of(program) == ON_A_LINE
    head = LINE.replace("intervals", "parity").replace('"bias"', '"head"')
    chooser.train("head.toml", head.replace("n = 8", "n = 8\nd = 6"))
    assert names_of(program) == ("norms", "margins", "curves", "predictor")
    assert [panel.plot.overlay.note for panel in program.display.panels[0].views][:2] == [
        "",
        "",
    ]
    marked = [a.data() for a in program.window.view_choice.actions() if a.isChecked()]
    assert set(marked) == set(names_of(program))


def keep_views_chosen_by_hand(chooser: Chooser) -> None:
    program = chooser.program
    chooser.train("named.toml", ONE_RUN + '[window]\nviews = ["spectrum", "margins"]\n')
    assert names_of(program) == ("spectrum", "margins")
    chooser.pick("View", "Views", "Curves")
    assert names_of(program) == ("spectrum", "margins", "curves")
    chooser.train("plain.toml", ONE_RUN)
    assert names_of(program) == ("spectrum", "margins", "curves")
    chooser.pick("View", "Views", "The study's views")
    assert names_of(program) == FIGURE_1


def name_no_view(chooser: Chooser) -> None:
    said: list[str] = []
    chooser.program.training.message.connect(said.append)
    chooser.train("wrong.toml", ONE_RUN + '[window]\nviews = ["margin", "norms"]\n')
    assert list(filter(None, said)) == [
        "wrong: window.views contains the unknown view margin; did you mean 'margins'?"
    ]
    assert names_of(chooser.program) == ("norms",)


def keep_curves_and_points_chosen_by_hand(chooser: Chooser) -> None:
    program = chooser.program
    table = '[window]\nviews = ["neurons", "curves"]\ncurves = ["sharpness"]\n'
    text = ONE_RUN + table + 'points = "directions"\n'
    chooser.train("named.toml", text)
    panel = program.display.panels[0]
    assert panel.view("curves").names == ("sharpness",)
    wishes = program.display.view.wishes
    assert (wishes.curves, wishes.neuron_points) == (("sharpness",), "directions")
    marked = [a.data() for a in program.window.neuron_choice.actions() if a.isChecked()]
    assert ("neuron_points", "directions") in marked
    shared = program.scenes.shareable_scene()
    assert "sharpness" in shared.intent.curves  # a link says what is shown
    assert "sharpness" not in text_of(program)  # and the session that nobody chose it
    pick_curve(chooser.program, chooser.qtbot, OBSERVABLES["sharpness"].title)
    assert program.display.view.wishes.curves == ()
    assert panel.view("curves").plot.overlay.note.startswith("choose curves")
    chooser.pick("View", "Neurons", NEURON_POINTS["weights"])
    chooser.train("other.toml", text)
    wishes = program.display.view.wishes
    assert (wishes.curves, wishes.neuron_points) == ((), "weights")
    picker = open_picker(chooser.program, chooser.qtbot)
    QTest.mouseClick(picker.study, Qt.MouseButton.LeftButton)
    picker.close()
    assert program.display.view.wishes.curves == ("sharpness",)
    chooser.train("plain.toml", ONE_RUN)
    assert program.display.view.wishes.curves == FIRST_CURVES


def text_of(program: Marginscope) -> str:
    """Return what a session would keep of the wishes."""
    return str(write_fields(program.scenes.shareable_scene(with_names=False), OF_SESSION))


def test_the_usual_curves_of_older_settings_were_not_chosen() -> None:
    assert Settings.model_validate({"curves": list(FIRST_CURVES)}).options.curves is None
    assert Settings.model_validate({"curves": ["risk"]}).options.curves == ("risk",)
    for stored, points in (("weights", ""), ("directions", "directions")):
        assert Settings.model_validate({"neuron_points": stored}).options.neuron_points == points


def test_the_usual_views_of_older_settings_were_not_chosen() -> None:
    assert Settings.model_validate({"views": list(FIGURE_1)}).options.views == ()
    assert Settings.model_validate({"views": ["margins"]}).options.views == ("margins",)


DIGITS = """
title = "Digits"
[data]
kind = "digits"
classes = [3, 8]
n = 30
[network]
m = 8
[dynamics]
kind = "gd"
step = 0.01
until_log10_time = 1.0
[recording]
frames = 8
"""


def plane_of(program: Marginscope) -> str:
    return program.display.view.wishes.shown_plane.kind


def test_studies_propose_planes(chooser: Chooser, subtests: pytest.Subtests) -> None:
    for part in (propose_principal_components, name_a_plane, name_a_plane_that_data_lack):
        with subtests.test(part.__name__):
            chooser.forget()
            part(chooser)


def propose_principal_components(chooser: Chooser) -> None:
    """Check that images propose the plane of principal components."""
    program = chooser.program
    chooser.train("digits.toml", DIGITS)
    assert plane_of(program) == "components"
    assert program.display.intent.plane is None  # nobody has chosen it
    (run,) = program.session
    assert run.data is not None and run.data.plane.kind == "components"
    # A plane that is chosen stays, also for other data.
    chooser.pick("View", "Neurons", "Principal directions of the motion")
    assert plane_of(program) == "motion"
    chooser.train("small.toml", ONE_RUN)
    assert plane_of(program) == "motion"


def name_a_plane(chooser: Chooser) -> None:
    chooser.train("named.toml", DIGITS + '[window]\nplane = "motion"\n')
    assert plane_of(chooser.program) == "motion"
    chooser.train("small.toml", ONE_RUN)
    assert plane_of(chooser.program) == "coordinates"


def name_a_plane_that_data_lack(chooser: Chooser) -> None:
    corners = "[[1.0, 1.0, 1], [-1.0, -1.0, 1], [1.0, -1.0, -1], [-1.0, 1.0, -1]]"  # equal means
    rest = DIGITS.partition("n = 30\n")[2]
    chooser.train(
        "corners.toml",
        f'[data]\nkind = "points"\npoints = {corners}\n{rest}[window]\nplane = "means"\n',
    )
    (run,) = chooser.program.session
    with pytest.raises(InputError):
        PLANES["means"].load()(run.data.run, ())
    assert plane_of(chooser.program) == "coordinates"
