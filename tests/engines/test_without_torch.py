"""Without PyTorch: all is there but users' networks and CUDA."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core import trust
from core.dynamics import engines
from core.dynamics.registry import make_integrator
from core.errors import InputError
from core.network import custom
from core.network.registry import NETWORKS
from core.problem.problem import resolve_problem
from core.study_file.validation import build_experiment
from tests.engines.test_choice import sized

ROOT = Path(__file__).parents[2]
# Python imports a module of this name by itself when it starts, in workers too.
REFUSES_TORCH = """
import sys

class Refuses:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuses)
"""
EVERY_NETWORK = """
from functools import partial
from pathlib import Path
from core.runs import Recorder
from core.training.trajectory import run
from tests.networks import LINEAR_PREDICTORS, Case, TWO_LAYER, UNCOMPILED, small_problem

STUDENTS = Case("committee"), Case("single_index", settings={"m": 1})
OTHERS = *UNCOMPILED, *LINEAR_PREDICTORS, *STUDENTS, Case("head")
for place, case in enumerate((*TWO_LAYER, *OTHERS)):
    run(small_problem(case), partial(Recorder, Path(f"{place}.msrun")))
    print(case.kind)
"""


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom, "has_pytorch", lambda: False)


def process(folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Return a Python that cannot import torch, nor can the processes that it starts."""
    (folder / "sitecustomize.py").write_text(REFUSES_TORCH, "utf-8")
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(folder), str(ROOT)))},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.usefixtures("without")
def test_cuda_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r'^run\.device = "cuda" needs PyTorch, which is not'):
        make_integrator(sized(64, 20, 16, device="cuda"))
    assert not engines._is_cuda_present()


@pytest.mark.usefixtures("without")
def test_into_a_bundle_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"A batch needs PyTorch.*; install it with: make torch"):
        custom.require_pytorch("A batch")
    monkeypatch.setattr(custom, "CLONE", False)
    with pytest.raises(InputError, match=r"A batch needs PyTorch.*\[torch\]' \(\.8 GB; 5 to 7 GB"):
        custom.require_pytorch("A batch")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(InputError, match=r"A batch needs PyTorch.*; use a bundle that includes it"):
        custom.require_pytorch("A batch")


@pytest.mark.usefixtures("without")
def test_a_users_network_is_refused_before_its_code_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trust, "is_trusted", lambda code: True)
    done = tmp_path / "done"
    mine = tmp_path / "mine.py"
    mine.write_text(f"open({str(done)!r}, 'w')\ndef initial(*a): ...\ndef outputs(*a): ...\n")
    network = {"kind": "custom", "m": 4, "path": str(mine)}
    experiment = build_experiment({"network": network}, "a study")
    with pytest.raises(InputError, match=r'^network\.kind = "custom" needs PyTorch.*make torch'):
        resolve_problem(experiment)
    assert not done.exists()


@pytest.mark.slow
def test_every_other_network_trains_where_torch_cannot_be_imported(tmp_path: Path) -> None:
    done = process(tmp_path, "-c", EVERY_NETWORK)
    assert {*done.stdout.split()} == {*NETWORKS} - {"custom"}


@pytest.mark.slow
def test_a_sweep_by_processes_where_torch_cannot_be_imported(tmp_path: Path) -> None:
    """Its workers are told to keep to one thread, torch among what they tell it to."""
    words = ["-m", "core", "run", "telgarsky22-figure-1", "--out", "out"]
    small = ["--set", "network.m=[8,12]", "--set", "dynamics.until_log10_time=2"]
    done = process(tmp_path, *words, "--jobs", "2", *small)
    assert len([*(tmp_path / "out").glob("*.msrun")]) == 2, done.stdout
