"""The small pictures of the studies are theirs, and the papers those of docs/theory.md."""

from __future__ import annotations

import re

import pytest

from core.numbers import whole_text
from core.studies import thumbnails as module
from core.studies.papers import PAPERS
from core.studies.study import load_study, shipped_ids
from core.studies.summaries import shipped_summaries
from core.studies.thumbnails import Thumbnail, sentence, thumbnails
from tests.test_architecture import ROOT
from tests.tools.thumbnails import made

IDS = shipped_ids()


def test_each_study_has_one_and_no_other() -> None:
    assert tuple(sorted(thumbnails())) == IDS


def test_runs_are_counted_from_the_study(subtests: pytest.Subtests) -> None:
    assert IDS
    for name in IDS:
        with subtests.test(study=name):
            study, one = load_study(name), thumbnails()[name]
            assert one.runs == {"": study.count, **{s: study.at_size(s).count for s in study.sizes}}
            assert len(one.heights) >= 2
            assert one.seconds > 0.0
            assert f"{whole_text(study.count)} run" in one.cost


@pytest.mark.parametrize("name", ["telgarsky22-theorem-3-3", "homogeneity-mirror-flow"])
def test_a_picture_is_that_of_the_first_run(name: str) -> None:
    """Trained again, on whatever machine: by the height of a step of the picture, or two."""
    before, again = thumbnails()[name].heights, bytes.fromhex(made(name)["heights"])
    assert len(again) == len(before)
    assert max(abs(one - other) for one, other in zip(again, before, strict=True)) <= 2


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": {"heights": "zz"}}', '{"a": 1}'])
def test_a_damaged_file_is_no_picture_and_no_harm(
    text: str, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "thumbnails").mkdir()
    (tmp_path / "thumbnails" / "studies.json").write_text(text)
    monkeypatch.setattr(module, "RESOURCES", tmp_path)
    assert thumbnails.__wrapped__() == {}


def test_costs_are_sentences() -> None:
    assert Thumbnail().cost == ""
    assert Thumbnail(runs={"": 12_000}).cost == "12\u202f000 runs"
    alone = Thumbnail(b"", 12.0, False, {"": 1}).cost
    assert alone == "1 run, more than 12 s of CPU time"
    assert Thumbnail(seconds=0.0661, runs={"": 2}).cost == "2 runs, about .066 s of CPU time each"


def test_every_study_has_a_sentence_and_a_paper() -> None:
    for one in shipped_summaries():
        first = sentence(one.note)
        assert first and " ".join(one.note.split()).startswith(first)
        assert one.source in PAPERS


def test_the_papers_are_those_of_the_theory() -> None:
    text = (ROOT / "docs" / "theory.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| (.*) \|$", text, flags=re.MULTILINE))
    for name, paper in PAPERS.items():
        assert f"*{paper.title}*" in rows[name]
        assert paper.authors.split(",")[0] in rows[name]
        assert all(one.title.startswith(paper.short.split(" on ")[0]) for one in _of(name))


def _of(name: str) -> list:
    return [one for one in shipped_summaries() if one.source == name]
