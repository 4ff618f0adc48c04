"""Pages of every observable, reference margin and statement, from their registries."""

from __future__ import annotations

from collections.abc import Iterator

from core.observables.observable import Observable
from core.observables.registry import OBSERVABLES, explain
from core.observables.view_help import VIEWS, Help
from core.reference.registry import REFERENCES
from core.studies.papers import PAPERS, Paper
from core.theorems.registry import STATEMENTS
from core.theorems.statement import Statement, Verdict
from docs.site.markup import code, contents, facts, formula, page, plain, table

OBSERVED = """\
Every quantity of one frame that the program computes. Its name is a curve in the window, a column
of tables, `run["NAME"]` in Python, and a name in formulas of figures and claims. The same text is
printed by `python -m core describe observables`, and by the ? of a view.

`p_i` is the margin of example i before any normalisation, `alpha_j` and `u_j` are the effective
weights of neuron j, `W` the parameters in which the network is homogeneous and `L` its degree;
[the glossary](../glossary.md) has every symbol. At a run that a quantity does not apply to it is
left out of tables. No value is infinite: what is beyond float64 is NaN."""
PROMISED = """\
The margins that theory promises for a data set. Each is computed beside the training as a bracket
`lower <= value <= upper` with the method behind it, and is *certified* where both ends are proved.
`python -m core margins STUDY` prints them, `run.margins()` gives them in Python, and the view of
margins draws those that are comparable with margins divided by |W|^2 as dashed lines.
[Theory](../theory.md#5-reference-margins) tells what they are good for."""
JUDGED = """\
Every statement that the program judges on a run: `python -m core theorems RUN`, `run.theorems()` in
Python, or the panel at the right of the window. Each of its hypotheses is *met*, *not met*, or
*not decided*, and the verdict is one of these:"""
MEANT = {
    Verdict.HOLDS: "all hypotheses are met, and so is the conclusion",
    Verdict.HOLDS_ANYWAY: "the conclusion is met, a hypothesis is not, or is not decided",
    Verdict.VIOLATED_NOT_MET: "neither the conclusion is met nor all hypotheses are",
    Verdict.VIOLATED: "all hypotheses are met, and the conclusion is not: a slip of the text, or "
    "an error of the program",
    Verdict.NO_CONSTANT: "the conclusion has O(.), which a number can neither meet nor miss",
    Verdict.TEXT_SLIP: "a printed constant that is known to be wrong is evaluated as it stands",
    Verdict.UNDECIDED: "a limit before its time, or a margin that is not known",
}


def observables() -> str:
    """Return the page of all observables."""
    rows = [
        (f"[{code(one.name)}](#{one.name})", plain(one.title), _count_words(one))
        for one in OBSERVABLES.values()
    ]
    return page(
        "# Observables",
        OBSERVED,
        table(("name", "what it is", "one number"), rows),
        *(_observable(one) for one in OBSERVABLES.values()),
        "## What views show",
        *(_view(help_) for help_ in VIEWS.values()),
    )


def _count_words(one: Observable) -> str:
    """Return what an observable has one number for: "per frame", "per neuron", "per example"."""
    return one.shape.value.partition(",")[0].removeprefix("one number ")


def _observable(one: Observable) -> str:
    known = explain(one.name)
    told = facts(
        [
            ("in words", code(one.formula)),
            ("how many", one.shape.value),
            ("unit", plain(one.unit)),
            ("normalisation", plain(known.normalisation)),
            ("source", plain(one.source)),
            ("for", plain(one.where)),
            ("cost", "a table of all frames may take long" if one.costly else ""),
        ]
    )
    return page(f"## {one.name}", f"{_sentence(one.title)}", _math(one.tex), told).rstrip()


def _view(known: Help) -> str:
    told = facts(
        [
            ("in words", code(known.formula)),
            ("normalisation", plain(known.normalisation)),
            ("source", plain(known.source)),
        ]
    )
    return page(f"### {_sentence(known.title, '')}", _math(known.tex), told).rstrip()


def margins() -> str:
    """Return the page of all reference margins."""
    return page("# Reference margins", PROMISED, *_each_margin())


def _each_margin() -> Iterator[str]:
    for one in REFERENCES.values():
        drawn = "listed, not drawn"
        if one.factor is not None:
            drawn = f"{one.factor:g} of it over |W|^2, as {one.label}"
        told = facts(
            [
                ("definition", code(one.formula)),
                ("source", plain(one.source)),
                ("for", plain(one.where)),
                ("in the view of margins", plain(drawn)),
                (
                    "by chance",
                    f"its bracket holds but for a chance of {one.failure:g}" if one.failure else "",
                ),
            ]
        )
        yield page(f"## {one.name}", _sentence(one.title), told).rstrip()


def of_paper(paper: Paper) -> tuple[Statement, ...]:
    """Return the statements of one paper, in the order of the registry."""
    return tuple(one for one in STATEMENTS.values() if one.source == paper.name)


def papers() -> tuple[Paper, ...]:
    """Return the papers that have statements."""
    return tuple(one for one in PAPERS.values() if of_paper(one))


def statements() -> str:
    """Return the page of verdicts, with the list of the papers' pages."""
    rows = [(f"*{verdict.value}*", MEANT[verdict]) for verdict in Verdict]
    counts = [
        (f"[{plain(one.short)}](theorems-{one.name}.md)", str(len(of_paper(one))))
        for one in papers()
    ]
    return page(
        "# Theorems",
        JUDGED,
        table(("verdict", "what it means"), rows),
        "The formulas are the papers' conclusions as the program evaluates them; where a text "
        "slips, a note says what is evaluated in its place. "
        "[Theory](../theory.md#8-statements-judged-and-the-slips-of-the-texts) has every constant.",
        table(("paper", "statements"), counts),
        contents([f"theorems-{one.name}" for one in papers()]),
    )


def statements_of(paper: Paper) -> str:
    """Return the page of one paper's statements."""
    return page(
        f"# Theorems of {plain(paper.short)}",
        f"{plain(paper.citation())} {plain(paper.sentence)}",
        *(_statement(one) for one in of_paper(paper)),
    )


def _statement(one: Statement) -> str:
    told = facts(
        [
            ("for", plain(one.where)),
            ("verdict", "" if one.constants else "none: the conclusion states no constant"),
            ("slip of the text", plain(one.slip)),
        ]
    )
    return page(f"## {plain(one.name)}", plain(one.text), _math(one.formula), told).rstrip()


def _math(tex: str) -> str:
    return formula(tex) if tex else ""


def _sentence(text: str, end: str = ".") -> str:
    """Return a title as a sentence.

    >>> _sentence("the risk")
    'The risk.'
    """
    return plain(text[:1].upper() + text[1:]) + end
