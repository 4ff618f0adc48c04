"""`data.scale` of a file: equal to data scaled by hand, kept in the run; sizes beyond float64."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import marginscope as ms
from core.cli.main import main
from core.data.dataset import Array, Dataset
from core.data.files import FileData
from core.data.points import PointsData
from core.data.preview import preview
from core.data.registry import draw
from core.data.section import Scale, scale_dataset
from core.errors import InputError
from core.problem.problem import Problem, resolve_problem
from core.runs import Recorder, open_run
from core.studies.study import parse_study
from core.training.trajectory import run as train
from tests.data.measured_data import measured_data
from tests.support.run_changes import array
from tests.support.run_files import refusal, tamper

STUDY = """
title = "Scaled"
[data]
kind = "file"
path = "{path}"
{scale}
[network]
m = 4
[loss]
kind = "logistic"
[dynamics]
kind = "gd"
step = 0.05
until_log10_time = 0.5
[recording]
frames = 6
"""
SCALES: tuple[Scale, ...] = ("unit", "standard", "max_norm")
SQUARE = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -2.0], [-2.0, -1.5]])
SIGNS = np.array([1.0, 1.0, -1.0, -1.0])


def by_hand(scale: str, x: Array, points: Array) -> Array:
    """Return the definitions of the documentation, in NumPy."""
    if scale == "unit":
        return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))
    if scale == "standard":
        return np.asarray((points - x.mean(axis=0)) / x.std(axis=0))
    return np.asarray(points / np.linalg.norm(x, axis=1).max())


def problem_of(path: Path, scale: str = "") -> Problem:
    line = f'scale = "{scale}"' if scale else ""
    study = parse_study(STUDY.format(path=path.as_posix(), scale=line), "scaled")
    return resolve_problem(next(study.iter_cells()).experiment)


def test_a_run_on_scaled_data_is_that_on_data_scaled_by_hand(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    x, y = measured_data(40)
    np.savez(tmp_path / "raw.npz", x=x, y=y, x_test=1.5 * x[:9], y_test=y[:9])
    for scale in SCALES:
        with subtests.test(scale=scale):
            hand = {"x": by_hand(scale, x, x), "x_test": by_hand(scale, x, 1.5 * x[:9])}
            np.savez(tmp_path / "hand.npz", **hand, y=y, y_test=y[:9])
            runs = {"raw": scale, "hand": ""}
            for name, said in runs.items():
                made = problem_of(tmp_path / f"{name}.npz", said)
                train(made, partial(Recorder, tmp_path / f"{scale}-{name}.msrun"))
            with (
                open_run(tmp_path / f"{scale}-raw.msrun") as run,
                open_run(tmp_path / f"{scale}-hand.msrun") as other,
            ):
                assert run.frames == other.frames
                for index in range(run.frames):
                    np.testing.assert_array_equal(run.parameters(index), other.parameters(index))
                assert run.dataset.digest() == other.dataset.digest()
                assert (run.dataset.scaling is None) == (scale == "unit")
            with ms.open(tmp_path / f"{scale}-raw.msrun") as shown:
                np.testing.assert_array_equal(shown.scale_points(x), shown.x)
                with pytest.raises(InputError, match="the run needs"):
                    shown.scale_points(x[:, :2])


def test_without_the_setting_nothing_changes(tmp_path: Path) -> None:
    x, y = measured_data(40)
    np.savez(tmp_path / "raw.npz", x=x, y=y)
    problem = problem_of(tmp_path / "raw.npz")
    np.testing.assert_array_equal(problem.dataset.x, x)
    assert "scale" not in problem.experiment.to_file_values()["data"]
    assert problem.dataset.scaling is None
    scaled = problem_of(tmp_path / "raw.npz", "standard").experiment
    assert scaled.to_file_values()["data"]["scale"] == "standard"


def test_constants_are_those_of_the_training_points(subtests: pytest.Subtests) -> None:
    x, y = measured_data(40)
    x[:, 2] = 0.1  # whose mean is not .1, by rounding
    scaled = scale_dataset(Dataset(x, y, x[:3] + 1.0, y[:3]), "standard", Path("a.npz"))
    assert (scaled.x[:, 2] == 0.0).all()
    assert scaled.scaling.divisor[2] == 1.0
    assert scaled.x_test is not None
    expected = ((x[:3] + 1.0 - x.mean(axis=0)) / x.std(axis=0))[:, 0]
    np.testing.assert_array_equal(scaled.x_test[:, 0], expected)
    for size in (1e299, 1e155, 1e-160):
        for scale in SCALES:
            with subtests.test(size=size, scale=scale):
                extreme = scale_dataset(Dataset(size * SQUARE, SIGNS), scale, Path("a"))
                plain = scale_dataset(Dataset(SQUARE, SIGNS), scale, Path("a"))
                np.testing.assert_allclose(extreme.x, plain.x, rtol=1e-12)


def test_what_cannot_be_scaled_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    zero = SQUARE.copy()
    zero[2] = 0.0
    cases = (
        ("unit", zero, "only zeros in row 3 .* a point without a direction"),
        ("max_norm", 0.0 * SQUARE, "the largest norm 0"),
        ("max_norm", 5e-324 * SQUARE, "change the unit"),
        ("standard", 5e-324 * SQUARE, "the column 1 .* have lost digits"),
        ("standard", 1e305 * SQUARE, "at most 1e.300 can be scaled"),
    )
    for scale, x, sentence in cases:
        with subtests.test(scale=scale, x=x[0, 0]):
            np.savez(tmp_path / "a.npz", x=x, y=SIGNS)
            with pytest.raises(InputError, match=sentence):
                problem_of(tmp_path / "a.npz", scale)


def test_sizes_beyond_float64_are_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Norms were infinite or 0: an internal error, or "not separable" of data with a margin."""
    generator = np.random.default_rng(0)
    for size in (1e299, 1e155, 1e-160, 5e-324):
        with subtests.test(size=size):
            np.savez(tmp_path / "a.npz", x=size * SQUARE, y=SIGNS)
            section = FileData(path=str(tmp_path / "a.npz"))
            words = r"example 1 \(counted from 1\) has the largest coordinate .* data.scale"
            with pytest.raises(InputError, match=words):
                draw(section, generator, None)
            with pytest.raises(InputError, match=words):
                preview(section, 0, None)
            for margin in ms.margins(size * SQUARE, SIGNS).values():
                assert np.isnan(margin.value)
                assert not margin.certified
                assert "Not computed: example 1" in str(margin)
    with pytest.raises(InputError, match=r"example 2 .* change the unit"):
        draw(PointsData(points=((1.0, 1.0), (1e-160, -1.0))), generator, None)
    np.savez(tmp_path / "a.npz", x=SQUARE, y=1e200 * SIGNS)
    with pytest.raises(
        InputError, match=r"example 1 .* has the target 1e.200; .* change the unit of y"
    ):
        draw(FileData(path=str(tmp_path / "a.npz"), targets="real"), generator, None)
    # Beside others a column of such numbers is rounding: nothing is wrong about the rest.
    np.savez(tmp_path / "a.npz", x=SQUARE * np.array([1e-160, 1.0]), y=SIGNS)
    assert draw(FileData(path=str(tmp_path / "a.npz")), generator, None).n == 4


def test_a_run_says_how_it_was_scaled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x, y = measured_data(40)
    np.savez(tmp_path / "raw.npz", x=x, y=y)
    path = tmp_path / "a.msrun"
    train(problem_of(tmp_path / "raw.npz", "standard"), partial(Recorder, path))
    assert main(["info", str(path)]) == 0
    assert 'data.scale = "standard": x = (raw - shift) / divisor' in capsys.readouterr().out
    assert main(["info", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["scaling"]
    np.testing.assert_array_equal(told["shift"], x.mean(axis=0))
    np.testing.assert_array_equal(told["divisor"], x.std(axis=0))
    # Of a damaged file nothing is taken for what it says.
    tamper(path, array("scale_divisor", np.array([1.0] * 7 + [0.0])))
    assert "a value that is not positive" in refusal(path)
    tamper(path, "DELETE FROM array WHERE name = 'scale_divisor'")
    assert "its array scale_divisor is missing" in refusal(path)


def test_the_preview_warns_of_columns_that_reach_far(tmp_path: Path) -> None:
    x, y = measured_data(40)
    np.savez(tmp_path / "a.npz", x=x, y=y)
    plain = preview(FileData(path=str(tmp_path / "a.npz")), 0, None)
    assert "The columns of the data reach 4254" in plain.caution
    assert 'set data.scale = "standard"' in plain.caution
    assert preview(FileData(path=str(tmp_path / "a.npz"), scale="standard"), 0, None).caution == ""
    pixels = np.random.default_rng(0).integers(0, 256, (10, 64), dtype=np.uint8)
    np.savez(tmp_path / "a.npz", x=pixels, y=np.tile([0, 1], 5))
    assert "reach 255" in preview(FileData(path=str(tmp_path / "a.npz")), 0, None).caution
    points = PointsData(points=((1e3, 1.0), (-1e3, -1.0)))
    assert "change the unit" in preview(points, 0, None).caution
