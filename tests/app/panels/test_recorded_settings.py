"""The form of a recorded run: what its loop did not say is no default there."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.scenes.scene import Scene
from app.scenes.session_keeper import LastSession, parse_session, session_text
from app.training.studies import study_of
from app.training.study_edits import Edits, StudyEdits
from core.errors import InputError
from core.runs import open_run
from core.settings import NOT_RECORDED
from tests.support.loops import record_loop

UNKNOWN = ("beta1", "beta2", "eps", "batch", "weight_decay", "schedule")


def test_they_are_unknown_in_the_next_session_too(tmp_path: Path) -> None:
    record_loop(tmp_path / "a.msrun", 4, optimizer={"kind": "<b>Adam</b>", "lr": 0.25})
    with open_run(tmp_path / "a.msrun") as run:
        study = study_of(run, "a")
    text = session_text(LastSession(Scene(form=Edits(study)), True))
    again = parse_session(text).scene.form
    assert (again.base.unknown, again.base.optimizer) == (study.unknown, "<b>Adam</b>, lr 0.25")
    assert StudyEdits.from_edits(again).notes(again.base)["dynamics.kind"].endswith("</b>, lr 0.25")
    with pytest.raises(InputError):
        parse_session(text.replace('"loss.l2"', "1"))


def test_settings_that_nobody_said(tmp_path: Path) -> None:
    path = tmp_path / "a.msrun"
    record_loop(path, 4, dynamics="adam", eta=0.25)
    with open_run(path) as run:
        edits = StudyEdits(study_of(run, "a"))
    fields = {field.name: field for field in edits.fields("dynamics")}
    for name in UNKNOWN:
        assert fields[name].placeholder == NOT_RECORDED
        assert edits.text(fields[name]) == (NOT_RECORDED if name == "schedule" else "")
        assert not edits.is_edited(fields[name])
        assert f"Default: {fields[name].default_text}." in fields[name].explanation
    assert edits.text(fields["step"]) == "0.25" and not fields["step"].unknown
    study = edits.outcome().study  # what is trained here has values of its own
    assert study is not None and study.cells()[0].experiment.dynamics.beta1 == 0.9
    edits.set_text("dynamics.beta1", "0.5")
    edits.set_text("dynamics.schedule", "linear")
    changed = edits.outcome().study
    dynamics = changed.cells()[0].experiment.dynamics
    assert (dynamics.beta1, dynamics.schedule) == (0.5, "linear")
    edits.set_kind("dynamics", "gd")  # of other dynamics no loop could say anything
    assert not any(field.unknown for field in edits.fields("dynamics"))
