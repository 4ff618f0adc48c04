"""The losses."""

from __future__ import annotations

from typing import ClassVar, Literal

from core.study_file.settings import Section, setting

L2_MEANING = "lambda of the penalty lambda |Theta|^2 on all trained parameters (descent only)"


class ExponentialLoss(Section):
    title: ClassVar[str] = "exponential loss l(z) = exp(-z); risk R = (1/n) sum_i l(p_i)"
    source: ClassVar[str] = "telgarsky22, section 1.2"

    kind: Literal["exponential"] = "exponential"
    l2: float = setting(0.0, meaning=L2_MEANING, source="wei19, section 2", ge=0)


class LogisticLoss(Section):
    title: ClassVar[str] = "logistic loss l(z) = ln(1 + exp(-z)); risk R = (1/n) sum_i l(p_i)"
    source: ClassVar[str] = "telgarsky22, section 1.2"

    kind: Literal["logistic"] = "logistic"
    l2: float = setting(0.0, meaning=L2_MEANING, source="wei19, section 2", ge=0)


class SquaredLoss(Section):
    title: ClassVar[str] = "squared loss l(p) = (1 - p)^2 = (y - f)^2 for labels +-1"
    source: ClassVar[str] = "wei19, sections B.3 and F.3"

    kind: Literal["squared"] = "squared"
    l2: float = setting(0.0, meaning=L2_MEANING, source="wei19, section 2", ge=0)


class CrossEntropyLoss(Section):
    title: ClassVar[str] = "cross-entropy of the logits, for three and more classes"
    source: ClassVar[str] = "frei23, section F.2; wei19, Theorem C.1"

    kind: Literal["cross_entropy"] = "cross_entropy"
    l2: float = setting(0.0, meaning=L2_MEANING, source="wei19, section 2", ge=0)
