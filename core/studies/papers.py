"""Papers that the `source` of a study names, and BibTeX of them and of the program.

Papers under review have neither year nor named authors, and count as unpublished.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import final

import core
from core.program.version import RELEASED
from core.settings import Registry


@final
@dataclass(frozen=True, slots=True)
class Paper:
    """A paper by its short name of docs/theory.md, 1.1. `sentence` is its result.

    `year` is empty if unknown.
    """

    name: str
    short: str
    title: str
    authors: str
    year: str
    sentence: str

    def citation(self, numbering: str = "") -> str:
        """Return authors, title, year, and the cited part.

        >>> PAPERS["frei23"].citation("Theorem 3.2").partition(". ")[0]
        'Frei, Vardi, Bartlett, Srebro, Hu'
        >>> PAPERS["batchnorm"].citation("Lemma C.1").rpartition(". ")[2]
        'Lemma C.1.'
        """
        parts = (self.authors[:1].upper() + self.authors[1:], self.title, self.year, numbering)
        return "".join(f"{part}. " for part in parts if part).rstrip()


PAPERS: Registry[Paper] = Registry(
    attrgetter("name"),
    Paper(
        "telgarsky22",
        "Telgarsky 2022",
        "Feature selection with gradient descent on two-layer networks in low-rotation regimes",
        "Telgarsky",
        "2022",
        "Gradient descent selects features and reaches good margins although neurons barely turn.",
    ),
    Paper(
        "homogeneity",
        "Homogeneity 2024",
        "The ubiquity of 2-homogeneity, how its implicit bias selects features, and other stories",
        "anonymous, under review",
        "2024",
        "Normalised layers are homogeneous in some of their weights, and margins grow in these.",
    ),
    Paper(
        "frei23",
        "Frei et al. 2023",
        "Implicit bias in leaky ReLU networks trained on high-dimensional data",
        "Frei, Vardi, Bartlett, Srebro, Hu",
        "2023",
        "On nearly orthogonal data the limit has rank at most two and a linear decision boundary.",
    ),
    Paper(
        "wei19",
        "Wei et al. 2019",
        "Regularization matters: generalization and optimization of neural nets v.s. their induced "
        "kernel",
        "Wei, Lee, Liu, Ma",
        "2019",
        "A regularised network needs fewer samples than its kernel, and noisy descent finds it.",
    ),
    Paper(
        "batchnorm",
        "Batch norm on shallow networks",
        "Test error guarantees for batch-normalized shallow ReLU networks trained with gradient "
        "descent",
        "anonymous, under review",
        "",
        "With batch norm the margin can be \u221ad times the linear one, and test error drops.",
    ),
    Paper(
        "boursier25",
        "Boursier and Flammarion 2025",
        "Early alignment in two-layer networks training is a two-edged sword",
        "Boursier, Flammarion",
        "2025",
        "From a small start, neurons align before the loss falls, and may then be too few to fit.",
    ),
    Paper(
        "boursier22",
        "Boursier et al. 2022",
        "Gradient flow dynamics of shallow ReLU networks for square loss and orthogonal inputs",
        "Boursier, Pillaud-Vivien, Flammarion",
        "2022",
        "On orthogonal inputs training from small initialisation passes saddles to the least norm.",
    ),
    Paper(
        "morwani24",
        "Morwani et al. 2024",
        "Feature emergence via margin maximization: case studies in algebraic tasks",
        "Morwani, Edelman, Oncescu, Zhao, Kakade",
        "2024",
        "On addition modulo p the maximum margin is known; only single-wave networks attain it.",
    ),
    Paper(
        "cohen21",
        "Cohen et al. 2021",
        "Gradient descent on neural networks typically occurs at the edge of stability",
        "Cohen, Kaur, Li, Kolter, Talwalkar",
        "2021",
        "Sharpness rises to 2/\u03b7 and stays there, while the risk falls non-monotonically.",
    ),
    Paper(
        "cohen22",
        "Cohen et al. 2022",
        "Adaptive gradient methods at the edge of stability",
        "Cohen, Ghorbani, Krishnan, Agarwal, Medapati, Badura, Suo, Cardoze, Nado, Dahl, Gilmer",
        "2022",
        "Adam trains at an edge of stability too, that of its preconditioned sharpness.",
    ),
    Paper(
        "damian21",
        "Damian et al. 2021",
        "Label noise SGD provably prefers flat global minimizers",
        "Damian, Ma, Lee",
        "2021",
        "Noise in the labels drives SGD to fits with a small trace of the Hessian.",
    ),
    Paper(
        "saxe14",
        "Saxe et al. 2014",
        "Exact solutions to the nonlinear dynamics of learning in deep linear neural networks",
        "Saxe, McClelland, Ganguli",
        "2014",
        "Linear networks learn along curves that are known exactly.",
    ),
    Paper(
        "gunasekar18",
        "Gunasekar et al. 2018",
        "Implicit bias of gradient descent on linear convolutional networks",
        "Gunasekar, Lee, Soudry, Srebro",
        "2018",
        "Depth selects the norm: diagonal linear networks of L layers maximise margins over l_2/L.",
    ),
    Paper(
        "benarous21",
        "Ben Arous et al. 2021",
        "Online stochastic gradient descent on non-convex losses from high-dimensional inference",
        "Ben Arous, Gheissari, Jagannath",
        "2021",
        "The first Hermite degree of a target decides how long online steps wait at the start.",
    ),
    Paper(
        "saad95",
        "Saad and Solla 1995",
        "On-line learning in soft committee machines",
        "Saad, Solla",
        "1995",
        "On Gaussian inputs a few order parameters follow equations without a dimension.",
    ),
    Paper(
        "tsilivis25",
        "Tsilivis et al. 2025",
        "Flavors of margin: implicit bias of steepest descent in homogeneous neural networks",
        "Tsilivis, Vardi, Kempe",
        "2025",
        "Steepest descent in a norm raises the margin in that norm: each optimiser has its own.",
    ),
    Paper(
        "chizat19",
        "Chizat et al. 2019",
        "On lazy training in differentiable programming",
        "Chizat, Oyallon, Bach",
        "2019",
        "Scaled up at the start, a network is trained by its kernel and learns no features.",
    ),
)


# ------------------------------------------------------------------------------------------- BibTeX

OWN_KEY = "marginscope"
ANONYMOUS = "anonymous"
# TeX's special characters and their escapes.
ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
CAPITALS = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z])\w+|\b[A-Z]\w*")


def escape_tex(text: str) -> str:
    r"""Escape the characters that TeX acts upon.

    >>> print(escape_tex("50 % of A_1 & {B}"))
    50 \% of A\_1 \& \{B\}
    """
    return "".join(ESCAPES.get(char, char) for char in " ".join(text.split()))


def title_field(title: str) -> str:
    """Brace the capitals of a title, except its first word, so that styles keep them.

    >>> title_field("Implicit bias in leaky ReLU networks")
    'Implicit bias in leaky {ReLU} networks'
    """
    first, _, subtitle = escape_tex(title).partition(" ")
    return f"{first} {CAPITALS.sub(lambda match: '{' + match[0] + '}', subtitle)}".rstrip()


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def own_entry() -> str:
    """Return the entry of the program at this version."""
    title = "{Marginscope}: watching two-layer networks learn"
    fields = {
        "author": "{Marginscope authors}",
        "title": title,
        "year": RELEASED[:4],
        "version": core.__version__,
        "note": "Computer program",
    }
    return _entry("misc", OWN_KEY, fields)


def paper_entry(paper: Paper) -> str:
    """Return the entry of a paper under its short name."""
    review = paper.authors.startswith(ANONYMOUS)
    names = "" if review else " and ".join(escape_tex(name) for name in paper.authors.split(", "))
    fields = {
        "author": names or "{Anonymous authors}",
        "title": title_field(paper.title),
        "year": paper.year,
        "note": "Under review" if review else "",
    }
    return _entry("unpublished" if review else "misc", paper.name, fields)


def papers_in(sources: Iterable[str]) -> tuple[Paper, ...]:
    """Return the papers that sources such as "telgarsky22, Lemma 2.3; wei19" name.

    >>> [paper.name for paper in papers_in(["wei19, section 4", "telgarsky22, Lemma 2.3; own"])]
    ['telgarsky22', 'wei19']
    """
    text = " ".join(sources)
    return tuple(
        paper for paper in PAPERS.values() if re.search(rf"\b{re.escape(paper.name)}\b", text)
    )


def bibtex(sources: Iterable[str]) -> str:
    """Return the entries of the program and of the papers that the sources name."""
    return "\n\n".join([own_entry(), *map(paper_entry, papers_in(sources))]) + "\n"
