"""Axes of time: of short runs, of many decades, and of loops whose t counts steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.views.run_panel import RunPanel
from core.comparison.question import CompareQuestion
from core.comparison.setting_differences import compare_runs
from core.figures.comparison import _decades, comparison_scene
from core.figures.options import FigureOptions, ViewOptions
from core.figures.palette import LIGHT
from core.figures.scene import build_scene
from core.figures.study_axes import Scale
from core.figures.time_axis import MOST_MOMENTS, TimeAxis, moments, time_axis
from core.run_files.frame import Frame
from core.runs import Recorder, open_run
from tests.app.options import set_options
from tests.figures.test_scene import panel_of
from tests.support.loops import record_loop
from tests.support.made_up_figures import growing, problem_of, write_run
from tests.support.pages import flat, page_of


def test_moments_of_runs_that_end_before_t_1_are_in_their_own_range() -> None:
    """Sorted views of a run from 10^-6 to 10^-1 had one curve, that of its end."""

    def times_of(first: float, last: float, marks: str = "[]") -> list[float]:
        times = np.linspace(first, last, 45)
        run = write_run(problem_of(f"recording.log10_times={marks}"), times.tolist())
        return list(moments([run], [44], time_axis([run], [44])).times)

    assert times_of(-6.0, -1.0) == [-6.0, -5.0, -4.0, -3.0, -2.0, -1.0]
    assert times_of(-6.2, 0.0) == [-6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0]
    assert len(times_of(-5.8, -5.2)) == MOST_MOMENTS  # within a decade
    assert times_of(-6.0, -1.0, "[-4.0, -2.5, 1.0]") == [-4.0, -2.5, -1.0]
    assert times_of(-6.0, -1.0, "[1.0, 2.0]") == times_of(-6.0, -1.0)  # marks that it has not met
    assert times_of(-1.0, 2.5) == [0.0, 1.0, 2.0, 2.5]
    # Of twelve moments every other one was left out, marks among them.
    marks = [1.0, 2.0, 3.0, 5.0, 300.0]
    assert times_of(-1.0, 1e6, str(marks)) == [*marks, 1e6]


def test_axes_of_many_decades_have_few_ticks_and_soon() -> None:
    """More than 60 decades of time raised StopIteration, as did 700 of a study's axis; those of a
    risk were enumerated, of which a late run has 10^200."""
    assert [place for place, _ in TimeAxis(-300.0, 10.0).axis().ticks] == [-300, -200, -100, 0]
    assert len(Scale(True).ticks(-1e6, 1e6)) == 5
    assert len(_decades(-1e200, 0.0)) <= 10
    assert len(_decades(-7.0, 0.0)) == 8


def test_axes_and_keys_of_a_loop_that_counts_steps_say_so(tmp_path: Path) -> None:
    """They had "time $t$" where t was the number of steps."""
    record_loop(tmp_path / "a.msrun", 300)
    record_loop(tmp_path / "b.msrun", 300, dynamics="gd", eta=0.5)
    with open_run(tmp_path / "a.msrun") as run, open_run(tmp_path / "b.msrun") as timed:
        assert (run.counts_steps, timed.counts_steps) == (True, False)
        scene = build_scene([run], ("rotations", "margins"))
        assert panel_of(scene, "margins").x.label == "steps"
        key = panel_of(scene, "rotations").key
        assert (key.name, key.texts[-1]) == ("steps", "300")
        assert "shown to step 300" in " ".join(one.text for one in scene.texts)
        both = build_scene([run, timed], ("margins",))
        assert panel_of(both, "margins").x.label == "time $t$"
        (moment,) = page_of([run], ("margins",))["moments"][-1:]
        assert flat(moment) == "step 300"
        compare = compare_runs(CompareQuestion(), [run, run])
        assert comparison_scene([compare], "Two runs").panels[0].x.label == "steps"
    assert TimeAxis(0.0, 12.0, steps=True).axis().label == "$\\log_{10}$ steps"


def test_norms_beyond_floats_stand_on_a_logarithmic_axis(qtbot: QtBot, tmp_path: Path) -> None:
    """At |W|^2 near 10^695 the linear axis, of less than two decades, ended at infinity."""
    problem, path = problem_of(), tmp_path / "a.msrun"
    recorder = Recorder(path, problem, engine="tests", planned=9, temperature_cap=None)
    frames = [(position, growing(problem, position)[0]) for position in range(9)]
    recorder.append([Frame(k, float(k), 800.0 + 0.01 * k, flat) for k, flat in frames])
    recorder.finish("completed")
    panel = RunPanel(LIGHT)
    qtbot.addWidget(panel)
    with open_run(path) as run:
        scene = build_scene(
            [run], ("margins",), options=FigureOptions(view=ViewOptions(against="norm_squared"))
        )
        axis = panel_of(scene, "margins").x
        assert 694.0 < axis.low < axis.high < 696.0 and len(axis.ticks) >= 3
        data = DisplayData(run)
        while not data.complete:
            data.update()
        panel.set_views(("margins",))
        set_options(panel, margin_axis="norm_squared")
        panel.set_data(data, "m = 6")
        panel.draw_pending()
        shown = panel.view("margins").plot.visible_range()
        assert 694.0 < shown.left() < shown.right() < 696.0
