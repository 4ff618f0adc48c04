"""`ms.load` of checkpoints as programs write them: formats, folders, wrappers, many in one file."""

from __future__ import annotations

import argparse
import gzip
import io
import json
import pickle  # to write what is refused
import random
import struct
import sys
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import marginscope as ms
from core.numbers import natural_key
from marginscope._record.checkpoints import steps_in
from tests.support.loops import loop, states
from tests.support.mutations import damaged_bytes, damaged_text

ONE = loop()
NAMES: dict[str, Any] = {"V": "fc1.weight", "a": "fc2.weight"}
WEIGHTS = ("0.weight", "2.weight", "0.bias", "2.bias")
STATES = dict(states())
State = Mapping[str, Any]


def load(given: Any, steps: Any = None, **settings: Any) -> ms.Run:
    return ms.load(given, steps, ONE.x, ONE.y, **({"loss": "logistic"} | settings))


def check(run: ms.Run, scale: int = 1) -> None:
    with run:
        assert [frame.step for frame in run] == [scale * step for step in STATES]
        for state, frame in zip(STATES.values(), run, strict=True):
            assert np.array_equal(frame.V, state["fc1.weight"])
            assert np.array_equal(frame.a, state["fc2.weight"][0])


def tensors(state: State) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(array) for name, array in state.items()}


def safetensors(arrays: State, dtypes: Mapping[str, str] = {}) -> bytes:
    kinds = {"f8": "F64", "f4": "F32", "f2": "F16", "i8": "I64", "u2": "U16"}
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    values = b""
    for name, array in arrays.items():
        content = np.ascontiguousarray(array).tobytes()
        kind = dtypes.get(name, kinds.get(np.asarray(array).dtype.str[1:], ""))
        place = [len(values), len(values) + len(content)]
        header[name] = {"dtype": kind, "shape": list(np.shape(array)), "data_offsets": place}
        values += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + values


def write(path: Path, state: State) -> None:
    if path.suffix == ".npz":
        np.savez(path, **state)
    elif path.suffix == ".safetensors":
        path.write_bytes(safetensors(state))
    else:
        old = path.suffix in (".tar", "")
        torch.save(tensors(state), path, _use_new_zipfile_serialization=not old)


# ------------------------------------------------------------------------------ files and folders


def test_a_folder_is_read_in_natural_order(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Whatever the names end in, also by a pattern, and with steps that are given."""
    for suffix in (".pt", ".npz", ".tar", ".pth.tar", "", ".safetensors"):
        with subtests.test(suffix=suffix):
            folder = tmp_path / f"of{suffix}"
            folder.mkdir()
            for step, state in STATES.items():
                write(folder / f"ckpt-{step}{suffix}", state)
            check(load(folder, **NAMES))
            check(load(str(folder / "ckpt-*"), **NAMES))
            check(load(folder, [2 * step for step in STATES], **NAMES), 2)
            check(load([folder / f"ckpt-{step}{suffix}" for step in STATES], **NAMES))


def test_checkpoints_in_folders_of_their_own(tmp_path: Path) -> None:
    for step, state in STATES.items():
        (tmp_path / f"checkpoint-{step}").mkdir()
        write(tmp_path / f"checkpoint-{step}" / "model.safetensors", state)
    check(load(tmp_path / "*" / "model.safetensors", **NAMES))
    with pytest.raises(ms.InputError, match=r"holds no checkpoints .* give a pattern"):
        load(tmp_path)


def test_steps_are_in_names_or_in_states(tmp_path: Path) -> None:
    assert steps_in(["a-0003.b", "a-0010.b"]) == [3, 10]
    assert steps_in(["epoch=1-step=50-loss=0.3", "epoch=0-step=40-loss=0.2"]) == [50, 40]
    assert steps_in(["ckpt-3-v1", "ckpt-10-v1"]) == [3, 10]
    assert steps_in(["t=0.5", "t=10"]) == [0.5, 10]
    for names in (["a"], ["a-1", "a-1"], ["a1", "last"], ["9" * 400]):
        assert steps_in(names) is None
    assert sorted(["b-10", "b-9", "b", "B-1"], key=natural_key) == ["B-1", "b", "b-9", "b-10"]
    letters = "abcde"
    for letter, (step, state) in zip(letters, STATES.items(), strict=True):
        torch.save({"model": tensors(state), "global_step": step, "epoch": 0}, tmp_path / letter)
    check(load([tmp_path / letter for letter in letters], **NAMES))
    (tmp_path / "f").write_bytes((tmp_path / "a").read_bytes())
    torch.save(tensors(STATES[0]), tmp_path / "a")
    with pytest.raises(ms.InputError, match=r"not known: \S+a has no number in its name, and"):
        load(tmp_path, **NAMES)


# ------------------------------------------------------------------------------ where arrays are


def test_weights_are_found_within_what_is_saved(subtests: pytest.Subtests) -> None:
    """The run says where: in "model", although averages are there too, and below prefixes."""
    wrapped: dict[str, Callable[[State], Any]] = {
        "state_dict": lambda state: {"state_dict": state, "epoch": 3},
        "model": lambda state: {"ema": {**state}, "model": state, "optimizer": {"state": {}}},
        "checkpoint / model_state_dict": lambda state: {"checkpoint": {"model_state_dict": state}},
        "module.": lambda state: {f"module.{name}": array for name, array in state.items()},
    }
    for place, wrap in wrapped.items():
        for names in (NAMES, {}):
            with subtests.test(place=place, names=names):
                run = load([wrap(state) for state in STATES.values()], STATES, **names)
                first = f"{place} / fc1.weight" if place[-1] != "." else f"{place}fc1.weight"
                assert f"V = {first}, a = {place}" in run.source
                check(run)
    two = {"left": STATES[0], "right": STATES[0]}
    with pytest.raises(ms.InputError, match=r"'fc1.weight' at \('left', 'fc1.weight'\) and \('ri"):
        load([two], [0], **NAMES)
    with pytest.raises(ms.InputError, match=r"Several parts .* \('left',\) and|'left' and 'right'"):
        load([two], [0])


def with_biases(state: State) -> dict[str, Any]:
    others = {"fc1.bias": np.arange(6.0), "fc2.bias": np.array([0.5])}
    return {**state, **others, "count": np.array([7])}


def test_two_linear_layers_need_no_names(tmp_path: Path) -> None:
    """Weights and biases as nn.Linear calls them; one call for a folder."""
    net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1))
    for step in (9, 10):
        torch.save(net.state_dict(), tmp_path / f"ckpt-{step}.pt")
    with load(tmp_path) as run:
        weights = run.frame(-1).weights
        for name, key in (("V", "0.weight"), ("a", "2.weight"), ("b", "0.bias"), ("c", "2.bias")):
            wanted = net.state_dict()[key].numpy().reshape(weights[name].shape)
            assert np.array_equal(weights[name], wanted), name
        assert [frame.step for frame in run] == [9, 10]
        p = torch.tensor(ONE.y) * net(torch.tensor(ONE.x, dtype=torch.float32))[:, 0].detach()
        assert run["risk"] == pytest.approx(float(torch.nn.functional.softplus(-p).mean()), 1e-6)


def test_other_networks_are_not_taken_for_two_layers() -> None:
    deep = {**STATES[0], "fc3.weight": np.zeros((6, 6))}
    with pytest.raises(ms.InputError, match=r"No part .* fc1.weight \(6, 4\), fc2.weight \(1, 6\)"):
        load([deep], [0])
    with pytest.raises(ms.InputError, match="V, the inner weights, is missing"):
        load([STATES[0]], [0], a="fc2.weight")


def test_arrays_that_fit_and_were_not_named(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """A forgotten bias is a wrong network; which is said, with what to write."""
    full = with_biases(STATES[0])
    np.savez(tmp_path / "0.npz", **full)
    (tmp_path / "1.safetensors").write_bytes(safetensors(full))
    torch.save({"model": tensors(full)}, tmp_path / "2.pt")
    for given in (full, tmp_path / "0.npz", tmp_path / "1.safetensors", tmp_path / "2.pt"):
        with subtests.test(given=type(given).__name__):
            sentence = (
                r"hold fc1.bias \(6,\), fc2.bias \(1,\), .* without them.* "
                r"ignore=\['fc1.bias', 'fc2.bias'\]"
            )
            with pytest.warns(ms.RecordingWarning, match=sentence) as caught:
                load([given], [0], **NAMES)
            place = "('model', 'fc1.bias')" if given == tmp_path / "2.pt" else "'fc1.bias'"
            assert f"give b={place}, c=" in str(caught[0].message)
            assert caught[0].filename == __file__
            load([given], [0], **NAMES, ignore=("fc1.bias", "fc2.bias"))
            load([given], [0], **NAMES, b="fc1.bias", c="fc2.bias")
            load([given], [0])
    normed = {**full, "norm.weight": np.ones(6), "mid.weight": np.eye(6)}
    with pytest.warns(ms.RecordingWarning, match=r"hold norm.weight \(6,\), mid.weight \(6, 6\),"):
        load([normed], [0], **NAMES, b="fc1.bias", c="fc2.bias")


# ------------------------------------------------------------------------------ many in one file


def test_one_file_holds_many_states(tmp_path: Path, subtests: pytest.Subtests) -> None:
    by_step = {f"step{step}": state for step, state in reversed(STATES.items())}
    flat = {f"{at}/{name}": array for at, state in by_step.items() for name, array in state.items()}
    stacked = {
        name: np.stack([state[name] for state in STATES.values()]) for name in NAMES.values()
    }
    steps = np.array([*STATES])
    made: dict[str, Any] = {
        "list.pt": [*STATES.values()],
        "pairs.pt": [*STATES.items()],
        "steps.pt": {step: {"model": state} for step, state in STATES.items()},
        "names.pt": by_step,
        "within.pt": {"history": [*STATES.values()], "steps": [*STATES], "config": {"lr": 1.0}},
        "flat.npz": flat,
        "flat.safetensors": flat,
        "frames.npz": {**stacked, "steps": steps},
        "frames.safetensors": {**stacked, "step": steps},
        "frames.pt": {**stacked, "t": steps, "loss": np.zeros((5, 1))},
    }
    for name, content in made.items():
        path = tmp_path / name
        if name.endswith(".pt"):
            torch.save(as_tensors(content), path)
        elif name.endswith(".npz"):
            np.savez_compressed(path, **content)
        else:
            path.write_bytes(safetensors(content))
        ignored = {"ignore": ("loss",)} if name == "frames.pt" else {}
        with subtests.test(name=name):
            check(load(path, [*STATES] if name == "list.pt" else None, **NAMES, **ignored))
            if not name.startswith("frames"):
                check(load(path, [*STATES], **ignored))  # without names


def test_what_programs_save_is_read_in_one_call(tmp_path: Path) -> None:
    """As Lightning and others do; a number in the folder's name is no step."""
    folder = tmp_path / "version_28"
    folder.mkdir()
    net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1))
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.zeros(3, 4)).sum().backward()
    optimizer.step()
    state = {f"net.{name}": value for name, value in net.state_dict().items()}
    others = {"optimizer_states": [optimizer.state_dict()], "hyper_parameters": {"lr": 0.1}}
    for epoch, step in ((0, 50), (1, 100)):
        content = {"epoch": epoch, "global_step": step, "state_dict": state, **others}
        torch.save(content, folder / f"epoch={epoch}-step={step}.ckpt")
    names = {part: f"{name}" for part, name in zip("Vabc", WEIGHTS, strict=True)}
    for given in ({}, names):
        with load(folder, **given) as run:
            assert [frame.step for frame in run] == [50, 100]
            assert {*run.frame(0).weights} == {*"Vabc"}
    (folder / "last.ckpt").write_bytes((folder / "epoch=1-step=100.ckpt").read_bytes())
    with load(folder / "last.ckpt") as run:
        assert run.frame(0).step == 100
    with pytest.raises(ms.InputError, match=r"last.ckpt has step 100, but the state before it has"):
        load(folder)


def test_what_is_no_state_is_a_sentence(subtests: pytest.Subtests) -> None:
    for given, sentence in (
        (None, "states is NoneType; give a folder"),
        (3, "states is int"),
        ([torch.nn.Linear(4, 6)], r"for a PyTorch module give its state_dict\(\)"),
        ("a**b", "The pattern .* cannot be used"),
        ("*.nothing", r"No file is named \*\.nothing"),
        ([{"V": np.ones((6, 4)), "a": np.ones((2, 6))}], "of two logits give a as the difference"),
    ):
        with subtests.test(given=type(given)), pytest.raises(ms.InputError, match=sentence):
            load(given, [0])


def test_states_in_memory_may_have_their_steps() -> None:
    check(load(STATES, **NAMES))
    check(load({"history": [{"model": state} for state in STATES.values()]}, [*STATES], **NAMES))
    check(load(({"model": state, "step": step} for step, state in STATES.items()), **NAMES))


def as_tensors(value: Any) -> Any:
    """Return nested lists and mappings with tensors in place of arrays."""
    if isinstance(value, np.ndarray):
        return torch.tensor(value)
    if isinstance(value, Mapping):
        return {key: as_tensors(one) for key, one in value.items()}
    return type(value)(map(as_tensors, value)) if isinstance(value, list | tuple) else value


def test_no_state_of_many_is_left_out(tmp_path: Path) -> None:
    """One without the arrays is a sentence, and so are two lists."""
    other = {"fc1.wieght": ONE.V, "fc2.weight": ONE.a}
    flat = {f"1/{name}": array for name, array in STATES[0].items()}
    np.savez(tmp_path / "a.npz", **flat, **{f"2/{name}": array for name, array in other.items()})
    for given in ({"step1": STATES[0], "step2": other}, tmp_path / "a.npz"):
        with pytest.raises(ms.InputError, match=r"V: a state has no 'fc1.weight'; did you"):
            load(given, **NAMES)
    lists = {"student": [STATES[0]], "teacher": [STATES[0]]}
    with pytest.raises(ms.InputError, match="many states at student and at teacher; pass one"):
        load(lists, **NAMES)


def test_frames_of_other_numbers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, V=np.zeros((3, 6, 4)), a=np.zeros((2, 6)))
    with pytest.raises(ms.InputError, match=r"V has shape \(3, 6, 4\), 3 frames, and a \(2, 6\)"):
        load(path, [0, 1, 2], V="V", a="a")
    np.savez_compressed(path, V=np.zeros((2001, 6, 4)), a=np.zeros((2001, 6)))
    with pytest.raises(ms.InputError, match="2001 states, but a run has"):
        load(path, range(2001), V="V", a="a")


# ------------------------------------------------------------------------------ what is refused


def test_refused_types_are_named(
    tmp_path: Path, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence says which type is in the way and what to do; with PyTorch and without."""
    given = {
        "argparse.Namespace": {"args": argparse.Namespace(lr=0.1), "model": tensors(STATES[0])},
        r"numpy\._?core\.multiarray\._?\w+": {"loss": np.float64(0.5)},
        r"torch\.nn\.modules\.linear\.Linear": torch.nn.Linear(4, 6),
        r"pathlib\.\w+": {"path": Path("a")},
    }
    for number, content in enumerate((*given.values(), tensors(STATES[0]))):
        for zipped in (True, False):
            path = tmp_path / f"{number}{zipped}.pt"
            torch.save(content, path, _use_new_zipfile_serialization=zipped)
    for there in (True, False):
        if not there:
            monkeypatch.setitem(sys.modules, "torch", None)
        for number, name in enumerate(given):
            part = r"\.state_dict\(\)" if "nn" in name else r"\[KEY\]"
            text = rf"holds more than arrays: reading {name}.* python -c '.*{part}, "
            for zipped in (True, False):
                path = tmp_path / f"{number}{zipped}.pt"
                with (
                    subtests.test(name=name, zipped=zipped, torch=there),
                    pytest.raises(ms.InputError, match=text),
                ):
                    load([path], [0], **NAMES)
    with pytest.raises(ms.InputError, match=r"not installed here; install marginscope\[torch\]"):
        load([tmp_path / f"{len(given)}True.pt"], [0], **NAMES)


def test_types_that_a_program_allows_are_read(tmp_path: Path) -> None:
    torch.save({"args": argparse.Namespace(lr=1), "model": tensors(STATES[0])}, tmp_path / "a.pt")
    with torch.serialization.safe_globals([argparse.Namespace]):
        load([tmp_path / "a.pt"], [0], **NAMES).close()


def test_other_files_are_said_to_be_what_they_are(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.pt"))
    lone = io.BytesIO()
    np.save(lone, np.zeros(3))
    files = {
        "a tar archive; unpack it": buffer.getvalue(),
        "compressed by gzip; unpack it": gzip.compress(b"a"),
        "an HDF5 file; read it with h5py": b"\x89HDF\r\n\x1a\n",
        "a single array; save all arrays": lone.getvalue(),
        "a pointer of Git LFS; fetch": b"version http and more",
        "not a file of torch.save": b"some text",
        "not a file of torch.save, ": b"",
        r"holds more than arrays: reading numpy\S+ .*numpy.savez": pickle.dumps(ONE.V),
        "holds more than arrays: reading tests.support.loops.Loop and": pickle.dumps(ONE, 0)
        and pickle.dumps(ONE, 2),
    }
    for sentence, content in files.items():
        for suffix in (".pt", ".npz", ".pth.tar", ""):
            with subtests.test(sentence=sentence, suffix=suffix):
                path = tmp_path / f"a{suffix}"
                path.write_bytes(content)
                with pytest.raises(ms.InputError, match=sentence):
                    load([path], [0], **NAMES)


# ------------------------------------------------------------------------------ safetensors


def test_types_of_safetensors(tmp_path: Path) -> None:
    V, path = ONE.V.astype(np.float32), tmp_path / "a.safetensors"
    half = (V.view(np.uint32) >> 16).astype(np.uint16)
    rounded = (half.astype(np.uint32) << 16).view(np.float32)
    for kind, stored, wanted in (
        ("BF16", half, rounded),
        ("F16", V.astype(np.float16), V.astype(np.float16)),
        ("F32", V, V),
        ("F64", ONE.V, ONE.V),
    ):
        path.write_bytes(safetensors({"V": stored, "a": ONE.a}, {"V": kind}))
        with load([path], [0], V="V", a="a") as run:
            assert np.array_equal(run.frame(0).V, wanted), kind
    path.write_bytes(safetensors({"V": half, "a": ONE.a}, {"V": "F8_E5M2"}))
    with pytest.raises(ms.InputError, match=r"V is of the type F8_E5M2, and F64, F32, .* are read"):
        load([path], [0], V="V", a="a")


def test_headers_of_safetensors_are_checked(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Before memory is taken: the values are 200 bytes whatever the header says."""
    path, good = tmp_path / "a.safetensors", {"dtype": "F64", "shape": [6, 4]}
    cases: dict[str, Any] = {
        "not as long as its shape": good | {"data_offsets": [0, 8]},
        "V is not as long": good | {"shape": [10**15, 4], "data_offsets": [0, 192]},
        "no place among": good | {"data_offsets": [0]},
        "has no place": good | {"data_offsets": [-8, 184]},
        "impossible shape": good | {"shape": [6.0, 4], "data_offsets": [0, 192]},
        "an impossible": good | {"shape": [1] * 100, "data_offsets": [0, 8]},
        "of the type": good | {"dtype": ["F64"], "data_offsets": [0, 192]},
        "not an object": 3,
        "as long as": good | {"data_offsets": [8000, 8192]},
    }
    for sentence, entry in cases.items():
        with subtests.test(sentence=sentence):
            text = json.dumps({"V": entry}).encode()
            path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(200))
            with pytest.raises(ms.InputError, match=sentence):
                load([path], [0], V="V", a_fixed=ONE.a)
    for text in (b'{"V": 1, "V": 2}', b"[1]", b"{" * 3000, b'{"V"'):
        path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(200))
        with pytest.raises(ms.InputError, match=r"cannot be read|is not a file"):
            load([path], [0], V="V", a_fixed=ONE.a)


# ------------------------------------------------------------------------------ damaged files


@pytest.mark.filterwarnings("ignore::marginscope.RecordingWarning")
def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    """In a sentence: headers of safetensors, and pickles, of which nothing is unpickled."""
    full, chance = with_biases(STATES[0]), random.Random(7)
    buffer = io.BytesIO()
    refused = {"args": argparse.Namespace(lr=1), "model": tensors(full)}
    torch.save(refused, buffer, _use_new_zipfile_serialization=False)
    flat = {f"step{k}/{name}": array for k in (1, 2) for name, array in full.items()}
    whole = (safetensors(full), safetensors(flat), buffer.getvalue(), pickle.dumps(ONE))
    told = {"read": 0, "refused": 0}
    for number in range(160):
        content, path = whole[number % 4], tmp_path / "ckpt-1"
        if number % 4 < 2 and number % 3:  # the header alone, with its length
            size = int.from_bytes(content[:8], "little")
            header = damaged_text(content[8 : 8 + size], chance)
            content = len(header).to_bytes(8, "little") + header + content[8 + size :]
        else:
            content = damaged_bytes(content, chance)
        path.write_bytes(content)
        try:
            load(path, **(NAMES if number % 5 else {})).close()
            told["read"] += 1
        except ms.InputError as error:
            assert "\x1b" not in str(error)
            told["refused"] += 1
    assert min(told.values()) > 10, told
    assert told["refused"] > 80, told


def test_numbers_that_are_not_finite_are_a_sentence() -> None:
    """Also in the first state; it was a ValueError of the thread that writes."""
    state = {**STATES[0], "fc2.weight": np.full((1, 6), np.nan)}
    with pytest.raises(ms.InputError, match=r"a holds nan at \(0,\); give finite numbers"):
        load([state], [0], **NAMES)
