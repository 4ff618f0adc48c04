"""How the parameters move: a section for each dynamics."""

from __future__ import annotations

from typing import ClassVar, Literal

from core.settings import Section, setting


class GradientDescent(Section):
    title: ClassVar[str] = "full-batch gradient descent with constant step; t = step * steps"
    source: ClassVar[str] = "telgarsky22, Figure 1"

    kind: Literal["gd"] = "gd"
    step: float | None = setting(
        None, meaning="step size eta; default 1/lambda_0 at the start, safe below 2/lambda_0", gt=0
    )
    until_log10_time: float = setting(
        3.0, meaning="stop at t = 10^this", unit="log10 t", ge=-8, le=15
    )


class GradientFlow(Section):
    title: ClassVar[str] = "gradient flow dW/dt = -grad R(W), followed in log time"
    source: ClassVar[str] = "telgarsky22, section 1.2"

    kind: Literal["flow"] = "flow"
    until_log10_time: float = setting(
        4.0, meaning="stop at t = 10^this", unit="log10 t", ge=-8, le=1e200
    )
    accuracy: Literal["figures", "numbers"] = setting(
        "figures", meaning="figures: hard margins to 3e-5; numbers: slower, smaller late steps"
    )
    scheme: Literal["chebyshev", "euler"] = setting(
        "chebyshev",
        meaning="chebyshev: stabilised stages; euler: the slow reference scheme",
        advanced=True,
    )
