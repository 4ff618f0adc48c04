"""All views of every kind of network: something to see, or a sentence that says why not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.state.display import DisplayData
from app.state.views import VIEWS
from app.views.run_panel import RunPanel
from core.dynamics import rows
from core.figures.palette import DARK, LIGHT
from core.network.registry import NETWORKS
from core.observables.node_coordinates import positions
from core.observables.nodes import outer_classes
from core.observables.planes import NodePlane
from core.runs import open_run
from core.study_file.words import setting_words
from tests.app.options import mark_nodes, show_frame
from tests.recording import recorded

SMALL = ("data.d=8", "data.n=16", "recording.frames=12", "dynamics.until_log10_time=1")
RUNS: dict[str, tuple[str, ...]] = {
    **{
        kind: (*SMALL, f"network.kind={kind}")
        for kind in ("standard", "scalar", "normalised", "fixed_outer", "bias", "linear")
    },
    **{
        kind: (*SMALL, f"network.kind={kind}", "network.init=random", "dynamics.kind=gd")
        for kind in ("diagonal_linear", "deep_linear")
    },
    "committee": (*SMALL, "network.kind=committee", "dynamics.kind=gd"),
    "single_index": (*SMALL, "network.kind=single_index", "network.m=1", "dynamics.kind=gd"),
    "tanh": (*SMALL, "network.kind=tanh", "dynamics.kind=gd"),
    "head": (*SMALL, "network.kind=head", "dynamics.kind=gd"),
    "batch_norm": (*SMALL, "network.kind=batch_norm", "dynamics.kind=gd"),
    "multiclass": (
        "data.kind=digits",
        "data.classes=[1, 7, 4, 3]",
        "data.n=30",
        "recording.frames=12",
        "network.kind=multiclass",
        "loss.kind=cross_entropy",
        "dynamics.until_log10_time=1",
    ),
    "quadratic": (
        "data.kind=modular",
        "recording.frames=12",
        "network.kind=quadratic",
        "loss.kind=cross_entropy",
        "dynamics.until_log10_time=1",
    ),
    "row-space": ("data.d=90", *SMALL[1:]),
    "kernel": ("data.d=8", "data.n=16", "dynamics.kind=kernel"),
}


def test_every_network_is_shown() -> None:
    assert set(RUNS) >= set(NETWORKS) - {"custom"}


def shown(folder: Path, settings: tuple[str, ...]) -> DisplayData:
    path = folder / "run.msrun"
    recorded(path, *settings)
    data = DisplayData(open_run(path))
    while not data.complete:
        data.update()
    return data


def compute(panel: RunPanel, data: DisplayData) -> None:
    """Do the calculator's work at once."""
    while data.background.work(1.0):
        panel.on_values()
        panel.draw_pending()
    panel.on_values()
    panel.draw_pending()


def ink(panel: RunPanel, name: str) -> float:
    """Return the share of a view's pixels between its axes that are not the ground."""
    plot = panel.view(name).plot
    image = plot.grab(plot.plot_area().toRect()).toImage()
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)
    pixels = pixels[:, : image.width(), :3]
    return float((pixels != np.uint8(255)).any(axis=2).mean())


def test_every_view_shows_every_network(
    qtbot: QtBot, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """One panel shows one run after another, each in both palettes."""
    panel = RunPanel(LIGHT)
    qtbot.addWidget(panel)
    panel.resize(1000, 900)
    panel.set_views(tuple(VIEWS))
    panel.show()
    qtbot.waitExposed(panel)
    for kind in RUNS:
        with subtests.test(kind=kind), pytest.MonkeyPatch.context() as patch:
            if kind == "row-space":
                patch.setattr(rows, "SMALLEST", 0)
            check_views(panel, shown(tmp_path / kind, RUNS[kind]), kind)


def check_views(panel: RunPanel, data: DisplayData, kind: str) -> None:
    """Show a run of a kind of network in every view, and put it away."""
    with data.run:
        panel.set_data(data, "a run")
        for frame in (0, data.frames - 1):
            show_frame(panel, frame)
            mark_nodes(panel, 0, frozenset({1, 2}))
            compute(panel, data)
        assert (data.run.reduction is not None) is (kind == "row-space")
        words = {"row-space": "row space", "kernel": "kernel predictor"}.get(
            kind, setting_words("network.kind", kind)
        )
        assert words in panel.details.text()
        for name in VIEWS:
            plot = panel.view(name).plot
            assert plot.overlay.note == sentence(kind, name), name
            assert ink(panel, name) > 0.001
        panel.set_colours(DARK)
        panel.set_data(None, "")
        panel.set_colours(LIGHT)


def sentence(kind: str, name: str) -> str:
    """Return what a view says instead of showing something."""
    if name == "kernel" and kind == "kernel":
        return "a kernel predictor has one kernel at all times"
    if name in ("waves", "phases") and kind != "quadratic":
        return "only quadratic networks on addition modulo p have frequencies"
    if kind == "kernel":
        if name in ("margins", "curves", "spectrum"):
            return "a kernel predictor is fitted in one step and has no curves"
        return "" if name == "predictor" else "a kernel predictor has no neurons"
    if kind == "head" and name in ("neurons", "rotations", "spectrum"):
        return "this network has no inner weights"
    if kind == "scalar" and name == "rotations":
        return "this network does not train its inner weights"
    return ""


def test_nodes_of_a_run_in_row_space_stand_where_the_whole_vectors_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "SMALLEST", 0)
    data = shown(tmp_path, RUNS["row-space"])
    with data.run as run:
        assert run.reduction is not None
        for coordinates in ((0, 1), (50, 89)):
            data.set_plane(NodePlane("coordinates", tuple(coordinates)))
            index = data.frames - 1
            network, flat = run.network, run.parameters(index)
            s, reduced = network.nodes(network.physical(flat, float(run.rho[index])))
            whole = np.abs(s)[:, None] * run.reduction.full(reduced)
            found = data.positions(np.array([index]))[0]
            np.testing.assert_allclose(found, whole[:, list(coordinates)], rtol=1e-5, atol=1e-9)
            np.testing.assert_allclose(found, positions(run, index, coordinates), rtol=1e-5)


def test_nodes_of_several_classes_have_the_class_of_their_largest_weight(
    qtbot: QtBot, tmp_path: Path
) -> None:
    data = shown(tmp_path, RUNS["multiclass"])
    with data.run as run:
        assert data.classes == 4
        index = data.frames - 1
        arrays = run.network.unpack(run.parameters(index))
        wanted = np.abs(arrays["A"]).argmax(axis=1)
        np.testing.assert_array_equal(data.kinds(index), wanted)
        np.testing.assert_array_equal(outer_classes(run, index), wanted)
        panel = RunPanel(LIGHT)
        qtbot.addWidget(panel)
        panel.set_data(data, "")
        show_frame(panel, index)
        nodes = panel.view("neurons").nodes
        assert {int(which) // 12 for which in nodes.which} == set(wanted.tolist())
        panel.set_data(None, "")
