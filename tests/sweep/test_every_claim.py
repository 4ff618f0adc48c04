"""Each claim of every shipped study is refuted by a run without its effect, or says why by none.

Claims that no size judges are left out. Most are refuted by a number; where the effect is an event,
as a risk that falls below a level, runs without it have no number, which refutes as well.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.studies.study import load_study, shipped_ids
from core.studies.verdicts import judge
from tests.support.sweeps import recorded_trials
from tests.sweep.counter_runs import COUNTER_RUNS, WITHOUT

# More than two seconds each; the others take half a minute together.
SLOW = {
    "batchnorm-figure-1",
    "benarous21-exponents",
    "cohen21-edge-squared",
    "cohen22-every-edge",
    "damian21-label-noise",
    "frei23-figure-4",
    "frei23-xor",
    "morwani24-grokking",
    "saad95-online",
    "saad95-plateau",
    "telgarsky22-theorem-3-3",
    "wei19-figure-3-right",
    "wei19-figure-4",
    "wei19-theorem-2-1",
}


def test_every_shipped_study_has_counter_runs() -> None:
    assert set(COUNTER_RUNS) == set(shipped_ids())
    assert set(WITHOUT) < set(COUNTER_RUNS) > SLOW


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in SLOW else ())
        for name in sorted(COUNTER_RUNS)
    ],
)
def test_without_the_effect_no_claim_holds(name: str, tmp_path: Path) -> None:
    claims = load_study(name).claims
    open_claims = {number for number, claim in enumerate(claims) if claim.sizes}
    for number, counter_run in enumerate(COUNTER_RUNS[name]):
        study = counter_run.study(name)
        # Changes of a study's text exchange numbers, and keep the order of its claims.
        texts = study.results["claims"]
        assert len(texts) == len(claims)
        left_claims = sorted(open_claims)
        rest = replace(study, results={"claims": [texts[at] for at in left_claims]})
        verdicts = judge(rest, recorded_trials(study, tmp_path / str(number)), None)
        pairs = zip(left_claims, verdicts, strict=True)
        open_claims -= {at for at, one in pairs if one.verdict == "refuted"}
    left = [claims[at].text for at in sorted(open_claims)]
    known = WITHOUT.get(name, {})
    assert len(left) == len(known), left
    for text in left:
        assert any(text.startswith(start) and reason for start, reason in known.items()), text


@pytest.mark.parametrize(
    ("name", "start", "nothing"),
    [
        ("morwani24-penalty", "With lambda = 10^-5", 1.0),
        ("wei19-figure-3-left", "The mean margin grows by 6 %", 1.0),
        ("wei19-figure-3-right", "The mean margin grows by 12 %", 1.0),
        ("wei19-figure-3-right", "The mean test error falls by 16 %", 1.0),
        ("wei19-figure-4", "At n = 200 the network's mean test error is .59", 1.0),
        ("wei19-figure-2", "The regulariser increases the mean margin", 1.0),
        ("wei19-figure-2", "The regulariser improves the mean test accuracy", 0.0),
        ("homogeneity-theorem-3-6", "At depth 2 the mean smoothed margin", 1.0),
    ],
)
def test_a_measured_effect_excludes_its_absence(name: str, start: str, nothing: float) -> None:
    """The first two also held for a margin of all of gamma* and for no growth."""
    (claim,) = (one for one in load_study(name).claims if one.text.startswith(start))
    assert not claim.is_confirmed(nothing)
