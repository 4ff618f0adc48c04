"""Numbers, margins and names of statements as shown on the screen."""

from __future__ import annotations

import html
import math
import re
from functools import lru_cache
from html.entities import html5
from typing import TYPE_CHECKING

from core.numbers import MINUS, number_text, raise_powers

if TYPE_CHECKING:
    from core.reference.margin import Bracket, ReferenceMargin


def shown_number(value: float, digits: int = 3) -> str:
    """Return a number for a panel, a dash for NaN."""
    return "\u2013" if math.isnan(value) else raise_powers(number_text(value, digits))


GREEK = "alpha|beta|gamma|delta|epsilon|eta|kappa|lambda|mu|rho|sigma|tau|theta|phi"
LETTER = re.compile(rf"(?<![A-Za-z])({GREEK})(?![A-Za-z])")
# At most three letters before the underscore: train_error is a name, not a symbol with an index.
# An index may be a sign, as in D_+. Raised digits are powers, never part of an index.
RAISED_DIGITS = "\u00b2\u00b3\u00b9\u2070-\u2079"
SYMBOL = re.compile(rf"(?<![A-Za-z0-9])([^\W\d_]{{1,3}})_([^\W{RAISED_DIGITS}]+|[+-](?!\w))")
WORDS = (  # between spaces, so not within names of observables
    (re.compile(r"\blog10\b"), "log\u2081\u2080"),
    (re.compile(r"\bl1\b"), "\u2113\u2081"),
    (re.compile(r"\blinf\b"), "\u2113\u221e"),
    (re.compile(r"\bgrad R\b"), "\u2207R"),
)
ROOT = re.compile(r"\bsqrt(?:\((\w+)\)|(?=\()| (?=\w))")
BRACKETED_POWER = re.compile(r"\^\(([^()]+)\)")
DECIMAL_POWER = re.compile(rf"(?<=10)\^({MINUS}?\d+\.\d+)")
SHORT = (("Theorem", "Thm"), ("Proposition", "Prop"), ("Corollary", "Cor"), ("Assumption", "Ass"))
CLOSE = 1e-3  # relative gap up to which a certified bracket is not mentioned
WIDEST_DIGITS, FEWEST_DIGITS = 5, 2


def greek(text: str) -> str:
    r"""Replace names of Greek letters, roots and relations by their signs, and raise powers.

    Subscripts remain behind an underscore, except for those of log10, l1 and linf.

    >>> greek("gamma_gl / 2") == "\u03b3_gl / 2"
    True
    >>> greek("gamma_star") == "\u03b3*"
    True
    >>> greek("log10 risk, l1 margin, log10_risk") == (
    ...     "log\u2081\u2080 risk, \u2113\u2081 margin, log10_risk"
    ... )
    True
    >>> greek("margin linf") == "margin \u2113\u221e"
    True
    >>> greek("|grad R|") == "|\u2207R|"
    True
    >>> greek("sqrt(d) sqrt(8 d)") == "\u221ad \u221a(8 d)"
    True
    """
    text = text.replace("<=", "\u2264").replace(">=", "\u2265").replace("_star", "*")
    text = ROOT.sub(lambda root: f"\u221a{root[1] or ''}", text)
    for word, sign in WORDS:
        text = word.sub(sign, text)
    return LETTER.sub(_letter, raise_powers(text))


def _letter(match: re.Match[str]) -> str:
    """Return the letter of a name that HTML knows, such as alpha."""
    return html5[f"{match[1]};"]


@lru_cache(maxsize=512)
def pieces(text: str) -> tuple[tuple[str, bool], ...]:
    r"""Return Greek text in pieces, each with True for a subscript.

    >>> [part.encode("ascii", "replace").decode() for part, _ in pieces("gamma_gl / 2")]
    ['?', 'gl', ' / 2']
    >>> [low for _, low in pieces("gamma_gl / 2")]
    [False, True, False]
    >>> pieces("|D_+|")
    (('|D', False), ('+', True), ('|', False))
    """
    parts: list[tuple[str, bool]] = []
    text, start = greek(text), 0
    for match in SYMBOL.finditer(text):
        parts += [(text[start : match.end(1)], False), (match[2].replace("-", MINUS), True)]
        start = match.end()
    return tuple((part, low) for part, low in (*parts, (text[start:], False)) if part)


def rich(text: str) -> str:
    r"""Return Greek text as escaped rich text of Qt.

    >>> rich("gamma_ntk < 1") == "\u03b3<sub>ntk</sub> &lt; 1"
    True
    >>> rich("gamma_ntk^2") == "\u03b3<sub>ntk</sub>\u00b2"
    True
    >>> rich("t = 10^-1.74") == "t = 10<sup>\u22121.74</sup>"
    True
    """
    return "".join(
        f"<sub>{html.escape(part)}</sub>" if low else _with_powers(html.escape(part))
        for part, low in pieces(text)
    )


def _with_powers(escaped: str) -> str:
    """Raise powers in brackets, and powers of ten with decimals: Unicode has no raised point."""
    return DECIMAL_POWER.sub(r"<sup>\1</sup>", BRACKETED_POWER.sub(r"<sup>\1</sup>", escaped))


def margin_digits(bracket: Bracket) -> int:
    """Return the number of digits that the bracket determines, plus one.

    >>> from core.reference.margin import Bracket
    >>> margin_digits(Bracket(0.08126, 0.08128, 0.08127, True, ""))
    4
    """
    gap = bracket.gap
    # An exact value: views show four digits of every margin.
    if not gap > 0.0:
        return 4
    return min(max(math.floor(-math.log10(gap)) + 1, FEWEST_DIGITS), WIDEST_DIGITS)


def margin_text(bracket: Bracket) -> str:
    """Return a margin's value with its certain digits; a bound, or a dash, if unknown."""
    if bracket.is_unresolved:
        return raise_powers(f"\u2264 {number_text(bracket.upper, FEWEST_DIGITS)}")
    if not bracket.exists:
        return "\u2013"
    return raise_powers(number_text(bracket.value, margin_digits(bracket)))


def certainty(margin: ReferenceMargin) -> str:
    r"""Return in a few words how reliable a margin is, with the chance of a drawn one to fail.

    >>> from dataclasses import replace
    >>> from core.reference.margin import Bracket, ReferenceMargin, exact_bracket
    >>> from core.reference.registry import REFERENCES
    >>> first = ReferenceMargin(REFERENCES["gamma_gl"], exact_bracket(0.5, ""), 0.0)
    >>> wide, guess = Bracket(0.4, 0.5, 0.4, True, ""), Bracket(0.4, 0.5, 0.5, False, "")
    >>> [certainty(replace(first, bracket=one)) for one in (first.bracket, wide, guess)]
    ['cert.', 'gap 20 %', 'heuristic']
    >>> drawn = ReferenceMargin(REFERENCES["gamma_ntk"], guess, 0.0)
    >>> certainty(drawn) == "but for 10\u207b\u2076"
    True
    """
    bracket = margin.bracket
    if not bracket.exists:
        return "open" if bracket.is_unresolved else ""
    if not bracket.certified:
        return raise_powers(margin.certainty.replace("holds except with probability", "but for"))
    return "cert." if not bracket.gap > CLOSE else f"gap {percent(bracket.gap)}"


def emphasise(rich_text: str) -> str:
    """Emphasise rich text in the heaviest weight of the typeface; <b> would smear it."""
    return f"<span style='font-weight:600'>{rich_text}</span>"


def percent(share: float) -> str:
    """Return a fraction in per cent.

    >>> percent(0.2), percent(0.004)
    ('20 %', '0.4 %')
    """
    return f"{100.0 * share:.2g} %"


def margin_tip(margin: ReferenceMargin) -> str:
    """Return a margin's meaning, bracket and method as rich text."""
    reference, bracket = margin.reference, margin.bracket
    lines = [emphasise(rich(reference.title)), rich(reference.formula)]
    if bracket.exists:
        ends = f"{shown_number(bracket.lower, 6)} to {shown_number(bracket.upper, 6)}"
        proved = raise_powers(margin.certainty)
        lines.append(f"{shown_number(bracket.value, 6)}, bracket {ends}: {proved}.")
    lines.append(rich(bracket.method))
    lines.append(
        f"Computed in {shown_number(margin.seconds, 2)} s. Source: {rich(reference.source)}"
    )
    return "".join(f"<p>{line}</p>" for line in lines)


def with_article(title: str) -> str:
    """Return the title of a margin as the object of a sentence.

    >>> with_article("Global margin")
    'the global margin'
    """
    return f"the {title[:1].lower()}{title[1:]}"


def short_name(name: str) -> str:
    """Shorten a statement's numbering.

    >>> short_name("Theorem 2.2"), short_name("Lemma A.3")
    ('Thm 2.2', 'Lemma A.3')
    """
    for long, short in SHORT:
        name = re.sub(rf"\b{long}\b", short, name)
    return name
