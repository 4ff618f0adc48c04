"""Texts of files in figures and pages: mathtext can set each, and none of its words is markup."""

from __future__ import annotations

import random

import pytest
from matplotlib.cbook import is_math_text
from matplotlib.mathtext import MathTextParser

from core.figures.layout import wrap
from core.figures.numbers import math_words, sentence_words
from core.figures.primitives import plain
from core.figures.story_page import sentence_pieces

ATOMS = (
    *("$", "\\", "<", "&", "\n", "^", "_", "{", "}", "(", ")", "|", " ", "a", "x", "2", "#", "%"),
    *("^(", "10^2", "10^1.5", "1e-6", "6 10^5", "^-3", "gamma_gl", "lambda", "sqrt(", "sqrt "),
    *("log10 ", "W_0", "y_-", "_+", "+-", "<=", "\u00e9", "\u00b2", "\u2212", "\\foo", "<b>"),
    *("\0", "\0" + "7", "\1", "\u2028"),
)
SETTER = MathTextParser("path")


def drawn(words: str) -> str:
    """Return what matplotlib would parse of a text, which raises an error if it cannot."""
    for line in wrap(words, 60.0, 7.0):
        if is_math_text(line):
            SETTER.parse(line)
    return words


@pytest.mark.parametrize(
    "text",
    [
        *("x^(\\foo)", "x^(})", "a^({)", "x^(a_)", "^(%)", "\\10^2 \\foo \\10^3", "^(log10 )"),
        *("foo__bar^2", "x_^2", "^(10^2 a)", "^(sqrt x)", "\\^(x) \\q \\^(y)", "\0" + "7 10^2"),
    ],
)
def test_mathtext_sets_texts_that_look_like_formulas(text: str) -> None:
    drawn(sentence_words(text))
    drawn(math_words(plain(text)))


def test_mathtext_sets_any_text() -> None:
    generator = random.Random(0)
    formulas = 0
    for _ in range(1500):
        text = "".join(generator.choices(ATOMS, k=generator.randint(1, 9)))
        words = drawn(sentence_words(text))
        formulas += is_math_text(words)
    assert formulas > 300


def test_every_word_of_a_text_remains() -> None:
    """Apart from what is typeset, a page has the letters of the text."""
    generator = random.Random(1)
    plain_atoms = ("$", "\\", "<", "&", "{", "}", "a", "\\foo", "<b>", "#", "%", "\\$", "$x$")
    for _ in range(300):
        text = "".join(generator.choices(plain_atoms, k=generator.randint(1, 9)))
        assert sentence_pieces(text) == [(text, "")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("e^(e^x)", "e$^{e^x}$"),
        ("log10 risk^2", "$\\log_{10}$ $risk^{2}$"),
        ("sqrt(gamma_gl) <= 10^(-2)", "\u221a(\u03b3$_{\\mathrm{gl}}$) \u2264 10$^{-2}$"),
    ],
)
def test_mathematics_is_typeset(text: str, words: str) -> None:
    assert drawn(math_words(text)) == words
