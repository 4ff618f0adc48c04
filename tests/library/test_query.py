"""Searches: words, conditions against plain Python on the same values, and what is refused."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any, final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.library.entry import Entry, RunNotes
from core.library.query import query
from tests.support.made_up_library import chosen, entry, many_entries, with_headings

RUNS = (
    entry(1, {"dynamics.kind": "gd"}, {"hard_margin": 0.03}, {"gamma_gl": 0.08}),
    entry(2, None, {"hard_margin": 0.039}, {"gamma_gl": 0.08}, RunNotes("Best", "for Tuesday", ())),
    entry(8, None, {"hard_margin": math.nan}, {"gamma_gl": 0.08}, RunNotes(tags=("talk", "a b"))),
    entry(9, None, {"log10_time": 400.0}, {}, RunNotes(tags=("Talk",)), origin=None),
)


def numbers(text: str) -> list[int]:
    return [int(one.facts.settings["run.seed"]) for one in chosen(with_headings(RUNS), text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [1, 2, 8, 9]),
        ("figure tuesday", [2]),
        ("talk", [8, 9]),
        ('"a b"', [8]),
        ('"a', [1, 2, 8, 9]),  # an opening quote that nothing closes: the letter, as in figure 1
        ("TELGARSKY22 best", [2]),
        ("nothing-of-this", []),
        ("m = 256", [8]),
        ("m >= 256 and hard_margin > .9 * gamma_gl / 2", []),
        ("hard_margin > .9 * gamma_gl / 2", [2]),
        ("m>=4 and not m>=256", [2]),
        ("m >= 256 or m < 3", [1, 8, 9]),
        ("share > .9", [2]),
        ("2 < m <= 256", [2, 8]),
        ("2 m < 2^3", [1]),
        ("hard_margin != 0.03", [2]),
        ("not hard_margin == 0.03", [2, 8, 9]),
        ("hard_margin == hard_margin", [1, 2]),
        ("hard_margin / 0 > 1", []),
        ("min(hard_margin, 1) < 1", [1, 2]),
        ("hard_margin^0 == 1", [1, 2]),
        ("network.m == 4", [2]),
        ("seed == 8", [8]),
        ("dynamics == 'gd'", [1]),
        ('dynamics.kind == "GD"', [1]),
        ('tag == "talk"', [8, 9]),
        ('tag != "talk"', [1, 2]),
        ('tag = "a b" and "figure"', [8]),
        ('"best" or tag == "a b"', [2, 8]),
        ('"best" or "talk"', [2, 8, 9]),
        ('date >= "2026-11-09"', [8, 9]),
        ('date == "2026-11"', [1, 2, 8, 9]),
        ("size > 2 kB", [8, 9]),
        ("t > 1e300", [9]),
        ('name == "best"', [2]),
        ('m == "256"', []),
        ("data.n > 0", []),
        ("violated == 0", []),
        ('note == "x = y"', []),
        ("trashed == false", [1, 2, 8, 9]),
        ("-m < -255", [8, 9]),
    ],
)
def test_what_is_found(text: str, found: list[int]) -> None:
    assert numbers(text) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("m >", "is not a condition"),
        ("m == 2 and", "is not a condition"),
        ("figure seed=1", 'with words, "figure 1" and m > 16'),
        ("hard_margn > 1", "did you mean 'hard_margin'"),
        ("network.mm > 1", "did you mean 'network.m'"),
        ("dynamics == gd", "write it in quotes"),
        ("network.kind == qqqq", "put text in quotes"),
        ("kind == 'flow'", "may be data.kind or dynamics.kind"),
        ("m and n > 2", "m has no comparison"),
        ("tag > 'a'", "write tag =="),
        ("tag == m", "write tag =="),
        ("m in (1, 2) and m > 0", "compare values by"),
        ("exp(m) > 2", "exp is not a function"),
        ("m.real.imag > 1", "not a setting"),
        ("__import__('os') == 1", "not a function"),
        ("[m] == 1", "not a formula"),
        ("(lambda: 1)() == 1", "not a formula"),
        ("m > " + "-" * 300 + "1", "nested"),
        ("not " * 150 + "m > 1", "nested"),
        ("m > " + "9" * 500, "too large"),
        ("m > " + "1 + " * 300 + "1", "characters"),
        ("m := 3 > 2", "is not a condition"),
        ("'a' 'b' > m > 'c", "is not a condition"),
    ],
)
def test_what_is_not_understood_is_said_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        query(text)
    assert words in str(caught.value)
    assert str(caught.value).endswith((".", "?"))


# ------------------------------------------------------------------------- against plain Python

NAMES = {"m": "network.m", "seed": "run.seed", "hard_margin": "", "gamma_gl": ""}
SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
SIGNS |= {"==": operator.eq, "!=": operator.ne}
BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


@final
@dataclass(frozen=True)
class Tree:
    """A piece of a condition: its text, and its value for a run."""

    text: str
    value: Any


def known(name: str, run: Entry) -> float:
    key = NAMES[name]
    where = run.facts.settings if key else {**run.facts.results, **run.facts.margins}
    return float(where.get(key or name, math.nan))


def joined(left: Tree, sign: str, right: Tree) -> Tree:
    def value(run: Entry) -> float:
        try:
            return float(BINARY[sign](left.value(run), right.value(run)))
        except ZeroDivisionError:
            return math.nan

    return Tree(f"({left.text} {sign} {right.text})", value)


def compared(left: Tree, sign: str, right: Tree) -> Tree:
    def value(run: Entry) -> bool:
        a, b = left.value(run), right.value(run)
        return not math.isnan(a) and not math.isnan(b) and bool(SIGNS[sign](a, b))

    return Tree(f"{left.text} {sign} {right.text}", value)


def both(left: Tree, word: str, right: Tree) -> Tree:
    fold = all if word == "and" else any
    return Tree(
        f"({left.text} {word} {right.text})",
        lambda run: fold((left.value(run), right.value(run))),
    )


CONSTANTS = st.floats(0.0, 2e3).map(lambda x: Tree(repr(x).removeprefix("0") or "0", lambda _: x))
LEAVES = CONSTANTS | st.sampled_from(sorted(NAMES)).map(
    lambda name: Tree(name, lambda run: known(name, run))
)
SUMS = st.recursive(
    LEAVES,
    lambda some: st.builds(joined, some, st.sampled_from(sorted(BINARY)), some),
    max_leaves=5,
)
COMPARED = st.builds(compared, SUMS, st.sampled_from(sorted(SIGNS)), SUMS)
CONDITIONS = st.recursive(
    COMPARED,
    lambda some: (
        st.builds(both, some, st.sampled_from(["and", "or"]), some)
        | some.map(lambda tree: Tree(f"(not {tree.text})", lambda run: not tree.value(run)))
    ),
    max_leaves=5,
)
MANY = many_entries(60)


@given(CONDITIONS)
def test_conditions_are_those_of_plain_python(tree: Tree) -> None:
    assert chosen(MANY, tree.text) == [run for run in MANY if tree.value(run)]


@given(st.text(max_size=60) | st.text("m<>=!()\"' .9andortnk^*/-", max_size=40))
def test_any_text_is_a_search_or_a_sentence(text: str) -> None:
    try:
        found = chosen(MANY, text)
    except InputError as error:
        assert str(error).endswith((".", "?"))
    else:
        assert all(any(one is run for run in MANY) for one in found)
