"""What the form refuses is what the core refuses: of every shipped study, many edits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.training.fields import fields_of, value_of
from app.training.studies import with_playback_frames
from app.training.study_edits import StudyEdits
from core.errors import InputError
from core.studies.changes import changes_between, is_derived_title
from core.studies.study import Study, load_study, shipped_ids
from core.study_file.experiment import KINDS

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
    """Return why the core does not take a value of a key; empty where it does."""
    try:
        study.with_value(key, value).check()
    except InputError as error:
        return error.text
    return ""


@pytest.mark.parametrize("name", shipped_ids())
def test_form_and_core_agree_on_edits_of_shipped_studies(name: str) -> None:
    """Two values of each axis are enough: each edit is judged in every cell of the grid."""
    study = load_study(name)
    study = replace(study, axes={key: values[:2] for key, values in study.axes.items()})
    seen = set()
    for key, texts in EDITS.items():
        for text in texts:
            edits = StudyEdits(study)
            field = edits.field(key)
            if field is None or not edits.can_be_edited(field):
                continue
            edits.set_text(key, text)
            if not edits.is_edited(field):
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


def test_the_fields_of_every_kind_are_those_of_its_class_and_built_once() -> None:
    for section, kinds in KINDS.items():
        for kind, cls in kinds.items():
            found = fields_of(section, kind)
            assert [field.name for field in found] == [n for n in cls.model_fields if n != "kind"]
            assert {field.section for field in found} <= {section}
            assert fields_of(section, kind) is found


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


# ------------------------------------------------------- formulas, factors and variants


def test_formulas_are_shown_with_their_values_and_can_be_edited() -> None:
    edits = StudyEdits(load_study("wei19-figure-5"))
    field = edits.field("loss.l2")
    assert field is not None
    assert edits.text(field) == "= 2 ^ (0 - e)"
    study = edits.outcome().study
    assert study is not None
    note = edits.notes(study)["loss.l2"]
    assert note == "= 0.00390625, 0.00195312, 0.000976562, ..."
    assert float(note.split()[1].rstrip(",")) == 2.0**-8
    edits.set_text("loss.l2", "= 3 ^ (0 - e)")
    study = edits.outcome().study
    assert study.cells()[0].experiment.loss.l2 == pytest.approx(3.0**-8, rel=1e-15)
    edits.set_text("loss.l2", "0.5")  # a number in place of the formula
    study = edits.outcome().study
    assert {cell.experiment.loss.l2 for cell in study.cells()} == {0.5}
    assert "loss.l2" not in edits.notes(study)


@pytest.mark.parametrize("text", ["= 2 ^", "= nothing", "=", "= 1 / 0", "= m = 3"])
def test_a_wrong_formula_is_said_and_kept(text: str) -> None:
    edits = StudyEdits(load_study("wei19-figure-5"))
    edits.set_text("loss.l2", text)
    outcome = edits.outcome()
    assert outcome.study is None
    assert any(outcome.problems.values())
    field = edits.field("loss.l2")
    assert field is not None
    assert edits.text(field) == text


def test_a_formula_takes_the_place_of_an_axis() -> None:
    edits = StudyEdits(load_study("telgarsky22-figure-1"))
    edits.set_text("network.m", "= 2 * d")
    study = edits.outcome().study
    assert [cell.experiment.network.m for cell in study.cells()] == [40]


def test_factors_are_fields() -> None:
    edits = StudyEdits(load_study("wei19-figure-5"))
    assert [field.key for field in edits.fields("study")] == ["factor.e"]
    field = edits.field("factor.e")
    assert field is not None
    assert edits.text(field) == "8, 9, 10, 11, 12, 13, 14, 15, 16"
    edits.set_text("factor.e", "4, 6")
    study = edits.outcome().study
    penalties = {cell.experiment.loss.l2 for cell in study.cells()}
    assert penalties == {2.0**-4, 2.0**-6}
    edits.set_text("factor.e", "four")
    assert edits.outcome().study is None
    assert list(edits.outcome().problems) == ["factor.e"]


def test_variants_are_a_field_with_what_they_set() -> None:
    study = load_study("wei19-figure-4")
    edits = StudyEdits(study)
    field = edits.field("variant")
    assert field is not None
    assert edits.text(field).split("; ") == list(study.variants)
    notes = edits.notes(study)
    assert "network: gd" in notes["dynamics.kind"].split("\n")
    assert "kernel, ridge 5: 5" in notes["dynamics.ridge"].split("\n")
    edits.set_text("variant", "kernel, ridge 5; network")
    chosen = edits.outcome().study
    assert list(chosen.variants) == ["kernel, ridge 5", "network"]
    edits.set_text("variant", "nobody")
    assert "nobody" in edits.outcome().problems["variant"]


def test_all_classes_are_said_to_be_all() -> None:
    study = load_study("wei19-figure-3-right")
    edits = StudyEdits(study)
    field = edits.field("data.classes")
    assert field is not None
    assert edits.text(field) == "all"
    edits.set_text("data.classes", "3, 8")
    edits.set_text("data.classes", "all")
    again = edits.outcome().study
    assert again.to_toml() == study.to_toml()


# --------------------------------------------------------------------- what was modified


def test_a_changed_study_says_so_in_its_title() -> None:
    base = load_study("telgarsky22-figure-1")
    edits = StudyEdits(base)
    edits.set_kind("network", "head")
    edits.set_text("network.m", "16")
    study = edits.outcome().study
    words = "network with normalised head, m = 16"
    assert study.title == f"{words} \u00b7 after {base.title}"
    assert is_derived_title(study.title, base.title)
    # It is put into the form as it is, as a new seed does, and changed further.
    again = StudyEdits(study)
    again.set_text("run.seed", "3")
    further = again.outcome().study
    assert further.title == f"{words}, seed 3 \u00b7 after {base.title}"
    again.set_kind("network", "standard")
    again.set_text("network.m", "16, 256")
    again.set_text("run.seed", "0")
    back = again.outcome().study
    assert back.title == base.title


def test_a_modified_run_is_compared_with_the_shipped_study() -> None:
    """Its title added up: "m = 8, 16, 32 and 64, data = points, loss = exponential"."""
    base = load_study("telgarsky22-figure-1")
    after = f" \u00b7 after {base.title}"
    study = StudyEdits(base)
    study.set_text("network.m", "8, 12")
    recorded = study.outcome().study.cells()[0].experiment.model_dump(exclude_none=True)
    # As older versions wrote titles.
    title = f"Modified from {base.title}: logistic loss, m = 8 and 12"
    assert is_derived_title(title, base.title)
    run = StudyEdits(Study("a-run", title, "", recorded, axes={}, sizes={}))
    run.set_kind("loss", "logistic")
    assert run.outcome().study.title == f"m = 8, logistic loss{after}"
    run.set_text("network.m", "12")
    run.set_kind("network", "bias")
    assert run.outcome().study.title == f"bias network, m = 12, logistic loss{after}"
    run.set_kind("network", "standard")
    run.set_kind("loss", "exponential")
    run.set_text("network.m", "256")
    assert run.outcome().study.title == base.title


def test_what_was_changed_and_saved_stays_said(tmp_path: Path) -> None:
    edits = StudyEdits(load_study("wei19-figure-5"))
    edits.set_text("loss.l2", "= 3 ^ (0 - e)")
    study = edits.outcome().study
    path = tmp_path / "mine.toml"
    path.write_text(study.to_toml())
    saved = load_study(str(path))
    words, after = "\u03bb = 3 ^ (0 - e)", " \u00b7 after Wei et al. 2019, Figure 5"
    assert saved.title == words + after
    again = StudyEdits(saved)
    again.set_text("network.m", "7")
    study = again.outcome().study
    assert study.title == f"{words}, m = 7{after}"
    once_more = StudyEdits(study)
    once_more.set_text("network.m", "9")
    study = once_more.outcome().study
    assert study is not None
    assert study.title == f"{words}, m = 9{after}"


@pytest.mark.parametrize("name", shipped_ids())
def test_what_was_not_changed_is_not_said_to_be(name: str) -> None:
    study = load_study(name)
    outcome = StudyEdits(study).outcome()
    assert outcome.study.title == study.title
    assert changes_between(study, study) == {}
    for size in study.sizes:
        sized = study.at_size(size)
        assert set(changes_between(study, sized)) <= {*study.sizes[size], "variant"}


def test_few_frames_are_more_where_somebody_looks_on() -> None:
    few = load_study("wei19-figure-5").cells()[0].experiment
    assert few.recording.frames == 3
    assert with_playback_frames(few).recording.frames == 200
    assert with_playback_frames(few).model_copy(update={"recording": few.recording}) == few
    many = load_study("telgarsky22-figure-1").cells()[0].experiment
    assert with_playback_frames(many) == many
    # Not so many that a file would be very large.
    wide = few.model_copy(update={"network": few.network.model_copy(update={"m": 65536})})
    frames = with_playback_frames(wide).recording.frames
    assert 3 <= frames < 200
