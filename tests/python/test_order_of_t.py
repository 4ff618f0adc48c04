"""A t that falls: said once, at the first frame that is dropped, with what usually causes it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import marginscope as ms
from core.runs import open_run
from tests.support.loops import loop

ONE = loop()
FALLS = (
    r"t = 1 comes after t = 20, .* if t starts over in each epoch, count the steps .*resume=True"
)


def train(path: Path, times: Sequence[Any], **settings: Any) -> list[str]:
    """Record a loop over these t; returns what was warned of."""
    own = {"loss": "logistic", "V0": ONE.V, "a0": ONE.a} | settings
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with ms.record(path, ONE.x, ONE.y, **own) as r:
            for t in times:
                if r.due(t):
                    r.frame(t, V=ONE.V, a=ONE.a)
    assert all(Path(one.filename) == Path(__file__) for one in told)
    return [str(one.message) for one in told]


def test_t_that_starts_over_in_each_epoch_is_said_once(tmp_path: Path) -> None:
    epochs = [step for _ in range(5) for step in range(1, 21)]
    (told,) = train(tmp_path / "a.msrun", epochs)
    assert "; the loop continues, and the recorded frames are safe." in told
    with open_run(tmp_path / "a.msrun") as run:
        assert run.steps.tolist() == list(range(21))
    with pytest.raises(ms.InputError, match=FALLS):
        train(tmp_path / "b.msrun", epochs, strict=True)


def test_a_loop_without_due_is_told_the_same(tmp_path: Path) -> None:
    with ms.record(tmp_path / "a.msrun", ONE.x, ONE.y, loss="logistic", V0=ONE.V, a0=ONE.a) as r:
        r.frame(10, V=ONE.V, a=ONE.a)
        with pytest.warns(ms.RecordingWarning, match="t starts over in each epoch"):
            r.frame(3, V=ONE.V, a=ONE.a)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not r.due(9)  # still before the latest frame, and later than all t it was asked
            assert not r.due(8)


def test_a_fall_is_said_beside_another_warning(tmp_path: Path) -> None:
    """Each kind once: an array that was not finite does not hide it."""
    with ms.record(tmp_path / "a.msrun", ONE.x, ONE.y, loss="logistic", V0=ONE.V, a0=ONE.a) as r:
        with pytest.warns(ms.RecordingWarning, match="not finite"):
            r.frame(1, V=np.full((6, 4), np.nan), a=ONE.a)
        assert r.due(20)
        with pytest.warns(ms.RecordingWarning, match=FALLS):
            assert not r.due(1)


@pytest.mark.parametrize(
    "times",
    [
        [torch.tensor(t) for t in range(1, 20)],
        [torch.tensor(float(t)) for t in range(1, 20)],
        [np.float32(t) for t in range(1, 20)],
        [np.int64(t) for t in range(1, 20)],
        [np.array(t) for t in range(1, 20)],
    ],
    ids=["int tensor", "float tensor", "float32", "int64", "array"],
)
def test_numbers_of_other_libraries_are_times(times: list[Any], tmp_path: Path) -> None:
    assert train(tmp_path / "a.msrun", times) == []
    with open_run(tmp_path / "a.msrun") as run:
        assert run.steps.tolist() == list(range(20))


def test_a_tensor_that_counts_in_place_is_seen_to_fall(tmp_path: Path) -> None:
    def steps() -> Any:
        t = torch.zeros((), dtype=torch.int64)
        for _ in range(2):
            t.zero_()
            for _ in range(20):
                t += 1
                yield t

    assert len(train(tmp_path / "a.msrun", steps())) == 1


def test_no_time_is_no_fall(tmp_path: Path) -> None:
    odd = [1, float("inf"), float("nan"), None, "soon", 1e400, 2, 2, 3]
    assert train(tmp_path / "a.msrun", odd) == []
    with open_run(tmp_path / "a.msrun") as run:
        assert run.steps.tolist() == [0, 1, 2, 3]
