"""What a few letters find, in which order, and which letters of it are marked."""

from __future__ import annotations

import random
import re
import string

import pytest

from app.state.text_search import LONGEST, SearchEntry, find, make_entry, match_spans

SOME = [
    make_entry("figure", "File", "Export figure ...", "As PDF"),
    make_entry("copy", "File", "Copy figure", "Into the clipboard"),
    make_entry("off", "File", "Configure", reason="Not now."),
    make_entry("free", "File", "Reconfigure"),
    make_entry("data", "File", "Export data ...", "The figures of the run"),
    make_entry("margins", "View", "Margins"),
    make_entry("norm", "Run", "m = 16, seed = 3", "Figure 1", words="talk"),
]


def keys(text: str, some: list[SearchEntry] = SOME, used: tuple[str, ...] = ()) -> list[str]:
    return [one.key for one in find(text, some, used)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [one.key for one in SOME]),
        ("fig", ["figure", "copy", "free", "off", "data", "norm"]),  # begun, inside, elsewhere
        ("FIG exp", ["figure", "data"]),
        ("cf", ["copy", "free", "off"]),  # initials, strewn
        ("talk", ["norm"]),
        ("run 16", ["norm"]),
        ("mgn", ["margins"]),  # strewn
        ("margins", ["margins"]),
        ("figure 2", []),
        ("(*[", []),
    ],
)
def test_the_best_stands_first(text: str, found: list[str]) -> None:
    assert keys(text) == found


def test_what_was_used_stands_first_among_equals() -> None:
    assert keys("", used=("margins", "copy"))[:2] == ["margins", "copy"]
    assert keys("fig", used=("free", "copy", "data"))[:3] == ["copy", "figure", "free"]


def test_the_title_itself_comes_before_longer_ones() -> None:
    some = [make_entry("a", "Study", "Margins of flow"), make_entry("b", "View", "Margins")]
    assert keys("margins", some, ("a",)) == ["b", "a"]


def test_words_that_are_begun_come_before_letters_inside_of_others() -> None:
    some = [
        make_entry("norm", "Study", "Batch norm", "widths = 64"),
        make_entry("width", "Run", "Another", "m = 64"),
    ]
    assert keys("m = 64", some) == ["width", "norm"]


def brute(text: str, one: SearchEntry) -> bool:
    """Return True if all words are somewhere, or the letters stand in the title in their order."""
    everywhere = f"{one.title}\n{one.kind}\n{one.detail}".lower()
    if all(word in everywhere for word in text.lower().split()):
        return True
    letters = iter(one.title.lower())
    return all(letter in letters for letter in text.lower().replace(" ", ""))


def test_found_is_what_brute_force_finds() -> None:
    generator = random.Random(0)
    letters = "abc  =."
    for _ in range(300):
        titles = ["".join(generator.choices(letters, k=8)) for _ in range(15)]  # all that is few
        some = [make_entry(str(k), "x", title, "ab") for k, title in enumerate(titles)]
        text = "".join(generator.choices(letters, k=3))
        assert sorted(keys(text, some)) == sorted(one.key for one in some if brute(text, one))


def test_marks_are_the_letters_that_were_typed() -> None:
    assert match_spans("exp fig", "Export figure") == [(0, 3), (7, 10)]
    assert match_spans("cf", "Copy figure") == [(0, 1), (5, 6)]
    assert match_spans("gur", "figure, configure") == [(2, 5)]
    assert match_spans("", "figure") == match_spans("zz", "figure") == []
    assert match_spans("i", "\u0130stanbul") == []  # its first letter is two when it is small
    generator = random.Random(1)
    for _ in range(300):
        title = "".join(generator.choices(string.ascii_letters + "  .", k=10))
        text = "".join(generator.choices(string.ascii_lowercase, k=2))
        spans = match_spans(text, title)
        ends = [place for span in spans for place in span]
        assert ends == sorted(ends) and len(ends) == len(set(ends))
        marked = "".join(title[begin:end] for begin, end in spans).lower()
        strewn = re.search(".*".join(text), title.lower())
        assert marked in ("", text) and bool(marked) == bool(strewn)


def test_letters_far_apart_are_no_match() -> None:
    """All letters of "mirror" are in turn in the title of a study that has no mirror."""
    far = make_entry("far", "", "Example 4.1: k-parity under any distribution on the corners")
    near = make_entry("near", "", "Descent and its mirror flow")
    assert [one.key for one in find("mirror", [far, near])] == ["near"]
    assert match_spans("mrr", far.title) == []
    assert [one.key for one in find("mrr", [far, near])] == ["near"]


def test_a_very_long_text_is_cut() -> None:
    assert keys("m" * 100_000) == []
    assert match_spans("m" * (LONGEST + 5), "m" * LONGEST) == [(0, LONGEST)]
