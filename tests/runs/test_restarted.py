"""A run whose data are only in its file is trained again from its own settings."""

from __future__ import annotations

import struct
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from app.state.session import OpenRun, Session
from app.training.recipes import FromExperiment, FromRun, recipe_of
from core.comparison.description import describe
from core.data.image_files import IMAGES, LABELS
from core.problem.problem import resolve_problem
from core.runs import Recorder, open_run
from core.studies.study import Study
from core.study_file.validation import build_experiment
from core.training.continuation import restart
from core.training.trajectory import run as train

TABLES = {
    "network": {"kind": "standard", "m": 4},
    "dynamics": {"kind": "gd", "step": 0.1, "until_log10_time": 0.3},
    "recording": {"frames": 4},
}


def mnist(folder: Path) -> dict[str, object]:
    pixels = np.random.default_rng(0).integers(0, 255, 12 * 20, dtype=np.uint8).tobytes()
    names = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
    (folder / names[0]).write_bytes(struct.pack(">IIII", IMAGES, 12, 5, 4) + pixels)
    (folder / names[1]).write_bytes(struct.pack(">II", LABELS, 12) + bytes([0, 1] * 6))
    return {"kind": "mnist", "path": str(folder), "classes": [0, 1], "n": 6}


def cifar(folder: Path) -> dict[str, object]:
    pixels = np.random.default_rng(0).integers(0, 255, (8, 3072), dtype=np.uint8)
    content = b"".join(bytes([k % 2]) + row.tobytes() for k, row in enumerate(pixels))
    (folder / "data_batch_1.bin").write_bytes(content)
    return {"kind": "cifar10", "path": str(folder), "classes": [0, 1], "n": 4}


def own(folder: Path) -> dict[str, object]:
    np.savez(folder / "a.npz", x=np.eye(4), y=[1, -1, 1, -1])
    return {"kind": "file", "path": str(folder / "a.npz")}


@pytest.fixture(params=[mnist, cifar, own], ids=lambda make: make.__name__)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a run of data that were read from files which are gone."""
    folder = tmp_path / "images"
    folder.mkdir()
    experiment = build_experiment({**TABLES, "data": request.param(folder)}, "test")
    path = tmp_path / "a.msrun"
    train(resolve_problem(experiment), partial(Recorder, path))
    for file in folder.iterdir():
        file.unlink()
    return path


def test_the_same_again_and_with_other_settings(path: Path) -> None:
    with open_run(path) as run:
        same = restart(run.problem, run.experiment)
        np.testing.assert_array_equal(same.start.parameters, run.origin)
        seeded = run.experiment.model_copy(
            update={"run": run.experiment.run.model_copy(update={"seed": 5})}
        )
        wider = run.experiment.model_copy(
            update={"network": run.experiment.network.model_copy(update={"m": 7})}
        )
        for experiment, m in ((seeded, 4), (wider, 7)):
            made = restart(run.problem, experiment)
            assert made.network.m == m
            np.testing.assert_array_equal(made.dataset.x, run.dataset.x)
            np.testing.assert_array_equal(made.dataset.y, run.dataset.y)
            assert made.start.parameters.tobytes() != run.origin.tobytes()
            assert made.experiment.data == run.experiment.data
        train(restart(run.problem, wider), partial(Recorder, path.with_name("b.msrun")))


class Shown:
    def __init__(self, run: object) -> None:
        self.run = run


def test_the_window_takes_the_data_of_the_open_run(path: Path) -> None:
    session = Session()
    with open_run(path) as run:
        session.add(OpenRun(1, path, describe(run), 1.0, data=Shown(run)))
        tables = run.experiment.model_dump(mode="python", exclude_none=True)
        study = Study("a", "", "", tables, axes={}, sizes={})
        for settings in ([], ["network.m=9"], ["run.seed=3"], ["loss.kind=logistic"]):
            experiment = study.with_settings(settings).cells()[0].experiment
            recipe = recipe_of(study, experiment, session)
            assert isinstance(recipe, FromRun)
            assert recipe.problem().dataset.n == run.dataset.n
        other = study.with_settings(["data.kind=parity", "data.d=4"]).cells()[0].experiment
        assert isinstance(recipe_of(study, other, session), FromExperiment)
