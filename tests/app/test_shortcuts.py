"""Keys of the user's own, beside those of the table."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from app.actions import ROWS
from app.shell.shortcut_keys import (
    DEFAULTS,
    Clash,
    custom_keys,
    find_holder,
    portable_text,
    resolve_keys,
)


def twice(keys: dict[str, str]) -> list[str]:
    return [text for text, count in Counter(keys.values()).items() if text and count > 1]


def test_the_table_alone() -> None:
    assert resolve_keys({}) == (DEFAULTS, ())
    assert {key for key, text in DEFAULTS.items() if text} == {r.key for r in ROWS if r.shortcut}
    assert custom_keys(resolve_keys({})[0]) == {}


def test_own_keys_stand_in_place_of_the_table_s() -> None:
    own = {"save_study": "", "copy_figure": "Ctrl+S"}
    keys, clashes = resolve_keys(own)
    assert (keys["save_study"], keys["copy_figure"]) == ("", "Ctrl+S")
    assert custom_keys(keys) == own
    assert clashes == ()
    assert find_holder(keys, "ctrl+s", "figure") == "copy_figure"
    assert find_holder(keys, "ctrl+s", "copy_figure") == find_holder(keys, "", "figure") == ""


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
    assert resolve_keys(own) == (DEFAULTS, ())


def test_no_two_actions_ever_have_the_same_keys() -> None:
    generator = random.Random(0)
    texts = [*filter(None, DEFAULTS.values()), "", "Ctrl+Alt+Shift+F3"]
    for _ in range(200):
        own = {key: generator.choice(texts) for key in generator.sample(list(DEFAULTS), 12)}
        keys, clashes = resolve_keys(own)
        assert twice(keys) == []
        others = {clash.other: clash.left for clash in clashes}
        # All actions have what the settings or the table say, or a sentence about it.
        wanted = {key: portable_text(own.get(key, text)) for key, text in DEFAULTS.items()}
        assert keys == wanted | others
        assert resolve_keys(custom_keys(keys)) == (keys, ())  # what is kept is what is read


@pytest.mark.parametrize(
    ("own", "clash"),
    [
        # The user's own keys win over usual ones, which are not free then.
        ({"copy_figure": "Ctrl+S"}, Clash("Ctrl+S", "copy_figure", "save_study", "")),
        # Of two that are the user's own the first wins; the other has its usual keys.
        (
            {"film": "Ctrl+Alt+X", "data": "ctrl+alt+x"},
            Clash("Ctrl+Alt+X", "film", "data", "Ctrl+Alt+E"),
        ),
        # The same where the first wants the usual keys of the other.
        (
            {"film": "Ctrl+Alt+E", "data": "Ctrl+Alt+E"},
            Clash("Ctrl+Alt+E", "film", "data", ""),
        ),
    ],
)
def test_a_clash_is_named_and_the_user_s_own_keys_win(own: dict[str, str], clash: Clash) -> None:
    keys, clashes = resolve_keys(own)
    assert clashes == (clash,)
    assert (keys[clash.winner], keys[clash.other]) == (clash.keys, clash.left)
    assert resolve_keys(custom_keys(keys)) == (keys, ())
