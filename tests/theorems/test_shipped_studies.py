"""No statement is violated with its hypotheses met on a small cell of any shipped study.

And l1/2 <= gamma_gl/2 and hard <= l1/2 wherever min p_i >= 0, on every frame; and no run leaves
the bracket of its final margin.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from core.observables.final_margin import refusal
from core.problem.problem import resolve_problem
from core.studies.study import load_study, shipped_ids
from core.theorems.statement import Verdict
from tests.support.brackets import check_bracket
from tests.support.judged_runs import (
    check_margins,
    judge,
    margins_of,
    recorded_run,
    violated_statements,
)

SHORT = "recording.log10_times=[]"
SMALL: dict[str, tuple[str, ...]] = {
    "batchnorm-dyadic": ("data.d=3", "network.m=60", "dynamics.until_log10_time=1"),
    "batchnorm-figure-1": ("data.n=30", "network.m=60", "dynamics.until_log10_time=0"),
    "batchnorm-theorem-2-1": ("data.n=30", "network.m=60", "dynamics.until_log10_time=0"),
    "batchnorm-theorem-2-2": (
        "data.n=8",
        "network.m=40",
        "dynamics.until_log10_time=.5",
        SHORT,
    ),
    "benarous21-exponents": (
        "data.d=8",
        "dynamics.until_log10_time=-1",
        "recording.log10_times=[]",
    ),
    "boursier22-orthonormal": ("network.m=8", "factor.decades=3"),
    "boursier25-alignment-times": ("network.m=8", "factor.decades=2"),
    "boursier25-spurious": ("network.m=8",),
    "chizat19-lazy-and-rich": ("data.d=4", "data.n=8", "network.m=8", SHORT),
    "cohen21-edge-logistic": ("data.n=6", "network.m=4", "dynamics.until_log10_time=1"),
    "cohen21-edge-squared": ("data.n=6", "network.m=4", "dynamics.until_log10_time=1"),
    "cohen22-every-edge": ("data.n=6", "network.m=4", "dynamics.until_log10_time=1"),
    "damian21-label-noise": ("dynamics.until_log10_time=1", "recording.frames=6"),
    "frei23-figure-1": (
        "factor.c=0",
        "data.n=10",
        "network.m=16",
        "dynamics.until_log10_time=.5",
        SHORT,
    ),
    "frei23-figure-2": (
        "data.n=40",
        "dynamics.batch=8",
        "network.m=16",
        "dynamics.until_log10_time=-.5",
        "network.init_multiple=1.0",
    ),
    "frei23-figure-3": ("data.n=10", "network.m=16"),
    "frei23-figure-4": (
        "data.d=500",
        "data.n=10",
        "network.m=16",
        "dynamics.until_log10_time=.5",
        SHORT,
        "network.init_multiple=0.1",
    ),
    "frei23-figure-5": (
        "data.d=500",
        "data.n=10",
        "network.m=16",
        "dynamics.until_log10_time=.5",
        SHORT,
        "network.init_multiple=0.02",
    ),
    "frei23-theorem-3-2": ("data.n=6", "network.m=10", "dynamics.until_log10_time=300"),
    "frei23-xor": ("data.d=50", "data.n=10", "network.m=10"),
    "gunasekar18-depth": ("dynamics.until_log10_time=1",),
    "homogeneity-example-4-1": ("data.d=4", "data.n=8", "network.m=100", "factor.c=1"),
    "homogeneity-mirror-flow": ("data.d=4", "data.n=8", "network.m=100"),
    "homogeneity-odd-parity": ("data.d=4", "data.n=8", "network.m=100"),
    "homogeneity-theorem-3-6": ("data.n=6", "network.m=4", "dynamics.until_log10_time=0"),
    "homogeneity-theorem-4-1": ("data.d=5", "data.n=12", "network.m=100"),
    "morwani24-grokking": ("data.p=5", "network.m=8", "dynamics.until_log10_time=0"),
    "morwani24-margin": ("data.p=5", "network.m=8", "dynamics.until_log10_time=0"),
    "morwani24-penalty": ("data.p=5", "network.m=8", "dynamics.until_log10_time=0"),
    "morwani24-width": ("data.p=5", "network.m=8", "dynamics.until_log10_time=0"),
    "saad95-online": ("data.d=8", "dynamics.until_log10_time=-1", "recording.log10_times=[]"),
    "saad95-plateau": ("network.m=4", "dynamics.until_log10_time=0", "recording.log10_times=[]"),
    "saxe14-depth": ("network.m=4", "dynamics.until_log10_time=0"),
    "saxe14-maps": ("network.m=4", "dynamics.until_log10_time=0"),
    "saxe14-modes": ("network.m=4", "dynamics.until_log10_time=0"),
    "telgarsky22-figure-1": ("data.d=4", "data.n=8", "network.m=8"),
    "telgarsky22-figure-1-shares": ("data.d=4", "data.n=8", "network.m=8"),
    "telgarsky22-lemma-2-4-room": ("network.m=16", SHORT),
    "telgarsky22-theorem-3-3-room": ("network.m=16",),
    "telgarsky22-figure-1-statistics": ("data.d=4", "data.n=8", "network.m=8"),
    "telgarsky22-figure-2": ("data.n=9", "network.m=16"),
    "telgarsky22-table-1": ("data.d=4", "network.m=24", "factor.c=1.41"),
    "telgarsky22-table-1-scalar": ("data.d=4", "network.m=24", "factor.c=1.41"),
    "telgarsky22-theorem-2-1": (
        "data.d=4",
        "data.n=8",
        "network.m=16",
        "dynamics.until_log10_time=2",
    ),
    "telgarsky22-theorem-2-2": ("data.d=4", "data.n=8", "network.m=8", SHORT),
    "telgarsky22-theorem-3-2": ("data.n=12", "network.m=24", SHORT),
    "telgarsky22-theorem-3-3": ("data.d=2", "data.n=16", "network.m=2500", SHORT),
    "tsilivis25-adam-memory": ("network.m=8", "dynamics.until_log10_time=1"),
    "tsilivis25-sampled-parity": ("network.m=8", "data.n=8", "dynamics.until_log10_time=1"),
    "tsilivis25-order-turns-over": ("network.m=8", "dynamics.until_log10_time=1"),
    "wei19-figure-1": ("data.d=4", "data.n=8", "network.m=8"),
    "wei19-figure-2": ("data.n=8", "network.m=8", "dynamics.until_log10_time=2"),
    "wei19-figure-3-left": ("data.n=8", "network.m=8", "dynamics.until_log10_time=2"),
    "wei19-figure-3-right": ("data.n=40", "network.m=16", "dynamics.until_log10_time=.5"),
    "wei19-figure-4": ("data.n=6",),
    "wei19-figure-5": ("data.n=8", "network.m=16", "dynamics.until_log10_time=2"),
    "wei19-perturbed-flow": ("data.n=8", "network.m=8", "dynamics.until_log10_time=2"),
    "wei19-theorem-2-1": ("data.d=3", "factor.c=2"),
}

# Studies of runs near their start, for whose bounds gamma_ntk is drawn: half a second each.
NEAR_THEIR_START = {
    "telgarsky22-figure-1",
    "telgarsky22-lemma-2-4-room",
    "telgarsky22-table-1-scalar",
    "telgarsky22-theorem-2-1",
    "telgarsky22-theorem-2-2",
}


def test_every_shipped_study_is_here() -> None:
    assert set(SMALL) == set(shipped_ids())
    assert set(SMALL) > NEAR_THEIR_START


@pytest.mark.parametrize("name", sorted(SMALL))
def test_nothing_is_violated(name: str, tmp_path: Path) -> None:
    """The first cell of each variant, at the quick size and smaller."""
    study = load_study(name).at_size("quick").with_settings(["recording.frames=6", *SMALL[name]])
    without = () if name in NEAR_THEIR_START else ("gamma_ntk",)
    seen, wanted = set(), set(study.variants) or {""}
    for number, cell in enumerate(study.iter_cells()):
        if seen == wanted:
            break
        variant = cell.values.get("variant", "")
        if variant in seen:
            continue
        seen.add(variant)
        at = resolve_problem(cell.experiment, study.folder, study.title, study.source)
        with recorded_run(tmp_path / str(number), at) as run:
            margins = margins_of(at, 0.4, without)
            found = judge(run, margins)
            assert violated_statements(found) == [], cell.name
            slips = {key for key, one in found.items() if one.verdict is Verdict.TEXT_SLIP}
            assert slips <= {("homogeneity", "Example 4.1")}
            check_margins(run, margins.get("gamma_gl"))
            if not refusal(run):
                check_bracket(run, margins, (0, run.frames - 1))
    assert seen == wanted
