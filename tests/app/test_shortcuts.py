"""Keys of the user's own, beside those of the table."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from app.actions import ROWS
from app.state.shortcuts import DEFAULTS, differing, holder, portable, resolved


def twice(keys: dict[str, str]) -> list[str]:
    return [text for text, count in Counter(keys.values()).items() if text and count > 1]


def test_the_table_alone() -> None:
    assert resolved({}) == DEFAULTS
    assert {key for key, text in DEFAULTS.items() if text} == {r.key for r in ROWS if r.shortcut}
    assert differing(resolved({})) == {}


def test_own_keys_stand_in_place_of_the_table_s() -> None:
    own = {"save_study": "", "copy_figure": "Ctrl+S"}
    keys = resolved(own)
    assert (keys["save_study"], keys["copy_figure"]) == ("", "Ctrl+S")
    assert differing(keys) == own
    assert holder(keys, "ctrl+s", "figure") == "copy_figure"
    assert holder(keys, "ctrl+s", "copy_figure") == holder(keys, "", "figure") == ""


@pytest.mark.parametrize(
    "own",
    [
        {"no action": "Ctrl+Alt+X"},
        {"run": "Hyper+No"},
        {"run": "Ctrl+K, Ctrl+C"},
        {"run": "\0"},
        {"run": "Ctrl+"},
    ],
)
def test_what_means_nothing_is_passed_over(own: dict[str, str]) -> None:
    assert resolved(own) == DEFAULTS


def test_no_two_actions_ever_have_the_same_keys() -> None:
    generator = random.Random(0)
    texts = [*filter(None, DEFAULTS.values()), "", "Ctrl+Alt+Shift+F3"]
    for _ in range(200):
        own = {key: generator.choice(texts) for key in generator.sample(list(DEFAULTS), 12)}
        keys = resolved(own)
        assert twice(keys) == []
        assert all(keys[key] in ("", portable(text)) for key, text in own.items())
        assert resolved(differing(keys)) == keys  # what is kept is what is read
