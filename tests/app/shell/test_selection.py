"""A box around nodes: the others are dim, and the panel of numbers says what they are like."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QInputDialog, QMenu
from pytestqt.qtbot import QtBot

from app.actions import disabled_reason
from app.export.pictures import FigureJob, complete_job
from app.scenes.scene import Scene
from app.scenes.scene_texts import FIELDS, link_of, parse_link
from app.shell.application import Marginscope
from app.state.intent import Intent
from app.views.neurons import NeuronsView
from app.views.sorted_nodes import SortedView
from app.views.view import RunView
from core.figures.palette import DARK, DIM, LIGHT, Palette, dim_colours
from core.library.run_notes import notes_file, read_about
from core.observables.node_sets import NodeSet
from core.runs import Run
from tests.app.mouse import keys, pick, pull
from tests.app.shell.conftest import Opener, trained
from tests.app.shell.test_moments import answer


def view_of(program: Marginscope, which: int, name: str) -> RunView:
    return program.display.panels[which].view(name)


def box(program: Marginscope, which: int, nodes: set[int]) -> frozenset[int]:
    plot = view_of(program, which, "neurons").plot
    points = view_of(program, which, "neurons").plot.points.astype(float)
    pixels = plot.pixels(points)
    low, high = pixels[sorted(nodes)].min(axis=0) - 3.0, pixels[sorted(nodes)].max(axis=0) + 3.0
    start, end = QPointF(*low).toPoint(), QPointF(*high).toPoint()
    inside = (pixels >= [start.x(), start.y()]) & (pixels <= [end.x(), end.y()])
    pull(plot, start, end)
    return frozenset(np.flatnonzero(inside.all(axis=1)).tolist())


def half(program: Marginscope, which: int) -> set[int]:
    """Return the nodes in the right half of the picture: some, and not all of them."""
    x = view_of(program, which, "neurons").plot.points[:, 0]
    return set(np.flatnonzero(x > np.median(x)).tolist())


def by_hand(run: Run, frame: int, nodes: frozenset[int]) -> dict[str, float]:
    """Return the numbers of a selection from the recorded parameters, one node after the other."""
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


def test_a_box_dims_the_others_and_says_what_is_in_it(
    program: Marginscope, figure_1_views: None, qtbot: QtBot
) -> None:
    qtbot.keyClick(program.window, Qt.Key.Key_End)
    neurons, norms = (view_of(program, 1, name) for name in ("neurons", "norms"))
    assert isinstance(neurons, NeuronsView) and isinstance(norms, SortedView)
    numbers = program.window.inspector.group
    assert numbers.isHidden()
    plain = neurons.nodes.which.copy()
    chosen = box(program, 1, half(program, 1))
    assert 2 < len(chosen) < 12
    assert program.display.view.runs[1].selected_nodes == chosen
    # No rings; the dim ones have the second half of the styles, and are drawn first.
    assert neurons.plot.overlay.marks == () and neurons.marked_trails.curves == []
    count = len(neurons.nodes.styles) // 2
    dim = neurons.nodes.which >= count
    assert dim.tolist() == [True] * (12 - len(chosen)) + [False] * len(chosen)
    drawn = {tuple(point) for point in neurons.nodes.points[~dim].tolist()}
    assert drawn == {tuple(point) for point in neurons.plot.points[sorted(chosen)].tolist()}
    assert sorted(neurons.nodes.which % count) == sorted(plain)
    assert int(np.count_nonzero(norms.dots.which == 1)) == len(chosen)
    assert norms.past.opacity() < 1.0
    # The other run is as it was.
    assert view_of(program, 0, "norms").past.opacity() == 1.0
    qtbot.waitUntil(lambda: bool(numbers.facts()))
    run = program.display.panels[1].run
    later = run.data.background
    question, facts = later.group.known or (None, None)
    assert question is not None and question.nodes == chosen
    wanted = by_hand(run.data.run, program.display.view.runs[1].frame, chosen)
    for name, value in wanted.items():
        assert getattr(facts, name) == pytest.approx(value, rel=1e-6), name
    texts = {fact.name: fact.value for fact in numbers.facts()}
    share = f"{100.0 * len(chosen) / 12.0:.3g}"
    assert texts["neurons"] == f"{len(chosen)} of 12 ({share} %)"
    assert texts["signs of a"] == f"{wanted['positive']} +, {wanted['negative']} \u2212"
    assert texts["mean angle to centre"] == f"{wanted['angle']:.1f}\u00b0"
    assert numbers.heading() == "Selection in m = 12"
    # It is followed: at another moment the numbers are others, of the same nodes.
    program.display.update_intent(playing=False)
    qtbot.keyClick(program.window, Qt.Key.Key_Home)
    frame = program.display.view.runs[1].frame
    qtbot.waitUntil(lambda: later.group.known is not None and later.group.known[0].frame == frame)
    there = by_hand(run.data.run, frame, chosen)
    facts = later.group.known[1] if later.group.known else None
    assert facts is not None and facts.norm == pytest.approx(there["norm"], rel=1e-6)
    assert facts.rotation == pytest.approx(1.0)
    assert program.display.view.runs[1].selected_nodes == chosen
    qtbot.keyClick(program.window, Qt.Key.Key_Escape)
    assert numbers.isHidden() and norms.past.opacity() == 1.0
    assert (neurons.nodes.which < count).all()


def test_one_or_two_nodes_keep_rings(program: Marginscope, qtbot: QtBot) -> None:
    qtbot.keyClick(program.window, Qt.Key.Key_End)
    display = program.display
    for nodes in ({3}, {3, 5}):
        key = display.panels[1].run.key
        display.update_intent(pinned=frozenset((key, node) for node in nodes))
        marks = view_of(program, 1, "neurons").plot.overlay.marks
        assert {mark.label for mark in marks} == {f"neuron {node}" for node in nodes}
        assert program.window.inspector.group.isHidden()
        assert not display.view.runs[1].selected_nodes
        assert display.view.inspected == (key, 3)
    display.update_intent(pinned=frozenset((key, node) for node in (3, 5, 7)))
    assert view_of(program, 1, "neurons").plot.overlay.marks == ()
    assert display.view.inspected is None
    assert not program.window.inspector.group.isHidden()
    # A node of a selection that is hovered has its ring.
    display.update_intent(hovered=(key, 5))
    (mark,) = view_of(program, 1, "neurons").plot.overlay.marks
    assert mark.label == "neuron 5" and display.view.inspected == (key, 5)
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    assert program.actions["undo"].text().startswith("&Undo ")


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_what_is_dim_is_near_the_ground_and_not_gone(palette: Palette) -> None:
    ground = np.array([int(palette.background[k : k + 2], 16) for k in (1, 3, 5)])
    colours = np.array([[0, 114, 178, 255], [213, 94, 0, 128]], dtype=np.uint8)
    faint = dim_colours(colours, palette)
    wanted = (1.0 - DIM) * colours[:, :3] + DIM * ground
    assert np.abs(faint[:, :3] - wanted).max() <= 0.5 + 1e-9
    assert faint[:, 3].tolist() == [255, 128]


def entries(menu: QMenu) -> dict[str, bool]:
    return {action.text(): action.isChecked() for action in menu.actions() if action.text()}


def test_a_selection_is_named_kept_with_its_run_and_comes_back(
    program: Marginscope, qtbot: QtBot, open_program: Opener
) -> None:
    qtbot.keyClick(program.window, Qt.Key.Key_End)
    display, window = program.display, program.window
    chosen = box(program, 1, half(program, 1))
    keys(qtbot, window, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    answer(qtbot, "  right & late ")
    # Its end would close a menu that is opened meanwhile.
    qtbot.waitUntil(lambda: window.findChild(QInputDialog, "selection") is None)
    first, second = (run.path for run in program.session)
    assert read_about(second).sets == (NodeSet("right & late", chosen),)
    assert not notes_file(first).exists()
    numbers = window.inspector.group
    assert numbers.heading() == "right & late in m = 12"
    keys(qtbot, window, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    assert not display.intent.pinned
    pick(qtbot, window, "Edit", "Selections", "right  late")
    assert display.view.runs[1].selected_nodes == chosen
    assert entries(window.selections)["right && late"]
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    assert program.actions["undo"].text() == f"&Undo Select {len(chosen)} neurons"
    keys(qtbot, window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not display.intent.pinned
    # In another window, and there it is removed.
    window.close()
    again = open_program()
    again.display.update_intent(views=("neurons",))
    qtbot.waitUntil(lambda: trained(again))
    # Its name is known there before the menu of names is opened.
    key = list(again.session)[1].key
    again.display.update_intent(pinned=frozenset((key, node) for node in chosen))
    assert again.window.inspector.group.heading() == "right & late in m = 12"
    again.display.update_intent(pinned=frozenset())
    pick(qtbot, again.window, "Edit", "Selections", "right  late")
    assert again.display.view.runs[1].selected_nodes == chosen
    pick(qtbot, again.window, "Edit", "Selections", "Remove selection", "right  late")
    assert not notes_file(second).exists()
    assert again.window.inspector.group.heading() == "Selection in m = 12"
    check_names_that_cannot_be_kept(again)


def check_names_that_cannot_be_kept(program: Marginscope) -> None:
    """Each is a sentence; a damaged file is put aside."""
    program.display.update_intent(pinned=frozenset())
    assert not program.actions["name"].isEnabled()
    assert disabled_reason("name") == "No neuron is selected."
    program.selections.request_name()
    assert "Select neurons first" in program.window.bar.text
    run = next(iter(program.session))
    program.display.update_intent(pinned=frozenset((run.key, node) for node in range(3)))
    program.selections.add("  ")
    assert "The name of a set has" in program.window.bar.text
    program.selections.add("x" * 300)
    assert "at most 200" in program.window.bar.text
    notes_file(run.path).write_text('{"sets": [["a", "3-1"]]}')
    program.window.selections.aboutToShow.emit()
    assert "cannot be read" in program.window.bar.text
    program.selections.add("first")
    assert read_about(run.path).sets == (NodeSet("first", frozenset(range(3))),)
    assert notes_file(run.path).with_name(f"{notes_file(run.path).name}.broken").exists()


def test_what_is_exported_is_dim_where_the_window_is(program: Marginscope, qtbot: QtBot) -> None:
    runs = list(program.session)
    nodes = frozenset({1, 4, 5, 9})
    program.display.update_intent(pinned=frozenset((runs[1].key, node) for node in nodes))
    program.selections.add("four")
    shown = program.export._snapshot()
    assert shown.selected == (None, NodeSet("four", nodes))


def test_a_file_that_is_open_twice_has_the_pins_of_each_run(program: Marginscope) -> None:
    path = next(iter(program.session)).path
    program.files.open_files([str(path)])
    program.files.open_files([str(path)], add=True)
    first, second = list(program.session)
    program.display.update_intent(pinned=frozenset({(first.key, 1), (second.key, 2)}))
    shown = program.export._snapshot()
    assert shown.runs == (path, path)
    job = complete_job(FigureJob(shown.runs, path.with_suffix(".svg")), shown)
    assert job.options.view.pinned == (frozenset({1}), frozenset({2}))
    # Of one of them alone the first is meant; and one too many has nothing.
    assert shown.of_runs(shown.pinned, (path,), frozenset()) == [frozenset({1})]
    thrice = shown.of_runs(shown.pinned, (path, path, path), frozenset())
    assert thrice == [frozenset({1}), frozenset({2}), frozenset()]
    # Pins of the left panel alone are saved, too.
    program.display.update_intent(pinned=frozenset({(first.key, 1)}))
    program.selections.add("left")
    assert read_about(path).sets == (NodeSet("left", frozenset({1})),)


def test_a_selection_of_thousands_fits_into_a_link_and_comes_back() -> None:
    """Every other of 4096 nodes, which has no range, and all of them, which is one."""
    for nodes, letters in ((range(0, 4096, 2), 20_000), (range(4096), 80)):
        pinned = frozenset({(0, node) for node in nodes} | {(1, 7)})
        scene = Scene((Path("/a.msrun"), Path("/b.msrun")), intent=Intent(pinned=pinned))
        link = link_of(scene)
        assert len(link) < letters
        assert parse_link(link, Scene()).intent.pinned == pinned
    one = replace(scene, intent=Intent(pinned=frozenset({(0, 3)})))
    assert FIELDS["pin"].write(one) == ("0:3",)
