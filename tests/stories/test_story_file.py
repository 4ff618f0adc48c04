"""Story files: round trips, strict reading, and files from strangers that are refused in words."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.figures.story_page import sentence_pieces
from core.runs import open_run
from core.stories.story import (
    LONGEST_SENTENCE,
    MOST_MOMENTS,
    Story,
    StoryMoment,
    StoryRun,
    drop_moment,
    insert_moment,
    move_moment,
)
from core.stories.story_file import (
    MOST_BYTES,
    check_run_names,
    find_runs,
    load_story,
    parse_story,
    relative_run,
    save_story,
    story_text,
)
from tests.support.pages import HOSTILE, flat
from tests.support.run_files import record

MOMENTS = (
    StoryMoment(-math.inf, "It starts."),
    StoryMoment(2.5, "gamma_gl < 10^1.5", ("neurons", "margins"), "margins"),
    StoryMoment(-7.0, HOSTILE.replace("\u2028", " ")),
)
STORY = Story(
    "A talk", MOMENTS, (StoryRun("a.msrun", "0123"), StoryRun("../b.msrun")), "", ("risk",)
)
GOOD = json.loads(story_text(STORY))
WRONG: dict[str, dict[str, Any]] = {
    "another kind": {"kind": "story"},
    "a later version": {"version": 2},
    "truth for a version": {"version": True},
    "an unknown part": {"script": "alert(1)"},
    "no runs": {"runs": []},
    "runs and a study": {"study": "saxe14-modes"},
    "a path for a study": {"runs": [], "study": "../../etc/passwd"},
    "a study with markup": {"runs": [], "study": "<b>"},
    "a run without path": {"runs": [{"path": ""}]},
    "a zero byte": {"runs": [{"path": "a\0b"}]},
    "a long path": {"runs": [{"path": "a" * 1001}]},
    "many runs": {"runs": [{"path": f"{k}.msrun"} for k in range(11)]},
    "a number for a title": {"title": 1},
    "a long title": {"title": "a" * 201},
    "a table of moments": {"moments": {"a": 1}},
    "many moments": {"moments": [{"log10_time": 0.0}] * (MOST_MOMENTS + 1)},
    "a moment without time": {"moments": [{"sentence": "a"}]},
    "no number": {"moments": [{"log10_time": math.nan}]},
    "infinity": {"moments": [{"log10_time": math.inf}]},
    "a huge number": {"moments": [{"log10_time": 1e300}]},
    "truth for a time": {"moments": [{"log10_time": True}]},
    "a text for a time": {"moments": [{"log10_time": "1"}]},
    "a long sentence": {"moments": [{"log10_time": 0.0, "sentence": "a" * 501}]},
    "a list for a sentence": {"moments": [{"log10_time": 0.0, "sentence": ["a"]}]},
    "a view with markup": {"moments": [{"log10_time": 0.0, "views": ["<b>"]}]},
    "a view twice": {"moments": [{"log10_time": 0.0, "views": ["norms", "norms"]}]},
    "an enlarged view that is not shown": {
        "moments": [{"log10_time": 0.0, "views": ["norms"], "enlarged": "margins"}]
    },
    "a curve with markup": {"curves": ["a b"]},
}


def test_a_story_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "talk.story.json"
    save_story(STORY, path)
    assert load_story(path) == STORY
    assert json.loads(path.read_text())["moments"][0]["log10_time"] is None
    save_story(load_story(path), path)
    assert load_story(path) == STORY


def test_texts_are_trimmed_to_one_line_and_otherwise_unchanged() -> None:
    story = replace(STORY, moments=(StoryMoment(0.0, "  two\n lines <i>\t"),))
    (moment,) = parse_story(story_text(story)).moments
    assert moment.sentence == "two lines <i>"


@pytest.mark.parametrize("name", WRONG)
def test_other_files_are_refused_in_a_sentence(name: str) -> None:
    text = json.dumps({**GOOD, **WRONG[name]})
    with pytest.raises(InputError) as refused:
        parse_story(text, "a.story.json")
    sentence = refused.value.sentence
    assert "a.story.json" in sentence
    assert len(sentence) < 600
    assert sentence.endswith(".")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "1" * 5000, "[" * 100_000, '{"kind":' * 5000, '"' + "a" * 1000 + '"'],
)
def test_what_is_no_story_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_story(text)


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.story.json"
    path.write_text(" " * (MOST_BYTES + 1))
    with pytest.raises(InputError, match="larger than"):
        load_story(path)


def test_changed_files_are_stories_or_are_refused() -> None:
    """A small fuzz: bytes of a story are changed; nothing but InputError is raised."""
    chance = random.Random(7)
    text, pieces = story_text(STORY), ['"', "{", "[", "null", "1e999", "NaN", "\\u0000", "<", "-"]
    read = 0
    for _ in range(600):
        letters = list(text)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(letters))
            letters[place : place + chance.randint(0, 6)] = chance.choice(pieces)
        try:
            story = parse_story("".join(letters))
        except InputError:
            continue
        read += 1
        assert len(story.moments) <= MOST_MOMENTS
        assert all(len(one.sentence) <= LONGEST_SENTENCE for one in story.moments)
        for one in story.moments:  # a page shows what remains as text, whatever it is
            assert all(
                style in ("", "i", "^", "_", "^i", "_i")
                for _, style in sentence_pieces(one.sentence)
            )
        assert parse_story(story_text(story)) == story
    assert 0 < read < 600


def test_sentences_become_text_with_powers_and_indices() -> None:
    assert flat(sentence_pieces(HOSTILE.replace("\u2028", " "))) == HOSTILE.replace("\u2028", " ")
    pieces = sentence_pieces("At t = 10^1.5: gamma_gl <= 3 $ and 2^4")
    assert ("1.5", "^") in pieces
    assert ("gl", "_") in pieces
    assert ("4", "^") in pieces
    assert flat(pieces).replace("\u2009", " ").startswith("At t = 101.5: \u03b3gl \u2264 3 $")


# ---------------------------------------------------------------------------------- editing


def test_moments_are_moved_dropped_and_inserted() -> None:
    story = Story(moments=tuple(StoryMoment(float(k), str(k)) for k in range(4)))

    def order(one: Story) -> str:
        return "".join(moment.sentence for moment in one.moments)

    for place in range(4):
        for target in range(4):
            letters = list("0123")
            letters.insert(target, letters.pop(place))
            assert order(move_moment(story, place, target)) == "".join(letters)
    assert order(drop_moment(story, 1)) == "023"
    assert order(insert_moment(story, 4, StoryMoment(9.0, "9"))) == "01239"


# ------------------------------------------------------------------------------------- runs


def test_runs_are_found_beside_the_story_and_by_name(tmp_path: Path) -> None:
    runs, talks = tmp_path / "runs", tmp_path / "talks"
    runs.mkdir()
    talks.mkdir()
    path = record(runs / "a.msrun")
    with open_run(path) as run:
        name = run.name
    named = relative_run(path, talks, name)
    assert named == StoryRun("../runs/a.msrun", name)
    story = Story("", MOMENTS, (named,))
    assert [one.resolve() for one in find_runs(story, talks)] == [path.resolve()]
    moved = talks / "other name.msrun"
    path.rename(moved)
    assert find_runs(story, talks) == [moved]
    with pytest.raises(InputError, match="copy the run beside the story"):
        find_runs(Story("", MOMENTS, (replace(named, name=""),)), talks)
    # Another run under the same name is not the story's.
    record(path)
    with open_run(path) as other:
        assert other.name != name
        with pytest.raises(InputError, match="another run"):
            check_run_names(story, [other])
    moved.unlink()
