"""Search by a few letters: entries that a text matches, and the matched parts of their titles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

# Quality of a match, best first.
WHOLE, PREFIX, INITIALS, INSIDE, ASIDE, WITHIN, LOOSE, NONE = range(8)
ENOUGH = 20  # matches by words; letters scattered over a title are searched only below this number
LONGEST = 200
MOST_BETWEEN = 8  # characters between two scattered letters: a long title contains any letters
Search = Callable[[str], object]
START = r"(?<![^\W_])"  # start of a word: no letter or digit before it


class SearchEntry(NamedTuple):
    """Entry of a search: `title` is matched first, then `words`; both also in lower case.

    `detail`: its description; `shortcut`: its keys; `reason`: why it is unavailable, "" if it is
    not.
    """

    key: str
    kind: str
    title: str
    detail: str
    shortcut: str
    reason: str
    low: str
    words: str


def make_entry(
    key: str,
    kind: str,
    title: str,
    detail: str = "",
    *,
    shortcut: str = "",
    reason: str = "",
    words: str = "",
) -> SearchEntry:
    """Return an entry of these texts; `words` match as well, and are not shown."""
    low = f"{kind}\n{detail}\n{words}".lower()
    return SearchEntry(key, kind, title, detail, shortcut, reason, title.lower(), low)


def find(
    text: str, entries: Iterable[SearchEntry], used_keys: Sequence[str] = ()
) -> list[SearchEntry]:
    """Return the entries that contain all words of a text, the best first.

    Best is the title itself, then words at the start of its words, then letters that start them one
    after another, then words inside. The rest of the entry follows in the same order. Among equals
    available entries come first, then those used before, the latest foremost, then their order. If
    few are found, titles that have the letters in this order come last.

    >>> some = [make_entry("a", "", "Export figure"), make_entry("b", "", "Copy figure")]
    >>> [one.key for one in find("fig", some)], [one.key for one in find("cf", some)]
    (['a', 'b'], ['b'])
    >>> [one.key for one in find("fig", some, ["b"])]
    ['b', 'a']
    """
    places = {key: place for place, key in enumerate(used_keys)}
    words = _words(text)
    if not words:
        return _first_used(entries, places)
    word_starts = [re.compile(START + re.escape(word)).search for word in words]
    first = initials_regex(words)
    phrase = " ".join(words)
    # Lists of existing entries instead of tuples with ranks: ten thousand new objects per key
    # would trigger the garbage collector, which takes longer than all the rest.
    ranked: list[list[SearchEntry]] = [[] for _ in range(NONE + 1)]
    for one in entries:
        rank = WHOLE if one.low == phrase else _rank(one, words, word_starts, first)
        ranked[rank].append(one)
    if sum(map(len, ranked[:LOOSE])) < ENOUGH:
        loose = subsequence_regex(words).search
        ranked[LOOSE] = [one for one in ranked[NONE] if loose(one.low)]
    return [one for some in ranked[:NONE] for one in _in_turn(some, places)]


def _in_turn(some: Sequence[SearchEntry], places: Mapping[str, int]) -> list[SearchEntry]:
    """Return available entries, those used before first, then unavailable ones."""
    available = _first_used([one for one in some if not one.reason], places)
    return available + [one for one in some if one.reason]


def _first_used(entries: Iterable[SearchEntry], places: Mapping[str, int]) -> list[SearchEntry]:
    """Return all entries, those used before first."""
    before: list[SearchEntry] = []
    unused: list[SearchEntry] = []
    for one in entries:
        (before if one.key in places else unused).append(one)
    before.sort(key=lambda one: places[one.key])
    return before + unused


def _rank(
    one: SearchEntry, words: Sequence[str], word_starts: Sequence[Search], first: re.Pattern[str]
) -> int:
    """Return the quality of the match; NONE if a word is missing."""
    worst = PREFIX
    low = one.low
    for word, search in zip(words, word_starts, strict=True):
        if search(low):
            continue
        if word in low and len(word) > 1:
            worst = max(worst, INSIDE)
        elif search(one.words):
            worst = max(worst, ASIDE)
        elif word in low or word in one.words:
            worst = WITHIN  # nearly every word contains a given letter
        else:
            return INITIALS if first.search(low) else NONE
    return worst


def _words(text: str) -> list[str]:
    """Return the words of the first `LONGEST` characters in lower case, split at white space."""
    return text[:LONGEST].lower().split()


def initials_regex(words: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern of words that start with the first 12 letters in turn, each a group.

    Other words may be between.
    """
    letters = [re.escape(letter) for letter in "".join(words)]
    return re.compile(r"\W.*?".join(rf"{START}({letter})" for letter in letters[:12]))


def subsequence_regex(words: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern of all letters in turn, at most `MOST_BETWEEN` characters apart.

    Each letter is a group. The words are in lower case, as must be the text; at least one letter.
    """
    letters = "".join(words)
    parts = [f"({re.escape(letters[0])})"]
    parts += [
        f"[^{re.escape(letter)}]{{0,{MOST_BETWEEN}}}({re.escape(letter)})" for letter in letters[1:]
    ]
    return re.compile("".join(parts), re.DOTALL)


def match_spans(text: str, title: str) -> list[tuple[int, int]]:
    """Return the matched parts of a title: (start, end), ordered, without overlaps.

    >>> match_spans("fig", "Export figure"), match_spans("cf", "Copy figure")
    ([(7, 10)], [(0, 1), (5, 6)])
    """
    words, low = _words(text), title.lower()
    if not words or len(low) != len(title):  # lowercasing may lengthen a text
        return []
    places = set[int]()
    for word in words:
        match = re.search(START + re.escape(word), low) or re.search(re.escape(word), low)
        if match is not None:
            places.update(range(*match.span()))
    if not places:
        match = initials_regex(words).search(low) or subsequence_regex(words).search(low)
        groups = range(1, match.re.groups + 1) if match is not None else ()
        places.update(match.start(group) for group in groups if match is not None)
    return _spans(sorted(places))


def _spans(places: Sequence[int]) -> list[tuple[int, int]]:
    """Return sorted positions as spans (start, end), adjacent ones joined."""
    spans: list[tuple[int, int]] = []
    for place in places:
        if spans and spans[-1][1] == place:
            spans[-1] = (spans[-1][0], place + 1)
        else:
            spans.append((place, place + 1))
    return spans
