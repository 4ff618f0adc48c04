"""Checkpoints of an earlier training, imported."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import marginscope as ms
from tests.support.loops import loop, states

ONE = loop()
NAMES = {"V": "fc1.weight", "a": "fc2.weight"}


def load(given: Any, steps: Any, **settings: Any) -> ms.Run:
    return ms.load(given, steps, ONE.x, ONE.y, **({"loss": "logistic"} | NAMES | settings))


def as_files(folder: Path, suffix: str) -> tuple[list[int], list[Path]]:
    """Return checkpoints as PyTorch, or NumPy, writes them."""
    steps, paths = [], []
    for step, state in states():
        path = folder / f"{step}{suffix}"
        if suffix == ".npz":
            np.savez(path, **state)
        else:
            tensors = OrderedDict((name, torch.tensor(array)) for name, array in state.items())
            torch.save(tensors, path)
        steps.append(step)
        paths.append(path)
    return steps, paths


def check(run: ms.Run) -> None:
    with run:
        assert len(run) == 5
        for (step, state), frame in zip(states(), run, strict=True):
            assert frame.step == step
            assert np.array_equal(frame.V, state["fc1.weight"])
            assert np.array_equal(frame.a, state["fc2.weight"][0])


def test_states_are_frames(tmp_path: Path) -> None:
    steps, given = zip(*states(), strict=True)
    run = load(given, steps, path=tmp_path / "a.msrun")
    assert run.path == tmp_path / "a.msrun"
    check(run)


def test_states_may_come_one_by_one() -> None:
    steps = [step for step, _ in states()]
    run = load((state for _, state in states()), steps)
    folder = run.path.parent
    check(run)
    del run
    assert not folder.exists()  # a temporary one, as long as the run is used


@pytest.mark.parametrize("suffix", [".pt", ".npz"])
def test_files_are_read(suffix: str, tmp_path: Path) -> None:
    steps, paths = as_files(tmp_path, suffix)
    check(load(paths, steps))


def test_names_within_names_and_functions() -> None:
    steps, given = zip(*states(), strict=True)
    nested = [{"model": state} for state in given]
    names = {"V": ("model", "fc1.weight"), "a": lambda state: state["model"]["fc2.weight"]}
    check(load(nested, steps, **names))


def test_only_tensors_are_read(tmp_path: Path) -> None:
    """A checkpoint that would run code when it is unpickled is refused, and runs none."""
    touched = tmp_path / "touched"

    class Hostile:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (touched,)

    torch.save({"fc1.weight": Hostile()}, tmp_path / "a.pt")
    with pytest.raises(
        ms.InputError, match=r"holds more than arrays: reading __builtin__\.getattr and 2"
    ):
        load([tmp_path / "a.pt"], [0], path=tmp_path / "a.msrun")
    assert not touched.exists()
    assert not (tmp_path / "a.msrun").exists()


def test_a_damaged_checkpoint_is_not_read_as_other_weights(tmp_path: Path) -> None:
    """PyTorch passes over the checksums of its archive."""
    steps, paths = as_files(tmp_path, ".pt")
    content = bytearray(Path(paths[1]).read_bytes())
    weight = [*states()][1][1]["fc1.weight"]
    place = content.index(np.asarray(weight).tobytes())
    content[place + 3] ^= 16
    Path(paths[1]).write_bytes(content)
    with pytest.raises(ms.InputError, match="is damaged"):
        load(paths, steps)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"V": "fc1.wieght"}, "V: a state has no 'fc1.wieght'; did you mean 'fc1.weight'"),
        ({"a": ("model", "fc2.weight")}, "a: a state has no 'model'"),
        ({"steps": [0, 3, 3, 4, 5]}, "steps must increase, but 3 comes after 3"),
        ({"steps": [0, 3]}, "More states than the 2 steps are given"),
        ({"steps": [0, 3, 6, 9, 12, 15]}, "5 states but 6 steps are given"),
        ({"steps": []}, "More states|No states are given"),
        ({"states": ["a.txt"], "steps": [0]}, "a.txt cannot be read"),
        ({"states": ["a.pt"], "steps": [0]}, "cannot be read"),
        ({"states": [3], "steps": [0]}, "a state must map names to arrays"),
        ({"loss": "hinge"}, "loss = 'hinge' does not exist"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_leaves_no_file(
    change: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    steps, given = zip(*states(), strict=True)
    given, steps = change.pop("states", given), change.pop("steps", steps)
    with pytest.raises(ms.InputError, match=sentence):
        load(given, steps, path=tmp_path / "a.msrun", **change)
    assert list(tmp_path.iterdir()) == []


def test_an_old_file_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    steps, given = zip(*states(), strict=True)
    load(given, steps, path=path).close()
    before = path.read_bytes()
    with pytest.raises(ms.InputError, match="exists"):
        load(given, steps, path=path)
    with pytest.raises(ms.InputError):
        load(given, steps, path=path, overwrite=True, V="nothing")
    assert path.read_bytes() == before
