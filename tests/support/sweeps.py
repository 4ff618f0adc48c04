"""Studies swept in this process, and shipped claims judged on runs of other settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.studies.study import Study, load_study, parse_study
from core.studies.trials import Trial, trials_of
from core.studies.verdicts import JudgedClaim, judge
from core.sweep.control import SweepControl
from core.sweep.loop import sweep
from core.sweep.plan import plan
from core.sweep.pools import InProcessPool
from tests.support.small_studies import QUICK


def recorded_trials(study: Study, folder: Path) -> tuple[Trial, ...]:
    made, control = plan(study, folder), SweepControl()
    assert [*sweep(made, InProcessPool(control.cell), control)][-1].failed == 0
    rows = {name: entry.row for name, entry in made.ledger.entries.items()}
    return trials_of(study, rows, made.paths)


def with_claims(study: Study, claim: str) -> Study:
    """A study whose only claim is this one, which need not have a text."""
    text = "" if "text =" in claim else 'text = "t"\n'
    told = parse_study(f"{QUICK}[[claims]]\n{text}{claim}", "told")
    return replace(study, results=told.results)


def only(study: Study, starts: Sequence[str]) -> Study:
    """A study with those of its claims whose texts begin so, one for each."""
    entries = study.results["claims"]
    found = [[entry for entry in entries if entry["text"].startswith(start)] for start in starts]
    assert [len(some) for some in found] == [1] * len(starts), starts
    return replace(study, results={"claims": [some[0] for some in found]})


def judged_on(
    name: str, settings: Sequence[str], folder: Path, starts: Sequence[str]
) -> list[JudgedClaim]:
    """The claims of a shipped study whose texts begin so, on runs of these settings."""
    study = only(load_study(name), starts).at_size("quick").with_settings(list(settings))
    return judge(study, recorded_trials(study, folder), None)
