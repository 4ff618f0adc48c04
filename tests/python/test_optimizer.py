"""Settings of an optimizer are kept, and others are not filled with defaults."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import marginscope as ms
from core.cli.main import main
from core.comparison.setting_differences import differing_of
from core.errors import RunFileError
from core.figures.labels import headings
from core.library.reading import settings_of
from core.runs import open_run
from core.runs.settings import optimizer_text
from core.settings import NOT_RECORDED
from tests.support.loops import loop, record_loop

W = [torch.nn.Parameter(torch.zeros(3)), torch.nn.Parameter(torch.zeros(2))]
SGD, ADAM, ADAMW = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
GROUPS = [{"params": [W[0]], "lr": 0.1}, {"params": [W[1]], "lr": 0.2}]
ONES = {"beta1": 0.8, "beta2": 0.99, "eps": 1e-7, "step": 0.25}


def with_scheduler() -> Any:
    made = SGD(W, lr=0.5)
    torch.optim.lr_scheduler.StepLR(made, 10)
    return made


# What is given, beside it, and the dynamics with some of its keys.
CASES: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "sgd": (SGD(W, lr=0.25), {}, {"kind": "gd", "step": 0.25}),
    "batches": (SGD(W, lr=0.25), {"batch": 4}, {"kind": "sgd", "step": 0.25, "batch": 4}),
    "all": (SGD(W, lr=0.25), {"batch": 12}, {"kind": "gd"}),
    "said twice": (SGD(W, lr=0.25), {"dynamics": "gd", "eta": 0.25}, {"kind": "gd"}),
    "momentum": (SGD(W, lr=0.25, momentum=0.9), {}, {"kind": "recorded"}),
    "penalty": (SGD(W, lr=0.25, weight_decay=0.1), {}, {"kind": "recorded"}),
    "ascent": (SGD(W, lr=0.25, maximize=True), {}, {"kind": "recorded"}),
    "groups": (SGD(GROUPS), {}, {"kind": "recorded"}),
    "scheduler": (with_scheduler(), {}, {"kind": "recorded"}),
    "adam": (ADAM(W, lr=0.25, betas=(0.8, 0.99), eps=1e-7), {}, {"kind": "adam", **ONES}),
    "adam with a penalty": (ADAM(W, lr=0.25, weight_decay=0.1), {}, {"kind": "recorded"}),
    "amsgrad": (ADAM(W, lr=0.25, amsgrad=True), {}, {"kind": "recorded"}),
    "adamw": (ADAMW(W, lr=torch.tensor(0.25)), {}, {"kind": "adam", "weight_decay": 0.01}),
    "rmsprop": (torch.optim.RMSprop(W), {}, {"kind": "recorded"}),
    "warm-up": (SGD(W, lr=0.0), {}, {"kind": "recorded"}),
    "words": ({"kind": "Adam", "lr": np.float32(0.25)}, {}, {"kind": "adam", "step": 0.25}),
    "schedule": ({"kind": "gd", "lr": 0.25, "schedule": "cosine"}, {}, {"kind": "recorded"}),
    "odd betas": ({"kind": "Adam", "lr": 0.25, "betas": [1, 2]}, {}, {"kind": "recorded"}),
}


def test_an_optimizer_is_the_dynamics_that_it_is(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (given, beside, expected) in CASES.items():
        with subtests.test(name=name):
            path = tmp_path / f"{name}.msrun"
            record_loop(path, 4, optimizer=given, **beside)
            with ms.open(path) as run:
                found = {key: run.settings["dynamics"].get(key) for key in expected}
                for key, value in expected.items():
                    exact = isinstance(value, str)
                    assert found[key] == (value if exact else pytest.approx(value, rel=1e-6))
                kept = run.settings["optimizer"]
                kind = given["kind"] if isinstance(given, dict) else type(given).__name__
                assert kept["kind"] == kind and "foreach" not in kept and "params" not in kept
                assert run.settings["loss"]["l2"] == NOT_RECORDED
    with ms.open(tmp_path / "groups.msrun") as run:
        assert run.settings["optimizer"]["lr"] == [0.1, 0.2]
    with ms.open(tmp_path / "momentum.msrun") as run:
        assert run.settings["optimizer"]["momentum"] == 0.9
        assert run.t[-1] == 4.0  # steps: nothing says what a step is worth
    with ms.open(tmp_path / "sgd.msrun") as run:
        assert run.t[-1] == 1.0
    with ms.open(tmp_path / "words.msrun") as run:
        assert run.settings["dynamics"]["beta1"] == NOT_RECORDED
    with open_run(tmp_path / "adam.msrun") as opened:
        assert opened.experiment.dynamics.beta1 == 0.8
        assert optimizer_text(opened) == "Adam, lr 0.25, betas (0.8, 0.99), eps 1e-07"


WRONG: dict[str, tuple[Any, dict[str, Any], str]] = {
    "momentum is no gd": (SGD(W, lr=0.1, momentum=0.9), {"dynamics": "gd"}, "momentum = 0.9"),
    "adam is no gd": (ADAM(W, lr=0.1), {"dynamics": "gd"}, 'dynamics = "gd" contradicts'),
    "gd is no adam": (SGD(W, lr=0.1), {"dynamics": "adam"}, 'dynamics = "adam" contradicts'),
    "gd is no flow": (SGD(W, lr=0.1), {"dynamics": "flow"}, 'dynamics = "flow" contradicts'),
    "another step": (SGD(W, lr=0.1), {"eta": 0.2}, "eta = 0.2 contradicts .* lr is 0.1"),
    "steps differ": (SGD(GROUPS), {"eta": 0.1}, "eta = 0.1 contradicts .* lr is 0.1, 0.2"),
    "no optimizer": (torch.nn.Linear(1, 1), {}, "neither an optimizer of PyTorch nor"),
    "a name": ("SGD", {}, "neither an optimizer of PyTorch nor"),
    "no kind": ({"lr": 0.1}, {}, "optimizer has no kind"),
    "no groups": (type("Odd", (), {"param_groups": []})(), {}, "neither an optimizer"),
    "an odd name": ({"kind": "SGD", "<b>": 1}, {}, "names are letters"),
    "a long name": ({"kind": "SGD", "x" * 100_000: 1}, {}, "names are letters"),
    "a long text": ({"kind": "x" * 100_000}, {}, "cannot be stored"),
    "an array": ({"kind": "SGD", "lr": np.ones(3)}, {}, "lr = array.* cannot be stored"),
    "not finite": ({"kind": "SGD", "lr": float("inf")}, {}, "lr = inf cannot be stored"),
    "too deep": ({"kind": "SGD", "lr": [[[1]]]}, {}, "cannot be stored"),
    "too many": ({"kind": "SGD"} | {f"k{i}": 1 for i in range(64)}, {}, "at most 64"),
    "too long": (
        {"kind": "SGD"} | {f"k{i}": [1e300 / 3] * 64 for i in range(60)},
        {},
        "cannot be stored",
    ),
    "too much": ({"kind": "SGD"} | {f"k{i}": ["x" * 99] * 9 for i in range(60)}, {}, "longer than"),
    "no dynamics": (SGD(W, lr=0.1), {"dynamics": "grad"}, "does not exist"),
}


def test_what_contradicts_or_cannot_be_kept_is_said_before_the_loop(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    one = loop()
    for name, (given, beside, sentence) in WRONG.items():
        with subtests.test(name=name):
            options = {"loss": "logistic", "optimizer": given, **beside}
            with pytest.raises(ms.InputError, match=sentence) as told:
                ms.record(tmp_path / "a.msrun", one.x, one.y, **options)
            assert len(str(told.value)) < 500
            assert not (tmp_path / "a.msrun").exists()


def test_what_nobody_said_is_not_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {"dynamics": "adam", "eta": 0.25}
    record_loop(tmp_path / "bare.msrun", 4, **said)
    record_loop(tmp_path / "full.msrun", 4, optimizer=ADAM(W, lr=0.25), batch=4)
    with open_run(tmp_path / "bare.msrun") as bare, open_run(tmp_path / "full.msrun") as full:
        named = differing_of([bare, full])
        table = dict(zip(named.keys, zip(*named.rows, strict=True), strict=True))
        assert table["dynamics.beta1"] == (NOT_RECORDED, "0.9")
        assert table["dynamics.batch"] == (NOT_RECORDED, "4")
        assert table["optimizer.kind"] == ("\u2013", "Adam")
        assert "loss.l2" not in table  # nobody said it of either
        assert "0.9" not in "".join(headings([bare, full]))  # a default tells nothing apart
        assert "dynamics.beta1" not in settings_of(bare)
        assert settings_of(full)["dynamics.beta1"] == 0.9
        assert settings_of(full)["optimizer.kind"] == "Adam"
    assert main(["info", str(tmp_path / "bare.msrun"), "--json"]) == 0
    study = json.loads(capsys.readouterr().out)["study"]
    for section, names in {
        "dynamics": ("beta1", "beta2", "eps", "batch", "weight_decay", "schedule"),
        "loss": ("l2", "l23"),
        "run": ("seed",),
    }.items():
        assert {study[section][name] for name in names} == {NOT_RECORDED}
    assert study["dynamics"]["step"] == 0.25 and "optimizer" not in study
    assert main(["info", str(tmp_path / "full.msrun")]) == 0
    assert "optimizer: Adam, lr 0.25, betas (0.9, 0.999), eps 1e-08" in capsys.readouterr().out


def test_an_optimizer_that_a_file_made_up_is_no_text_of_the_program(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    record_loop(path, 4, optimizer=SGD(W, lr=0.25))
    for text, allowed in (
        ('{"kind": "\\u001b[2J<b>"}', True),
        ('{"<b>": 1}', False),
        (json.dumps({"kind": "x" * 1000}), False),
        (json.dumps({f"k{i}": 1 for i in range(100)}), False),
        ('{"kind": [[[1]]]}', False),
        ("[1]", False),
    ):
        connection = sqlite3.connect(path)
        connection.execute("UPDATE meta SET value = ? WHERE key = 'optimizer'", (text,))
        connection.commit()
        connection.close()
        if allowed:
            with open_run(path) as run:
                assert run.optimizer == {"kind": " [2J<b>"}
            continue
        with pytest.raises(RunFileError, match="meta: optimizer"):
            open_run(path)


def test_files_without_an_optimizer_are_as_before(tmp_path: Path) -> None:
    record_loop(tmp_path / "a.msrun", 4)
    connection = sqlite3.connect(tmp_path / "a.msrun")
    keys = {row[0] for row in connection.execute("SELECT key FROM meta")}
    connection.close()
    assert "optimizer" not in keys
    with ms.open(tmp_path / "a.msrun") as run:
        assert "optimizer" not in run.settings
