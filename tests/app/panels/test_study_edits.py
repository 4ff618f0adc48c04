"""What the form refuses is what the core refuses: of every shipped study, many edits."""

from __future__ import annotations

import pytest

from app.panels.fields import value_of
from app.panels.study_edits import StudyEdits
from core.errors import InputError
from core.studies.study import Study, load_study, shipped_ids

# Right ones and wrong ones; which are which depends on the formulas and variants of a study.
EDITS = {
    "data.n": ["0", "1", "7", "40", "100000"],
    "data.d": ["1", "2", "5", "1000", "100000"],
    "data.k": ["1", "5", "50"],
    "data.r": ["1", "9"],
    "network.m": ["1", "3", "0", "65536", "4, 8"],
    "network.init": ["file"],
    "run.precision": ["float32"],
    "run.seed": ["-1", "1, 2", "1, 1"],
    "recording.frames": ["2", "5000"],
    "dynamics.until_log10_time": ["1e3", "-9"],
    "dynamics.step": ["0", "0.1"],
    "dynamics.batch": ["0", "1000000"],
    "loss.l2": ["0.1"],
}


def refusal(study: Study, key: str, value: object) -> str:
    """Why the core does not take a value of a key; empty where it does."""
    try:
        study.with_value(key, value).check()
    except InputError as error:
        return error.text
    return ""


@pytest.mark.parametrize("name", shipped_ids())
def test_form_and_core_agree_on_edits_of_shipped_studies(name: str) -> None:
    study = load_study(name)
    seen = set()
    for key, texts in EDITS.items():
        for text in texts:
            edits = StudyEdits(study)
            field = edits.field(key)
            if field is None or not edits.can_be_edited(field):
                continue
            edits.set_text(key, text)
            if not edits.edited(field):
                continue
            outcome = edits.outcome()
            why = refusal(study, key, value_of(field, text, edits.is_axis(field)))
            assert (outcome.study is None) == bool(why), (key, text, why, outcome.problems)
            assert bool(outcome.problems) == bool(why)
            assert all(not place or edits.field(place) for place in outcome.problems)
            first = why.rstrip(".").split("; ")[0]
            assert not why or any(first in said for said in outcome.problems.values()), why
            seen.add(bool(why))
    assert seen == {True, False}  # else the edits say nothing of this study


@pytest.mark.parametrize(
    ("kind", "texts", "key"),
    [
        ("network.custom", {}, "network.path"),
        ("network.head", {"dynamics.kind": "flow", "loss.l2": "0.1"}, "loss.l2"),
        ("data.parity", {"data.k": "30"}, "data.k"),
        ("data.parity", {"data.k": "5", "data.d": "4"}, "data.d"),
    ],
)
def test_a_rule_is_said_at_what_was_edited_last_of_what_it_is_about(
    kind: str, texts: dict[str, str], key: str
) -> None:
    edits = StudyEdits(load_study("telgarsky22-figure-1"))
    edits.set_kind(*kind.split("."))
    for name, text in texts.items():
        if name.endswith(".kind"):
            edits.set_kind(name.split(".")[0], text)
        else:
            edits.set_text(name, text)
    assert list(edits.outcome().problems) == [key]
