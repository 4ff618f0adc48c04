"""The edge of stability with a network of one's own: tanh, whose Hessian is autograd's.

Cohen et al., ICLR 2021, section 3, on digits 3 and 8 (256 of them, centred, the longest of length
1), squared loss, m = 64, starts N(0, 1/m) and N(0, I/d), step 1: eta S/2 is .4 at the start, first
1 after 300 to 350 steps, and 1.00 +- .015 in the last quarter of 4,000 (another program, three
seeds, its own 256 digits). Which digits and which start matter to the second: 400 steps have been
met here, and 225 in that program's first 256 digits.
"""

from __future__ import annotations

import math
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core import trust
from core.observables.registry import OBSERVABLES
from core.problem.problem import resolve_problem
from core.runs import Recorder, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train

EACH, ETA = 25, 1.0
LONG = pytest.mark.slow  # the 4,000 steps of that paper; the edge has been reached in 450
NETWORK = """
import torch

directions, outer = "V", "a"


def initial(generator, m, d, k):
    V = generator.standard_normal((m, d)) / d**0.5
    return {"V": V, "a": generator.standard_normal(m) / m**0.5}


def outputs(parameters, x):
    return torch.tanh(x @ parameters["V"].T) @ parameters["a"]
"""


@pytest.mark.parametrize(
    ("seed", "steps"),
    [(0, 1000), pytest.param(0, 4000, marks=LONG), pytest.param(1, 4000, marks=LONG)],
)
def test_tanh_reaches_the_edge_and_stays(
    tmp_path: Path, seed: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trust, "is_trusted", lambda code: code == NETWORK)
    (tmp_path / "tanh.py").write_text(NETWORK)
    tables = {
        "data": {"kind": "digits", "scale": "centred"},
        "network": {"kind": "custom", "path": "tanh.py", "m": 64},
        "loss": {"kind": "squared"},
        "dynamics": {"kind": "gd", "step": ETA, "until_log10_time": math.log10(ETA * steps)},
        "recording": {"frames": 1 + steps // EACH, "spacing": "even"},
        "run": {"seed": seed},
    }
    problem = resolve_problem(build_experiment(tables, "tanh"), tmp_path)
    train(problem, partial(Recorder, tmp_path / "a.msrun"))
    with closing(open_run(tmp_path / "a.msrun")) as run:
        stability = OBSERVABLES["stability"]
        early = [stability.value_at(run, i) for i in range(460 // EACH)]
        late = [stability.value_at(run, i) for i in range(3 * run.frames // 4, run.frames, 4)]
    assert early[0] == pytest.approx(0.4, abs=0.1)
    reached = EACH * next(i for i, q in enumerate(early) if q >= 1.0)
    assert 200 <= reached <= 450
    assert np.mean(late) == pytest.approx(1.0, abs=0.03)
