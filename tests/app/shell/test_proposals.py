"""The views that a study opens with, and what takes the place of those with nothing to show."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.application import Marginscope
from app.settings import Settings
from app.state.fields import OF_SESSION, written
from app.state.intent import FIGURE_1, FIRST_CURVES, NEURON_POINTS
from app.state.views import NEXT, ON_A_LINE, VIEWS, suited
from core.errors import InputError
from core.observables.planes import PLANES
from core.observables.registry import OBSERVABLES
from tests.app.mouse import pick
from tests.app.shell.conftest import STUDY, Opener, trained
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


def names_of(program: Marginscope) -> tuple[str, ...]:
    return program.display.slots[0].panel.names


def opened(open_program: Opener, qtbot: QtBot, path: Path, text: str) -> Marginscope:
    path.write_text(text)
    program = open_program(path)
    qtbot.waitUntil(lambda: trained(program))
    return program


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
            found = suited(wished, [data])
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
        found = suited((), [other, kernel])
        assert len(found) == 4
        for data in (kernel, other):
            assert any(VIEWS[name].fits(data) for name in found)


def test_every_view_can_take_the_place_of_another() -> None:
    assert set(NEXT) == set(VIEWS)


def test_a_head_and_a_line_have_views_of_their_own(
    open_program: Opener, qtbot: QtBot, tmp_path: Path
) -> None:
    program = opened(open_program, qtbot, tmp_path / "line.toml", LINE)
    assert names_of(program) == ON_A_LINE
    head = LINE.replace("intervals", "parity").replace('"bias"', '"head"')
    (tmp_path / "head.toml").write_text(head.replace("n = 8", "n = 8\nd = 6"))
    program.files.open_files([str(tmp_path / "head.toml")])
    qtbot.waitUntil(lambda: trained(program))
    assert names_of(program) == ("norms", "margins", "curves", "predictor")
    assert [panel.plot.overlay.note for panel in program.display.slots[0].panel.views][:2] == [
        "",
        "",
    ]
    marked = [a.data() for a in program.window.view_choice.actions() if a.isChecked()]
    assert marked == list(names_of(program))


def test_a_study_names_its_views_and_a_choice_by_hand_stays(
    open_program: Opener, qtbot: QtBot, tmp_path: Path
) -> None:
    text = STUDY + '[window]\nviews = ["spectrum", "margins"]\n'
    program = opened(open_program, qtbot, tmp_path / "named.toml", text)
    assert names_of(program) == ("margins", "spectrum")
    pick(qtbot, program.window, "View", "Views", "Curves")
    assert names_of(program) == ("margins", "curves", "spectrum")
    (tmp_path / "plain.toml").write_text(STUDY)
    program.files.open_files([str(tmp_path / "plain.toml")])
    qtbot.waitUntil(lambda: trained(program))
    assert names_of(program) == ("margins", "curves", "spectrum")
    pick(qtbot, program.window, "View", "Views", "The study's views")
    assert names_of(program) == FIGURE_1


def test_a_name_that_is_no_view_is_said(
    open_program: Opener, study: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    text = STUDY + '[window]\nviews = ["margin", "norms"]\n'
    said: list[str] = []
    (tmp_path / "wrong.toml").write_text(text)
    program = open_program(study)
    program.proposals.message.connect(said.append)
    qtbot.waitUntil(lambda: trained(program))
    program.files.open_files([str(tmp_path / "wrong.toml")])
    assert said == ["wrong: window.views names margin, which is no view; did you mean 'margins'?"]
    qtbot.waitUntil(lambda: trained(program))
    assert names_of(program) == ("norms",)


def test_a_study_names_curves_and_points_and_choices_by_hand_stay(
    open_program: Opener, qtbot: QtBot, tmp_path: Path
) -> None:
    table = '[window]\nviews = ["neurons", "curves"]\ncurves = ["sharpness"]\n'
    text = STUDY + table + 'points = "directions"\n'
    program = opened(open_program, qtbot, tmp_path / "named.toml", text)
    panel = program.display.slots[0].panel
    assert panel.view("curves").names == ("sharpness",)
    wishes = program.display.view.wishes
    assert (wishes.curves, wishes.neuron_points) == (("sharpness",), "directions")
    marked = [a.data() for a in program.window.neuron_choice.actions() if a.isChecked()]
    assert ("neuron_points", "directions") in marked
    assert "sharpness" in program.scenes.picture().intent.curves  # a link says what is shown
    assert "sharpness" not in text_of(program)  # and the session that nobody chose it
    pick(qtbot, program.window, "View", "Curves", OBSERVABLES["sharpness"].title)
    assert program.display.view.wishes.curves == ()
    assert panel.view("curves").plot.overlay.note.startswith("choose curves")
    pick(qtbot, program.window, "View", "Neurons", NEURON_POINTS["weights"])
    (tmp_path / "other.toml").write_text(text)
    program.files.open_files([str(tmp_path / "other.toml")])
    qtbot.waitUntil(lambda: trained(program))
    wishes = program.display.view.wishes
    assert (wishes.curves, wishes.neuron_points) == ((), "weights")
    pick(qtbot, program.window, "View", "Curves", "The study's curves")
    assert program.display.view.wishes.curves == ("sharpness",)
    (tmp_path / "plain.toml").write_text(STUDY)
    program.files.open_files([str(tmp_path / "plain.toml")])
    qtbot.waitUntil(lambda: trained(program))
    assert program.display.view.wishes.curves == FIRST_CURVES


def text_of(program: Marginscope) -> str:
    """What a session would keep of the wishes."""
    return str(written(program.scenes.picture(named=False), OF_SESSION))


def test_the_usual_curves_of_older_settings_were_not_chosen() -> None:
    assert Settings.model_validate({"curves": list(FIRST_CURVES)}).curves is None
    assert Settings.model_validate({"curves": ["risk"]}).curves == ("risk",)
    assert Settings.model_validate({"neuron_points": "weights"}).neuron_points == ""
    assert Settings.model_validate({"neuron_points": "directions"}).neuron_points == "directions"


def test_the_usual_views_of_older_settings_were_not_chosen() -> None:
    assert Settings.model_validate({"views": list(FIGURE_1)}).views == ()
    assert Settings.model_validate({"views": ["margins"]}).views == ("margins",)


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


def test_pictures_are_drawn_on_their_principal_components(
    open_program: Opener, study: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "digits.toml"
    path.write_text(DIGITS)
    program = open_program(path)
    qtbot.waitUntil(lambda: trained(program))
    assert plane_of(program) == "components"
    assert program.display.intent.plane is None  # nobody has chosen it
    (run,) = program.session
    assert run.data is not None and run.data.plane.kind == "components"
    # A plane that is chosen stays, also for other data.
    pick(qtbot, program.window, "View", "Neurons", "Principal directions of the motion")
    assert plane_of(program) == "motion"
    program.files.open_files([str(study)])
    qtbot.waitUntil(lambda: trained(program))
    assert plane_of(program) == "motion"


def test_a_study_names_its_plane(
    open_program: Opener, study: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "named.toml"
    path.write_text(DIGITS + '[window]\nplane = "motion"\n')
    program = open_program(path)
    qtbot.waitUntil(lambda: trained(program))
    assert plane_of(program) == "motion"
    program.files.open_files([str(study)])
    qtbot.waitUntil(lambda: trained(program))
    assert plane_of(program) == "coordinates"


def test_a_plane_that_the_data_do_not_have_is_not_proposed(
    open_program: Opener, tmp_path: Path, qtbot: QtBot
) -> None:
    corners = "[[1.0, 1.0, 1], [-1.0, -1.0, 1], [1.0, -1.0, -1], [-1.0, 1.0, -1]]"  # equal means
    rest = DIGITS.partition("n = 30\n")[2]
    path = tmp_path / "corners.toml"
    path.write_text(
        f'[data]\nkind = "points"\npoints = {corners}\n{rest}[window]\nplane = "means"\n'
    )
    program = open_program(path)
    qtbot.waitUntil(lambda: trained(program))
    (run,) = program.session
    assert run.data is not None
    with pytest.raises(InputError):
        PLANES["means"].load()(run.data.run, ())
    assert plane_of(program) == "coordinates"
