"""The papers: what `source` of a study names."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import final

from core.settings import Registry


@final
@dataclass(frozen=True, slots=True)
class Paper:
    """A paper by its short name, as docs/theory.md, 1.1 has it. `sentence` says what it shows;
    `year` is empty where none is known."""

    name: str
    short: str
    title: str
    authors: str
    year: str
    sentence: str

    def citation(self, numbering: str = "") -> str:
        """Authors, title, year, and what of it is meant.

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
        "Gradient descent selects features and reaches good margins while nodes hardly rotate.",
    ),
    Paper(
        "homogeneity",
        "Homogeneity 2024",
        "The ubiquity of 2-homogeneity, how its implicit bias selects features, and other stories",
        "anonymous, under review",
        "2024",
        "Normalised layers are homogeneous in a part of their weights, and margins grow in it.",
    ),
    Paper(
        "frei23",
        "Frei et al. 2023",
        "Implicit bias in leaky ReLU networks trained on high-dimensional data",
        "Frei, Vardi, Bartlett, Srebro, Hu",
        "2023",
        "On nearly orthogonal data the limit has rank two at most and a linear decision boundary.",
    ),
    Paper(
        "wei19",
        "Wei et al. 2019",
        "Regularization matters: generalization and optimization of neural nets v.s. their induced "
        "kernel",
        "Wei, Lee, Liu, Ma",
        "2019",
        "A regularised network needs fewer samples than its kernel, and noise lets it be found.",
    ),
    Paper(
        "batchnorm",
        "Batch norm on shallow networks",
        "Test error guarantees for batch-normalized shallow ReLU networks trained with gradient "
        "descent",
        "anonymous, under review",
        "",
        "With batch norm margins can be sqrt(d) times linear ones, and test errors fall with them.",
    ),
    Paper(
        "boursier25",
        "Boursier and Flammarion 2025",
        "Early alignment in two-layer networks training is a two-edged sword",
        "Boursier, Flammarion",
        "2025",
        "Nodes of a small start align before the loss falls, and may then be too few to fit.",
    ),
    Paper(
        "boursier22",
        "Boursier et al. 2022",
        "Gradient flow dynamics of shallow ReLU networks for square loss and orthogonal inputs",
        "Boursier, Pillaud-Vivien, Flammarion",
        "2022",
        "On orthogonal inputs a small start goes from saddle to saddle, to the least norm.",
    ),
    Paper(
        "morwani24",
        "Morwani et al. 2024",
        "Feature emergence via margin maximization: case studies in algebraic tasks",
        "Morwani, Edelman, Oncescu, Zhao, Kakade",
        "2024",
        "On addition modulo p the largest margin is known, and only single waves have it.",
    ),
    Paper(
        "cohen21",
        "Cohen et al. 2021",
        "Gradient descent on neural networks typically occurs at the edge of stability",
        "Cohen, Kaur, Li, Kolter, Talwalkar",
        "2021",
        "The sharpness rises to 2/eta and stays there, while the risk falls up and down.",
    ),
)
