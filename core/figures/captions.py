"""Captions of figures: what the panels of runs show."""

from __future__ import annotations

from collections.abc import Sequence

from core.figures.palette import Palette
from core.figures.primitives import NO_BREAK

CAPTIONS = {
    "neurons": (
        "trajectories of {nodes} on {plane}, {classes}, scaled as stated, larger where more "
        "examples coincide"
    ),
    "rotations": (
        "$\\langle v_j(0),v_j(t)\\rangle\\,/\\,\\Vert v_j(0)\\Vert\\,\\Vert v_j(t)\\Vert$, sorted, "
        "at the moments above"
    ),
    "norms": (
        "$|a_j|\\,\\Vert v_j\\Vert\\,/\\,\\mathrm{max}_k\\,|a_k|\\,\\Vert v_k\\Vert$, sorted, "
        "at the same moments"
    ),
    "margins": (
        "{margin}, its smoothed version, and half the $\\ell_1$ margin; a triangle marks a curve "
        "that enters from below"
    ),
    "curves": "the quantities named above the curves, each on its own axis",
    "spectrum": "the leading singular values of the inner weights $V$",
    "predictor": (
        "the predictor $f$ on two coordinates, the others 0: its sign in the colours of the "
        "classes, deeper for larger $|f|$, with levels at quarters of the largest"
    ),
    "kernel": (
        "the tangent kernel $K_{ir}\\,/\\,(K_{ii}K_{rr})^{1/2}$, "
        "$K_{ir}=\\langle\\nabla f_i,\\nabla f_r\\rangle$, of the examples, sorted by class or "
        "target: deeper for larger cosines, in the colours of their signs"
    ),
    "waves": (
        "the power of each neuron at each frequency, deeper for larger amplitudes; neurons are "
        "sorted by their frequency"
    ),
    "phases": (
        "$\\vartheta_u+\\vartheta_v$ against $\\vartheta_w$ of each neuron at its frequency, "
        "larger for larger $|\\theta_j|$; the best networks lie on the line"
    ),
}
WEIGHTS, UNIT = "$|a_j|\\,v_j$", "$v_j/|v_j|$"
OF_NODES = (
    "blue where $a_j>0$ at the end and vermilion where $a_j<0$, {stronger} for larger "
    "$|a_j|\\,\\Vert v_j\\Vert$; "
)
TWO_CLASSES = OF_NODES + "plus and cross: data with $y=1$ and $y=-1$"
REAL = OF_NODES + "plus and cross: data with $y>0$ and $y\\leq 0$"
SEVERAL = (
    "in the colour of the class of a neuron's largest outer weight at the end, {stronger} for "
    "larger $\\Vert A_j\\Vert\\,\\Vert v_j\\Vert$; pluses: data in the colours of their classes"
)


def captions(
    letters: Sequence[tuple[str, str]],
    palette: Palette,
    data: str = TWO_CLASSES,
    plane: str = "two coordinates",
    norms: Sequence[str] = (),
    nodes: str = WEIGHTS,
) -> str:
    """Return what the panels show, as one text.

    Parameters
    ----------
    letters : sequence of (str, str)
        Letters of the panels of a kind, "" for a single panel, and the kind.
    palette : Palette
        Colours of the figure.
    data : str
        Words for colours and signs: TWO_CLASSES, SEVERAL or REAL.
    plane : str
        Plane of the trajectories, in words.
    norms : sequence of str
        TeX of what the margins of each run are divided by, for panels of margins.
    nodes : str
        What the trajectories are of: WEIGHTS or UNIT.

    Returns
    -------
    str
        Clauses with semicolons between them, and mathtext between dollar signs.
    """
    stronger = "darker" if palette.name == "light" else "lighter"
    # No-break spaces keep panel letters with the following words.
    parts = [
        (f"{names.replace(' ', NO_BREAK)}:{NO_BREAK}" if names else "") + CAPTIONS[kind]
        for names, kind in letters
    ]
    text = "; ".join(parts) + "."
    filled = {
        "classes": data,
        "stronger": stronger,
        "plane": plane,
        "margin": margin_words(norms, next((n for n, kind in letters if kind == "margins"), "")),
        "nodes": nodes,
    }
    for place, words in filled.items():
        text = text.replace(f"{{{place}}}", words)
    return text


def margin_words(norms: Sequence[str], letters: str) -> str:
    r"""Return the normalised margin of a figure's runs, or several with their panels' letters.

    >>> margin_words(["N", "N"], "a, b")
    '$\\mathrm{min}_i\\,p_i\\,/\\,N$'
    >>> margin_words(["N", "M"], "a, b")
    '$\\mathrm{min}_i\\,p_i\\,/\\,N$ (a) or $\\mathrm{min}_i\\,p_i\\,/\\,M$ (b)'
    """
    panels: dict[str, list[str]] = {}
    for norm, letter in zip(norms, letters.split(", "), strict=False):
        panels.setdefault(norm, []).append(letter)
    words = {norm: f"$\\mathrm{{min}}_i\\,p_i\\,/\\,{norm}$" for norm in panels}
    if len(panels) == 1:
        return "".join(words.values())
    return " or ".join(f"{words[norm]} ({', '.join(some)})" for norm, some in panels.items())
