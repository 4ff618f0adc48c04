"""Notes on flows that stand still while some example is misclassified.

Facts are a dictionary with `log10_time`, `risk`, `gradient`, which is |grad R|, and `wrong` of `of`
examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.numbers import number_text, time_text

Facts = Mapping[str, Any]
STEPS_THEN = {  # depends on whether the dynamics has implicit steps
    True: "implicit steps along the kinks, each verified by two half steps",
    False: "steps proportional to t, so each further decade takes ten times as long",
}


def describe_rest(facts: Facts) -> str:
    """Return the note of a flow whose later frames all repeat one."""
    return (
        f"The flow came to rest at {time_text(facts['log10_time'])}, while {_wrong_text(facts)}: "
        f"{_risk_text(facts)}. All later frames repeat this one. Try another seed or start."
    )


def describe_slow_flow(facts: Facts, slides: bool) -> str:
    """Return the note of a flow that hardly moves; `slides` if it has implicit steps."""
    return (
        f"At {time_text(facts['log10_time'])}, {_wrong_text(facts)} and the flow hardly moves: "
        f"{_risk_text(facts)}. Until this changes, the flow takes {STEPS_THEN[slides]}. Try more "
        "neurons (network.m), another seed, or an earlier end (dynamics.until_log10_time)."
    )


def describe_lost_precision(facts: Facts) -> str:
    """Return the note of a risk at rest, while the margins of fitted examples grow like ln t."""
    return (
        f"From {time_text(facts['log10_time'])} on, while {_wrong_text(facts)}, the risk stays at "
        f"R = {facts['risk']:.9g} to seven digits. The margins of the other examples still grow "
        "like ln t, by less than float64 resolves, so the run ends here. Try more neurons "
        "(network.m) or another seed."
    )


def _wrong_text(facts: Facts) -> str:
    """Return how many examples are misclassified, as "1 of 4 examples is misclassified"."""
    verb = "is" if facts["wrong"] == 1 else "are"
    return f"{facts['wrong']} of {facts['of']} examples {verb} misclassified"


def _risk_text(facts: Facts) -> str:
    """Return risk and gradient, as "R = .25, |grad R| = .001"."""
    return f"R = {number_text(facts['risk'])}, |grad R| = {number_text(facts['gradient'], 2)}"
