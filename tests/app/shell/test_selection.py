"""A box around nodes: the others are dim, and the panel of numbers says what they are like."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot

from app.application import Marginscope
from app.views.neurons import NeuronsView
from app.views.sorted_nodes import SortedView
from app.views.view import RunView
from core.figures.palette import DARK, DIM, LIGHT, Palette, dimmed
from core.runs import Run
from tests.app.mouse import pull


def view_of(program: Marginscope, which: int, name: str) -> RunView:
    return program.display.slots[which].panel.view(name)


def box(program: Marginscope, which: int, nodes: set[int]) -> frozenset[int]:
    """Draw a box around some nodes of a run; the nodes that are in it."""
    plot = view_of(program, which, "neurons").plot
    points = view_of(program, which, "neurons")._points.astype(float)
    pixels = plot.pixels(points)
    low, high = pixels[sorted(nodes)].min(axis=0) - 3.0, pixels[sorted(nodes)].max(axis=0) + 3.0
    start, end = QPointF(*low).toPoint(), QPointF(*high).toPoint()
    inside = (pixels >= [start.x(), start.y()]) & (pixels <= [end.x(), end.y()])
    pull(plot, start, end)
    return frozenset(np.flatnonzero(inside.all(axis=1)).tolist())


def half(program: Marginscope, which: int) -> set[int]:
    """The nodes in the right half of the picture: some, and not all of them."""
    x = view_of(program, which, "neurons")._points[:, 0]
    return set(np.flatnonzero(x > np.median(x)).tolist())


def by_hand(run: Run, frame: int, nodes: frozenset[int]) -> dict[str, float]:
    """The numbers of a selection from the recorded parameters, one node after the other."""
    arrays, rho = run.network.unpack(run.parameters(frame)), float(run.rho[frame])
    start = run.network.unpack(run.origin)
    lengths, turns, units, signs = [], [], [], []
    for j in nodes:
        a, v, v0 = float(arrays["a"][j]), arrays["V"][j], start["V"][j]
        lengths.append(abs(a) * math.sqrt(float(v @ v)) * math.exp(2.0 * rho))
        turns.append(float(v @ v0) / math.sqrt(float(v @ v) * float(v0 @ v0)))
        units.append(v / math.sqrt(float(v @ v)))
        signs.append(a)
    mean = np.mean(units, axis=0)
    to_mean = [
        math.degrees(math.acos(min(float(u @ mean) / math.hypot(*mean), 1.0))) for u in units
    ]
    return {
        "norm": float(np.mean(lengths)),
        "norm_sd": float(np.sqrt(np.mean(np.square(lengths)) - np.mean(lengths) ** 2)),
        "rotation": float(np.mean(turns)),
        "positive": sum(a > 0.0 for a in signs),
        "negative": sum(a < 0.0 for a in signs),
        "angle": float(np.mean(to_mean)),
        "widest": max(to_mean),
    }


def test_a_box_dims_the_others_and_says_what_is_in_it(program: Marginscope, qtbot: QtBot) -> None:
    qtbot.keyClick(program.window, Qt.Key.Key_End)
    neurons, norms = (view_of(program, 1, name) for name in ("neurons", "norms"))
    assert isinstance(neurons, NeuronsView) and isinstance(norms, SortedView)
    numbers = program.window.inspector.group
    assert numbers.isHidden()
    plain = neurons.nodes.which.copy()
    chosen = box(program, 1, half(program, 1))
    assert 2 < len(chosen) < 12
    assert program.display.view.runs[1].selected == chosen
    # No rings; the dim ones have the second half of the styles, and are drawn first.
    assert neurons.plot.overlay.marks == () and neurons.marked_trails.curves == []
    count = len(neurons.nodes.styles) // 2
    dim = neurons.nodes.which >= count
    assert dim.tolist() == [True] * (12 - len(chosen)) + [False] * len(chosen)
    drawn = {tuple(point) for point in neurons.nodes.points[~dim].tolist()}
    assert drawn == {tuple(point) for point in neurons._points[sorted(chosen)].tolist()}
    assert sorted(neurons.nodes.which % count) == sorted(plain)
    assert int(np.count_nonzero(norms.dots.which == 1)) == len(chosen)
    assert norms.past.opacity() < 1.0
    # The other run is as it was.
    assert view_of(program, 0, "norms").past.opacity() == 1.0
    qtbot.waitUntil(lambda: bool(numbers.facts()))
    run = program.display.slots[1].run
    later = run.data.later
    question, facts = later.group or (None, None)
    assert question is not None and question.nodes == chosen
    wanted = by_hand(run.data.run, program.display.view.runs[1].frame, chosen)
    for name, value in wanted.items():
        assert getattr(facts, name) == pytest.approx(value, rel=1e-6), name
    texts = {fact.name: fact.value for fact in numbers.facts()}
    share = f"{100.0 * len(chosen) / 12.0:.3g}"
    assert texts["nodes"] == f"{len(chosen)} of 12 ({share} %)"
    assert texts["signs of a"] == f"{wanted['positive']} +, {wanted['negative']} \u2212"
    assert texts["to the mean direction"] == f"{wanted['angle']:.1f}\u00b0"
    assert numbers.heading() == "Selection in m = 12"
    # It is followed: at another moment the numbers are others, of the same nodes.
    program.display.ask(playing=False)
    qtbot.keyClick(program.window, Qt.Key.Key_Home)
    frame = program.display.view.runs[1].frame
    qtbot.waitUntil(lambda: later.group is not None and later.group[0].frame == frame)
    there = by_hand(run.data.run, frame, chosen)
    facts = later.group[1] if later.group else None
    assert facts is not None and facts.norm == pytest.approx(there["norm"], rel=1e-6)
    assert facts.rotation == pytest.approx(1.0)
    assert program.display.view.runs[1].selected == chosen
    qtbot.keyClick(program.window, Qt.Key.Key_Escape)
    assert numbers.isHidden() and norms.past.opacity() == 1.0
    assert (neurons.nodes.which < count).all()


def test_one_or_two_nodes_keep_rings(program: Marginscope, qtbot: QtBot) -> None:
    qtbot.keyClick(program.window, Qt.Key.Key_End)
    display = program.display
    for nodes in ({3}, {3, 5}):
        key = display.slots[1].run.key
        display.ask(pinned=frozenset((key, node) for node in nodes))
        marks = view_of(program, 1, "neurons").plot.overlay.marks
        assert {mark.label for mark in marks} == {f"node {node}" for node in nodes}
        assert program.window.inspector.group.isHidden()
        assert not display.view.runs[1].selected
        assert display.view.inspected == (key, 3)
    display.ask(pinned=frozenset((key, node) for node in (3, 5, 7)))
    assert view_of(program, 1, "neurons").plot.overlay.marks == ()
    assert display.view.inspected is None
    assert not program.window.inspector.group.isHidden()
    # A node of a selection that is hovered has its ring.
    display.ask(hovered=(key, 5))
    (mark,) = view_of(program, 1, "neurons").plot.overlay.marks
    assert mark.label == "node 5" and display.view.inspected == (key, 5)
    qtbot.waitUntil(lambda: not program.scenes.waiting)
    assert program.actions["undo"].text().startswith("&Undo ")


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_what_is_dim_is_near_the_ground_and_not_gone(palette: Palette) -> None:
    ground = np.array([int(palette.background[k : k + 2], 16) for k in (1, 3, 5)])
    colours = np.array([[0, 114, 178, 255], [213, 94, 0, 128]], dtype=np.uint8)
    faint = dimmed(colours, palette)
    wanted = (1.0 - DIM) * colours[:, :3] + DIM * ground
    assert np.abs(faint[:, :3] - wanted).max() <= 0.5 + 1e-9
    assert faint[:, 3].tolist() == [255, 128]
