"""DisplayData: the tables' numbers, in slices, also of a run that still grows."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from app.state.display import MARGINS, DisplayData
from core.observables.node_coordinates import positions
from core.observables.nodes import outer_signs
from core.observables.planes import NodePlane
from core.observables.registry import OBSERVABLES
from core.runs import open_run
from core.training.control import Control
from tests.recording import recorded


def test_numbers_are_those_of_the_tables(data: DisplayData) -> None:
    frames = np.arange(data.frames)
    points = data.positions(frames)
    for index in (0, 7, data.frames - 1):
        wanted = positions(data.run, index)[:, :2]
        np.testing.assert_allclose(points[index], wanted, rtol=1e-6, atol=1e-12)
        np.testing.assert_array_equal(data.signs(index), outer_signs(data.run, index))
        for kind in ("rotation", "relative_norm"):
            wanted = OBSERVABLES[kind].value_at(data.run, index)
            np.testing.assert_allclose(data.values(kind, index), wanted, rtol=1e-6)
        margins = [OBSERVABLES[name].value_at(data.run, index) for name in MARGINS]
        np.testing.assert_array_equal(data.margins[index], margins)
        assert data.scalars(index)["hard_margin"] == margins[0]
        norm = OBSERVABLES["norm_squared"].value_at(data.run, index)
        assert 10 ** data.log10_norm_squared[index] == pytest.approx(norm, rel=1e-9)


@pytest.mark.parametrize("kind", ["coordinates", "motion"])
def test_frames_read_by_several_threads_are_the_same_to_the_last_bit(
    run_file: Path, kind: str
) -> None:
    plane = NodePlane(kind, (0, 1) if kind == "coordinates" else ())
    with open_run(run_file) as one, open_run(run_file) as other:
        apart, together = DisplayData(one, plane), DisplayData(other, plane)
        while not apart.complete:
            apart.update()
        with ThreadPoolExecutor(3) as hands:
            assert 0 < together.update(0.0, hands) < apart.frames  # no time is one frame
            while not together.complete:
                together.update(60.0, hands)
        every = np.arange(apart.frames)
        np.testing.assert_array_equal(together.margins, apart.margins)
        np.testing.assert_array_equal(together.log10_norm_squared, apart.log10_norm_squared)
        np.testing.assert_array_equal(together.positions(every), apart.positions(every))
        for frame in every.tolist():
            np.testing.assert_array_equal(together.signs(frame), apart.signs(frame))
            for name in ("rotation", "relative_norm"):
                wanted = apart.values(name, frame)
                np.testing.assert_array_equal(together.values(name, frame), wanted)


@pytest.mark.parametrize("together", [True, False], ids=["threads", "in turn"])
def test_no_more_is_read_than_is_wanted(run_file: Path, together: bool) -> None:
    with open_run(run_file) as run, ThreadPoolExecutor(2) as several:
        data, hands = DisplayData(run), several if together else None
        assert data.update(60.0, hands, 7) == 7
        assert data.update(60.0, hands, 9) == 9
        assert data.update(60.0, hands, 3) == 10  # one at least
        assert data.update(60.0, hands, 10**9) == run.frames


def test_a_node_is_told_with_all_its_numbers(data: DisplayData) -> None:
    frame, j = data.frames - 1, 3
    facts = data.node(frame, j)
    assert facts.index == j
    length = np.linalg.norm(positions(data.run, frame)[j])
    assert abs(facts.outer_weight) * facts.inner_norm == pytest.approx(length)
    assert np.cos(np.radians(facts.angle)) == pytest.approx(facts.rotation, abs=1e-6)
    assert facts.position == pytest.approx(tuple(positions(data.run, frame)[j, :2]))
    flips = [data.signs(index)[j] for index in range(frame + 1)]
    assert facts.sign_flips == sum(a != b for a, b in pairwise(flips))


def test_the_angle_of_a_neuron_without_a_direction_is_unknown(data: DisplayData) -> None:
    data._node["rotation"][5, 3] = np.nan  # as of |v| = 0, where the cosine is undefined
    facts = data.node(5, 3)
    assert np.isnan([facts.rotation, facts.angle]).all()


def test_sorted_nodes_know_their_places(data: DisplayData) -> None:
    nodes = data.sorted_nodes("rotation", 40)
    assert (np.diff(nodes.values) >= 0).all()
    np.testing.assert_array_equal(nodes.order[nodes.place], np.arange(data.m))
    np.testing.assert_array_equal(data.values("rotation", 40)[nodes.order], nodes.values)
    assert data.sorted_nodes("rotation", 40) is nodes


def test_coordinates_of_time_are_finite_and_increasing(data: DisplayData) -> None:
    assert np.isneginf(data.log10_time[0])
    assert (np.diff(data.coordinate) > 0).all()
    spacing = np.diff(data.coordinate)
    assert spacing[0] == pytest.approx(spacing[1])
    for frame in (0, 1, 30, data.frames - 1):
        assert data.frame_at(data.coordinate[frame]) == frame
    assert data.frame_at(-1e9) == 0
    assert data.frame_at(1e9) == data.frames - 1
    assert data.frame_at(data.coordinate[30] + 0.5 * spacing[30]) == 30


def test_other_coordinates_are_read_when_asked_for(data: DisplayData) -> None:
    data.set_plane(NodePlane("coordinates", (4, 11)))
    frames = np.array([0, 20])
    wanted = [positions(data.run, index)[:, [4, 11]] for index in frames]
    np.testing.assert_allclose(data.positions(frames), wanted, rtol=1e-6, atol=1e-12)
    assert data.node(20, 2).position == pytest.approx(tuple(wanted[1][2]))


def test_reading_stops_when_its_time_is_over(run_file: Path) -> None:
    with open_run(run_file) as run:
        data = DisplayData(run)
        assert [data.update(0.0) for _ in range(3)] == [1, 2, 3]
        while data.update() < run.frames:
            pass
        assert data.complete
        assert data.frames == run.frames
        assert data.update(0.0) == run.frames


def test_a_growing_run_is_followed(tmp_path: Path) -> None:
    path, control, seen = tmp_path / "growing.msrun", Control(), set()
    settings = ("recording.frames=60", "dynamics.until_log10_time=3")
    thread = threading.Thread(target=recorded, args=(path, *settings), kwargs={"control": control})
    thread.start()
    try:
        while thread.is_alive() and control.status.committed < 0:
            thread.join(0.002)
        with open_run(path) as run:
            data = DisplayData(run)
            assert data.planned_frames == run.planned_frames
            while thread.is_alive():
                seen.add(data.update())
            for _ in range(1000):
                seen.add(data.update())
            assert data.complete
            assert data.frames == run.frames == run.planned_frames
            assert seen <= set(range(1, run.planned_frames + 1))
            assert np.isfinite(data.margins).all()
    finally:
        control.stop()
        thread.join(10)
