"""Figures of runs with more than two classes: colours of classes, in key, data and caption."""

from __future__ import annotations

import numpy as np

from core.figures.palette import LIGHT, class_colours, kind_colours
from core.figures.scene import build_scene
from core.observables.nodes import outer_classes
from core.observables.registry import OBSERVABLES
from tests.support.made_up_figures import problem_of, two_runs, write_run

DIGITS = (
    "data.kind=digits",
    "data.classes=[0,1,2]",
    "data.n=30",
    "network.kind=multiclass",
    "loss.kind=cross_entropy",
    "dynamics.kind=gd",
    "dynamics.step=0.1",
    "data.d=64",
)


def test_nodes_and_data_have_the_colours_of_their_classes() -> None:
    run = write_run(problem_of(*DIGITS))
    scene = build_scene([run], ["neurons"])
    panel = scene.panels[0]
    last = run.frames - 1
    strength = OBSERVABLES["relative_norm"].value_at(run, last)
    order = np.argsort(strength, kind="stable")
    expected = kind_colours(outer_classes(run, last), strength, 3, LIGHT)[order]
    assert panel.ink.curves[0].colours.tolist() == expected.tolist()
    wanted = class_colours(3, LIGHT)
    assert [f"#{bytes(dots.colours[0, :3]).hex()}" for dots in panel.ink.dots[:-1]] == [*wanted]
    assert sum(dots.x.size for dots in panel.ink.dots[:-1]) <= run.dataset.n
    assert isinstance(panel.key, tuple) and panel.key[0].colours == wanted
    text = " ".join(text.text for text in scene.texts)
    assert "colours of their classes" in text and "y=-1" not in text


def test_two_classes_keep_the_papers_words() -> None:
    scene = build_scene([two_runs()[0]], ["neurons"])
    text = " ".join(text.text for text in scene.texts)
    assert "$y=1$ and $y=-1$" in text and "classes" not in text
